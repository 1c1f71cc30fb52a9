"""Time that jumps or stands still: no wrong signal, no false end (issue 3, must show 10; anchors 57, 64b)."""

import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pro0 import processes
from pro0.model.runtime import Process, State
from pro0.model.task import Draft, Status
from pro0.ops.context import TEAM_UID
from pro0.ops.team.members import SeatDraft
from tests import elsewhere
from tests.crash.lanes import LANES, SOAK, TEST, counted
from tests.engine.crew import PATIENCE, Crew
from tests.programs import skewed
from tests.scenarios.conftest import crew_in
from tests.scenarios.leads import leader, one_after_the_other
from tests.waiting import wait_until

DAY = 86400
JUMPS = pytest.mark.parametrize("seconds", [DAY, -DAY], ids=["a-day-on", "a-day-back"])
LOOKS = 2.5
"""Seconds in which a lead looks at least once."""
SUSPENDED = {SOAK: 20}
"""Seconds for which everything is stopped: in the soak longer than anything that a lead or a guard waits for."""
NAMES = ("w1", "w2", "prog")


class Clock:
    """The wall clock of a lead."""

    def __init__(self, file: Path) -> None:
        self.file = file
        file.write_text("0")

    def set(self, seconds: float) -> None:
        """Let it be wrong by so many seconds, and the lead look."""
        new = self.file.with_suffix(".new")
        new.write_text(str(seconds))
        new.rename(self.file)
        time.sleep(LOOKS)


@pytest.fixture
def clock(tmp_path: Path) -> Clock:
    return Clock(tmp_path / "offset")


@pytest.fixture(params=["headless", elsewhere.MODES[0]])
def team(
    request: pytest.FixtureRequest,
    brief: None,
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    clock: Clock,
) -> Iterator[Crew]:
    """A team whose lead has that clock, with one who works, one who is idle, and a program; another machine has not."""
    with crew_in(request.param, home, tmp_path, monkeypatch) as made:
        made.lead(sys.executable, skewed.__file__, str(clock.file), "pro0")
        made.spawn("w1", "w2", SeatDraft(name="prog", agent="command", argv=("sleep", "600")))
        made.give(Draft(title="long", run="while ! test -e go; do sleep 0.05; done; echo done", assignee="w1"))
        made.reaches("w1", State.WORKING)
        yield made


@JUMPS
def test_the_clock_jumps_while_a_team_works(team: Crew, clock: Clock, seconds: float) -> None:
    before = team.pids()
    for wrong in (seconds, 0):
        clock.set(wrong)
        assert [task.assignee for task in team.settled(*team.give(Draft(title="t", run="true")))] == ["w2"]
        assert team.pids() == before
    (team.place / "go").touch()
    assert team.settled("task-1")[0].status is Status.COMPLETED
    assert team.notices("crashed") == []
    counted(TEST, "jumps", str(seconds), 2)
    team.stop()
    assert [team.state(name).state for name in NAMES] == [State.SHUTDOWN] * 3


@JUMPS
def test_the_clock_jumps_while_a_team_stops(team: Crew, clock: Clock, seconds: float) -> None:
    """Who works has as long as was said, by seconds that pass."""
    with ThreadPoolExecutor(1) as pool:
        stop = pool.submit(team.stop, timeout=30, force=True)  # which prog needs, whole
        wait_until(lambda: any("not yet" in line for line in team.shown), PATIENCE, "it is asked")
        clock.set(seconds)
        assert not stop.done(), stop.result()
        assert team.state("w1").state is State.WORKING
        (team.place / "go").touch()
        stop.result()
    assert team.task("task-1").status is Status.COMPLETED
    assert team.notices("crashed") == []
    counted(TEST, "jumps", f"{seconds} while stopping", 1)


def stop_all(team: Crew, lead: Process) -> list[Process]:
    """Stop everything of a team, what is being started meanwhile too, and return it."""
    stopped: list[Process] = []
    while new := [one for one in (lead, *team.seen, *tagged(team)) if one not in stopped]:
        stopped += [one for one in new if processes.signal_process(one, signal.SIGSTOP)]
    return stopped


def tagged(team: Crew) -> list[Process]:
    return processes.tagged(TEAM_UID, [team.config.uid])[team.config.uid]


@pytest.mark.parametrize("lane", LANES)
def test_everything_stands_still_and_goes_on(alpha: Crew, lane: str) -> None:
    """As when a lid is closed: lead, guards, agents and what they run are stopped, and continued."""
    alpha.spawn(*NAMES[:2])
    before, lead = alpha.pids(), leader(alpha)
    assert lead
    [id] = alpha.give(Draft(title="long", run="while ! test -e go; do sleep 0.05; done", assignee="w1"))
    alpha.reaches("w1", State.WORKING)
    stopped = stop_all(alpha, lead)
    time.sleep(SUSPENDED.get(lane, 3))
    gone = [one for one in stopped if not processes.signal_process(one, signal.SIGCONT)]
    assert not {lead, *alpha.seen} & {*gone}  # a sleep may have ended while its shell was yet to be stopped
    assert [task.assignee for task in alpha.settled(*alpha.give(Draft(title="t", run="true")))] == ["w2"]
    (alpha.place / "go").touch()
    assert alpha.settled(id)[0].status is Status.COMPLETED
    assert (alpha.pids(), leader(alpha), alpha.notices("crashed")) == (before, lead, [])
    assert len(one_after_the_other(alpha)) == 1
    counted(lane, "suspends", alpha.config.mode, 1)
