"""A lead that is started by a command inside a member's session is not of that session, nor is what it starts."""

import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pro0 import processes
from pro0.engine.opening.environment import lead_environment
from pro0.model.runtime import Process
from pro0.model.task import Draft, Status
from pro0.ops.identity import IDENTITY
from pro0.ops.team import members
from pro0.ops.team.members import SeatDraft
from pro0.processes.table import SPARED
from tests.engine.crew import PATIENCE, Crew, crew, gone, kill
from tests.waiting import wait_until

ENSURE = """
import sys
from pathlib import Path
from pro0.engine.opening import launch; from pro0.engine import outcomes
from pro0.store.teams import Store
team = Store(Path(sys.argv[1])).team("alpha")
launch.ensure_lead(team)
outcomes.started(team, team.wanted.read().seats, print)
"""


@pytest.fixture(params=["headless", "tmux"])
def other(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Crew]:
    """A team of another home, without a lead."""
    (tmp_path / "other").mkdir()
    with crew(tmp_path / "other-home", tmp_path / "other", request.param) as made:
        yield made


def lead_of(team: Crew) -> Process:
    found = team.team.runtime.read().lead
    assert found
    return found


def test_it_and_its_members_outlive_command_and_session(alpha: Crew, other: Crew) -> None:
    alpha.lead()
    alpha.spawn("w1")
    members.spawn(other.context, [SeatDraft(name="prog", agent="command", argv=("sleep", "300"))], 10)
    inside = f"{shlex.quote(sys.executable)} -c {shlex.quote(ENSURE)} {shlex.quote(str(other.store.home))}"
    done = alpha.settled(*alpha.give(Draft(title="t", run=inside)))[0]
    assert (done.status, done.result) == (Status.COMPLETED, "prog is running")
    lead, member = lead_of(other), other.report("prog")
    other.remember()
    assert not gone(lead)()  # the command is over, and all that it left running
    assert member.agent
    kill(lead)
    wait_until(gone(lead), PATIENCE, "its orphans come to the guard of w1")
    alpha.shut_down("w1")
    wait_until(gone(alpha.report("w1").guard), PATIENCE, "the session of w1 is over")
    assert not gone(member.guard)()
    assert not gone(member.agent)()


def test_it_carries_no_identity() -> None:
    inside = dict.fromkeys((*IDENTITY, "PRO0_RUN", "PRO0_STATE_FD", "PRO0_END_GRACE_SECONDS", "PATH"), "x")
    assert lead_environment(inside, "/home") == {
        "PATH": "x",
        "PRO0_HOME": "/home",
        SPARED: "1",
        "PRO0_END_GRACE_SECONDS": "x",
    }


def test_what_it_starts_is_known_as_such(alpha: Crew) -> None:
    alpha.lead()
    alpha.spawn(SeatDraft(name="prog", agent="command", argv=("sleep", "300")))
    report = alpha.report("prog")
    assert report.agent
    assert processes.variables(report.guard, (SPARED,)) == {SPARED: "1"}
    assert processes.variables(report.agent, (SPARED,)) == {}
    assert SPARED not in os.environ
