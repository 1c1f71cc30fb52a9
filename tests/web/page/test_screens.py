"""What people do on the page, in a real Chromium on a phone and on a desk, line by line as the documents say it."""

import os
import re
import subprocess
import sys
from functools import partial

import pytest
from msgspec.structs import replace
from playwright.sync_api import Locator, Page, expect

from pro0.model.home import Rights
from pro0.model.task import Awaiting, Changes, Draft, Gate, Policy, Status
from pro0.ops import devices
from pro0.ops.mail import messages
from pro0.ops.tasks import gates, roles, tasks
from pro0.ops.team import costs
from tests.engine.crew import Crew
from tests.teams import make_team, member
from tests.waiting import STUCK, wait_until
from tests.web.page.pages import Shown


def made(alpha: Crew, title: str, **more: object) -> str:
    """Make a task by the way that the command line goes, and return its id."""
    [id] = alpha.give(Draft(title=title, **more))  # type: ignore[arg-type]
    return id


def need(shown: Shown, text: str) -> Locator:
    """The card of what needs the person, by a text on it."""
    return shown.go("needs").locator("li.need").filter(has_text=text)


def becomes(alpha: Crew, id: str, status: Status) -> None:
    wait_until(lambda: alpha.task(id).status is status, STUCK, f"{id} is {status}")


def test_tasks_are_a_live_tree_with_status_role_and_priority_in_their_order(shown: Shown, alpha: Crew) -> None:
    """S000-001, 080, 088, 112, 113."""
    root = made(alpha, "the root", role="engineer")
    late, soon = made(alpha, "comes late", parent=root, priority=5), made(alpha, "comes soon", parent=root, priority=1)
    page = shown.go("tree")
    branch = page.locator("li", has=page.get_by_role("button", name=f"Subtasks of {root}", exact=True))
    expect(branch.locator(".line").first).to_contain_text("engineer")
    rows = branch.get_by_role("listitem")
    expect(rows).to_have_text([f"comes soonopen{soon}P1", f"comes lateopen{late}P5"])
    gates.hold(alpha.context, soon, Awaiting.APPROVAL)
    expect(rows.first).to_contain_text("needs review")
    tasks.delete(alpha.context, late)
    expect(rows).to_have_count(1)


def test_a_ticket_is_created_with_all_that_it_may_have(shown: Shown, alpha: Crew) -> None:
    """S000-076, S003-032."""
    parent = made(alpha, "a parent")
    page = shown.go("tree")
    shown.press("New task")
    form = page.get_by_role("dialog")
    form.get_by_label("Title").fill("made on the page")
    form.get_by_label("Description").fill("two\nlines")
    form.get_by_role("combobox", name="Role", exact=True).select_option("engineer")
    form.get_by_label("Priority").fill("7")
    form.get_by_label("Labels").fill("area:page, urgent")
    form.get_by_role("combobox", name="Parent", exact=True).select_option(parent)
    form.get_by_role("combobox", name="Gate", exact=True).select_option("approval")
    shown.press("Create", form)
    shown.says("is created")
    [task] = [task for task in tasks.list_tasks(alpha.context) if task.parent == parent]
    assert (task.title, task.description, task.role, task.priority) == ("made on the page", "two\nlines", "engineer", 7)
    assert (task.requires, task.labels) == (Gate.APPROVAL, ("area:page", "urgent"))


def test_a_form_says_what_is_wrong_and_keeps_what_was_typed(shown: Shown) -> None:
    page = shown.go("tree")
    shown.press("New task")
    form = page.get_by_role("dialog")
    form.get_by_label("Title").fill("after nothing")
    form.get_by_label("After").fill("task-9999")
    shown.press("Create", form)
    expect(form.get_by_role("alert")).to_contain_text("task-9999")
    expect(form.get_by_label("Title")).to_have_value("after nothing")
    shown.press("Cancel", form)
    expect(form).not_to_be_visible()


