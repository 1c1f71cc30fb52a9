"""What needs the person about members, answered on the page: for that very member, plan and request."""

import os
import signal
from datetime import datetime, timedelta

import pytest
from msgspec.structs import replace
from playwright.sync_api import Locator, expect

from pro0.model.need import AskedPermission, Choice, PermissionAnswer
from pro0.model.runtime import State
from pro0.model.team import OutsideAgent, PlanGate, Seat
from pro0.model.usage import SessionUsage
from pro0.ops import permissions
from pro0.ops.context import Context, clock, lead_context
from pro0.ops.team import costs, events, plan_approval
from pro0.ops.team.members import SeatDraft
from pro0.processes import identify
from tests.engine.crew import Crew
from tests.teams import member
from tests.waiting import STUCK, wait_until
from tests.web.page.pages import Shown


def card_of(shown: Shown, kind: str, name: str) -> Locator:
    """The card of a kind of need of one member."""
    return shown.page.locator("li.need").filter(has_text=kind).filter(has_text=name)


def test_who_has_crashed_is_started_again_as_it_was(shown: Shown, alpha: Crew, request: pytest.FixtureRequest) -> None:
    name = f"crasher-{request.node.callspec.id}"
    argv = ("sh", "-c", "echo ready; exec sleep 86400")
    alpha.spawn(SeatDraft(name=name, agent="command", argv=argv, prompt="look around", worktree=True))
    before = seat_of(alpha, name)
    os.kill(alpha.pids()[name][1], signal.SIGKILL)
    alpha.reaches(name, State.CRASHED)
    shown.go("needs")
    card_of(shown, "crash", name).get_by_role("button", name="Start again").click()
    shown.says("started")
    wait_until(lambda: alpha.state(name).state is State.RUNNING, STUCK, "it is back")
    after = seat_of(alpha, name)
    assert replace(after, generation=before.generation) == before
    alpha.shut_down(name, force=True)


def test_requests_that_cannot_be_read_are_told_with_what_to_do(shown: Shown, alpha: Crew) -> None:
    """No button helps there, and all else goes on."""
    path = alpha.team.permissions.path
    before = path.read_bytes() if path.exists() else b""
    shown.go("needs")
    path.write_bytes(b"{")
    card = card_of(shown, "permission", "permissions.json cannot be read")
    expect(card.get_by_text("On the command line: pro0 doctor")).to_be_visible()
    expect(card.get_by_role("button")).to_have_count(0)
    path.write_bytes(before) if before else path.unlink()
    shown.over(card)


def seat_of(alpha: Crew, name: str) -> Seat:
    [seat] = [seat for seat in alpha.team.wanted.read().seats if seat.agent_id == name]
    return seat


def hands_in(alpha: Crew, name: str, text: str) -> str:
    """Let a member be asked for a plan, and hand one in; return the id of that plan."""
    with alpha.team.wanted.change("a test") as change:
        seats = tuple(replace(s, gate=PlanGate()) if s.agent_id == name else s for s in change.value.seats)
        change.value = replace(change.value, seats=seats)
    seat = plan_approval.submit(member(alpha.team, name, alpha.state(name).incarnation), text)
    assert seat.gate
    return seat.gate.id


def decided(alpha: Crew, name: str) -> str:
    gate = seat_of(alpha, name).gate
    assert gate
    return gate.verdict


def test_a_plan_is_judged_on_the_page_of_its_member(shown: Shown, alpha: Crew, request: pytest.FixtureRequest) -> None:
    name = f"planner-{request.node.callspec.id}"
    alpha.spawn(SeatDraft(name=name, agent="command", argv=("sh", "-c", "exec sleep 86400")))
    hands_in(alpha, name, "first the lexer")
    page = shown.go("member", name)
    expect(page.get_by_label("The plan", exact=True)).to_have_text("first the lexer")
    shown.press("Ask for another plan")
    page.get_by_label("What is wrong with it").fill("the parser first")
    shown.press("Ask for another")
    shown.says("another plan")
    assert decided(alpha, name) == "rejected"
    hands_in(alpha, name, "first the parser")
    expect(page.get_by_label("The plan", exact=True)).to_have_text("first the parser")
    shown.press("Approve the plan")
    shown.says("is approved")
    assert decided(alpha, name) == "approved"
    alpha.shut_down(name, force=True)


