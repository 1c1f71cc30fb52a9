"""A large team on the page: what is near the screen is drawn, and a change draws what has changed, and no more."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from pro0.model.runtime import State
from pro0.model.task import Changes, Draft, Kind
from pro0.ops.tasks import tasks
from tests.teams import set_state
from tests.waiting import STUCK, wait_until
from tests.web.page.on_disk import OnDisk, on_disk
from tests.web.page.pages import Shown

EPICS, EACH, MEMBERS = 10, 99, 100
TASKS = EPICS * (1 + EACH)
DRAWN = 400
"""No more items than this are drawn of any list of more than 200."""

NOTES = """async () => {
  const { options } = await import(new URL("vendor/preact.js", document.baseURI));
  const before = globalThis.before ??= options.__r;
  const drawn = globalThis.drawn = [];
  options.__r = (node) => {
    const { task, member } = node.props;
    drawn.push([node.type.name, member?.agent_id ?? task?.id]);
    before?.(node);
  };
}"""
"""From here on note which part of the page is drawn, and for whom."""


@pytest.fixture(scope="module")
def alpha(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OnDisk]:
    """A team of 100 members with 1,000 tasks, most of them subtasks."""
    with on_disk(tmp_path_factory.mktemp("large"), *(f"m{number}" for number in range(MEMBERS))) as team:
        drafts = [
            draft
            for epic in range(EPICS)
            for draft in (
                Draft(title=f"epic {epic}", key=f"e{epic}", type=Kind.EPIC),
                *(Draft(title=f"part {part} of {epic}", parent=f"e{epic}") for part in range(EACH)),
            )
        ]
        tasks.create(team.context, drafts)
        yield team


def noted(page: Page, part: str) -> list[str]:
    """Return for which task or member this part was drawn since it is noted, each time."""
    return [id for name, id in page.evaluate("drawn") if name == part]


@pytest.mark.parametrize(("screen", "item"), [("tree", ".line"), ("board", ".card.task")])
def test_what_is_near_the_screen_is_drawn_wherever_the_person_looks(shown: Shown, screen: str, item: str) -> None:
    page = shown.go(screen)
    rows = page.locator(item)
    expect(rows.filter(has_text="part 0 of 0").first).to_be_in_viewport()
    assert rows.count() < DRAWN
    last = rows.filter(has_text=f"part {EACH - 1} of {EPICS - 1}")

    def sees_the_last() -> bool:
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        return last.count() == 1

    wait_until(sees_the_last, STUCK, "the last task is drawn")
    wait_until(lambda: rows.count() < DRAWN, STUCK, "what is far from the screen is drawn no more")
    page.evaluate("scrollTo(0, 0)")
    expect(rows.filter(has_text="part 0 of 0").first).to_be_in_viewport()


@pytest.mark.parametrize(("screen", "item"), [("tree", ".line"), ("board", ".card.task")])
def test_what_is_not_drawn_is_found_by_its_words(shown: Shown, screen: str, item: str) -> None:
    """The browser's own search sees only what is drawn."""
    page = shown.go(screen)
    last = page.locator(item).filter(has_text=f"part {EACH - 1} of {EPICS - 1}")
    expect(last).to_have_count(0)
    page.get_by_label("Find a task").fill(f"part {EACH - 1} of {EPICS - 1}")
    expect(last).to_be_in_viewport()
    page.get_by_label("Find a task").fill("")


@pytest.mark.parametrize(("screen", "part"), [("tree", "Line"), ("board", "Card")])
def test_a_change_of_a_task_draws_that_task_alone(shown: Shown, alpha: OnDisk, screen: str, part: str) -> None:
    """What comes near the screen meanwhile is drawn too, what is there already is not."""
    page = shown.go(screen)
    expect(page.get_by_text("part 3 of 0", exact=True)).to_be_in_viewport()
    ids = {task.title: task.id for task in tasks.list_tasks(alpha.context)}
    changed = ids["part 3 of 0"]
    there = {ids[title] for title in page.locator("main a.title").all_text_contents()}
    assert len(there) > 10
    page.evaluate(NOTES)
    for times, title in enumerate(("part 3 is new", "part 3 of 0"), 1):
        tasks.update(alpha.context, changed, Changes(title=title))
        expect(page.get_by_text(title, exact=True)).to_be_in_viewport()
        assert [id for id in noted(page, part) if id in there] == [changed] * times
    shown.go(screen, changed)
    expect(shown.panel).to_be_visible()
    assert [id for id in noted(page, part) if id in there] == [changed] * 3


def test_a_change_of_a_member_draws_that_member_alone(shown: Shown, alpha: OnDisk) -> None:
    page = shown.go("member")
    card = page.locator(".card", has=page.get_by_role("link", name="m1", exact=True))
    expect(card).to_contain_text("idle")
    assert page.locator(".card").count() == MEMBERS
    page.evaluate(NOTES)
    for times, state in enumerate((State.WORKING, State.IDLE), 1):
        set_state(alpha.team, "m1", state)
        expect(card).to_contain_text(state.value)
        assert noted(page, "Card") == ["m1"] * times