def test_an_open_ticket_is_started_and_a_failed_one_says_why_and_is_retried_then_closed(
    shown: Shown, alpha: Crew
) -> None:
    """S000-023, 024, 031, 041."""
    id = made(alpha, "start me", run="echo no space left; exit 3")
    shown.go("tree", id)
    shown.press("Start", shown.panel)
    becomes(alpha, id, Status.FAILED)
    expect(shown.panel).to_contain_text("no space left")
    shown.press("Retry", shown.panel)
    becomes(alpha, id, Status.PENDING)
    expect(shown.panel.get_by_role("button", name="Start", exact=True)).to_be_visible()
    shown.press("Close", shown.panel)
    becomes(alpha, id, Status.COMPLETED)


@pytest.mark.parametrize("act", ["Retry", "Close it"])
def test_what_failed_is_answered_where_it_is_shown(shown: Shown, alpha: Crew, act: str) -> None:
    """S000-023, 024, 031."""
    id = made(alpha, f"fails, then {act}")
    tasks.claim(alpha.context, id)
    tasks.fail(alpha.context, id, "no space left")
    card = need(shown, f"fails, then {act}").filter(has_text=id)
    expect(card).to_contain_text("no space left")
    card.get_by_role("button", name=f"{act}: {id}").click()
    becomes(alpha, id, Status.PENDING if act == "Retry" else Status.COMPLETED)
    shown.over(card)


def test_a_question_is_answered_with_a_text_and_its_asker_goes_on(shown: Shown, alpha: Crew) -> None:
    """S000-024, S001-138."""
    id = made(alpha, "choose a name")
    gates.hold(alpha.context, id, Awaiting.INPUT, "grammar or parsley?")
    card = need(shown, "choose a name").filter(has_text=id)
    expect(card).to_contain_text("grammar or parsley?")
    card.get_by_label("Your answer").fill("parsley")
    shown.press("Answer", card)
    shown.over(card)
    assert "parsley" in tasks.remarks(alpha.context, id)[-1].text


def test_a_need_reaches_an_open_page_on_any_screen(shown: Shown, alpha: Crew) -> None:
    """Issue 16, Build 6: the count, the title and who listens know of it at once."""
    id = made(alpha, "asks while the person looks elsewhere")
    page = shown.go("needs")
    expect(page.get_by_text("One moment")).to_have_count(0)
    shown.go("cost")
    gates.hold(alpha.context, id, Awaiting.INPUT, "now?")
    expect(page.get_by_role("status", name="News")).to_contain_text(id)
    expect(page).to_have_title(re.compile(r"^\(\d+\) Cost and limits"))
    tasks.delete(alpha.context, id)


@pytest.mark.parametrize("verdict", ["Approve", "Send back"])
def test_a_gate_is_answered_with_a_verdict(shown: Shown, alpha: Crew, verdict: str) -> None:
    """S001-138."""
    id = made(alpha, f"at a gate, {verdict}", requires=Gate.APPROVAL)
    ada = member(alpha.team, "ada", alpha.state("ada").incarnation)
    tasks.claim(ada, id)
    tasks.complete(ada, id, "it is all there")
    card = need(shown, f"at a gate, {verdict}").filter(has_text=id)
    expect(card).to_contain_text("it is all there")
    card.get_by_role("button", name=f"{verdict}: {id}").click()
    if verdict == "Send back":
        card.get_by_label("What is wrong").fill("tests are missing")
        shown.press("Send back", card)
    shown.over(card)
    becomes(alpha, id, Status.COMPLETED if verdict == "Approve" else Status.PENDING)


def test_a_ticket_that_waits_goes_on_in_its_session(shown: Shown, alpha: Crew) -> None:
    """S000-024: continue."""
    id = made(alpha, "goes on with a word", requires=Gate.APPROVAL)
    ada = member(alpha.team, "ada", alpha.state("ada").incarnation)
    tasks.claim(ada, id)
    tasks.complete(ada, id, "half of it is there")
    shown.go("tree", id)
    shown.press("Continue", shown.panel)
    form = shown.panel.locator("form", has=shown.page.get_by_label("Message to its session"))
    form.get_by_label("Message to its session").fill("and the other half?")
    shown.press("Continue", form)
    wait_until(lambda: "the other half" in tasks.remarks(alpha.context, id)[-1].text, STUCK, "it goes on with the word")
    assert alpha.task(id).awaiting is None
    tasks.release(alpha.context, id)
    tasks.delete(alpha.context, id)


