"""Real agents that speak ACP, defined by the settings alone: a permission, mail, the conversation after a crash."""

import json
import os
from pathlib import Path

import pytest

from pro0.scripted_model.server import Provider
from pro0.scripted_model.turns import say, shell
from tests.real_agents.scripts import marker, teammate
from tests.real_agents.team import RealTeam

pytestmark = pytest.mark.agents
TALKERS = {
    "opencode": (["opencode", "acp"], ["OPENCODE_*"]),
    "gemini": (["gemini", "--acp"], ["GEMINI_*", "GOOGLE_*"]),
}
"""The words that start each, and the variables it gets."""


@pytest.fixture(params=TALKERS)
def talkers(request: pytest.FixtureRequest, team: RealTeam, monkeypatch: pytest.MonkeyPatch) -> RealTeam:
    """A team whose settings define such an agent, `talker`, which asks before it runs a command."""
    monkeypatch.setenv("OPENCODE_PERMISSION", '{"bash": "ask"}')
    words, environment = TALKERS[request.param]
    definition = {"acp": words, "environment": environment}
    with open(team.home / "config.yaml", "a", encoding="utf-8") as file:
        file.write(f"agents: {json.dumps({'talker': definition})}\n")
    return team


def asked(team: RealTeam) -> str:
    """Return the request that waits for its person, empty for none."""
    return next((need["request"] for need in team.json("needs") if need["kind"] == "permission"), "")


def answer_until(team: RealTeam, condition: str) -> None:
    """Say yes to all that is asked, until a text was read and its turn is over: it may be told twice of one message."""

    def over() -> bool:
        if request := asked(team):
            team.cli("member", "answer", request, "allow", cwd=team.project)
        return condition in team.read("w1") and team.state("w1") == "idle"

    team.eventually(over, f"it has read {condition}")


def test_an_agent_is_fed_and_answered_by_the_protocol_alone(talkers: RealTeam, user: Path, provider: Provider) -> None:
    """Issue 17, build 6, with programs that pro0 knows nothing of; no key is pressed."""
    team = talkers
    provider.script(marker("w1"), teammate(shell("touch asked.txt"), say("It went on.")))
    team("team", "start", team.name, "--detach", "--mode", "tmux", "--lead", "none", "-m", "w1=talker")
    team.eventually(lambda: asked(team), "its request is known")
    request = asked(team)
    assert "touch asked.txt" in team("member", "answer", request).out
    assert not (team.project / "asked.txt").exists()
    assert team.state("w1") == "waiting"
    team("member", "answer", request, "allow")
    team.becomes("w1", "idle")
    assert (team.project / "asked.txt").exists()
    team("send", "w1", "the first note")
    answer_until(team, "the first note")
    assert set(team.carried("w1")) == {"protocol"}
    told = len(provider.of(marker("w1")))
    os.kill(team.member("w1")["pid"], 9)
    team.becomes("w1", "crashed")
    team("member", "restart", "w1")
    team("send", "w1", "the second note")
    answer_until(team, "the second note")
    opening = provider.of(marker("w1"))[told:][-1].request.opening
    assert "Begin with `pro0 inbox`" in opening or "could not be loaded" in opening, "it knows who it is"
