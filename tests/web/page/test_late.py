"""The page says that something is done once it shows it, however late its lists or the PIN come after the call."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from pro0.model.task import Awaiting, Draft, Status
from pro0.ops import verdicts
from pro0.ops.tasks import gates
from tests.engine.crew import Crew
from tests.waiting import STUCK, wait_until
from tests.web.page.lateness import can_hold
from tests.web.page.pages import Shown

LEAVES = """async () => {
  for (let turn = 0; turn < 5; turn++)
    for (const tab of ["chat", "tasks"]) {
      location.hash = `#/alpha/member/ada@${tab}`;
      await new Promise((drawn) => addEventListener("hashchange", () => setTimeout(drawn), { once: true }));
    }
}"""

FOLLOWED = """async () => {
  const { team } = await import(new URL("data/team.js", document.baseURI));
  return [...team.value.connection.subscriptions].map(({ name }) => name);
}"""

AT_ONCE = """async () => {
  const dialog = document.querySelector("dialog");
  const closed = new Promise((over) => dialog.addEventListener("close", () => setTimeout(over), { once: true }));
  dialog.close();
  dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true }));
  await closed;
  return dialog.open;
}"""


def all_is_answered(shown: Shown) -> None:
    """Wait until every call of the page has its answer."""
    wait_until(lambda: shown.page.evaluate("!link.asked.size"), STUCK, "every call is answered")


def told(shown: Shown) -> None:
    """Wait until every call of the page has its answer, and something of a list is held back."""
    wait_until(lambda: shown.page.evaluate("!link.asked.size && link.held.length > 0"), STUCK, "a change is held back")


def holds(shown: Shown, pattern: str = "") -> None:
    """Hold back what the page is told of changes, or what fits a pattern, from here on."""
    expect(shown.page.get_by_text("One moment")).to_have_count(0)
    all_is_answered(shown)
    shown.page.evaluate(f"link.hold({pattern})")


def let_go(shown: Shown, text: str = "no such words") -> None:
    """Let the changes come, once every call has its answer; till then the page is at work, and does not say this."""
    told(shown)
    expect(shown.page.locator("[aria-busy=true]")).to_have_count(1)
    expect(shown.page.locator(".notice", has_text=text)).to_have_count(0)
    shown.page.evaluate("link.free()")


def test_a_task_is_there_when_the_page_says_so(shown: Shown, alpha: Crew) -> None:
    page = shown.go("tree")
    shown.press("New task")
    form = page.get_by_role("dialog")
    form.get_by_label("Title").fill("comes late")
    [before] = alpha.give(Draft(title="comes before"))
    id = f"task-{int(before.removeprefix('task-')) + 1}"
    holds(shown)
    shown.press("Create", form)
    let_go(shown, f"{id} is created")
    shown.says(f"{id} is created")
    expect(page.locator(".line").get_by_text(id, exact=True)).to_be_visible()
    expect(form).not_to_be_visible()


def test_a_task_is_gone_when_the_page_says_so(shown: Shown, alpha: Crew) -> None:
    [id] = alpha.give(Draft(title="goes late"))
    page = shown.go("tree", id)
    shown.press("Delete", shown.panel)
    holds(shown)
    shown.press("Delete", page.get_by_role("dialog"))
    told(shown)
    expect(shown.panel).to_be_visible()
    expect(page.locator(".notice", has_text=f"{id} is deleted")).to_have_count(0)
    page.evaluate("link.free()")
    shown.says(f"{id} is deleted")
    expect(shown.panel).not_to_be_visible()


def test_what_was_answered_is_not_asked_again(shown: Shown, alpha: Crew) -> None:
    """Its button does nothing more from the answer on."""
    [id] = alpha.give(Draft(title="asks, and hears late"))
    gates.hold(alpha.context, id, Awaiting.INPUT, "grammar or parsley?")
    card = shown.go("needs").get_by_role("main").get_by_role("listitem").filter(has_text=id).filter(has_text="grammar")
    card.get_by_label("Your answer").fill("parsley")
    holds(shown)
    shown.press("Answer", card)
    let_go(shown, f"{id}: answered")
    shown.says(f"{id}: answered")
    shown.over(card)


def test_a_verdict_is_offered_once_the_page_has_its_task(shown: Shown, alpha: Crew) -> None:
    """A need may be told before its task: a verdict without what was shown would be refused.

    Its card is as high before: nothing below it moves.
    """
    page = shown.go("needs")
    holds(shown, r'/"method": ?"(task|ticket)[.]list[.]changed"/')
    [id] = alpha.give(Draft(title="is told late"))
    gates.hold(alpha.context, id, Awaiting.REVIEW)
    card = page.get_by_role("main").get_by_role("listitem").filter(has_text=id).filter(has_text="review")
    expect(card.get_by_role("status")).to_have_text("One moment …")
    expect(card.get_by_role("button")).to_have_count(0)
    place = card.bounding_box()
    page.evaluate("link.free()")
    approve = card.get_by_role("button", name=f"Approve: {id}")
    expect(approve).to_be_visible()
    assert card.bounding_box() == place
    approve.click()
    shown.says(f"{id}: approved")
    assert alpha.task(id).status is Status.COMPLETED


def test_a_new_member_is_shown_once_it_is_known(shown: Shown, alpha: Crew, request: pytest.FixtureRequest) -> None:
    name = f"late-{request.node.callspec.id}"
    page = shown.go("member")
    shown.press("New member")
    form = page.get_by_role("dialog")
    form.get_by_label("Name").fill(name)
    form.get_by_label("Agent").fill("shell")
    holds(shown)
    shown.press("Start", form)
    let_go(shown, f"{name} is started")
    expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()
    expect(page.get_by_label(f"About {name}")).to_be_visible()
    alpha.shut_down(name, force=True)


def test_what_is_typed_while_a_text_is_sent_stays(shown: Shown, alpha: Crew) -> None:
    [id] = alpha.give(Draft(title="much is said"))
    shown.go("tree", id)
    field = shown.panel.get_by_label("Your comment")
    field.fill("the first")
    holds(shown, "/./")
    shown.press("Comment", shown.panel)
    field.fill("the second")
    shown.page.evaluate("link.free()")
    expect(shown.panel.get_by_label("Comment of human").last).to_have_text("the first")
    expect(field).to_have_value("the second")


def test_a_dialog_opened_meanwhile_stays_open(shown: Shown) -> None:
    page = shown.go("tree")
    shown.press("New task")
    form = page.get_by_role("dialog")
    form.get_by_label("Title").fill("nobody waits for it")
    holds(shown, "/./")
    shown.press("Create", form)
    page.keyboard.press("Escape")
    expect(form).not_to_be_visible()
    page.keyboard.press("Control+k")
    page.evaluate("link.free()")
    expect(page.locator(".line", has_text="nobody waits for it").first).to_be_visible()
    all_is_answered(shown)
    page.get_by_role("combobox", name="Go to").press_sequentially("cost")
    page.keyboard.press("Enter")
    page.wait_for_url("**/#/alpha/cost")


def test_what_is_left_before_it_came_is_not_followed_on(shown: Shown) -> None:
    """Else a few quick looks at chats would be all that one connection may follow."""
    page = shown.go("member", "ada@tasks")
    for _ in range(4):
        holds(shown, "/./")
        page.evaluate(LEAVES)
        page.evaluate("link.free()")
        all_is_answered(shown)
    page = shown.go("member", "ada@chat")
    expect(page.get_by_role("log", name="Chat")).to_be_visible()


def test_thirty_chats_one_after_another_are_shown(shown: Shown) -> None:
    """A chat that was left is followed no more: one connection may follow sixteen lists."""
    for number in range(30):
        page = shown.go(*(("session", "ada"), ("member", "ada@chat"))[number % 2])
        expect(page.get_by_role("log", name="Chat")).to_be_visible()
    assert page.evaluate(FOLLOWED).count("session.chat") == 1


def test_a_dialog_opened_before_the_last_one_has_said_that_it_closed_stays_open(shown: Shown) -> None:
    """The browser says late that Escape has closed one; by then a quick typist has the palette open."""
    page = shown.go("tree")
    shown.press("New task")
    expect(page.get_by_role("dialog").get_by_label("Title")).to_be_focused()
    assert page.evaluate(AT_ONCE)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).not_to_be_visible()


def test_enter_in_the_palette_waits_for_the_names(shown: Shown) -> None:
    """A page just opened has no member yet; a quick typist has named one and pressed Enter by then."""
    page = shown.page.context.new_page()
    can_hold(page)
    page.add_init_script('link.hold(/"(incarnation|status)"/)')
    page.goto(f"{shown.origin}#/alpha/needs")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    wait_until(lambda: page.evaluate("link.held.length > 0"), STUCK, "the lists are held back")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Go to").fill("ada")
    expect(page.get_by_role("dialog").get_by_role("status")).to_have_text("One moment …")
    page.keyboard.press("Enter")
    page.evaluate("link.free()")
    page.wait_for_url("**/#/alpha/member/ada")
    page.close()


def test_a_verdict_is_offered_once_the_task_is_there_that_it_is_about(shown: Shown, alpha: Crew) -> None:
    """A quick person was told that a digest is missing: the list of needs had come before the one of tasks."""
    [id] = alpha.give(Draft(title="is approved at once"))
    gates.hold(alpha.context, id, Awaiting.REVIEW)
    page = shown.page.context.new_page()
    can_hold(page)
    page.add_init_script('link.hold(/"digest"/)')
    page.goto(f"{shown.origin}#/alpha/needs")
    wait_until(lambda: page.evaluate("link.held.length > 0"), STUCK, "the tasks are held back")
    expect(page.get_by_role("link", name="Needs you").locator("visible=true")).to_contain_text(re.compile(r"\d"))
    approve = page.get_by_role("button", name=f"Approve: {id}")
    expect(approve).to_have_count(0)
    page.evaluate("link.free()")
    approve.click()
    expect(page.locator(".notice", has_text=f"{id}: approved")).to_be_visible()
    page.close()
    assert alpha.task(id).status is Status.COMPLETED


PIN = "123456"


@pytest.fixture
def pin(alpha: Crew) -> Iterator[None]:
    """A person who wants each verdict confirmed by a PIN."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verdicts, "has_terminal", lambda: True)
        verdicts.set_pin(alpha.store.home, ask=lambda _: PIN)
        yield
        verdicts.remove_pin(alpha.store.home, ask=lambda _: PIN)


