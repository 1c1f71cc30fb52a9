"""Endings need no disk: by force all end on a full one, and it is recorded when there is room (reliability 13, 14)."""

import errno
import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from pro0.model.runtime import Phase, State
from pro0.model.task import Draft, Status
from pro0.ops.tasks import tasks
from pro0.ops.team import members, teams
from pro0.ops.team.members import SeatDraft
from tests import elsewhere
from tests.crash.lanes import LANES, SOAK, a_few, counted
from tests.crash.test_outside import may_mount
from tests.engine.crew import PATIENCE, Crew, crew, gone
from tests.programs import full
from tests.teams import member
from tests.waiting import wait_until

ENDINGS = (
    ("member", "shutdown", "w1", "-t", "alpha", "--force"),
    ("team", "stop", "alpha", "--force"),
    ("team", "cleanup", "alpha", "--force"),
)
STUCK = 240
ROOM = {"bytes": "size=128m", "inodes": "size=128m,nr_inodes=160"}
SMALL_DISK = 'mount -t tmpfs -o "$1,mode=700" none "$2" && shift 2 && exec "$@"'
ROOT = Path(full.__file__).parents[2]


@pytest.mark.skipif(not may_mount(), reason="a full tmpfs needs root and unshare")
@pytest.mark.parametrize(("what", "mode", "ending"), a_few(product(ROOM, ("headless", "tmux"), ENDINGS), 4))
def test_who_fills_the_disk_is_ended(home: Path, tmp_path: Path, mode: str, what: str, ending: tuple[str, ...]) -> None:
    """By a member that goes on filling it, with real processes; nobody comes back, all is true with room."""
    home.mkdir()
    (project := tmp_path / "project").mkdir()
    program = [sys.executable, "-m", "tests.scenarios.full_disk", str(home), mode, what, *ending]
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", SMALL_DISK, "sh", ROOM[what], str(home), *program],
        capture_output=True,
        text=True,
        cwd=project,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PRO0_END_GRACE_SECONDS": "1"},
        timeout=STUCK,
    )
    assert done.stdout.endswith("held\n"), done.stdout + done.stderr
    counted("test", "endings on a full disk", f"{what} {mode} {' '.join(ending[:2])}", 1)


FROM = {SOAK: range(1, 13)}
CODES = (errno.ENOSPC, errno.EDQUOT)


@pytest.mark.parametrize("lane", LANES)
@pytest.mark.parametrize("whole", [False, True], ids=["a member", "the team"])
@pytest.mark.parametrize("mode", ["headless", elsewhere.MODES[0]])
def test_a_lead_that_can_write_no_more_ends_them_all_the_same(
    brief: None, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, lane: str, whole: bool
) -> None:
    """The lead meets it at its n-th write of an ending; with room the claim is given back once, and all is recorded."""
    numbers = FROM.get(lane, range(1, 8, 3))
    with elsewhere.machine_for(mode, tmp_path, monkeypatch) as machine:
        for number in numbers:
            flag = tmp_path / f"full-{number}"
            code = CODES[number % 2]
            (folder := tmp_path / str(number)).mkdir()
            with crew(home.with_name(f"home-{number}"), folder, elsewhere.mode_here(mode), machine) as alpha:
                alpha.lead(sys.executable, full.__file__, str(flag), str(number), str(code))
                _lead_ends(alpha, flag, whole=whole)
    counted(lane, "endings of a lead", "team" if whole else "member", len(numbers))


def _lead_ends(alpha: Crew, flag: Path, *, whole: bool) -> None:
    alpha.spawn(SeatDraft(name="w1", agent="command", argv=("sleep", "1000")))
    alpha.give(Draft(title="a task"))
    state, reports = alpha.state("w1"), (alpha.report("w1"), alpha.report_there("w1"))
    tasks.claim(member(alpha.team, "w1", state.incarnation), "1")
    everyone = [process for report in reports for process in (report.guard, report.agent) if process]
    assert len(everyone) == 4
    flag.touch()
    if whole:
        teams.stop(alpha.context, timeout=0, force=True)
    else:
        members.shutdown(alpha.context, "w1", timeout=0, force=True)
    wait_until(gone(*everyone), STUCK, "guard and agent are gone")
    assert alpha.leads[-1].poll() in (None, 0)
    flag.unlink()
    wait_until(lambda: alpha.state("w1").state is State.SHUTDOWN, PATIENCE, "the end is recorded")
    wait_until(lambda: alpha.task("1").status is Status.PENDING, PATIENCE, "the task is given back")
    deaths = [entry for entry in alpha.task("1").history if entry.act == "died"]
    assert len(deaths) == 1
    if whole:
        assert alpha.leads[-1].wait(PATIENCE) == 0
        assert alpha.team.runtime.read().phase is Phase.STOPPED
