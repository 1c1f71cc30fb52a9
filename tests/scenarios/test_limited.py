"""A rate-limited agent: new sessions of its agent wait, by themselves and visibly (issue 4, 7)."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pro0.rules.words.prompts import GO_ON
from pro0.store.teams import Store
from tests import elsewhere
from tests.e2e.conftest import Team, team
from tests.e2e.test_agents_there import install
from tests.elsewhere import Placed
from tests.scenarios.claudes import claudes

__all__ = ["claudes", "team"]


def test_a_stopped_turn_goes_on_when_its_limit_is_over(team: Team, claudes: Path) -> None:
    """Once, by a message; a member that another error stopped is left alone."""
    (claudes / "w1.error").write_text("You've hit your usage limit. Try again in 4s")
    (claudes / "w2.error").write_text("API Error: 400 the request is wrong")
    team("team", "start", "alpha", "--detach", "--mode", "headless", "-m", "w1=claude", "-m", "w2=claude")
    team.until(lambda: [team.state(name) for name in ("w1", "w2")] == ["error", "error"], "both stopped", 40)
    team.until(lambda: letters(team, "w1") == [GO_ON], "w1 is told to go on", 40)
    (claudes / "w1.busy").touch()
    team.until(lambda: team.state("w1") == "working", "it goes on", 40)
    (claudes / "w1.error").unlink()
    (claudes / "w1.busy").unlink()
    team.until(lambda: team.state("w1") == "idle", "its turn went well", 40)
    assert letters(team, "w1") == [GO_ON]
    assert letters(team, "w2") == []


def letters(team: Team, name: str) -> list[str]:
    """Return what was written to a member."""
    box = Store(team.home).team(team.name).mailbox(name).head.read()
    return [message.content for message in box.messages]


def test_new_sessions_wait_until_a_turn_ends_well_again(team: Team, claudes: Path) -> None:
    (claudes / "w1.error").write_text("API Error: 429 rate limit reached; try again in 3 hours")
    team("team", "start", "alpha", "--detach", "--mode", "headless", "-m", "w1=claude")
    team.until(lambda: team.state("w1") == "error", "its error is seen", 40)
    [limit] = team.until(lambda: team.json("team", "status")["limits"], "the limit is shown", 40)
    assert (limit["agent"], limit["named"]) == ("claude", True)
    assert limit["note"].endswith("try again in 3 hours")
    assert "no new session of claude until" in team("team", "status").out

    held = team("member", "spawn", "w2", "--agent", "claude")
    assert "w2: held back until" in held.err
    assert team.member("w2")["note"].startswith("held back until")
    assert team("member", "spawn", "w3").out.startswith("w3 is "), "other agents start"
    assert len((claudes / "told.jsonl").read_text().splitlines()) == 1

    (claudes / "w1.busy").touch()
    team.until(lambda: team.state("w1") == "working", "it tries again", 40)
    (claudes / "w1.error").unlink()
    (claudes / "w1.busy").unlink()
    team.until(lambda: team.state("w2") == "idle", "the waiting one starts by itself", 40)
    assert team.json("team", "status")["limits"] == []
    assert len([text for text in team.mail("lead") if text.startswith("no new session of claude")]) == 1


@pytest.fixture
def failing(placed: Placed) -> Callable[[str, str], None]:
    """Let the turns of a stand-in for Claude Code on that machine fail with a text, or go well again with none."""
    machine = placed.machine
    assert machine
    install(machine, "claude")

    def fail(name: str, text: str) -> None:
        place = machine.home / f"{name}.error"
        place.write_text(text) if text else place.unlink()

    return fail


@pytest.mark.parametrize("placed", [elsewhere.MODES[0]], indirect=True)
def test_a_stopped_turn_on_another_machine_goes_on(
    placed: Placed, team: Team, failing: Callable[[str, str], None]
) -> None:
    """Issue 19, must show 3: its screen alone tells of the limit; another error is left alone there too."""
    failing("w1", "You've hit your usage limit. Try again in 8s")
    failing("w2", "API Error: 400 the request is wrong")
    words = [word for name in ("w1", "w2") for word in ("-m", f"{name}=claude@{placed.host}")]
    team("team", "start", "alpha", "--detach", "--mode", placed.shown, *words)
    team.until(lambda: [team.state(name) for name in ("w1", "w2")] == ["error", "error"], "both stopped", 40)
    failing("w1", "")
    team.until(lambda: letters(team, "w1") == [GO_ON], "w1 is told to go on", 40)
    team.until(lambda: team.state("w1") == "idle", "its turn went well", 40)
    assert team.member("w1")["unread"] == 0, "it has read that"
    assert letters(team, "w1") == [GO_ON]
    assert letters(team, "w2") == []


@pytest.mark.parametrize("placed", [elsewhere.MODES[0]], indirect=True)
def test_new_sessions_there_wait_too(placed: Placed, team: Team, failing: Callable[[str, str], None]) -> None:
    """Issue 19, must show 3: a limit is that of the login on the machine."""
    failing("w1", "API Error: 429 rate limit reached; try again in 3 hours")
    team("team", "start", "alpha", "--detach", "--mode", placed.shown, "-m", f"w1=claude@{placed.host}")
    [limit] = team.until(lambda: team.json("team", "status")["limits"], "the limit is shown", 40)
    assert (limit["agent"], limit["named"]) == (f"claude@{placed.host}", True)
    held = team("member", "spawn", "w2", "--agent", "claude", "--host", placed.host)
    assert "w2: held back until" in held.err
    assert team("member", "spawn", "w3", "--host", placed.host).out.startswith("w3 is "), "other agents start"
    failing("w1", "")
    team("send", "w1", "go on")
    team.until(lambda: team.state("w2") == "idle", "a turn that went well ends the limit", 40)
