"""A lead that dies while it opens sessions: the next one loses none and starts none twice."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0 import processes
from pro0.config import Settings
from pro0.engine import outcomes
from pro0.engine.background.services import services_of
from pro0.engine.log import Log
from pro0.engine.observe import Observer
from pro0.engine.record import Record
from pro0.model.runtime import SeatState, State
from pro0.ops.context import clock
from pro0.ops.team import members
from pro0.ops.team.members import SeatDraft
from tests.crash.lanes import a_few
from tests.engine.crew import PATIENCE, Crew, crew
from tests.waiting import wait_until

DYING = """
import os, signal, sys
from pro0.engine.opening import opening
from pro0.sessions import headless; from pro0.sessions.tmux import backend as tmux

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

def die_after(act):
    def once(*arguments, **options):
        act(*arguments, **options)
        die()
    return once

def dies(owner, name, act=die):
    getattr(owner, name)  # a point that nothing calls any more would never be reached
    setattr(owner, name, act)

point = sys.argv[1]
if point == "before the launch files":
    dies(opening.Opener, "_opening")
elif point == "after one launch file":
    opening.Opener._opening = die_after(opening.Opener._opening)
elif point == "before the places":
    dies(headless.Headless, "open"); dies(tmux.Tmux, "open")
elif point == "after one place":
    headless._start = die_after(headless._start)
    tmux.Tmux.open = die_after(tmux.Tmux.open)
elif point == "before the handles":
    dies(opening.Opener, "_record_handles")
elif point == "before the list":
    dies(opening.Opener, "_list_members")
from pro0.cli.main import main
sys.exit(main(["lead", "alpha"]))
"""
POINTS = [
    "before the launch files",
    "after one launch file",
    "before the places",
    "after one place",
    "before the handles",
    "before the list",
]
MODES = ("headless", "tmux", "in-process")
NAMES = ("w1", "w2", "w3")


@pytest.fixture
def either(
    request: pytest.FixtureRequest, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Crew]:
    """A team without lead and members."""
    monkeypatch.setenv("PRO0_END_GRACE_SECONDS", "1")
    monkeypatch.setenv("PRO0_REVIVE_LEAD", "0")
    with crew(home, tmp_path, request.param) as made:
        yield made


def spawn(team: Crew) -> None:
    """Ask for members that write down that they were started."""
    argv = ("sh", "-c", "echo $PRO0_INCARNATION >> started; exec sleep 600")
    members.spawn(team.context, [SeatDraft(name=name, agent="command", argv=argv) for name in NAMES], 10)


def die_at(team: Crew, point: str) -> dict[str, str]:
    """Let a lead die at a point, and return the incarnations that it has recorded."""
    process = subprocess.Popen([sys.executable, "-c", DYING, point], start_new_session=True, stdin=subprocess.DEVNULL)
    team.leads.append(process)
    assert process.wait(PATIENCE) == -signal.SIGKILL
    return {state.agent_id: state.incarnation for state in team.team.runtime.read().seats}


@pytest.mark.parametrize(("either", "point"), a_few(product(MODES, POINTS), 7), indirect=["either"])
def test_sessions_that_were_being_started(either: Crew, point: str) -> None:
    spawn(either)
    recorded = die_at(either, point)
    assert set(recorded) == set(NAMES)
    either.lead()
    up = outcomes.started(either.team, either.team.wanted.read().seats, either.shown.append)
    either.remember()
    assert {state.agent_id: state.incarnation for state in up} == recorded

    def placed() -> list[SeatState]:
        seats = either.team.runtime.read().seats
        listed = {member.session_id for member in either.team.config.read().members}
        whole = [s for s in seats if s.handle and s.guard and s.handle.pid == s.guard.pid and s.incarnation in listed]
        return whole if len(whole) == len(NAMES) else []

    wait_until(placed, PATIENCE, "it is known where each is shown")
    assert sorted((either.project / "started").read_text().split()) == sorted(recorded.values())
    assert not list(either.team.paths.sessions.glob("*.start.json"))
    assert [state.state for state in either.team.runtime.read().seats] == [State.RUNNING] * 3


@pytest.mark.parametrize("point", ["before the launch files", "before the places", "before the handles"])
def test_a_stop_that_was_asked_for_meanwhile(alpha: Crew, point: str) -> None:
    spawn(alpha)
    die_at(alpha, point)
    alpha.lead()
    alpha.stop()
    assert {state.state for state in alpha.team.runtime.read().seats} == {State.SHUTDOWN}
    assert alpha.left() == []


def starting(alpha: Crew) -> SeatState:
    """Record a session of w1 as a lead does before it opens it."""
    members.spawn(alpha.context, [SeatDraft(name="w1")], 10)
    now = clock()
    state = SeatState(agent_id="w1", generation=1, incarnation="inc-1", state=State.STARTING, since=now, started_at=now)
    with alpha.team.runtime.change("a test") as change:
        change.value = replace(change.value, seats=(state,))
    return state


def observer_of(alpha: Crew) -> Observer:
    services = services_of(alpha.team, Settings(), Log(alpha.team), list[object]().clear)
    return Observer(alpha.team, Settings(), services, Record(alpha.team), alpha.team.documents.lease())


def test_a_guard_that_has_yet_to_report_is_waited_for(alpha: Crew) -> None:
    """The launch file is gone then, and nothing of it is on disk."""
    state, observer = starting(alpha), observer_of(alpha)
    launch = alpha.team.paths.sessions / alpha.team.paths.launch(state.incarnation)
    assert observer.snapshot().unopened == {"inc-1": False}
    launch.touch()
    assert observer.snapshot().unopened == {"inc-1": True}
    guard = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", str(launch)])
    try:
        wait_until(lambda: processes.called_with({str(launch): "x"}), 10, "it runs")
        assert observer.snapshot().unopened == {}
        launch.unlink()
        assert observer.snapshot().unopened == {}
    finally:
        guard.kill()
        guard.wait()
    assert observer.snapshot().unopened == {"inc-1": False}


def test_a_session_that_was_given_up_is_left_until_its_guard_can_come_no_more(alpha: Crew) -> None:
    """The lead that gave it up died before it ended it: no other session of the member begins beside it."""
    state = replace(starting(alpha), state=State.CRASHED)
    with alpha.team.runtime.change("a test") as change:
        change.value = replace(change.value, seats=(state,))
    launch = alpha.team.paths.sessions / alpha.team.paths.launch(state.incarnation)
    launch.touch()
    observer = observer_of(alpha)
    assert observer.snapshot().leftovers == {"inc-1"}
    guard = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", str(launch)])
    try:
        wait_until(lambda: processes.called_with({str(launch): "x"}), 10, "it runs")
        launch.unlink()
        assert observer.snapshot().leftovers == {"inc-1"}
    finally:
        guard.kill()
        guard.wait()
    assert observer.snapshot().leftovers == frozenset()


def test_a_session_that_cannot_be_gone_on_with_is_given_up_once(alpha: Crew) -> None:
    starting(alpha)
    alpha.project.rmdir()
    alpha.lead()
    state = alpha.reaches("w1", State.CRASHED)
    assert "does not exist" in state.note
    assert [failure.agent_id for failure in alpha.team.runtime.read().failures] == ["w1"]
    os.mkdir(alpha.project)


def test_what_takes_the_place_is_not_what_another_process_was_called_with(alpha: Crew) -> None:
    assert processes.called_with({"no such argument": "x"}) == set()
