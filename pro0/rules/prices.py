"""List prices of models: which model a name means, and what tokens cost."""

import re
from datetime import date, datetime, time

import msgspec

_COMPACT_DATE = re.compile(r"-(20\d\d)(\d\d)(\d\d)(?=-|:|$)")
_FOR_AN_HOUR = 2
"""What a token costs that a cache keeps for an hour, in fresh tokens; the lists have only the rate for 5 minutes."""


class Match(msgspec.Struct, frozen=True, omit_defaults=True):
    """A pattern for a model's name, in lower case; exactly one of these fields is set."""

    equals: str | None = None
    starts: str | None = None
    ends: str | None = None
    contains: str | None = None
    regex: str | None = None
    one_of: tuple["Match", ...] = ()
    all_of: tuple["Match", ...] = ()


class Rate(msgspec.Struct, frozen=True, omit_defaults=True):
    """US dollars for a million tokens; `above` is the rate of a call with more than `tokens` of input."""

    usd: float
    tokens: int = 0
    above: float | None = None


class Prices(msgspec.Struct, frozen=True, omit_defaults=True):
    """A model's rates, valid from a first day or during hours in UTC; without a rate, input or output is free."""

    input: Rate | None = None
    output: Rate | None = None
    cache_read: Rate | None = None
    cache_write: Rate | None = None
    since: date | None = None
    hours: tuple[time, time] | None = None


class Model(msgspec.Struct, frozen=True):
    """A model; the last of its valid prices counts, else the first. Without prices its cost is unknown."""

    match: Match
    prices: tuple[Prices, ...]


class PricedModels(msgspec.Struct, frozen=True):
    """A provider's models, tried one after the other."""

    name: str
    match: Match
    models: tuple[Model, ...]


class PriceList(msgspec.Struct, frozen=True):
    """The prices of all providers, with their source and their date."""

    source: str
    made: date
    providers: tuple[PricedModels, ...]


class Tokens(msgspec.Struct, frozen=True):
    """The tokens of a model's calls; `fresh` ones are input that no cache had."""

    fresh: int
    output: int
    cache_read: int
    cache_write: int
    for_an_hour: int = 0
    """The part of `cache_write` that is kept for an hour."""


NONE = Tokens(0, 0, 0, 0)


def model_of(prices: PriceList, name: str) -> Model | None:
    """Return the first model with a pattern that matches this name, or None."""
    name = name.lower()
    provider = next((each for each in prices.providers if _matches(each.match, name)), None)
    if provider is None:
        return None
    for spelling in (name, _COMPACT_DATE.sub(r"-\1-\2-\3", name)):
        for model in provider.models:
            if _matches(model.match, spelling):
                return model
    return None


def cost_of(model: Model, tokens: Tokens, now: datetime, *, one_call: bool = True) -> float | None:
    """Return the cost of tokens in US dollars; cached tokens without their own rate cost the same as fresh ones.

    The sum of several calls does not tell how large each was, so it is priced as small ones.
    """
    prices = _prices_at(model, now)
    if prices is None:
        return None
    fresh, for_an_hour = tokens.fresh, tokens.for_an_hour if prices.cache_write else 0
    fresh += 0 if prices.cache_read else tokens.cache_read
    fresh += 0 if prices.cache_write else tokens.cache_write
    counts = (
        (prices.input, fresh),
        (prices.output, tokens.output),
        (prices.cache_read, tokens.cache_read),
        (prices.cache_write, tokens.cache_write - for_an_hour),
        (prices.input, for_an_hour * _FOR_AN_HOUR),
    )
    total = tokens.fresh + tokens.cache_read + tokens.cache_write if one_call else 0
    return sum(_usd(rate, total) * count for rate, count in counts if rate) / 1_000_000


def _matches(wanted: Match, name: str) -> bool:
    match wanted:
        case Match(equals=str(text)):
            return name == text
        case Match(starts=str(text)):
            return name.startswith(text)
        case Match(ends=str(text)):
            return name.endswith(text)
        case Match(contains=str(text)):
            return text in name
        case Match(regex=str(text)):
            return re.search(text, name) is not None
        case Match(all_of=(_, *_) as parts):
            return all(_matches(part, name) for part in parts)
    return any(_matches(part, name) for part in wanted.one_of)


def _prices_at(model: Model, now: datetime) -> Prices | None:
    held = [prices for prices in model.prices if _holds(prices, now)]
    return held[-1] if held else next(iter(model.prices), None)


def _holds(prices: Prices, now: datetime) -> bool:
    if prices.hours:
        start, end = prices.hours
        at = now.time()
        return start <= at < end if start <= end else at >= start or at < end
    return prices.since is None or now.date() >= prices.since


def _usd(rate: Rate, total: int) -> float:
    return rate.usd if rate.above is None or total <= rate.tokens else rate.above
