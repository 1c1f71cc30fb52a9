"""Files that cannot be read stop the lead from looking after nobody: only what needs them waits."""

import json
import os
from pathlib import Path

import pytest

from pro0.errors import Refused
from pro0.model.need import NeedKind
from pro0.model.runtime import Phase, State
from pro0.model.task import Draft, Status
from pro0.ops.tasks import tasks
from pro0.ops.team import costs, members, teams
from pro0.ops.team.members import SeatDraft
from tests.engine.crew import PATIENCE, Crew, gone, kill
from tests.engine.test_announcing import heard, is_over_its_cost, settings, there
from tests.waiting import wait_until

PROGRAM = SeatDraft(name="prog", agent="command", argv=("sleep", "300"))


def spoil(path: Path, how: str = "cut") -> bytes:
    """Make a file unreadable, and return what it held."""
    sound = path.read_bytes()
    other = path.with_name("spoilt")
    if how == "pipe":
        os.mkfifo(other)
    else:
        other.write_bytes(sound[: len(sound) // 2])
    other.replace(path)
    return sound


def mend(path: Path, sound: bytes) -> None:
    other = path.with_name("mended")
    other.write_bytes(sound)
    other.replace(path)


def troubles(alpha: Crew) -> list[str]:
    """What the lead has complained of."""
    logged = (json.loads(line) for line in alpha.log().splitlines())
    return [event["why"] for event in logged if event["event"] == "trouble"]


@pytest.mark.parametrize("how", ["cut", "pipe"])
def test_tasks_that_cannot_be_read(alpha: Crew, how: str) -> None:
    alpha.lead()
    alpha.spawn("w1", "w2", PROGRAM)
    held = alpha.give(Draft(title="t", run="sleep 300", assignee="w1"))[0]
    alpha.reaches("w1", State.WORKING)
    tasks = alpha.team.tasks.path
    sound = spoil(tasks, how)
    kill(alpha.report("w1").guard)
    alpha.reaches("w1", State.CRASHED)
    wait_until(lambda: len(alpha.notices("w1 has crashed")) == 1, PATIENCE, "it is told")
    assert alpha.shut_down("prog").state is State.SHUTDOWN
    alpha.spawn(SeatDraft(name="new", agent="command", argv=("sleep", "300")))
    assert [str(tasks) in why for why in troubles(alpha)] == [True]
    mend(tasks, sound)
    wait_until(lambda: alpha.task(held).claim is None or alpha.task(held).assignee != "w1", PATIENCE, "it is free")
    assert len(alpha.notices("w1 has crashed")) == 1


def test_a_team_is_stopped_whose_tasks_cannot_be_read(alpha: Crew) -> None:
    alpha.lead()
    alpha.spawn("w1", PROGRAM)
    held = alpha.give(Draft(title="t", run="sleep 300", assignee="w1"))[0]
    alpha.reaches("w1", State.WORKING)
    sound = spoil(alpha.team.tasks.path)
    alpha.stop(timeout=1, force=True)
    assert alpha.team.runtime.read().phase is Phase.STOPPED
    assert not alpha.left()
    mend(alpha.team.tasks.path, sound)
    assert alpha.task(held).status is Status.IN_PROGRESS
    teams.resume(alpha.context)
    alpha.lead()
    wait_until(lambda: alpha.task(held).epoch > 1, PATIENCE, "its new session has it")


@pytest.mark.parametrize("how", ["cut", "pipe"])
@pytest.mark.parametrize("whose", ["lead", "w1"])
def test_a_mailbox_that_cannot_be_read(alpha: Crew, whose: str, how: str) -> None:
    alpha.lead()
    alpha.spawn("w1", PROGRAM)
    box = alpha.team.mailbox(whose).head.path
    sound = spoil(box, how)
    kill(alpha.report("prog").guard)
    alpha.reaches("prog", State.CRASHED)
    if whose == "w1":
        with pytest.raises(Refused, match="w1 stays: it does not answer"):
            alpha.shut_down("w1", timeout=0.2)
        alpha.reaches("w1", State.UNRESPONSIVE)
    mend(box, sound)
    wait_until(lambda: len(alpha.notices("prog has crashed")) == 1, PATIENCE, "it is told in the end")
    assert alpha.shut_down("w1").state is State.SHUTDOWN


def test_what_a_broken_mailbox_is_owed_is_logged_once(alpha: Crew) -> None:
    """The lead tries again each round, as long as nobody repairs it."""
    alpha.lead()
    alpha.spawn("w1")
    held = alpha.give(Draft(title="t", run="sleep 300", assignee="w1"))[0]
    alpha.reaches("w1", State.WORKING)
    box = alpha.team.mailbox("w1").head.path

    def logged() -> int:
        return sum(event.get("action") == "deliver" for event in map(json.loads, alpha.log().splitlines()))

    before = logged()  # the lead may have been faster than who gave the task

    def tries() -> int:
        return logged() - before

    sound = spoil(box)
    tasks.cancel(alpha.context, held, "no")
    wait_until(lambda: tries() > 0, PATIENCE, "the lead tries")
    for name in ("w2", "w3"):  # rounds
        alpha.spawn(name)
    assert tries() == 1
    mend(box, sound)
    wait_until(lambda: not alpha.team.tasks.read().outbox, PATIENCE, "it is told after all")


def test_a_report_that_cannot_be_read(alpha: Crew) -> None:
    """Its guard is known from the record, and ends it all the same."""
    alpha.lead()
    alpha.spawn("w1", PROGRAM)
    report = alpha.report("prog")
    spoil(alpha.team.paths.sessions / alpha.team.paths.report(report.incarnation))
    kill(alpha.report("w1").guard)
    alpha.reaches("w1", State.CRASHED)
    alpha.stop(timeout=1, force=True)
    assert gone(report.guard)()
    assert alpha.team.runtime.read().phase is Phase.STOPPED


def test_a_cost_that_cannot_be_read_starts_nobody(alpha: Crew) -> None:
    """With a limit the team may have reached it; this is one need, and the same as that of the limit itself."""
    told = settings(alpha)
    members.spawn(alpha.context, [SeatDraft(name="w1")], 10)
    is_over_its_cost(alpha)
    [id] = there(alpha, NeedKind.COST)
    usage = alpha.team.usage.path
    sound = spoil(usage)
    alpha.lead()
    wait_until(lambda: heard(told) == [id], PATIENCE, "it is told")
    assert alpha.team.runtime.read().seats == ()
    mend(usage, sound)
    costs.limit(alpha.context, 100.0)
    wait_until(lambda: alpha.team.runtime.read().seats, PATIENCE, "it is started")
    alpha.reaches("w1", State.IDLE)
    assert heard(told) == [id]


def test_requests_that_cannot_be_read_are_announced_beside_all_else(alpha: Crew) -> None:
    """An agent may wait for an answer: this is one need, and it keeps no other from being told."""
    told = settings(alpha)
    alpha.lead()
    alpha.spawn("w1", PROGRAM)
    alpha.team.permissions.path.write_bytes(b"{")
    [id] = there(alpha, NeedKind.PERMISSION)
    wait_until(lambda: heard(told) == [id], PATIENCE, "it is told")
    kill(alpha.report("prog").guard)
    alpha.reaches("prog", State.CRASHED)
    wait_until(lambda: heard(told) == [id, *there(alpha, NeedKind.CRASH)], PATIENCE, "so is what comes after")