def test_a_parent_that_stands_still_is_started_by_the_person(shown: Shown, alpha: Crew) -> None:
    """S000-054, S003-031: nothing goes on by itself."""
    parent = made(alpha, "a parent at a stand", policy=Policy.SUPERVISED, run="exec sleep 86400")
    child = made(alpha, "its child", parent=parent)
    card = need(shown, "a parent at a stand").filter(has_text=f"{parent} stands still")
    card.get_by_role("button", name=f"Start: {parent}").click()
    shown.over(card)
    becomes(alpha, parent, Status.IN_PROGRESS)
    assert alpha.task(child).status is Status.PENDING
    for id in (child, parent):
        tasks.cancel(alpha.context, id)


def test_the_tickets_of_a_parent_that_stands_still_are_managed_by_hand(shown: Shown, alpha: Crew) -> None:
    """S000-054, S003-031: the person edits and closes its subtasks, and it stands as it stood."""
    parent = made(alpha, "a parent left at a stand", policy=Policy.SUPERVISED, run="exec sleep 86400")
    child = made(alpha, "a child left alone", parent=parent)
    shown.go("tree", child)
    shown.press("Edit", shown.panel)
    form = shown.page.get_by_role("dialog")
    form.get_by_label("Title").fill("a child looked after")
    shown.press("Save", form)
    expect(shown.panel).to_contain_text("a child looked after")
    shown.press("Close", shown.panel)
    becomes(alpha, child, Status.COMPLETED)
    assert alpha.task(child).title == "a child looked after"
    assert alpha.task(parent).status is Status.PENDING
    tasks.cancel(alpha.context, parent)


def test_a_ticket_is_edited_and_deleted(shown: Shown, alpha: Crew) -> None:
    """S000-077, 078."""
    id = made(alpha, "its first words", description="first", labels=("early", "late"))
    page = shown.go("tree", id)
    shown.press("Edit", shown.panel)
    form = page.get_by_role("dialog")
    form.get_by_label("Title").fill("its second words")
    form.get_by_label("Description").fill("second")
    form.get_by_label("Priority").fill("9")
    expect(form.get_by_label("Labels")).to_have_value("early, late")
    form.get_by_label("Labels").fill("late")
    shown.press("Save", form)
    expect(shown.panel.get_by_role("heading", name="its second words")).to_be_visible()
    task = alpha.task(id)
    assert (task.title, task.description, task.priority, task.labels) == ("its second words", "second", 9, ("late",))
    shown.press("Delete", shown.panel)
    shown.press("Delete", page.get_by_role("dialog"))
    shown.says(f"{id} is deleted")
    assert id not in {task.id for task in tasks.list_tasks(alpha.context)}


def test_comments_are_read_and_written_as_a_person(shown: Shown, alpha: Crew) -> None:
    """S000-006, 063, 082, 083."""
    id = made(alpha, "much is said about it")
    tasks.comment(alpha.context, id, "said before")
    shown.go("tree", id)
    expect(shown.panel).to_contain_text("said before")
    shown.panel.get_by_label("Your comment").fill("said on the page")
    shown.press("Comment", shown.panel)
    expect(shown.panel.get_by_label("Comment of human").last).to_have_text("said on the page")
    last = tasks.remarks(alpha.context, id)[-1]
    assert (last.text, last.author) == ("said on the page", "human")


