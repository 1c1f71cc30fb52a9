"""Sessions for tasks, with a real lead and real sessions: opened, reviewed in, gone on with, given up, ended."""

import json
from datetime import timedelta

import pytest
from msgspec.structs import replace

from pro0.engine import outcomes
from pro0.errors import EnvironmentMissing, Refused
from pro0.model.caller import THE_HUMAN, Caller, Who
from pro0.model.home import Role
from pro0.model.runtime import SeatState, State
from pro0.model.task import Draft, Policy, Status, Task
from pro0.ops.context import Context
from pro0.ops.tasks import gates, roles, tasks, trees
from pro0.ops.team import members, teams
from pro0.ops.team.members import SeatDraft
from pro0.ops.team.status import of_seat
from tests.engine.crew import PATIENCE, Crew, kill
from tests.waiting import wait_until


def start(alpha: Crew, id: str, agent: str | None = None) -> None:
    """Start a task as `pro0 task start` does."""
    outcomes.begun(alpha.team, trees.start(alpha.context, id, agent), alpha.shown.append)
    alpha.remember()


def seats(alpha: Crew) -> list[str]:
    """Who has a seat."""
    return [seat.agent_id for seat in alpha.team.wanted.read().seats]


def at_work(alpha: Crew, name: str) -> SeatState:
    """Wait until the session of a task works on it."""
    known = lambda: [s for s in alpha.team.runtime.read().seats if s.agent_id == name and s.state is State.WORKING]  # noqa: E731
    return wait_until(known, PATIENCE, f"{name} works")[0]


def unseated(alpha: Crew, *names: str) -> None:
    """Wait until seats are taken away."""
    wait_until(lambda: not set(names) & set(seats(alpha)), PATIENCE, f"{names} have no seat")


def test_who_waits_for_the_end_of_a_session_that_ends_with_its_task_is_told(alpha: Crew) -> None:
    """Its seat goes with it, and nobody waits for the end of what is not there."""
    alpha.lead()
    [id] = alpha.give(Draft(title="wait", run="sleep 1000"))
    start(alpha, id)
    at_work(alpha, "t1")
    seat = members.shutdown(alpha.context, "t1", timeout=PATIENCE)
    before = of_seat(alpha.context, seat)
    tasks.cancel(alpha.context, id)
    unseated(alpha, "t1")
    wait_until(lambda: alpha.team.runtime.read().seats == (), PATIENCE, "nothing is recorded of it")
    assert outcomes.shut_down(alpha.team, seat, alpha.shown.append) is None
    after = of_seat(alpha.context, seat)
    assert (before.state, before.note) != (after.state, after.note)
    assert (after.agent_id, after.state, after.note) == ("t1", State.SHUTDOWN, "it has ended and was removed")


def test_a_task_has_a_session_that_ends_with_it(alpha: Crew) -> None:
    """AC-41, S000-041 to S000-046: a new session with TASK_ID; what it leaves on disk stays."""
    alpha.lead()
    [id] = alpha.give(
        Draft(title="say who", role="engineer", run="echo $PRO0_TASK_ID-$PRO0_PARENT_TASK_ID-$PRO0_AGENT_ID")
    )
    start(alpha, id)
    [task] = alpha.settled(id)
    assert (task.status, task.policy) == (Status.COMPLETED, Policy.SUPERVISED)
    assert task.result == "task-1--engineer-t1"
    unseated(alpha, "engineer-t1")
    assert alpha.team.paths.log("engineer-t1").exists()
    assert alpha.team.mailbox("engineer-t1").exists()
    wait_until(lambda: alpha.team.runtime.read().seats == (), PATIENCE, "nothing is recorded of it")
    wait_until(lambda: alpha.team.config.read().members == (), PATIENCE, "nobody is listed")
    assert alpha.left() == []


