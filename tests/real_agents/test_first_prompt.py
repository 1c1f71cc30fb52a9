"""An agent that has not taken its first prompt yet is starting, whatever its screen shows: nothing is typed there."""

import json
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from pro0.scripted_model.server import Provider
from tests.real_agents.agents import BY_HAND
from tests.real_agents.scripts import marker, teammate
from tests.real_agents.states import PATIENCE
from tests.real_agents.team import RealTeam

pytestmark = pytest.mark.agents
BEFORE = {"starting", "unknown", "working"}
"""States in which no line is typed."""


@pytest.mark.parametrize("agent", BY_HAND)
def test_it_is_not_idle_before_its_first_prompt_reaches_the_model(
    agent: str, user: Path, provider: Provider, team: RealTeam
) -> None:
    provider.script(marker("w1"), teammate())
    begun = threading.Thread(target=team.begin, args=("--lead", "none"), kwargs={"w1": agent})
    begun.start()
    seen: dict[str, None] = {}
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        state = recorded(team)
        if provider.of(marker("w1")):
            break
        seen[state] = None
        time.sleep(0.01)
    begun.join()
    assert provider.of(marker("w1")), "it took its prompt"
    assert set(seen) - {""} <= BEFORE, seen


def recorded(team: RealTeam) -> str:
    """Return the state that the lead has recorded, "" for none."""
    with suppress(OSError, ValueError):
        runtime = json.loads((team.home / "teams" / team.name / "runtime.json").read_text())
        return next((str(seat["state"]) for seat in runtime["seats"]), "")
    return ""