def test_a_plan_is_judged_once_it_is_shown_though_another_was_shown_before(
    shown: Shown, alpha: Crew, request: pytest.FixtureRequest
) -> None:
    """A member hands in another plan while its page shows the last one, and its text comes late."""
    name = f"replanner-{request.node.callspec.id}"
    alpha.spawn(SeatDraft(name=name, agent="command", argv=("sh", "-c", "exec sleep 86400")))
    hands_in(alpha, name, "reads two files")
    page = shown.go("member", name)
    plan, approve = page.get_by_label("The plan", exact=True), page.get_by_role("button", name="Approve the plan")
    expect(plan).to_have_text("reads two files")
    expect(approve).to_be_visible()
    shown.press("Ask for another plan")
    page.get_by_label("What is wrong with it").fill("half a wo")
    page.evaluate("link.hold(/removes them all/)")
    plan_approval.submit(member(alpha.team, name, alpha.state(name).incarnation), "removes them all")
    wait_until(lambda: page.evaluate("link.held.length > 0"), STUCK, "the other plan is on its way")
    for gone in (plan, approve, page.get_by_label("What is wrong with it")):
        expect(gone).to_have_count(0)
    page.evaluate("link.free()")
    expect(plan).to_have_text("removes them all")
    expect(page.get_by_label("What is wrong with it")).to_have_count(0)
    approve.click()
    shown.says("is approved")
    assert decided(alpha, name) == "approved"
    alpha.shut_down(name, force=True)


def test_a_plan_that_was_mailed_to_the_lead_agent_is_shown_with_its_need(
    shown: Shown, alpha: Crew, request: pytest.FixtureRequest
) -> None:
    name = f"asker-{request.node.callspec.id}"
    alpha.spawn(SeatDraft(name=name, agent="command", argv=("sh", "-c", "exec sleep 86400")))
    leads(alpha, "lead")
    page = shown.go("needs")
    page.evaluate("link.hold(/the lead agent reads this/)")
    hands_in(alpha, name, "the lead agent reads this")
    assert not any("the lead agent reads this" in letter.content for letter in alpha.mail("human"))
    card = card_of(shown, "plan", name)
    wait_until(lambda: page.evaluate("link.held.length > 0"), STUCK, "its text is on its way")
    expect(card).to_be_visible()
    expect(card.get_by_role("button")).to_have_count(0)
    page.evaluate("link.free()")
    expect(card.get_by_role("button", name="Approve the plan")).to_be_visible()
    expect(card.get_by_label("The plan", exact=True)).to_have_text("the lead agent reads this")
    leads(alpha, "")
    alpha.shut_down(name, force=True)


def leads(alpha: Crew, approver: str) -> None:
    """Let this process stand for an agent that leads and decides on plans, or let nobody do so."""
    me = identify(os.getpid())
    assert me
    with alpha.team.wanted.change("a test") as wanted:
        agent = OutsideAgent(incarnation="outside-1", process=me, since=clock()) if approver else None
        wanted.value = replace(wanted.value, outside=agent)
    with alpha.team.config.change("a test") as config:
        config.value = replace(config.value, plan_approval=approver or "human")


def waiting(alpha: Crew, since: datetime) -> Context:
    """End the lead, record that ada waits for an answer, and return ada's context."""
    alpha.leads[0].kill()
    alpha.leads[0].wait()
    with alpha.team.runtime.change("a test") as change:
        seats = tuple(replace(s, state=State.WAITING, since=since) for s in change.value.seats if s.agent_id == "ada")
        change.value = replace(change.value, seats=seats)
    return member(alpha.team, "ada", alpha.state("ada").incarnation)


NO_OBSERVER = """{
  const Observer = window.ResizeObserver;
  window.ResizeObserver = class { constructor() { return new Observer(() => {}); } };
}"""
"""A busy browser tells of a new height with its next picture, and a need may be over before that."""


