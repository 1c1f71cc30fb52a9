"""A session that ended a moment ago: what is told of it before the lead has noticed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0 import processes
from pro0.errors import Refused
from pro0.model.runtime import Exit, Hosted, Process, Report, State
from pro0.ops.team import members, status
from pro0.ops.team.members import SeatDraft
from pro0.store.files import File
from pro0.store.teams import TeamStore
from tests.teams import NOW, human, make_team


@pytest.fixture
def dead() -> Process:
    """The identity of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        found = processes.identify(process.pid)
        assert found
    return found


def ended(
    team: TeamStore, dead: Process, how: Exit | None, said: State = State.CRASHED, *, asked: bool = False
) -> None:
    """Let a session and its guard be dead, with this as the guard's last report; the lead knows nothing of it."""
    with team.runtime.change("a test") as change:
        [seat] = change.value.seats
        seat = replace(seat, guard=dead, agent=dead, ending_since=NOW if asked else None)
        change.value = replace(change.value, seats=(seat,))
    report = Report(agent_id="w1", incarnation="inc-w1", guard=dead, state=said, since=NOW, exit=how)
    (team.paths.sessions).mkdir(exist_ok=True)
    File(team.paths.sessions, team.paths.report("inc-w1"), Report).create(report)


@pytest.mark.parametrize(
    ("how", "said", "asked", "told"),
    [
        (None, State.WORKING, False, (State.CRASHED, "its session has died")),
        (Exit(at=NOW, code=3), State.CRASHED, False, (State.CRASHED, "exit code 3")),
        (Exit(at=NOW, code=3, output="one\ntwo"), State.CRASHED, False, (State.CRASHED, "exit code 3: one / two")),
        (Exit(at=NOW, signal=9), State.CRASHED, False, (State.CRASHED, "killed by signal 9")),
        (Exit(at=NOW, code=0), State.EXITED, False, (State.EXITED, "exit code 0")),
        (Exit(at=NOW, code=0), State.EXITED, True, (State.SHUTDOWN, "exit code 0")),
        (Exit(at=NOW, signal=15), State.CRASHED, True, (State.SHUTDOWN, "killed by signal 15")),
    ],
)
def test_it_is_told_as_its_guard_reported_it(
    home: Path, dead: Process, how: Exit | None, said: State, asked: bool, told: tuple[State, str]
) -> None:
    """Who left when asked has not crashed, not even for the moment until the lead has seen it."""
    team = make_team(home, "w1")
    ended(team, dead, how, said, asked=asked)
    [member] = status.status(human(team)).members
    assert (member.state, member.note) == told


def test_a_report_that_cannot_be_read_tells_nothing(home: Path, dead: Process) -> None:
    team = make_team(home, "w1")
    ended(team, dead, Exit(at=NOW, code=0), State.EXITED)
    os.truncate(team.paths.sessions / team.paths.report("inc-w1"), 10)
    [member] = status.status(human(team)).members
    assert (member.state, member.note) == (State.CRASHED, "its session has died")


def test_whoever_is_told_of_the_end_can_begin_the_seat_anew(home: Path, dead: Process) -> None:
    """By its name or by a restart, before the lead has noticed; not while a process of it lives."""
    team = make_team(home, "w1")
    ended(team, dead, Exit(at=NOW, code=0), State.EXITED)
    with team.runtime.change("a test") as change:
        [seat] = change.value.seats
        change.value = replace(change.value, seats=(replace(seat, guard=processes.identify(os.getpid())),))
    with pytest.raises(Refused, match="w1 is running"):
        members.restart(human(team), "w1")
    with pytest.raises(Refused, match="there is a member w1 already"):
        members.spawn(human(team), [SeatDraft(name="w1")], 10)
    with pytest.raises(Refused, match="alpha has 1 member already"):
        members.spawn(human(team), [SeatDraft(name="w2")], 1)
    ended(team, dead, Exit(at=NOW, code=0), State.EXITED)
    assert members.restart(human(team), "w1").generation == 2
    with pytest.raises(Refused, match="w1 is running"):
        members.restart(human(team), "w1")


def test_whoever_is_told_of_the_end_can_have_another_in_its_place(home: Path, dead: Process) -> None:
    """A member that has ended does not count among the most that a team may have."""
    team = make_team(home, "w1")
    ended(team, dead, None)
    assert [seat.agent_id for seat in members.spawn(human(team), [SeatDraft(name="w2")], 1)] == ["w2"]


def test_a_start_that_waits_for_another_machine_says_so(home: Path) -> None:
    """behaviour 3.32: until that machine has ended the last session no new one starts."""
    team = make_team(home, "w1")
    with team.wanted.change("a test") as change:
        [seat] = change.value.seats
        change.value = replace(change.value, seats=(replace(seat, host="build1", generation=seat.generation + 1),))
    assert status.status(human(team)).members[0].note == ""
    last = Hosted(
        agent_id="w1", incarnation="inc-w1", there="t", host="build1", ssh="ssh", team="alpha", project="/", argv=("x",)
    )
    team.paths.sessions.mkdir(exist_ok=True)
    File(team.paths.sessions, team.paths.hosted("inc-w1"), Hosted).create(last)
    [member] = status.status(human(team)).members
    assert (member.state, member.note) == (
        State.STARTING,
        "starts once build1 confirms that its last session has ended",
    )
