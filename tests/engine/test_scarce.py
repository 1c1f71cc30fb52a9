"""A lead that may open no more files, or that has started and buried many sessions (reliability 50, 77)."""

import resource
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import psutil
import pytest

from pro0.engine import outcomes
from pro0.errors import EnvironmentMissing
from pro0.model.runtime import State
from pro0.ops.team import members
from pro0.ops.team.members import SeatDraft
from pro0.store.paths import ANNOUNCED
from tests.crash.lanes import LANES, SOAK
from tests.engine.crew import PATIENCE, Crew
from tests.waiting import wait_until


def is_in(alpha: Crew, name: str, state: State) -> bool:
    return any((seat.agent_id, seat.state) == (name, state) for seat in alpha.team.runtime.read().seats)


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="nobody can set this of another process there")
def test_a_lead_that_may_open_no_more_files_lives_on(alpha: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    """77: who waits is told, nobody is ended, and with room again it goes on."""
    lead = psutil.Process(alpha.lead().pid)
    alpha.spawn("w1")
    monkeypatch.setattr(outcomes, "START_PATIENCE", 2.0)
    before, pids = resource.prlimit(lead.pid, resource.RLIMIT_NOFILE), alpha.pids()
    resource.prlimit(lead.pid, resource.RLIMIT_NOFILE, (3, before[1]))
    with pytest.raises(EnvironmentMissing, match="w2 did not come up") as slow:
        alpha.spawn("w2")
    assert slow.value.hint == "look at it: pro0 team logs -t alpha"
    assert alpha.leads[-1].poll() is None
    resource.prlimit(lead.pid, resource.RLIMIT_NOFILE, before)
    wait_until(lambda: is_in(alpha, "w2", State.IDLE), PATIENCE, "it comes up after all")
    assert alpha.pids().items() >= pids.items()


class Held(NamedTuple):
    """What a lead has, and what there is of its team."""

    files: int
    threads: int
    children: int
    paths: set[Path]

    def fits(self, other: "Held") -> bool:
        """Say whether there is no more of anything than in the other."""
        return all(mine <= theirs for mine, theirs in zip(self, other, strict=True))  # type: ignore[operator]


def held(alpha: Crew) -> Held:
    """Look at a lead, and at its team's files but for logs, mail and what the guards of old sessions have told."""
    lead = psutil.Process(alpha.leads[-1].pid)
    paths = {path for path in alpha.store.home.rglob("*") if not {"logs", "mailboxes"} & {*path.parts}}
    reports = {path for path in alpha.team.paths.sessions.glob("*.json") if len(path.stem) == len(str(uuid4()))}
    return Held(lead.num_fds(), lead.num_threads(), len(lead.children()), paths - reports)


@pytest.mark.parametrize("lane", LANES)
def test_sessions_that_come_and_go_leave_nothing_with_the_lead(alpha: Crew, lane: str) -> None:
    """50: no open file, no thread, no zombie, and no other file."""
    alpha.lead()
    members.spawn(alpha.context, [SeatDraft(name="w1", agent="command", argv=("true",))], 10)
    looks: list[Held] = []
    wait_until(
        (alpha.team.paths.team / ANNOUNCED).exists, PATIENCE, "the first end is announced, by a thread that stays"
    )
    for number in range({SOAK: 1000}.get(lane, 8)):
        wait_until(lambda: is_in(alpha, "w1", State.EXITED), PATIENCE, "it has ended")
        looks.append(held(alpha))
        members.restart(alpha.context, "w1")
        again = number + 2
        wait_until(lambda again=again: alpha.state("w1").generation == again, PATIENCE, "it starts again")  # type: ignore[misc]
    alpha.reaches("w1", State.EXITED)
    wait_until(lambda: held(alpha).fits(looks[3]), PATIENCE, f"the lead has no more than it had: {looks[3]}")
