"""What the lead records of a session and of its team, field by field; most of it is seen by nothing else it does."""

from typing import Any

import pytest
from msgspec.structs import replace

from pro0.model.decision import End, Prepare, Snapshot, Start, Tell, WorkFolder
from pro0.model.runtime import Exit, Handle, RateLimit, Refusal, SeatState, State
from pro0.model.task import Status
from pro0.model.team import Wish
from tests.rules.building import at, task
from tests.rules.supervising import (
    AGENT,
    GUARD,
    decided,
    exited,
    held,
    kinds,
    led,
    look,
    only,
    recorded,
    report,
    said,
    seat,
    session,
    wish,
)

HANDLE = Handle(backend="tmux", incarnation="inc-w1", pane="%1")


def starting() -> SeatState:
    return session(state=State.STARTING, guard=None, agent=None, since=at(-3), started_at=at(-3))


def unopened(**fields: object) -> Snapshot:
    """A session that is recorded, and of which its lead had started nothing when it died."""
    snapshot = look(starting(), reports=[], dead=["w1"], now=2)
    return replace(snapshot, unopened={"inc-w1": True}, **fields)


def test_the_guard_and_the_agent_are_those_of_the_report() -> None:
    after = recorded(decided(look(starting(), reports=[report(state=State.WORKING)])))
    assert (after.guard, after.agent) == (GUARD, AGENT)


def test_what_is_known_by_the_agents_own_word_is_not_overwritten_by_its_guard() -> None:
    """The guard knows only that the agent runs."""
    known = session(state=State.WORKING, source="screen", note="Bash(make)", rule="r")
    after = recorded(decided(look(known, reports=[report(state=State.RUNNING, note="n", task="task-1")])))
    assert (after.state, after.note, after.since, after.task) == (State.WORKING, "Bash(make)", known.since, "task-1")


def test_a_report_of_the_same_moment_is_no_news_of_an_unresponsive_member() -> None:
    silent = session(state=State.UNRESPONSIVE, since=at(-5))
    assert recorded(decided(look(silent, reports=[report(since=at(-5))]))).state is State.UNRESPONSIVE


@pytest.mark.parametrize("why", ["the team stops", "the member is to end"])
def test_a_session_that_was_never_opened_is_not_opened_to_be_ended(why: str) -> None:
    snapshot = unopened()
    wanted = replace(snapshot.wanted, wish=Wish.STOP, stop=wish()) if why == "the team stops" else snapshot.wanted
    if why == "the member is to end":
        wanted = replace(wanted, seats=(seat(shutdown=wish()),))
    decision = decided(replace(snapshot, wanted=wanted))
    after = recorded(decision)
    assert (after.state, after.since, after.note) == (State.SHUTDOWN, at(2), "it was never started")
    assert only(End, decision) == [End("w1", "inc-w1", firm=True)]
    assert not only(Start, decision)


@pytest.mark.parametrize("waits_for", ["nothing", "its worktree", "its provider"])
def test_a_member_that_is_called_off_is_never_started(waits_for: str) -> None:
    """3.9: whatever it still waited for, and without being asked; a restart begins anew."""
    off = seat(shutdown=wish(), worktree=waits_for == "its worktree")
    snapshot = look(seats=[off], now=2)
    if waits_for == "its provider":
        limit = RateLimit(agent="shell", since=at(0), at=at(0), until=at(60), note="429")
        snapshot = replace(snapshot, runtime=replace(snapshot.runtime, limits=(limit,)))
        assert not only(Start, decided(replace(snapshot, wanted=replace(snapshot.wanted, seats=(seat(),)))))
    decision = decided(snapshot)
    after = recorded(decision)
    assert (after.state, after.generation, after.since) == (State.SHUTDOWN, 1, at(2))
    assert after.note == "it was never started"
    then = decided(replace(snapshot, runtime=decision.runtime))
    assert recorded(then) == after
    assert not [action for one in (decision, then) for action in one.actions if isinstance(action, Start | Prepare)]