def test_a_comment_of_another_comes_to_the_open_task_by_itself(shown: Shown, alpha: Crew) -> None:
    """It changes nothing of the task itself."""
    id = made(alpha, "somebody else has a word")
    shown.go("tree", id)
    expect(shown.panel.get_by_label("Comments")).to_contain_text("None yet")
    for words in ("said elsewhere", "and once more"):
        tasks.comment(alpha.context, id, words)
        expect(shown.panel.get_by_label("Comment of human").last).to_have_text(words)
    tasks.delete(alpha.context, id)


def test_roles_are_listed_created_edited_and_deleted(shown: Shown, alpha: Crew) -> None:
    """S000-032, 074, 084, 085, 086, 087."""
    page = shown.go("roles")
    expect(page.get_by_role("main")).to_contain_text("engineer")
    shown.press("New role")
    form = page.get_by_role("dialog")
    form.get_by_label("Name").fill("Tester")
    form.get_by_label("What its agents are told").fill("You test.")
    shown.press("Create", form)
    shown.press("Edit Tester")
    form.get_by_label("What its agents are told").fill("You test all of it.")
    shown.press("Save", form)
    wait_until(
        lambda: [role.prompt for role in roles.roles(alpha.context) if role.id == "tester"] == ["You test all of it."],
        STUCK,
        "the role has its new text",
    )
    shown.press("Delete Tester")
    shown.press("Delete", form)
    shown.says("Tester is deleted")
    assert "tester" not in {role.id for role in roles.roles(alpha.context)}


@pytest.mark.parametrize("shown", ["desk"], indirect=True)
def test_a_task_is_dragged_onto_a_member(shown: Shown, alpha: Crew) -> None:
    """With a mouse: a finger scrolls, so on a phone nothing is there to drop on."""
    id = made(alpha, "for ada")
    page = shown.go("board")
    card = page.get_by_role("listitem").filter(has_text=id).filter(has_text="for ada")
    card.drag_to(page.get_by_label("Members: drop a task on a member to assign it").get_by_role("listitem").first)
    wait_until(lambda: alpha.task(id).assignee == "ada", STUCK, "it is ada's")
    tasks.delete(alpha.context, id)


def test_a_task_is_assigned_by_a_choice(shown: Shown, alpha: Crew) -> None:
    id = made(alpha, "for ada, then for anybody")
    shown.go("board", id)
    shown.panel.get_by_role("combobox", name="Assign to", exact=True).select_option("ada")
    wait_until(lambda: alpha.task(id).assignee == "ada", STUCK, "it is ada's")
    shown.panel.get_by_role("combobox", name="Assign to", exact=True).select_option("")
    wait_until(lambda: alpha.task(id).assignee is None, STUCK, "it is nobody's")


def test_the_board_has_a_column_for_each_state_and_shows_what_a_task_comes_after(shown: Shown, alpha: Crew) -> None:
    first = made(alpha, "comes first")
    second = made(alpha, "comes second", blocked_by=(first,))
    page = shown.go("board")
    column = page.get_by_role("region", name="Open", exact=True)
    expect(column.get_by_role("listitem").filter(has_text=second).get_by_role("link", name=first)).to_be_visible()
    tasks.update(alpha.context, first, Changes(title="comes first of all"))
    expect(column).to_contain_text("comes first of all")
    gates.hold(alpha.context, first, Awaiting.REVIEW)
    expect(page.get_by_role("region", name="Needs review", exact=True)).to_contain_text("comes first of all")


def test_messages_come_by_themselves_and_are_answered(shown: Shown, alpha: Crew) -> None:
    page = shown.go("messages", "ada")
    thread = page.get_by_role("region", name="ada", exact=True)
    messages.send(member(alpha.team, "ada", alpha.state("ada").incarnation), "human", "the lexer has tests now")
    expect(thread.get_by_label("Message of ada").last).to_have_text("the lexer has tests now")
    thread.get_by_label("To ada").fill("good")
    shown.press("Send", thread)
    expect(thread.get_by_label("Message of human").last).to_have_text("good")
    shown.press("Mark all as read")
    wait_until(lambda: not messages.unread(alpha.context), STUCK, "all are read")


