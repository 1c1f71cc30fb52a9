"""Who hears of a run that stops before its work is done: not only the terminal that has asked for it."""

import json
from itertools import count
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0.config import Settings
from pro0.model.ids import HUMAN, LEAD
from pro0.model.run import RunOptions
from pro0.model.task import Awaiting, Draft
from pro0.ops.tasks import tasks
from pro0.ops.team import costs, status
from pro0.rules.tasks.acts import Act
from pro0.rules.text import SAID_LIMIT
from pro0.runner.loop import Runner
from pro0.runner.orders import Orders
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


LONG = "B" + "x" * 300 * 1024 + "E"
"""More than a task's text or a message may have."""
FAILS: dict[str, object] = {"is_error": True, "result": LONG}
SAYS: dict[str, tuple[RunOptions, dict[str, object], Act, str]] = {
    "a failure": (RUN, FAILS, Act.RELEASE, "the agent failed: B"),
    "a failure with auto": (replace(RUN, auto=True), FAILS, Act.FAIL, "the agent failed: B"),
    "a signal": (RUN, {"result": f"<promise>INPUT_NEEDED: {LONG}</promise>"}, Act.HAND_OFF, "B"),
}


@pytest.mark.parametrize("what", SAYS)
def test_what_is_too_long_to_be_kept_holds_no_run_up(
    what: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its beginning and its end are kept."""
    options, says, act, beginning = SAYS[what]
    (said := tmp_path / "said").write_text(json.dumps({"type": "result", **says}))
    (program := tmp_path / "bin" / "claude").parent.mkdir()
    program.write_text(f"#!/bin/sh\nexec cat {said}\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    waits = count(1)
    monkeypatch.setattr(Orders, "wait", lambda *_: next(waits) < 100 or pytest.fail("the run waits for ever"))
    team = run(home, OPEN, replace(options, agent="claude"))
    last = tasks.show(human(team), "1").history[-1]
    assert (last.act, last.text[: len(beginning)], last.text[-1]) == (act, beginning, "E")
    assert 60000 < len(last.text.encode()) <= SAID_LIMIT
    assert all(len(message) < 70000 for message in told(team))


@pytest.mark.parametrize("what", WELL)
def test_nobody_is_told_of_a_run_that_ends_well(what: str, home: Path) -> None:
    assert told(run(home, *WELL[what])) == []
