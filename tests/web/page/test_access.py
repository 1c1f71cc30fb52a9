"""Everybody can use the page: axe finds nothing to complain of on any screen, and a keyboard alone is enough."""

from importlib.resources import files
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from pro0.model.caller import THE_HUMAN
from pro0.model.home import Role
from pro0.model.task import Awaiting, Draft, Status
from pro0.ops.mail import messages
from pro0.ops.tasks import gates, roles, tasks
from tests.engine.crew import Crew
from tests.teams import member
from tests.waiting import STUCK, wait_until
from tests.web.page.pages import Shown

AXE = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
RUN = """async () => {
  const { passes, violations } = await axe.run();
  return [passes.length, violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html.slice(0, 200))])];
}"""
SCREENS = (
    "needs", "board", "board/{task}", "tree", "tree/{task}", "member", "member/ada", "member/ada@terminal",
    "member/ada@tasks", "member/ada@mail", "member/ada@changes", "member/ada@cost", "messages", "messages/ada",
    "workers", "roles", "cost", "timeline", "start", "devices", "session/ada",
)  # fmt: skip
SOME = ("needs", "board/{task}", "tree", "member/ada@terminal", "messages/ada", "timeline")


@pytest.fixture(scope="module")
def task(alpha: Crew) -> str:
    """A task that has all that a task can have; and there is something on every other screen."""
    before, id = alpha.give(Draft(title="before it"), Draft(title="a name", role="engineer", acceptance="it is short"))
    alpha.give(Draft(title="below it", parent=id, blocked_by=(before,)))
    gates.hold(alpha.context, id, Awaiting.INPUT, "grammar or parsley?")
    tasks.comment(alpha.context, id, "a comment")
    messages.send(member(alpha.team, "ada", alpha.state("ada").incarnation), "human", "hello")
    return id


def violations(page: Page) -> Any:
    passes, found = page.evaluate(RUN)
    assert passes > 15, "axe has looked at something"
    return found


@pytest.mark.parametrize("which", [SOME, pytest.param(SCREENS, marks=pytest.mark.soak)], ids=["some", "all"])
@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.soak)])
def test_axe_finds_no_violation_on_any_screen(shown: Shown, task: str, theme: Any, which: tuple[str, ...]) -> None:
    shown.page.emulate_media(color_scheme=theme)
    shown.page.evaluate(AXE)
    found = {}
    for screen in which:
        page = shown.go(*screen.format(task=task).split("/"))
        expect(page.get_by_text("One moment")).to_have_count(0)
        if problems := violations(page):
            found[screen] = problems
    assert not found


@pytest.mark.parametrize("opened", ["palette", "new task"])
def test_axe_finds_no_violation_in_dialogs(shown: Shown, task: str, opened: str) -> None:
    page = shown.go("tree")
    page.evaluate(AXE)
    if opened == "palette":
        page.keyboard.press("Control+k")
    else:
        shown.press("New task")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert not violations(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).not_to_be_visible()


def tab_to(page: Page, role: str, name: str) -> None:
    """Press Tab until the focus is on something with this role and name."""
    wanted = page.get_by_role(role, name=name, exact=True)  # type: ignore[arg-type]
    for _ in range(200):
        page.keyboard.press("Tab")
        if wanted.evaluate_all("(found) => found.includes(document.activeElement)"):
            return
    raise AssertionError(f"Tab never comes to the {role} {name}")


KEYS_BEFORE_A_FRAME = """async () => {
  dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true }));
  for (let turn = 0; turn < 5; turn++) await null;
  return document.activeElement.getAttribute("role");
}"""


def test_the_first_letter_after_ctrl_k_is_not_lost(shown: Shown) -> None:
    """The palette has the focus before the browser draws, so before the next key of a quick typist."""
    page = shown.go("needs")
    assert page.evaluate(KEYS_BEFORE_A_FRAME) == "combobox"
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).not_to_be_visible()