@pytest.mark.parametrize("mailbox", ["human", "lead"])
def test_what_was_not_shown_stays_unread(mailbox: str, shown: Shown, alpha: Crew) -> None:
    """3.8: without a lead agent the mail to `lead` is the person's too."""
    ada = member(alpha.team, "ada", alpha.state("ada").incarnation)
    messages.inbox(alpha.context, acknowledge=True)
    page = shown.go("messages")
    button = page.get_by_role("button", name="Mark all as read")
    expect(button).to_have_count(0)
    seen = messages.send(ada, mailbox, "the first")
    expect(page.locator("li.card", has_text="the first")).to_contain_text("1 new message")
    expect(button).to_be_visible()
    page.evaluate("link.hold()")
    unseen = messages.send(ada, mailbox, "the second")
    button.click()

    def read() -> set[str]:
        return {letter.message.id for letter in messages.history(alpha.context) if letter.message.read}

    wait_until(lambda: seen.id in read(), STUCK, "what was shown is read")
    page.evaluate("link.free()")
    shown.says("all marked as read")
    assert unseen.id not in read()
    settled = page.locator("li.card", has_text="the second").filter(has_text="1 new message")
    expect(settled).to_have_count(1)  # else the button may go, and come again without the focus
    page.get_by_role("button", name="Write to all").focus()
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Go to").fill("Mark all messages")
    page.keyboard.press("Enter")
    expect(button).to_be_focused()


def test_a_member_shows_its_screen_its_tasks_and_its_cost(shown: Shown, alpha: Crew) -> None:
    """S000-001, 035."""
    page = shown.go("member", "ada@terminal")
    expect(page.locator(".xterm-rows")).to_contain_text("I am ready")
    page.get_by_label("As plain text").check()
    expect(page.get_by_label("Its screen")).to_contain_text("I am ready")
    for name in ("Tasks", "Mail", "Changes", "Cost"):
        page.get_by_label("About ada").get_by_role("link", name=name, exact=True).click()
        expect(page.get_by_role("region", name=name, exact=True)).to_be_visible()


def test_the_timeline_is_live_and_filtered(shown: Shown, alpha: Crew) -> None:
    page = shown.go("timeline")
    id = made(alpha, "an event")
    expect(page.get_by_role("listitem").filter(has_text=id).first).to_contain_text("task.create")
    page.get_by_label("Find").fill("no such words")
    expect(page.get_by_role("main")).to_contain_text("No event matches")
    page.get_by_label("Find").fill(id)
    expect(page.locator(".event").filter(has_text=id).first).to_be_visible()
    expect(page.locator(".event").filter(has_not_text=id)).to_have_count(0)


def test_the_palette_reaches_every_screen_act_and_name(shown: Shown, alpha: Crew) -> None:
    id = made(alpha, "found by its name")
    page = shown.go("needs")
    for typed, address in (("timeline", "timeline"), ("ada", "member/ada"), (f"{id} found", f"tree/{id}")):
        page.keyboard.press("Control+k")
        page.get_by_role("combobox", name="Go to").fill(typed)
        expect(page.get_by_role("dialog").get_by_role("option").first).to_contain_text(typed, ignore_case=True)
        page.keyboard.press("Enter")
        page.wait_for_url(f"**/#/alpha/{address}")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Go to").fill("new task")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").get_by_label("Title")).to_be_focused()
    page.keyboard.press("Escape")


ACTS = """async () => {
  const { acts, names } = await import(new URL("parts/reach.js", document.baseURI));
  return [...names(), ...acts()].map(({ text }) => text);
}"""
OTHER_BUTTONS = {"\u00d7", "Comment", ""}
"""What a task's panel has beside acts on the task."""


