"""Urgent mail stops the turn of a real agent; other mail waits for its end (issue 4, build 3)."""

from pathlib import Path

import pytest

from pro0.scripted_model.request import ModelRequest
from pro0.scripted_model.server import Provider
from pro0.scripted_model.turns import ModelTurn, hang, shell, use
from tests.real_agents.scripts import MAIL, marker, teammate
from tests.real_agents.team import RealTeam

pytestmark = pytest.mark.agents
WAITS, STOPS = "take your time", "drop that"
AGENTS = ("claude", "codex", "opencode", "pi")
"""Gemini is not stopped: it would forget the turn."""


@pytest.mark.parametrize("agent", AGENTS)
def test_urgent_mail_is_read_in_the_middle_of_a_turn(
    agent: str, user: Path, provider: Provider, team: RealTeam
) -> None:
    """The command comes first: of a turn that was stopped before its first word some put the prompt back."""
    provider.script(marker("w1"), teammate(shell("echo begun"), hang()))
    team.begin("--lead", "none", w1=agent)
    team.eventually(lambda: len(provider.of(marker("w1"))) == 2, "its model thinks")
    team.becomes("w1", "working")
    refused = team("send", "w1", WAITS, "--wait", "5", code=124)
    assert "queued" in refused.err
    assert WAITS not in team.read("w1")
    team("send", "w1", STOPS, "--urgent")
    team.eventually(lambda: STOPS in team.read("w1"), "it has read the urgent mail")
    team.becomes("w1", "idle")
    assert [team.read("w1").count(text) for text in (WAITS, STOPS)] == [1, 1]


def test_urgent_mail_comes_to_gemini_after_a_tool(user: Path, provider: Provider, team: RealTeam) -> None:
    begun, go = team.project / "begun", team.project / "go"
    do = teammate(shell("touch begun; until test -e go; do sleep 0.1; done; echo gone on"))

    def script(request: ModelRequest) -> ModelTurn:
        told = any(MAIL.search(result) and "gone on" in result for result in request.results())
        return use("check_messages") if told else do(request)

    provider.script(marker("w1"), script)
    team.begin("--lead", "none", w1="gemini")
    team.eventually(begun.exists, "its command runs")
    team.becomes("w1", "working")
    team("send", "w1", WAITS)
    refused = team("send", "w1", STOPS, "--urgent", "--wait", "5", code=124)
    assert "it is told after its next tool" in refused.err
    go.touch()
    team.eventually(lambda: STOPS in team.read("w1"), "it has read the urgent mail")
    team.becomes("w1", "idle")
    assert [team.read("w1").count(text) for text in ("gone on", WAITS, STOPS)] == [1, 1, 1]
    assert MAIL.search(said_to(provider)) is None


def test_gemini_is_told_again_what_it_forgot(user: Path, provider: Provider, team: RealTeam) -> None:
    """A person stops its first turn: it knows neither who it is nor what it has read."""
    go = team.project / "go"
    provider.script(
        marker("w1"), teammate(shell("until test -e go; do sleep 0.1; done"), use("check_messages"), hang())
    )
    team.begin("--lead", "none", w1="gemini")
    team("send", "w1", WAITS)
    go.touch()
    team.eventually(lambda: WAITS in team.read("w1"), "it has read its mail")
    team.eventually(lambda: len(provider.of(marker("w1"))) == 3, "its model thinks")
    team.pane("w1").keys("Escape")
    team.eventually(lambda: WAITS in said_to(provider), "it is told again")
    team.becomes("w1", "idle")
    team.tell("w1", STOPS)
    assert [said_to(provider).count(text) for text in (marker("w1"), WAITS, STOPS)] == [1, 1, 0]
    assert [team.read("w1").count(text) for text in (WAITS, STOPS)] == [1, 1]


def said_to(provider: Provider) -> str:
    """Return what was said to the model of w1 by others than itself and its tools, as it was told last."""
    entries = provider.of(marker("w1"))[-1].request.entries
    return "\n".join(entry.text for entry in entries if entry.who == "user")