def test_subtasks_run_in_order_one_at_a_time_and_the_parent_reviews_each(alpha: Crew) -> None:
    """AC-42, AC-43, rulings 2.4: by priority, each in its own session; the parent's is the same all the time."""
    alpha.lead()
    file = alpha.project / "order"
    run = f'echo "$PRO0_PARENT_TASK_ID $PRO0_TASK_ID" >> {file}'
    alpha.give(
        Draft(title="root", key="root"), *(Draft(title=f"s{n}", parent="root", priority=n, run=run) for n in (2, 0, 1))
    )
    start(alpha, "task-1")
    alpha.settled("task-1")
    assert file.read_text().splitlines() == ["task-1 task-3", "task-1 task-4", "task-1 task-2"]
    history = tasks.history(alpha.context, "task-1")
    assert [entry.act for entry in history].count("review") == 3
    assert len({entry.incarnation for entry in history if entry.act == "complete"}) == 1
    sessions = {tasks.show(alpha.context, f"task-{n}").session for n in (1, 2, 3, 4)}
    assert len(sessions) == 4


def test_one_that_cannot_be_opened_is_put_back(alpha: Crew) -> None:
    """AC-57: the task is pending again, without a session, and who asked is told why."""
    alpha.lead()
    [id] = alpha.give(Draft(title="t"))
    wished = trees.start(alpha.context, id, "opencode")
    with pytest.raises(EnvironmentMissing, match=r"cannot start task-1: opencode.* is not installed"):
        outcomes.begun(alpha.team, wished, alpha.shown.append)
    task = alpha.task(id)
    assert (task.status, task.claim, task.session, task.start) == (Status.PENDING, None, None, None)
    unseated(alpha, "t1")


def test_a_subtask_that_cannot_be_opened_stops_its_tree_once(alpha: Crew) -> None:
    """Rulings 2.8: it is not tried for ever; lead and human are told, a human decides."""
    alpha.lead()
    roles.add(alpha.store, THE_HUMAN, Role(id="absent", name="Absent", agent="command", argv=("/nothing/here",)))
    alpha.give(Draft(title="root", key="root"), Draft(title="sub", parent="root", role="absent"))
    start(alpha, "task-1")
    [sub] = alpha.settled("task-2")
    assert (sub.status, sub.epoch) == (Status.FAILED, 1)
    assert "no program '/nothing/here'" in sub.closed_reason
    wait_until(lambda: len(alpha.notices("task-2 has failed")) == 1, PATIENCE, "it is told")
    assert alpha.at_rest(PATIENCE).outcome.value == 1


def test_a_session_of_a_task_is_no_member_of_the_pool(alpha: Crew) -> None:
    """Rulings 3.11: not counted among the teammates, not restarted, claims nothing else."""
    alpha.lead()
    alpha.give(Draft(title="long", run="sleep 100"), Draft(title="other", run="true"))
    start(alpha, "task-1")
    outcomes.started(alpha.team, members.spawn(alpha.context, [SeatDraft(name="w1")], 1), alpha.shown.append)
    alpha.settled("task-2")
    assert alpha.task("task-2").assignee == "w1"
    state = alpha.state("t1")
    theirs = Context(alpha.team, Caller(Who.MEMBER, "t1", state.incarnation))
    alpha.give(Draft(title="third"))
    with pytest.raises(Refused, match="this session is for task-1 only"):
        tasks.claim(theirs, "task-3")
    tasks.cancel(alpha.context, "task-1")
    unseated(alpha, "t1")
    with pytest.raises(Refused, match="w1 is running"):
        members.restart(alpha.context, "w1")


def test_a_dead_session_fails_its_task_and_retry_opens_another(alpha: Crew) -> None:
    """Rulings 2, proved death; AC-46, AC-58."""
    alpha.lead()
    file = alpha.project / "go"
    alpha.give(Draft(title="t", run=f"test -e {file} || sleep 100"))
    start(alpha, "task-1")
    first = at_work(alpha, "t1")
    with pytest.raises(Refused, match="task-1 is claimed by t1"):
        trees.start(alpha.context, "task-1")
    assert first.guard
    kill(first.guard)
    [task] = alpha.settled("task-1")
    assert (task.status, task.closed_reason) == (Status.FAILED, "t1 crashed: its guard was killed")
    with pytest.raises(Refused, match="the session that worked on task-1 has ended"):
        gates.go_on(alpha.context, "task-1")
    file.touch()
    gates.retry(alpha.context, "task-1")
    start(alpha, "task-1")
    assert [task.status for task in alpha.settled("task-1")] == [Status.COMPLETED]
    assert alpha.task("task-1").session != first.incarnation


