"""Whose environment decides about settings: a person's own, never a session's (rulings 3.14)."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pro0.model.caller import Who
from pro0.model.team import Environment
from pro0.ops.tasks.acting import limits, settings
from pro0.store.teams import TeamStore
from tests.conftest import Result
from tests.teams import as_who, granted, make_team

MOST, DEPTH = "PRO0_MAX_TEAMMATES", "PRO0_MAX_SUBTASK_DEPTH"


@pytest.fixture
def team(home: Path) -> TeamStore:
    made = make_team(home, "lead", "w1")
    with made.environment.change("a test") as change:
        change.value = Environment(variables={MOST: "1", DEPTH: "4"})
    return made


@pytest.mark.parametrize("who", Who)
def test_a_session_has_the_settings_its_team_was_started_with(
    who: Who, team: TeamStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MOST, "90")
    monkeypatch.setenv(DEPTH, "5")
    context = as_who(team, who)
    decides = who in (Who.HUMAN, Who.LEAD)
    assert settings(context).max_teammates == (90 if decides else 1)
    assert limits(context).depth == (5 if decides else 4)


def test_no_agent_hires_more_than_the_person_allows(team: TeamStore, cli: Callable[..., Result]) -> None:
    """Not by a variable that it sets for its own command."""
    refused = cli("member", "spawn", "w2", "--no-wait", env=granted(team, "lead") | {MOST: "90"})
    assert refused.code == 4
    assert "alpha has 1 member already" in refused.err
    assert [seat.agent_id for seat in team.wanted.read().seats] == ["lead", "w1"]
