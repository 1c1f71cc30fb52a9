"""Who hears of a run that stops before its work is done: not only the terminal that has asked for it."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0.config import Settings
from pro0.model.ids import HUMAN, LEAD
from pro0.model.run import RunOptions
from pro0.model.task import Awaiting, Draft
from pro0.ops.tasks import tasks
from pro0.ops.team import costs, status
from pro0.runner.loop import Runner
from pro0.store.paths import EVENTS
from pro0.store.teams import TeamStore
from tests.teams import human, make_team, own_session

SILENT, DONE = ("/bin/echo", "no signal"), ("/bin/echo", "<promise>COMPLETE</promise>")
RUN = RunOptions(agent="command", standalone=True, poll=0.05)
OPEN = Draft(title="t")
WAITS = Draft(title="t", awaiting=Awaiting.WORK)
SHORT = {
    "iterations": (OPEN, replace(RUN, program=SILENT, max_iterations=2), "stuck on task-1 after 2 iterations"),
    "cost": (OPEN, replace(RUN, program=SILENT, max_cost=5.0), "cost limit reached ($6.00 of $5.00)"),
    "time": (WAITS, replace(RUN, program=DONE, auto=True, timeout=0.05), "nothing new in 0.05 s"),
    "failures": (OPEN, replace(RUN, program=("/bin/false",)), "the agent failed: exit code 1"),
}
WELL = {
    "all done": (OPEN, replace(RUN, program=DONE)),
    "all done with auto": (OPEN, replace(RUN, program=DONE, auto=True)),
    "the rest waits for a person": (WAITS, replace(RUN, program=DONE)),
}


@pytest.fixture(autouse=True)
def _in_this_process(signals: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every turn costs three dollars."""
    monkeypatch.setattr(costs, "price", lambda _used: 3.0)


def run(home: Path, draft: Draft, options: RunOptions) -> TeamStore:
    """Let the member runner run a team's one task."""
    team = make_team(home, "runner")
    tasks.create(human(team), [draft])
    Runner(own_session(team, "runner"), options, Settings()).work()
    return team


def told(team: TeamStore) -> list[str]:
    """What the lead address has been told by the runner."""
    messages = team.mailbox(LEAD).head.read().messages
    return [message.content for message in messages if message.from_ == "runner"]


@pytest.mark.parametrize("what", SHORT)
def test_lead_and_person_hear_once_of_a_run_that_stops_short(what: str, home: Path) -> None:
    draft, options, why = SHORT[what]
    team = run(home, draft, options)
    [said] = told(team)
    assert said.startswith(f"runner has stopped: {why}")
    assert not team.mailbox(HUMAN).head.read().messages, "who has no lead agent reads both"
    assert "1 unread notice" in [need.what for need in status.status(human(team)).attention], "for which a bell rings"
    events = map(json.loads, (team.paths.team / EVENTS).read_text().splitlines())
    assert [event["why"] for event in events if event["event"] == "run.stop"] == [said.partition(": ")[2]]


@pytest.mark.parametrize("what", WELL)
def test_nobody_is_told_of_a_run_that_ends_well(what: str, home: Path) -> None:
    assert told(run(home, *WELL[what])) == []
