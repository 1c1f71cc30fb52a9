"""A permission is answered from anywhere, once, and by a person alone; the agent's own dialog stays open meanwhile."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Team, team
from tests.scenarios.claudes import claudes
from tests.waiting import wait_until

pytestmark = pytest.mark.usefixtures("scripts")

__all__ = ["claudes", "team"]

RULE = {"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "allow", "destination": "localSettings"}


@pytest.fixture
def asking(team: Team, claudes: Path) -> Path:
    """The folder of a stand-in for Claude Code that can be made to ask, and a teammate of it."""
    team("team", "start", "alpha", "--detach", "--mode", "headless", "-m", "w1=claude", "-m", "w2=shell")
    team.until(lambda: team.state("w1") == "idle", "it is up", 40)
    return claudes / "w1"


def need(team: Team) -> dict[str, Any] | None:
    """Return what needs the person about a permission."""
    return next((need for need in team.json("needs") if need["kind"] == "permission"), None)


def ask(team: Team, place: Path, command: str) -> str:
    """Let w1 ask for leave to run a command; returns its request."""
    event = {"tool_name": "Bash", "tool_input": {"command": command}, "permission_suggestions": [RULE]}
    place.with_suffix(".answer").unlink(missing_ok=True)
    place.with_suffix(".asks").write_text(json.dumps(event))
    wait_until(lambda: (need(team) or {}).get("request"), 20, "it is known what w1 asks")
    shown = need(team)
    assert shown
    assert command in shown["what"]
    return str(shown["request"])


def decision(place: Path) -> dict[str, Any]:
    """Return what the agent's hook has told it."""
    answer = place.with_suffix(".answer")
    wait_until(answer.exists, 20, "the agent has its answer")
    told: dict[str, Any] = json.loads(answer.read_text())["hookSpecificOutput"]["decision"]
    return told


def test_an_answer_reaches_the_agent_once(team: Team, asking: Path) -> None:
    first = ask(team, asking, "make build")
    assert "make build" in team("member", "answer", first).out
    named = team("member", "answer", first, "-t", "alpha").out
    assert named.endswith("|deny -t alpha\n"), "what is to be typed names the team too"
    for name in ("w1", "w2"):  # neither itself nor a colleague
        env = team.json("member", "env", name)
        assert "only a person may" in team("member", "answer", first, "allow", code=4, env=env).err
    assert "w1 has your answer" in team("member", "answer", first, "allow").out
    assert decision(asking) == {"behavior": "allow"}
    assert "answered: allow" in team("member", "answer", first, "deny", code=4).err
    team.until(lambda: need(team) is None, "nobody needs the person")

    second = ask(team, asking, "make clean")
    team("member", "answer", second, "deny", "it is needed")
    assert decision(asking) == {"behavior": "deny", "message": "it is needed"}
    third = ask(team, asking, "make test")
    team("member", "answer", third, "always")
    assert decision(asking)["updatedPermissions"] == [{**RULE, "destination": "session"}]
    assert len({first, second, third}) == 3
    log = (team.home / "teams" / "alpha" / "events.jsonl").read_text().splitlines()
    events = [event for event in map(json.loads, log) if event["event"] == "permission.answer"]
    assert [(event["request"], event["choice"], event["actor"]) for event in events] == [
        (first, "allow", "human"),
        (second, "deny", "human"),
        (third, "always", "human"),
    ]


def test_of_answers_at_once_one_counts(team: Team, asking: Path) -> None:
    request = ask(team, asking, "make build")
    with ThreadPoolExecutor(4) as pool:
        words = [("member", "answer", request, choice) for choice in ("allow", "deny", "allow", "deny")]
        results = list(pool.map(lambda line: team.cli(*line, cwd=team.project), words))
    assert sorted(result.code for result in results) == [0, 4, 4, 4]
    [winner] = [words[number][3] for number, result in enumerate(results) if result.code == 0]
    assert decision(asking)["behavior"] == winner


def test_an_answer_in_the_pane_is_the_first_one(team: Team, asking: Path) -> None:
    request = ask(team, asking, "make build")
    asking.with_suffix(".pane").touch()
    team.until(lambda: "is over" in team("member", "answer", request).out, "the request is over")
    late = team("member", "answer", request, "deny", code=4)
    assert "answered where the agent asked" in late.err
    assert not asking.with_suffix(".answer").exists()
    assert need(team) is None


def test_a_request_ends_with_its_session(team: Team, asking: Path) -> None:
    request = ask(team, asking, "make build")
    team("member", "shutdown", "w1", "--force", "--timeout", "0")
    team.until(lambda: "is over" in team("member", "answer", request).out, "the request is over")
    assert "its session has ended" in team("member", "answer", request, "allow", code=4).err