def asks_for_the_pin(shown: Shown, button: Locator) -> Locator:
    """Press the button of a verdict and return the dialog that asks for the PIN."""
    expect(button).to_have_attribute("aria-busy", "false")
    button.click()
    dialog = shown.page.get_by_role("dialog", name="Your PIN")
    expect(dialog.get_by_label("PIN", exact=True)).to_be_focused()
    return dialog


@pytest.mark.usefixtures("pin")
def test_whatever_closes_the_pin_the_verdict_can_be_given_again(shown: Shown, alpha: Crew) -> None:
    """A button that went on waiting for the PIN could not be pressed again. Nothing went wrong, so nothing is said."""
    [id] = alpha.give(Draft(title="is approved with a PIN"))
    gates.hold(alpha.context, id, Awaiting.REVIEW)
    approve = shown.go("needs").get_by_role("button", name=f"Approve: {id}")
    for close in ("Escape", "Close", "Cancel", "wrong, then Escape"):
        dialog = asks_for_the_pin(shown, approve)
        if close == "wrong, then Escape":
            dialog.get_by_label("PIN", exact=True).fill("654321")
            shown.press("Go on", dialog)
            expect(dialog.get_by_role("alert")).to_contain_text("the PIN is wrong")
        if "Escape" in close:
            shown.page.keyboard.press("Escape")
        else:
            shown.press(close, dialog)
        expect(dialog).not_to_be_visible()
        expect(approve).to_have_attribute("aria-busy", "false")
        assert alpha.task(id).waits
    expect(shown.page.locator(".notice", has_text="PIN")).to_have_count(0)
    dialog = asks_for_the_pin(shown, approve)
    dialog.get_by_label("PIN", exact=True).fill(PIN)
    shown.press("Go on", dialog)
    expect(approve).not_to_be_visible()
    expect(dialog).not_to_be_visible()
    shown.says(f"{id}: approved")
    assert alpha.task(id).status is Status.COMPLETED


@pytest.mark.usefixtures("pin")
@pytest.mark.parametrize("right", [True, False])
def test_what_was_sent_with_the_pin_is_said_though_its_dialog_was_closed_meanwhile(
    shown: Shown, alpha: Crew, right: bool
) -> None:
    [id] = alpha.give(Draft(title="is approved, and hears it late"))
    gates.hold(alpha.context, id, Awaiting.REVIEW)
    approve = shown.go("needs").get_by_role("button", name=f"Approve: {id}")
    dialog = asks_for_the_pin(shown, approve)
    dialog.get_by_label("PIN", exact=True).fill(PIN if right else "654321")
    holds(shown, "/./")
    shown.press("Go on", dialog)
    shown.page.keyboard.press("Escape")
    expect(dialog).not_to_be_visible()
    expect(approve).to_have_attribute("aria-busy", "true")
    shown.page.evaluate("link.free()")
    shown.says(f"{id}: approved" if right else "the PIN is wrong")
    expect(approve).to_have_count(0 if right else 1)
    assert bool(alpha.task(id).waits) is not right
