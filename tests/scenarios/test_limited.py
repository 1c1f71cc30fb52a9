"""A rate-limited agent: new sessions of its agent wait, by themselves and visibly (issue 4, 7)."""

from pathlib import Path

from pro0.rules.words.prompts import GO_ON
from pro0.store.teams import Store
from tests.e2e.conftest import Team, team
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