@pytest.mark.parametrize("seen", ["in time", "long after it was asked", "by a busy browser"])
def test_a_later_request_of_the_same_wait_is_another_card(
    seen: str, shown: Shown, alpha: Crew, request: pytest.FixtureRequest
) -> None:
    """The lead is gone: no dialog is on the screen. A word that was begun about the first is not said of the second.

    The need of a dialog that was seen late keeps its id, since nobody knows that the first request belonged to it.
    """
    ada = waiting(alpha, since=clock() + timedelta(minutes=1 if seen == "long after it was asked" else 0))
    way = f"make {request.node.callspec.id}"
    first, second = (
        permissions.ask(ada, AskedPermission(tool="Bash", input=f"{way} {what}", key=what)) for what in ("one", "two")
    )
    if seen == "by a busy browser":
        shown.page.add_init_script(NO_OBSERVER)
        shown.page.reload()
    page = shown.go("needs")
    one, two = (card_of(shown, "permission", f"{way} {what}") for what in ("one", "two"))
    one.get_by_role("button", name="Deny and say why").click()
    page.get_by_label("Why not").fill("half a wo")
    expect(two).to_have_count(0)
    place = one.bounding_box()
    if seen == "long after it was asked":
        permissions.settle(lead_context(alpha.team), {first.id: "elsewhere"})
    else:
        permissions.answer(alpha.context, first.id, Choice.ALLOW)
    shown.over(one)
    expect(two).to_be_visible()
    assert one.bounding_box() == place
    expect(page.get_by_label("Why not")).to_have_count(0)
    two.get_by_role("button", name="Allow: ").first.dblclick()
    wait_until(lambda: permissions.show(alpha.context, second.id).answer is not None, STUCK, "it is answered")
    answer = permissions.show(alpha.context, second.id).answer
    assert isinstance(answer, PermissionAnswer)
    assert (answer.choice, answer.text) == (Choice.ALLOW, "")


def test_a_limit_of_cost_that_is_no_number_is_not_set(shown: Shown, alpha: Crew) -> None:
    """A blank would be 0 else, which is no limit."""
    spent = SessionUsage(agent_id="ada", incarnation="inc-1", agent="claude", cost_usd=3.0)
    with alpha.team.usage.change("a test") as change:
        before, change.value = change.value, replace(change.value, sessions=(spent,))
    costs.limit(alpha.context, 2.0)
    shown.go("needs")
    card = card_of(shown, "cost", "team")
    field = card.get_by_label("US dollars")
    field.press("Space")
    shown.press("Set the limit", card)
    expect(field).to_be_focused()
    field.fill("9.5")
    shown.press("Set the limit", card)
    wait_until(lambda: alpha.team.wanted.read().max_cost == 9.5, STUCK, "the limit is set")
    limits = [event.detail["usd"] for event in events.listed(alpha.context) if event.event == "team.limit"]
    assert limits[-2:] == ["2", "9.5"]
    costs.limit(alpha.context, 0)
    with alpha.team.usage.change("a test") as change:
        change.value = before


def test_a_cost_of_which_a_part_is_unknown_is_shown_as_the_least(shown: Shown, alpha: Crew) -> None:
    unknown = SessionUsage(agent_id="ada", incarnation="inc-1", agent="pi", models=("of-nobody",), output_tokens=5)
    with alpha.team.usage.change("a test") as change:
        before, change.value = change.value, replace(change.value, sessions=(unknown,))
    page = shown.go("cost")
    figure = page.locator(".figure").first
    expect(figure).to_have_text("unknown")
    with alpha.team.usage.change("a test") as change:
        sold = replace(unknown, incarnation="inc-2", cost_usd=3.0)
        change.value = replace(change.value, sessions=(unknown, sold))
    expect(figure).to_have_text("at least $3.00")
    expect(page.get_by_role("row", name="total")).to_contain_text("at least $3.00")
    with alpha.team.usage.change("a test") as change:
        change.value = before