def test_the_palette_leads_to_every_act_on_a_task_and_on_a_member(shown: Shown, alpha: Crew) -> None:
    """It shows what the act is about, with the focus on it: nothing is done unseen."""
    start, asks, fails, over = (made(alpha, title) for title in ("to start", "to answer", "to retry", "to reopen"))
    gates.hold(alpha.context, asks, Awaiting.INPUT, "which?")
    for id in (fails, over):
        tasks.claim(alpha.context, id)
    tasks.fail(alpha.context, fails, "no space left")
    tasks.complete(alpha.context, over, "done")
    page = shown.page
    for id in (start, asks, fails, over):
        shown.go("tree", id)
        wait_until(lambda: len(_labels(shown)) > 3, STUCK, f"the acts on {id} are shown")
        acts = {f"{label}: {id} {alpha.task(id).title}" for label in _labels(shown)}
        wait_until(partial(_has, page, acts), STUCK, f"the palette has {acts}")
    for label, id in (("Start", start), ("Answer", asks), ("Retry", fails), ("Delete", over)):
        page.keyboard.press("Control+k")
        page.get_by_role("combobox", name="Go to").fill(f"{label} {id}")
        page.keyboard.press("Enter")
        expect(shown.panel.get_by_role("button", name=label, exact=True)).to_be_focused()
    shown.go("member", "ada")
    for label in ("Message", "Ask it to end", "End by force"):
        page.keyboard.press("Control+k")
        page.get_by_role("combobox", name="Go to").fill(f"{label}: ada")
        page.keyboard.press("Enter")
        expect(page.get_by_role("main").get_by_role("button", name=label, exact=True)).to_be_focused()
    for id in (start, asks, fails, over):
        tasks.delete(alpha.context, id)


def _has(page: Page, acts: set[str]) -> bool:
    return acts <= set(page.evaluate(ACTS))


def _labels(shown: Shown) -> set[str]:
    return set(shown.panel.get_by_role("button").all_inner_texts()) - OTHER_BUTTONS


def test_the_palette_takes_words_in_any_order(shown: Shown, alpha: Crew) -> None:
    id = made(alpha, "a rare zebra")
    page = shown.go("needs")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Go to").fill("zebra edit")
    expect(page.get_by_role("dialog").get_by_role("option").first).to_contain_text(f"Edit: {id}")
    page.keyboard.press("Escape")
    tasks.delete(alpha.context, id)


def test_a_task_is_found_on_the_board_and_its_column_reached(shown: Shown, alpha: Crew) -> None:
    id = made(alpha, "a needle on the board", labels=("soon", "area:hay"))
    tasks.claim(alpha.context, id)
    tasks.complete(alpha.context, id, "done")
    page = shown.go("board")
    page.get_by_label("Find a task").fill("needle")
    cards = page.locator(".card.task")
    expect(cards).to_have_count(1)
    jump = page.get_by_label("Columns").get_by_role("button", name="Done 1")
    if page.get_by_label("Columns").is_visible():  # its button may be yet to count
        jump.click()
    expect(cards).to_be_in_viewport(ratio=1)
    page.get_by_label("Find a task").fill("no such words")
    expect(cards).to_have_count(0)
    page.get_by_label("Find a task").fill("Area:hay")
    expect(cards).to_have_count(1)
    tasks.delete(alpha.context, id)


def test_a_team_that_is_not_there_is_said(shown: Shown) -> None:
    page = shown.page
    page.goto(f"{shown.origin}#/nobody/board")
    expect(page.get_by_role("main")).to_contain_text("There is no team nobody")
    page.get_by_role("link", name="All teams").click()
    expect(page.get_by_role("heading", name="Teams", exact=True)).to_be_visible()
    shown.troubles.clear()  # the browser's own line about the refused WebSocket


def test_a_team_that_is_removed_meanwhile_is_said_and_one_of_its_name_is_shown(shown: Shown, alpha: Crew) -> None:
    page = shown.page
    beta = make_team(alpha.store.home, "w1", name="beta")
    tasks.create(replace(alpha.context, team=beta), [Draft(title="of the first")])
    page.goto(f"{shown.origin}#/beta/tree")
    expect(page.get_by_role("main")).to_contain_text("of the first")
    command = [sys.executable, "-m", "pro0", "team", "cleanup", "beta", "--force"]
    environment = os.environ | {"PRO0_HOME": str(alpha.store.home)}
    try:
        subprocess.run(command, check=True, timeout=STUCK, env=environment, capture_output=True)
        expect(page.get_by_role("main")).to_contain_text("There is no team beta")
        tasks.create(replace(alpha.context, team=make_team(alpha.store.home, name="beta")), [Draft(title="another")])
        expect(page.get_by_role("main")).to_contain_text("another")
        expect(page.get_by_role("main")).not_to_contain_text("of the first")
    finally:
        subprocess.run(command, check=True, timeout=STUCK, env=environment, capture_output=True)
    shown.troubles.clear()  # the browser's own lines about the refused WebSocket


