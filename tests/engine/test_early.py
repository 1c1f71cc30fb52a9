"""A lead that is started before its team is there (issue 15, build 6)."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from pro0.engine.opening.early import AWAITS, EarlyLead
from pro0.engine.opening.launch import ensure_lead, leads
from pro0.errors import EnvironmentMissing
from pro0.ops import ownership
from pro0.store.teams import Store, TeamStore
from tests.conftest import Result
from tests.engine.crew import Crew
from tests.leftovers import processes_under
from tests.living import ended, living
from tests.teams import make_team
from tests.waiting import STUCK, wait_until

STARTER = """
import os, sys, time
from pathlib import Path
from pro0.engine.opening.early import EarlyLead
from pro0.store.teams import Store
with EarlyLead(Store(Path(os.environ["PRO0_HOME"])).team("alpha"), os.environ, "headless") as early:
    print("started", flush=True)
    time.sleep(600)
"""


def early_ones(home: Path) -> list[psutil.Process]:
    """The processes of this home that were started early, and those that they forked."""
    return living(lambda process: AWAITS in process.environ(), [left.process for left in processes_under(home)])


def team_of(home: Path) -> TeamStore:
    return Store(home).team("alpha")


def test_the_lead_of_a_new_team_is_the_one_that_was_started_early(cli: Callable[..., Result], home: Path) -> None:
    """Nobody sees a difference: it is called as every lead is, and proves what every lead proves."""
    project = Path(os.environ["HOME"])
    assert cli("team", "start", "alpha", "--detach", "--mode", "headless", "-m", "w1=shell", cwd=project).code == 0
    team = team_of(home)
    lead = team.runtime.read().lead
    assert lead
    assert ownership.is_lead(team, lead)
    process = psutil.Process(lead.pid)
    assert process.environ()[AWAITS]
    assert process.cwd() == str(project)
    places = [os.readlink(f"/proc/{lead.pid}/fd/{number}") for number in range(3)] if sys.platform == "linux" else []
    assert places in ([], [os.devnull, str(team.paths.lead_errors), str(team.paths.lead_errors)])
    assert process in early_ones(home)
    assert not [one for one in early_ones(home) if process not in (one, *one.parents())], "its warm process alone"
    assert cli("team", "stop", "-t", "alpha", "--force").code == 0
    assert cli("team", "cleanup", "alpha").code == 0


def test_a_refused_start_leaves_no_lead_behind(cli: Callable[..., Result], home: Path) -> None:
    project = Path(os.environ["HOME"])
    make_team(home, name="alpha")
    refused = cli("team", "start", "alpha", "--detach", "--mode", "headless", "-m", "w1=shell", cwd=project)
    assert (refused.code, "the team alpha belongs to" in refused.err) == (4, True), refused
    wait_until(lambda: not early_ones(home), STUCK, "it is gone")


def test_it_ends_with_its_starter(home: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", STARTER], stdout=subprocess.PIPE) as starter:
        assert starter.stdout
        assert starter.stdout.readline() == b"started\n"
        wait_until(lambda: early_ones(home), STUCK, "it is there")
        starter.kill()
    wait_until(lambda: not early_ones(home), STUCK, "it is gone")


def test_one_that_cannot_be_started_leaves_nothing_open(alpha: Crew) -> None:
    """The system refuses a variable that is as long as this."""
    before = len(os.listdir("/dev/fd"))
    with pytest.raises(EnvironmentMissing, match="the lead of alpha cannot be started: Argument list too long") as told:
        EarlyLead(alpha.team, {**os.environ, "LONG": "x" * (1 << 20)}, "headless")
    assert told.value.hint
    assert len(os.listdir("/dev/fd")) == before


def test_one_that_was_killed_before_the_word_is_replaced(alpha: Crew, home: Path) -> None:
    team = alpha.team
    with EarlyLead(team, os.environ, "tmux") as early:
        [first, *_] = wait_until(lambda: early_ones(home), STUCK, "it is there")
        first.send_signal(signal.SIGKILL)
        wait_until(lambda: ended(first), STUCK, "it is dead")
        ensure_lead(team, early.go)
    lead = team.runtime.read().lead
    assert lead
    assert AWAITS not in psutil.Process(lead.pid).environ()


def test_beside_a_living_lead_it_never_gets_the_word(alpha: Crew, home: Path) -> None:
    team = alpha.team
    ensure_lead(team)
    lead = team.runtime.read().lead
    with EarlyLead(team, os.environ, "tmux") as early:
        ensure_lead(team, early.go)
    assert team.runtime.read().lead == lead
    assert leads(team)
    assert not early_ones(home)


def test_it_gets_the_word_once(alpha: Crew, home: Path) -> None:
    team = alpha.team
    with EarlyLead(team, os.environ, "tmux") as early:
        lead = early.go()
        assert lead is not None
        assert early.go() is None
    wait_until(lambda: leads(team), STUCK, "it leads")
    lead.terminate()
    assert lead.wait(STUCK) == 0
