"""Urgent mail stops the turn of a real agent; other mail waits for its end (issue 4, build 3)."""

from pathlib import Path

import pytest

from tests.real_agents.provider.server import Provider
from tests.real_agents.provider.turns import hang, shell
from tests.real_agents.scripts import marker, teammate
from tests.real_agents.team import RealTeam

pytestmark = pytest.mark.agents
WAITS, STOPS = "take your time", "drop that"
AGENTS = ("claude", "codex", "opencode", "pi")
"""Gemini stops, too, but of a first turn that is stopped it forgets all, so that its model is not known again."""


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
