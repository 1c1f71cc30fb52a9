"""An agent whose conversation was compacted is told again who it is (issue 17, build 2)."""

from pathlib import Path

import pytest

from pro0.scripted_model.server import Provider
from pro0.scripted_model.turns import say
from tests.real_agents.scripts import marker, teammate
from tests.real_agents.team import RealTeam

pytestmark = pytest.mark.agents
TOLD = "your conversation was just compacted"


def test_after_a_compaction_it_is_told_who_it_is(user: Path, provider: Provider, team: RealTeam) -> None:
    provider.script(marker("w1"), teammate(say("I wait. " * 20_000), say("I still wait. " * 10_000)))
    team.begin("--lead", "none", w1="claude")
    team.becomes("w1", "idle")
    team("send", "w1", "a note")
    team.eventually(lambda: "a note" in team.read("w1"), "there is more than one turn to compact")
    team.becomes("w1", "idle")
    assert not told(provider)
    asked = len(provider.exchanges)
    pane = team.pane("w1")
    pane.keys("/compact")
    team.eventually(lambda: "/compact" in pane.screen(), "it is typed")
    pane.keys("Enter")
    team.eventually(lambda: len(provider.exchanges) > asked, "it asks for a summary")
    team.becomes("w1", "idle")
    if not told(provider):  # with the next prompt, where the compaction begins no turn
        pane.keys("go on", "Enter")
    team.eventually(lambda: told(provider), "it is told who it is")


def told(provider: Provider) -> bool:
    """Return True when the model has seen the line."""
    return any(TOLD in entry.text for exchange in provider.exchanges for entry in exchange.request.entries)