def test_a_member_that_is_called_off_waits_for_the_remains_of_its_last_session() -> None:
    over = session(state=State.CRASHED, session="s-1", worktree="/t", branch="b")
    off = seat(generation=2, shutdown=wish(), worktree=True)
    snapshot = look(over, seats=[off], dead=["w1"])
    left = replace(snapshot, leftovers=frozenset({"inc-w1"}))
    assert recorded(decided(left)).state is State.CRASHED
    after = recorded(decided(snapshot))
    assert (after.state, after.generation) == (State.SHUTDOWN, 2)
    assert (after.session, after.worktree, after.branch) == ("s-1", "/t", "b"), "what it had stays known"


def test_a_session_that_was_never_opened_is_opened_as_the_same_one() -> None:
    """With the time of a new one, so that its guard has all the time that a guard may take."""
    decision = decided(unopened())
    assert only(Start, decision) == [Start(seat(), "inc-w1", True, WorkFolder())]
    after = recorded(decision)
    assert (after.state, after.since, after.started_at) == (State.STARTING, at(2), at(2))
    apart = seat(worktree=True)
    waiting = replace(unopened(), wanted=replace(unopened().wanted, seats=(apart,)))
    assert only(Prepare, decided(waiting)) == [Prepare(apart)]
    ready = replace(waiting, worktree_jobs={("w1", 1): WorkFolder(path="/t", branch="b")})
    assert only(Start, decided(ready)) == [Start(apart, "inc-w1", True, WorkFolder(path="/t", branch="b"))]


def gone_on(**fields: Any) -> Snapshot:
    """A session that another machine may still run, whose guard here ended with a restart of this machine."""
    state = session(state=State.WORKING, handle=HANDLE, worktree="/t", source="transcript", **fields)
    snapshot = look(state, seats=[seat(worktree=True)], reports=[], dead=["w1"], tasks=[held(1)], now=2)
    return replace(snapshot, unopened={"inc-w1": False}, elsewhere=frozenset({"inc-w1"}))


def test_a_session_that_goes_on_elsewhere_gets_a_new_guard_after_a_restart() -> None:
    """behaviour 3.32: the same session, with its claim; its code is there already."""
    decision = decided(gone_on())
    assert only(Start, decision) == [Start(seat(worktree=True), "inc-w1", False, WorkFolder(path="/t"))]
    after = recorded(decision)
    assert (after.state, after.guard, after.handle, after.source) == (State.STARTING, None, None, "")
    assert kinds(decision) == ["Start"]


def test_a_session_that_was_being_ended_at_a_restart_gets_no_new_guard() -> None:
    """Its machine is asked to end it (behaviour 3.32)."""
    decision = decided(gone_on(ending_since=at(-1)))
    after = recorded(decision)
    assert (after.state, after.note) == (State.SHUTDOWN, "the team's machine has restarted")
    assert not only(Start, decision)


def test_where_another_lead_has_opened_it_is_taken_over() -> None:
    snapshot = replace(look(session()), handles={"inc-w1": HANDLE})
    assert recorded(decided(snapshot)).handle == HANDLE
    assert recorded(decided(look(session(handle=HANDLE)))).handle == HANDLE


def test_one_that_never_came_up_ended_now() -> None:
    assert recorded(decided(look(starting(), reports=[], now=60))).since == at(60)


@pytest.mark.parametrize(("fresh", "own"), [(False, "s-1"), (True, "")])
def test_a_new_session_goes_on_with_the_agents_own_one(fresh: bool, own: str) -> None:
    """Unless a new one was asked for; it works where its seat's worktree is."""
    wanted = seat(generation=2, fresh=fresh, worktree=True)
    snapshot = look(session(state=State.CRASHED, session="s-1"), seats=[wanted], dead=["w1"])
    snapshot = replace(snapshot, worktree_jobs={("w1", 2): WorkFolder(path="/t", branch="b")})
    decision = decided(snapshot)
    after = recorded(decision)
    assert (after.session, after.worktree, after.branch) == (own, "/t", "b")
    assert [start.work_folder for start in only(Start, decision)] == [WorkFolder(path="/t", branch="b")]