def test_a_limit_is_set(shown: Shown, alpha: Crew) -> None:
    page = shown.go("cost")
    page.get_by_label("US dollars").fill("12.5")
    shown.press("Set")
    wait_until(lambda: alpha.team.wanted.read().max_cost == 12.5, STUCK, "the limit is set")
    expect(page.get_by_role("main")).to_contain_text("of $12.50")
    page.get_by_label("US dollars").fill("0")
    shown.press("Set")
    expect(page.get_by_role("main")).to_contain_text("without a limit")


def test_a_limit_that_was_set_elsewhere_is_shown(shown: Shown, alpha: Crew) -> None:
    page = shown.go("cost")
    expect(page.get_by_role("main")).to_contain_text("without a limit")
    costs.limit(alpha.context, 7.5)
    expect(page.get_by_role("main")).to_contain_text("of $7.50")
    expect(page.get_by_label("US dollars")).to_have_value("7.5")
    costs.limit(alpha.context, 0)
    expect(page.get_by_role("main")).to_contain_text("without a limit")


def test_devices_are_listed_with_their_rights(shown: Shown) -> None:
    page = shown.go("devices")
    expect(page.get_by_role("listitem").filter(has_text="this browser")).to_contain_text("may do everything")


def test_a_device_that_is_paired_and_revoked_elsewhere_comes_and_goes(shown: Shown, alpha: Crew) -> None:
    page = shown.go("devices")
    rows = page.get_by_role("main").get_by_role("listitem")
    expect(rows.filter(has_text="this browser")).to_have_count(1)
    device, _ = devices.pair(alpha.store.home, devices.new_code(alpha.store.home, Rights.LOOK), "a phone of mine")
    expect(rows.filter(has_text="a phone of mine")).to_contain_text("may look")
    devices.revoke(alpha.store.home, device.id)
    expect(rows.filter(has_text="a phone of mine")).to_have_count(0)


ROLES_COME = """async () => {
  const { team } = await import(new URL("data/team.js", document.baseURI));
  team.value.roles.value = [...team.value.roles.value];
}"""


def test_what_is_typed_and_chosen_stays_when_lists_change(shown: Shown, alpha: Crew) -> None:
    """A form is drawn anew by each change of a list that it shows: what its person did in it is not undone."""
    id = made(alpha, "the old one")
    page = shown.go("tree", id)
    shown.press("Edit", shown.panel)
    form = page.get_by_role("dialog")
    form.get_by_label("Title").fill("the new one")
    page.evaluate(ROLES_COME)
    expect(form.get_by_label("Title")).to_have_value("the new one")
    page.keyboard.press("Escape")
    shown.go("tree")
    shown.press("New task")
    form.get_by_label("Title").fill("chosen for ada")
    form.get_by_role("combobox", name="Assignee", exact=True).select_option("ada")
    other = made(alpha, "made meanwhile")
    expect(
        form.get_by_role("combobox", name="Parent", exact=True).locator("option", has_text="made meanwhile")
    ).to_have_count(1)
    expect(form.get_by_role("combobox", name="Assignee", exact=True)).to_have_value("ada")
    shown.press("Create", form)

    shown.says("is created")
    [chosen] = [task for task in tasks.list_tasks(alpha.context) if task.title == "chosen for ada"]
    assert chosen.assignee == "ada"
    for task in (chosen.id, other):
        tasks.delete(alpha.context, task)
