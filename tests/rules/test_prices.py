"""The list of prices says what genai-prices says, for every model that a name alone can mean."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from pathlib import Path

import msgspec
import pytest
from genai_prices import Usage, calc_price, data
from hypothesis import given, settings
from hypothesis import strategies as st

from pro0 import resources
from pro0.model.usage import SessionUsage
from pro0.ops.team import costs
from pro0.rules.prices import Match, Model, PriceList, Prices, Rate, Tokens, cost_of, model_of
from tools import prices as maker

BOOK = msgspec.json.decode(resources.PRICES.read_bytes(), type=PriceList)
NOW = datetime(2026, 3, 1, 17, 0, tzinfo=UTC)
COUNTS = st.sampled_from((0, 1, 999, 60_000, 100_001, 200_000, 200_001, 272_001, 3_000_000)) | st.integers(0, 10**7)
TOKENS = st.builds(Tokens, COUNTS, COUNTS, COUNTS, COUNTS)
MOMENTS = st.datetimes(datetime(2023, 1, 1), datetime(2028, 1, 1), timezones=st.just(UTC))
ODD = ("", "a-model-of-nobody", "gpt", "claude", "claude-9", "gemini", "groq/llama", "gpt-5.2-20251211", "o3", "GPT-4o")


def words(match: Match) -> Iterator[str]:
    """Names that such a match is about."""
    for text in (match.equals, match.starts, match.ends, match.contains):
        if text is not None:
            yield text
    for part in (*match.one_of, *match.all_of):
        yield from words(part)


def names() -> list[str]:
    """The names of all models, as they may be written."""
    ids = [model.id for provider in data.providers if provider.model_match for model in provider.models]
    known = [word for provider in BOOK.providers for model in provider.models for word in words(model.match)]
    plain = sorted({*ids, *known, *ODD})
    return [f"{before}{name}{after}" for name in plain for before in ("", "anthropic/") for after in ("", "-20260228")]


def theirs(name: str, tokens: Tokens, at: datetime) -> float | None:
    """The cost by genai-prices; None for a model without a price for text."""
    usage = Usage(
        input_tokens=tokens.fresh + tokens.cache_read + tokens.cache_write,
        output_tokens=tokens.output,
        cache_read_tokens=tokens.cache_read,
        cache_write_tokens=tokens.cache_write,
    )
    try:
        found = calc_price(usage, model_ref=name, genai_request_timestamp=at)
    except LookupError:
        return None
    return float(found.total_price) if maker.text_has_a_price(found.model) else None


def ours(name: str, tokens: Tokens, at: datetime) -> float | None:
    """The cost by our list."""
    model = model_of(BOOK, name)
    return cost_of(model, tokens, at) if model else None


@pytest.mark.parametrize("part", range(4))
def test_every_model_costs_the_same(part: int) -> None:
    """Issue 15, must show 7: lighter parts that serve as well."""
    tokens = Tokens(180_000, 9_000, 70_000, 5_000)
    for name in names()[part::4]:
        assert ours(name, tokens, NOW) == pytest.approx(theirs(name, tokens, NOW)), name


@settings(max_examples=400)
@given(st.sampled_from(names()), TOKENS, MOMENTS)
def test_drawn_tokens_cost_the_same_at_any_moment(name: str, tokens: Tokens, at: datetime) -> None:
    assert ours(name, tokens, at) == pytest.approx(theirs(name, tokens, at))


def test_the_list_is_made_of_the_version_that_it_names() -> None:
    """`make prices` makes it anew."""
    assert resources.PRICES.read_bytes() == maker.text(maker.made(BOOK))
    assert maker.made() != msgspec.structs.replace(BOOK, source="genai-prices 0")


MILLION = Tokens(1_000_000, 0, 0, 0)


def usd(prices: Prices, tokens: Tokens = MILLION, at: datetime = NOW) -> float | None:
    """The cost by these prices, above a dollar for a million that always holds."""
    return cost_of(Model(Match(equals="m"), (Prices(input=Rate(1.0)), prices)), tokens, at)


@pytest.mark.parametrize(
    ("hours", "inside", "outside"),
    [
        ((time(9), time(17)), ["9:00:00", "12:00:00", "16:59:59"], ["8:59:59", "17:00:00", "0:00:00"]),
        ((time(16, 30), time(0, 30)), ["16:30:00", "23:59:59", "0:29:59"], ["16:29:59", "0:30:00", "12:00:00"]),
        ((time(12), time(12)), [], ["12:00:00", "11:59:59"]),
    ],
)
def test_hours_hold_from_their_beginning_to_before_their_end(
    hours: tuple[time, time], inside: list[str], outside: list[str]
) -> None:
    for clock in (*inside, *outside):
        moment = datetime.strptime(f"2026-03-01 {clock}+0000", "%Y-%m-%d %H:%M:%S%z")
        assert usd(Prices(input=Rate(3.0), hours=hours), at=moment) == (3.0 if clock in inside else 1.0), clock


@pytest.mark.parametrize(("day", "cost"), [(28, 1.0), (1, 3.0), (2, 3.0)])
def test_a_price_holds_from_its_first_day_on(day: int, cost: float) -> None:
    moment = datetime(2026, 2 if day == 28 else 3, day, tzinfo=UTC)
    assert usd(Prices(input=Rate(3.0), since=date(2026, 3, 1)), at=moment) == cost


@pytest.mark.parametrize(
    ("tokens", "cost"),
    [
        (Tokens(100, 0, 0, 0), 100.0),
        (Tokens(101, 0, 0, 0), 202.0),
        (Tokens(50, 0, 50, 1), 100.0),
        (Tokens(9, 9, 0, 0), 9.0),
    ],
)
def test_more_input_than_a_bound_costs_another_rate(tokens: Tokens, cost: float) -> None:
    """All input counts towards the bound, what was read from a cache and written to one too; output does not."""
    rates = Prices(input=Rate(1e6, tokens=100, above=2e6), cache_read=Rate(0.0), cache_write=Rate(0.0))
    assert usd(rates, tokens) == cost


@pytest.mark.parametrize(
    ("write", "tokens", "cost"),
    [
        (Rate(1.25), Tokens(0, 0, 0, 1_000_000), 1.25),
        (Rate(1.25), Tokens(0, 0, 0, 1_000_000, 1_000_000), 2.0),
        (Rate(1.25), Tokens(0, 0, 0, 1_000_000, 400_000), 0.6 * 1.25 + 0.4 * 2),
        (None, Tokens(0, 0, 0, 1_000_000, 1_000_000), 1.0),
    ],
)
def test_what_a_cache_keeps_for_an_hour_costs_twice_the_input(write: Rate | None, tokens: Tokens, cost: float) -> None:
    assert usd(Prices(input=Rate(1.0), cache_write=write), tokens) == pytest.approx(cost)


def test_a_model_without_a_price_for_text_is_unknown(home: Path) -> None:
    spoken = SessionUsage(agent_id="ada", incarnation="s-1", agent="x", models=("whisper-1",), output_tokens=5)
    assert costs.price(spoken) is None


def test_prices_are_found_without_the_library_that_they_come_from() -> None:
    known = [(provider.name, len(provider.models)) for provider in BOOK.providers]
    assert dict(known).keys() >= {"anthropic", "openai", "google", "x-ai", "mistral", "deepseek"}
    assert all(count for _, count in known)
