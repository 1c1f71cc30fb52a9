"""Plans that are approved before anything is changed: one verdict, about one plan, by who may give it (issue 4, 5)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from pro0.errors import BadInput, Refused
from pro0.model.caller import THE_HUMAN, THE_LEAD, Caller, Who
from pro0.model.decision import End, Free, Start, Tell
from pro0.model.message import MessageType
from pro0.model.runtime import SeatState, State
from pro0.model.task import Status, TaskList
from pro0.model.team import PLAN_LIMIT, PermissionMode, PlanGate, Seat
from pro0.rules.lead.permissions import permission_mode
from pro0.rules.lead.plan_approval import TURN_LIMIT, decided, goes_on, handed_in, lifted, may_decide, plan_id, view
from pro0.rules.tasks import changes
from pro0.rules.tasks.acts import Act, Request
from tests.rules.building import at
from tests.rules.building import task as a_task
from tests.rules.supervising import CONFIG, exited, held, kinds, look, only, recorded, seat, session
from tests.rules.supervising import decided as lead_decides

AGENT = Caller(Who.LEAD_AGENT, "lead", "inc-lead")
FRESH = seat(gate=PlanGate())
WAITING = handed_in(FRESH, "first this", "inc-w1", at(1))
APPROVED = decided(WAITING, "approved", THE_HUMAN, at(2), incarnation="inc-w1")
REJECTED = decided(WAITING, "rejected", THE_HUMAN, at(2), incarnation="", feedback="no")


def gate(of: Seat) -> PlanGate:
    assert of.gate
    return of.gate


def test_a_plan_waits_for_a_verdict() -> None:
    found = gate(WAITING)
    assert (found.text, found.stage, found.incarnation, found.at) == ("first this", "handed in", "inc-w1", at(1))
    assert (gate(FRESH).stage, gate(APPROVED).stage, gate(REJECTED).stage) == ("required", "approved", "rejected")
    assert gate(APPROVED) == replace(found, verdict="approved", by="human", decided_at=at(2))
    assert gate(REJECTED) == replace(found, verdict="rejected", by="human", feedback="no", decided_at=at(2))


def test_what_is_recorded_of_a_plan_and_of_its_verdict() -> None:
    fresh = seat(generation=3, gate=PlanGate())
    handed = handed_in(fresh, " first this ", "inc-w1", at(1))
    waiting = PlanGate(id=plan_id("w1", "inc-w1", "first this"), text="first this", incarnation="inc-w1", at=at(1))
    assert gate(handed) == waiting
    approved = decided(handed, "approved", AGENT, at(2), incarnation="inc-w1", about=waiting.id)
    assert gate(approved) == replace(waiting, verdict="approved", by="lead", decided_at=at(2))
    rejected = decided(handed, "rejected", THE_HUMAN, at(2), incarnation="", feedback="no")
    assert gate(rejected) == replace(waiting, verdict="rejected", by="human", feedback="no", decided_at=at(2))
    assert lifted(approved) == replace(approved, gate=replace(gate(approved), generation=3))
    assert lifted(seat()) == seat()


def test_a_plan_may_hold_anything_that_is_text() -> None:
    assert len(plan_id("w1", "i", "\ud800")) == 12


@pytest.mark.parametrize(
    ("generation", "of_gate", "of_seat", "goes"),
    [(1, 2, 2, True), (1, 2, 3, True), (2, 2, 2, False), (3, 2, 3, False), (1, 3, 2, False), (1, 0, 1, False)],
)
def test_who_goes_on_in_another_mode(generation: int, of_gate: int, of_seat: int, goes: bool) -> None:
    assert goes_on(seat(generation=of_seat, gate=PlanGate(generation=of_gate)), generation) is goes
    assert not goes_on(seat(generation=of_seat), generation)


def test_what_is_shown_of_a_plan() -> None:
    assert view(seat())["stage"] == ""
    assert view(FRESH) | {"stage": ""} == view(seat())
    shown = {"agentId": "w1", "text": "first this", "stage": "rejected", "at": at(1), "by": "human", "feedback": "no"}
    assert view(REJECTED) == {"id": gate(REJECTED).id, **shown}


def test_another_plan_takes_its_place_and_the_same_one_again_changes_nothing() -> None:
    assert handed_in(WAITING, " first this\n", "inc-w1", at(5)) is WAITING
    other = handed_in(WAITING, "first that", "inc-w1", at(5))
    again = handed_in(REJECTED, "first this", "inc-w1", at(5))
    assert gate(other).id != gate(WAITING).id
    assert (gate(again).stage, gate(again).feedback) == ("handed in", "")


REFUSED = {
    "nothing to hand in": (lambda: handed_in(seat(), "x", "i", at(1)), "no_plan_required"),
    "handed in after the approval": (lambda: handed_in(APPROVED, "x", "inc-w1", at(3)), "decided"),
    "no gate": (lambda: approve(seat()), "no_plan_required"),
    "no plan yet": (lambda: approve(FRESH), "no_plan"),
    "a second approval": (lambda: approve(APPROVED), "decided"),
    "an approval after a rejection": (lambda: approve(REJECTED), "decided"),
    "another plan than the one seen": (lambda: approve(WAITING, about="0123456789ab"), "stale_plan"),
    "another session": (lambda: approve(WAITING, incarnation="inc-2"), "stale_plan"),
    "no session": (lambda: approve(WAITING, incarnation=""), "stale_plan"),
    "a text that was edited": (lambda: approve(replace(WAITING, gate=replace(gate(WAITING), text="x"))), "stale_plan"),
}


def approve(of: Seat, *, incarnation: str = "inc-w1", about: str | None = None) -> Seat:
    return decided(of, "approved", THE_HUMAN, at(3), incarnation=incarnation, about=about)


@pytest.mark.parametrize(("act", "code"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(act, code) -> None:  # type: ignore[no-untyped-def]
    """Reliability 67: replay, double click, two who race, an edited plan, an older session."""
    with pytest.raises(Refused) as refused:
        act()
    assert (refused.value.code, refused.value.exit_code) == (code, 4)


def test_texts_have_limits() -> None:
    for said in ("", " \n", "x" * (PLAN_LIMIT + 1)):
        with pytest.raises(BadInput):
            handed_in(FRESH, said, "inc-w1", at(1))
    with pytest.raises(BadInput, match="say what is wrong"):
        decided(WAITING, "rejected", THE_HUMAN, at(2), incarnation="", feedback=" ")


@given(st.text(max_size=20), st.text(max_size=20))
def test_an_id_is_that_of_one_text_of_one_session(one: str, other: str) -> None:
    assert (plan_id("w1", "i", one) == plan_id("w1", "i", other)) is (
        one.encode(errors="replace") == other.encode(errors="replace")
    )
    assert plan_id("w1", "i", one) != plan_id("w1", "j", one)
    assert plan_id("w1", "i", one) != plan_id("w2", "i", one)


@pytest.mark.parametrize(
    ("who", "approver", "may"),
    [(THE_HUMAN, "human", True), (THE_HUMAN, "lead", True), (AGENT, "lead", True), (AGENT, "human", False)],
)
def test_who_decides(who: Caller, approver, may: bool) -> None:  # type: ignore[no-untyped-def]
    if may:
        may_decide(who, approver)
        return
    with pytest.raises(Refused) as refused:
        may_decide(who, approver)
    assert (refused.value.code, refused.value.exit_code) == ("not_allowed", 4)


@pytest.mark.parametrize(("of", "mode"), [(FRESH, "plan"), (WAITING, "plan"), (REJECTED, "plan"), (APPROVED, "bypass")])
def test_until_the_approval_it_may_only_plan(of: Seat, mode: str) -> None:
    wanted = look(session(), seats=[replace(of, permission_mode=PermissionMode.BYPASS)]).wanted
    assert permission_mode(wanted.seats[0], wanted, CONFIG) == mode


# What the lead does when a plan is approved

NEXT = lifted(replace(APPROVED, generation=2))


def test_an_idle_session_ends_and_the_next_one_begins() -> None:
    ending = lead_decides(look(session(), seats=[NEXT], now=3))
    assert [(end.incarnation, end.firm) for end in only(End, ending)] == [("inc-w1", False)]
    stopping = recorded(ending)
    assert stopping.state is State.STOPPING
    over = lead_decides(look(stopping, seats=[NEXT], now=4, reports=[exited()], dead=["w1"]))
    [start] = only(Start, over)
    assert recorded(over).generation == 2
    assert start.incarnation == recorded(over).incarnation
    assert [tell.to for tell in only(Tell, over)] == ["w1"], "it is no crash, and nobody else is told"


def test_a_working_session_may_end_its_turn_for_a_while() -> None:
    working = session(state=State.WORKING)
    limit = TURN_LIMIT.total_seconds()
    early = lead_decides(look(working, seats=[NEXT], now=2 + limit - 1))
    assert kinds(early) == []
    assert early.wake_at == at(2 + limit)
    assert only(End, lead_decides(look(working, seats=[NEXT], now=2 + limit)))


def test_what_a_session_gives_back_is_reserved_for_its_member_that_goes_on() -> None:
    """Nobody else can take it in between; what was reserved for it is not touched."""
    mine, others = replace(a_task(7), assignee="w1"), held(8, "w2")
    tasks = TaskList(tasks=(held(6), mine, others))
    died = Request(act=Act.DIED, caller=THE_LEAD, now=at(4), text="shutdown")
    kept = changes.free(tasks, "w1", "inc-w1", died, keep=True).tasks
    assert [(one.status, one.assignee, one.claim) for one in kept[:2]] == [(Status.PENDING, "w1", None)] * 2
    assert kept[1:] == (mine, others)
    assert [one.assignee for one in changes.free(tasks, "w1", "inc-w1", died).tasks] == [None, None, "w2"]


def test_what_it_holds_stays_its_own() -> None:
    """Its claims come back as reservations; what was reserved for it is left alone, so that nobody else takes it."""
    mine = replace(a_task(7), assignee="w1")
    ended = session(state=State.STOPPING, ending_since=at(2))
    over = lead_decides(look(ended, seats=[NEXT], now=4, reports=[exited()], dead=["w1"], tasks=[held(6), mine]))
    assert only(Free, over) == [Free("w1", "inc-w1", "shutdown: exit code None", keep=True)]
    assert not only(Start, over)
    reserved = look(recorded(over), seats=[NEXT], now=5, reports=[exited()], dead=["w1"], tasks=[mine])
    assert only(Start, lead_decides(reserved))


def approved_session(**fields: object) -> SeatState:
    return replace(session(generation=2), **fields)


def test_the_session_that_begins_with_the_approval_is_told_once() -> None:
    first = lead_decides(look(approved_session(), seats=[NEXT], now=5))
    [said] = [tell for tell in only(Tell, first) if tell.to == "w1"]
    assert (said.id, said.type) == (f"inc-w1:plan:{gate(NEXT).id}", MessageType.PLAN_APPROVAL_RESPONSE)
    assert "inc-w1:plan" in recorded(first).told
    assert "carry it out" in said.content
    assert not only(Tell, lead_decides(look(recorded(first), seats=[NEXT], now=6)))
    assert not only(End, first), "it is the session that was asked for"
    later = replace(NEXT, generation=3)
    assert not only(Tell, lead_decides(look(approved_session(generation=3), seats=[later], now=7)))


@pytest.mark.parametrize("of", [FRESH, WAITING, REJECTED])
def test_nothing_happens_before_the_approval(of: Seat) -> None:
    assert kinds(lead_decides(look(session(), seats=[of], now=3))) == []
