"""`pro0 agent prove` with the real programs: everything that pro0 relies on holds (issue 17)."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pro0.scripted_model.setups import SETUPS
from tests.conftest import Result
from tests.real_agents.states import PATIENCE

pytestmark = pytest.mark.agents


@pytest.mark.parametrize("agent", SETUPS)
def test_everything_holds_of_the_pinned_version(agent: str, home: Path, cli: Callable[..., Result]) -> None:
    result = cli("agent", "prove", agent, "--patience", str(PATIENCE), "--json", seconds=10 * PATIENCE)
    [proof] = json.loads(result.out)
    assert [one for one in proof["results"] if not one["held"]] == [], result.err
    assert (proof["off"], result.code) == ([], 0)
