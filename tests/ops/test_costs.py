"""What a team has used and what that costs (ecosystem: an estimate at list prices)."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0.errors import BadInput, Refused
from pro0.model.usage import SessionUsage, Usage, UsageBook
from pro0.ops.team import costs, members
from pro0.ops.team.members import SeatDraft
from pro0.store.teams import TeamStore
from tests.teams import human, make_team, member

NOW = datetime(2026, 3, 20, tzinfo=UTC)
ADA = SessionUsage(
    agent_id="ada",
    incarnation="s-1",
    agent="claude",
    models=("claude-sonnet-4-5",),
    input_tokens=1_000_000,
    output_tokens=100_000,
    cache_read_tokens=1_000_000,
)
BEN = SessionUsage(agent_id="ben", incarnation="s-2", agent="pi", input_tokens=5, output_tokens=7, cost_usd=0.25)


@pytest.fixture
def team(home: Path) -> TeamStore:
    return make_team(home, "w1")


def write(team: TeamStore, *entries: SessionUsage) -> None:
    with team.usage.change("a test") as change:
        change.value = UsageBook(sessions=entries)


def test_a_team_that_used_nothing_costs_nothing(team: TeamStore) -> None:
    known = costs.cost(human(team))
    assert (known.members, known.total.cost_usd, known.limit_usd) == ((), 0, 0)


def test_members_and_team_are_sums_of_their_sessions(team: TeamStore) -> None:
    """AC-80"""
    write(team, ADA, replace(ADA, incarnation="s-3"), BEN)
    known = costs.cost(human(team))
    ada, ben = known.members
    assert (ada.agent_id, ada.sessions, ada.input_tokens, ada.output_tokens) == ("ada", 2, 2_000_000, 200_000)
    assert ada.cost_usd is not None
    assert ada.cost_usd > 6, "a million input tokens, a hundred thousand output tokens, twice"
    assert ben.cost_usd == 0.25, "what the agent itself says counts"
    assert known.total.cost_usd == pytest.approx(ada.cost_usd + 0.25)


def test_tokens_from_a_cache_cost_less_than_fresh_ones(team: TeamStore) -> None:
    cached = replace(ADA, input_tokens=0, cache_read_tokens=1_000_000)
    fresh = replace(ADA, input_tokens=1_000_000, cache_read_tokens=0)
    assert 0 < (costs.price(cached) or 0) < (costs.price(fresh) or 0)


def test_a_sum_of_many_calls_is_no_large_call(team: TeamStore) -> None:
    """Some models cost twice as much for a call with a large input. Only a call by itself tells how large it was."""
    large = Usage(models=ADA.models, input_tokens=1_000_000)
    assert costs.of_call(large, NOW) == pytest.approx(6)
    assert costs.price(replace(ADA, output_tokens=0, cache_read_tokens=0)) == pytest.approx(3)


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("anthropic/claude-opus-4-5", "claude-opus-4-5"),
        ("openrouter/openai/gpt-5", "gpt-5"),
        ("us.anthropic.claude-opus-4-5-20251101-v1:0", "claude-opus-4-5"),
        ("anthropic.claude-opus-4-5-20251101-v1:0", "claude-opus-4-5"),
        ("of/nobody", None),
    ],
)
def test_the_name_of_who_sells_a_model_does_not_hide_its_price(name: str, same: str | None) -> None:
    price = costs.of_call(Usage(models=(name,), output_tokens=1_000_000), NOW)
    assert price == (costs.of_call(Usage(models=(same,), output_tokens=1_000_000), NOW) if same else None)
    assert same is None or price


def test_what_was_priced_call_by_call_counts_before_the_newest_model(team: TeamStore) -> None:
    """A small model that answers last, as for a title, does not make the whole session cheap."""
    mixed = replace(ADA, models=("claude-opus-4-5", "claude-haiku-4-5"))
    assert (costs.price(mixed) or 0) < 2
    assert costs.price(replace(mixed, list_usd=8.5)) == 8.5
    assert costs.price(replace(mixed, list_usd=8.5, cost_usd=1.0)) == 9.5
    assert costs.price(replace(mixed, list_usd=0.0, cost_usd=1.0)) == 1.0


@pytest.mark.parametrize("models", [(), ("a-model-of-nobody",)])
def test_what_has_no_known_price_is_said_to_have_none(team: TeamStore, models: tuple[str, ...]) -> None:
    write(team, replace(ADA, models=models), BEN)
    known = costs.cost(human(team))
    assert known.members[0].cost_usd is None
    assert (known.total.cost_usd, known.total.known_usd) == (None, 0.25)
    assert costs.spent(team.usage.read().sessions) == 0.25


def test_at_the_limit_nobody_new_is_spawned(team: TeamStore) -> None:
    write(team, BEN)
    costs.limit(human(team), 0.25)
    with pytest.raises(Refused, match="has reached its cost limit of"):
        members.spawn(human(team), [SeatDraft(name="w2")], 10)
    costs.limit(human(team), 0.5)
    assert members.spawn(human(team), [SeatDraft(name="w2")], 10)


def test_only_a_person_sets_the_limit(team: TeamStore) -> None:
    with pytest.raises(Refused):
        costs.limit(member(team, "w1"), 1000)
    with pytest.raises(BadInput):
        costs.limit(human(team), -1)
