"""Set-ups of worktrees end with their member, their team and their lead: none runs on unseen."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from pro0.config import USER_FILE
from pro0.engine import outcomes
from pro0.engine.cleanup import cleanup
from pro0.model.runtime import State
from pro0.ops.team import members
from pro0.ops.team.members import SeatDraft
from tests.engine.crew import PATIENCE, Crew, kill
from tests.living import ended
from tests.repositories import repository_in
from tests.waiting import wait_until


@pytest.fixture
def pid(alpha: Crew, tmp_path: Path) -> Path:
    """Where the set-up of each worktree writes its pid; it takes long and prints nothing."""
    repository_in(alpha.project)
    on = tmp_path / "on"
    command = f"echo $$ > {on}.new; mv {on}.new {on}; exec sleep 600"
    (alpha.store.home / USER_FILE).write_text(f"worktree: {{setup: '{command}'}}\n")
    return on


@contextmanager
def under_way(alpha: Crew, pid: Path) -> Iterator[psutil.Process]:
    """A member whose worktree is being set up."""
    alpha.lead()
    members.spawn(alpha.context, [SeatDraft(name="bob", worktree=True)], 10)
    wait_until(pid.exists, PATIENCE, "it is set up")
    running = psutil.Process(int(pid.read_text()))
    try:
        yield running
    finally:
        if not ended(running):
            running.kill()


def call_off(alpha: Crew) -> None:
    assert alpha.shut_down("bob", timeout=0, force=True).note == "it was never started"


def test_a_set_up_ends_with_its_member(alpha: Crew, pid: Path) -> None:
    """3.9: nobody is started to be ended, and no trouble tells of what was wished for; a restart begins anew."""
    with under_way(alpha, pid) as running:
        call_off(alpha)
        wait_until(lambda: ended(running), PATIENCE, "it has ended")
        assert '"start"' not in alpha.log()
        assert not alpha.team.troubles.read().troubles
        (alpha.store.home / USER_FILE).unlink()
        outcomes.started(alpha.team, [members.restart(alpha.context, "bob")], alpha.shown.append)
        assert alpha.reaches("bob", State.IDLE).generation == 2


def test_a_set_up_ends_with_its_team(alpha: Crew, pid: Path) -> None:
    """The lead waits for that."""
    with under_way(alpha, pid) as running:
        alpha.stop(timeout=0)
        assert ended(running)
        assert not alpha.team.troubles.read().troubles


def test_cleanup_ends_a_set_up_that_a_killed_lead_has_left(alpha: Crew, pid: Path) -> None:
    """Also without a tear-down command: its worktree goes."""
    with under_way(alpha, pid) as running:
        lead = alpha.team.record.read().lead
        assert lead
        kill(lead)
        alpha.leads[0].wait(PATIENCE)
        assert not ended(running)
        cleanup(alpha.store, "alpha", force=True, show=alpha.shown.append)
        assert ended(running)