def test_a_keyboard_alone_makes_answers_and_closes(shown: Shown, alpha: Crew) -> None:
    page = shown.go("needs")
    page.keyboard.press("Control+k")
    page.keyboard.type("new task")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").get_by_label("Title")).to_be_focused()
    page.keyboard.type("made by keys")
    page.keyboard.press("Enter")
    shown.says("is created")
    [made] = [task for task in tasks.list_tasks(alpha.context) if task.title == "made by keys"]
    gates.hold(alpha.context, made.id, Awaiting.INPUT, "which one?")
    page.keyboard.press("Control+k")
    page.keyboard.type(made.id)
    page.keyboard.press("Enter")
    expect(shown.panel.get_by_role("heading", level=2)).to_be_focused()
    tab_to(page, "button", "Answer")
    page.keyboard.press("Enter")
    expect(shown.panel.get_by_label("Your answer")).to_be_focused()
    page.keyboard.type("this one")
    tab_to(page, "button", "Answer")
    page.keyboard.press("Enter")
    wait_until(lambda: alpha.task(made.id).awaiting is None, STUCK, "it is answered")
    page.keyboard.press("Escape")
    expect(shown.panel).not_to_be_visible()
    tasks.delete(alpha.context, made.id)


def test_no_key_reaches_what_an_open_task_covers(shown: Shown, task: str) -> None:
    """Where it lies beside the list, Tab goes on to the list."""
    page = shown.go("tree", task)
    covers = shown.panel.evaluate("panel => getComputedStyle(panel).position === 'fixed'")
    around = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        around.add(page.evaluate("document.activeElement.closest('.list, .top, .side, .tabs, .skip') !== null"))
    assert around == ({False} if covers else {True, False})


def test_the_board_needs_no_mouse(shown: Shown, alpha: Crew, task: str) -> None:
    [id] = alpha.give(Draft(title="taken by keys"))
    page = shown.go("board", id)
    shown.panel.get_by_label("Assign to").focus()
    page.keyboard.type("ada")
    wait_until(lambda: alpha.task(id).assignee == "ada", STUCK, "it is ada's")
    assert alpha.task(id).status is Status.PENDING


def in_the_page(page: Page) -> bool:
    return bool(page.evaluate("document.activeElement !== document.body"))


@pytest.mark.parametrize("act", ["Retry", "Close", "Close the task"])
def test_the_focus_of_an_act_that_goes_away_falls_to_the_heading_and_on_no_other_act(
    shown: Shown, alpha: Crew, act: str
) -> None:
    """A second Enter of a key that is held does nothing more."""
    [id] = alpha.give(Draft(title="fails by itself"))
    tasks.claim(alpha.context, id)
    tasks.fail(alpha.context, id, "no space left")
    page = shown.go("tree", id)
    button = shown.panel.get_by_role("button", name=act, exact=True)
    button.focus()
    page.keyboard.press("Enter")
    expect(button).to_have_count(0)
    if act == "Close the task":
        expect(page.get_by_role("heading", level=1)).to_be_focused()
    else:
        expect(shown.panel.get_by_role("heading", level=2)).to_be_focused()
        page.keyboard.press("Tab")
        assert in_the_page(page)
    tasks.delete(alpha.context, id)


def test_the_focus_of_an_item_that_goes_away_falls_to_the_next_one(shown: Shown, alpha: Crew) -> None:
    """The dialog that asks has given it back to the item before."""
    for name in ("taken", "next", "last"):
        roles.add(alpha.store, THE_HUMAN, Role(id=name, name=name, prompt="Be there."))
    page = shown.go("roles")
    page.get_by_role("button", name="Delete taken", exact=True).focus()
    page.keyboard.press("Enter")
    shown.press("Delete", page.get_by_role("dialog"))
    expect(page.get_by_role("button", name="Edit next")).to_be_focused()
    for name in ("next", "last"):
        roles.remove(alpha.store, THE_HUMAN, name)


def test_what_loses_the_focus_by_a_click_takes_it_from_nobody_when_it_goes_away(shown: Shown, alpha: Crew) -> None:
    [id] = alpha.give(Draft(title="left alone"))
    page = shown.go("tree", id)
    start = shown.panel.get_by_role("button", name="Start", exact=True)
    start.focus()
    page.evaluate("document.activeElement.blur()")
    page.wait_for_timeout(50)
    tasks.cancel(alpha.context, id)
    expect(start).to_have_count(0)
    assert not in_the_page(page)
    tasks.delete(alpha.context, id)