def test_continue_goes_on_in_the_same_session(alpha: Crew) -> None:
    """AC-46, must show 3: a failing subtask stops its tree; task continue takes it up where it was."""
    alpha.lead()
    file = alpha.project / "go"
    alpha.give(
        Draft(title="root", key="root"),
        Draft(title="first", parent="root", run=f"test -e {file}"),
        Draft(title="second", parent="root", run="true"),
    )
    start(alpha, "task-1")
    alpha.settled("task-2")
    session = alpha.task("task-2").session
    alpha.at_rest(PATIENCE)
    assert alpha.task("task-3").status is Status.PENDING
    file.touch()
    gates.go_on(alpha.context, "task-2", "now it is there")
    alpha.settled("task-1", "task-2", "task-3")
    assert alpha.task("task-2").session == session
    assert len(alpha.notices("task-2 has failed")) == 1
    [said] = alpha.mail("t2")
    assert said.content.startswith("task-2 (first): a person lets you go on; it had failed with ")
    assert said.content.endswith("\nnow it is there")
    assert sum("task-2 has failed" in m.content for m in alpha.mail("t1")) == 1


def test_what_takes_too_long_has_failed_and_its_session_is_ended(alpha: Crew) -> None:
    """AC-49, rulings 2.7: the parent, done, is not touched."""
    alpha.lead()
    alpha.give(Draft(title="root", key="root"), Draft(title="long", parent="root", run="sleep 100"))
    start(alpha, "task-1")
    at_work(alpha, "t2")
    with alpha.team.tasks.change("half an hour passes") as change:
        change.value = replace(change.value, tasks=tuple(map(_aged, change.value.tasks)))
    [task] = alpha.settled("task-2")
    assert task.closed_reason == "timed out: in progress for more than taskTimeoutMinutes (30)"
    unseated(alpha, "t2")
    assert alpha.task("task-1").status is Status.DONE


def _aged(task: Task) -> Task:
    then = task.claim and replace(task.claim, claimed_at=task.claim.claimed_at - timedelta(minutes=31))
    return replace(task, claim=then)


def test_a_parent_that_died_is_started_again_and_gets_what_it_missed(alpha: Crew) -> None:
    """AC-45, S003-028 to S003-031, rulings 2.4."""
    alpha.lead()
    file = alpha.project / "go"
    wait_for = f"while ! test -e {file}; do sleep 0.05; done"
    alpha.give(
        Draft(title="root", key="root"),
        Draft(title="first", parent="root", run=wait_for),
        Draft(title="second", parent="root", run="true"),
    )
    start(alpha, "task-1")
    at_work(alpha, "t2")
    parent = alpha.state("t1")
    assert parent.guard
    kill(parent.guard)
    wait_until(lambda: alpha.task("task-1").claim is None, PATIENCE, "its death is proved")
    file.touch()
    alpha.settled("task-2")
    alpha.at_rest(PATIENCE)
    assert alpha.task("task-1").status is Status.DONE
    assert alpha.task("task-3").status is Status.PENDING
    assert any("task-1 waits for its subtasks without a session" in text for text in alpha.notices("t1 has crashed"))
    start(alpha, "task-1")
    alpha.settled("task-1", "task-3")
    assert json.dumps([m.content for m in alpha.mail("t1")]).count("completed task-2") == 1
    assert alpha.task("task-1").session != parent.incarnation


def test_nothing_is_opened_while_the_team_is_paused(alpha: Crew) -> None:
    """Rulings 3.9."""
    alpha.lead()
    alpha.give(Draft(title="root", key="root"), Draft(title="sub", parent="root", run="true"))
    teams.pause(alpha.context, paused=True)
    with pytest.raises(Refused, match="paused"):
        trees.start(alpha.context, "task-1")
    teams.pause(alpha.context, paused=False)
    start(alpha, "task-1")
    alpha.settled("task-1")