def test_a_paused_team_starts_its_members_and_one_without_money_nobody() -> None:
    """Rulings 3: a pause stops the work on tasks."""
    assert only(Start, decided(look(seats=[seat()], paused=True)))
    assert not only(Start, decided(look(seats=[seat(task="task-1")], tasks=[task(1)], paused=True)))
    spent = look(seats=[seat()])
    assert not only(Start, decided(replace(spent, spent=1.0, wanted=replace(spent.wanted, max_cost=1.0))))


def test_a_restart_that_has_to_wait_is_looked_at_soon() -> None:
    decision = decided(look(session(state=State.CRASHED, since=at(-1)), seats=[seat(generation=2)], leftovers=["w1"]))
    assert decision.wake_at == at(0.2)


@pytest.mark.parametrize(("end", "told"), [(Exit(at=at(-1), code=1), False), (Exit(at=at(-1), signal=9), True)])
def test_how_a_run_is_over_is_said_where_it_was_asked_for(end: Exit, told: bool) -> None:
    """Unless it was killed: then nobody else says so."""
    runner = session("runner", state=State.CRASHED, exit=end)
    decision = decided(look(runner, seats=[seat("runner", agent="runner")], dead=["runner"]))
    assert bool(only(Tell, decision)) is told


def test_of_a_dead_session_of_a_task_only_what_waits_without_it_is_told() -> None:
    """Rulings 2.8: of a task in progress its failure says so."""
    for status, told in ((Status.IN_PROGRESS, False), (Status.DONE, True)):
        mine = replace(held(1), status=status)
        crashed = look(session(), seats=[seat(task="task-1")], tasks=[mine], dead=["w1"])
        assert bool([tell for tell in only(Tell, decided(crashed)) if ":ended" in tell.id]) is told


def test_the_last_result_is_its_own() -> None:
    mine = replace(held(1), status=Status.COMPLETED, result="mine", claim=None, updated_at=at(-9))
    others = replace(held(2, "w2"), status=Status.COMPLETED, result="theirs", claim=None, updated_at=at(-1))
    busy = replace(held(3), status=Status.CANCELLED, claim=None, updated_at=at(-1))
    decision = decided(led(look(session(told=(), since=at(-60)), tasks=[mine, others, busy])))
    assert [tell.content for tell in only(Tell, decision)] == ["w1 is idle; last: task-1 completed: mine"]


def test_what_was_told_of_the_cost_is_remembered_and_only_so_much() -> None:
    seen = look()
    full = replace(seen.runtime, told=tuple(f"t{number}" for number in range(30)))
    over = replace(seen, spent=9.0, wanted=replace(seen.wanted, max_cost=10.0), runtime=full)
    told = decided(over).runtime.told
    assert told == (*full.told[-19:], "uid:cost:warning:10")


def test_a_refusal_says_who_stays_and_why_the_newest_last() -> None:
    busy = seat(answer=said(approve=False, reason="busy"))
    seen = look(session(asked="ask-1", asked_at=at(0)), seats=[busy], stop=wish(), now=60)
    many = replace(seen.runtime, refusals=tuple(Refusal(request_id=f"r{number}") for number in range(20)))
    refusals = decided(replace(seen, runtime=many)).runtime.refusals
    assert [one.request_id for one in refusals] == [*(f"r{number}" for number in range(1, 20)), "ask-1"]
    assert refusals[-1].stayed == {"w1": "not yet: busy"}


def test_an_end_that_was_reported_counts_from_then() -> None:
    after = recorded(decided(look(session(), reports=[exited(code=0)], dead=["w1"])))
    assert (after.state, after.since, after.exit) == (State.EXITED, at(-1), Exit(at=at(-1), code=0))
