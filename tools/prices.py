"""Write pro0/ops/team/prices.json: the list prices of models, from the data of genai-prices; `make prices`."""

from collections.abc import Iterable
from datetime import UTC, datetime, time
from importlib.metadata import version
from pathlib import Path

import msgspec
from genai_prices import data, types

from pro0.resources import PRICES
from pro0.rules.prices import Match, Model, PricedModels, PriceList, Prices, Rate


def made(before: PriceList | None = None) -> PriceList:
    """Return the list; if an earlier list has the same prices, it is returned, with its date."""
    today = datetime.now(UTC).date()
    new = PriceList(f"genai-prices {version('genai-prices')}", today, tuple(_providers(data.providers)))
    return before if before and msgspec.structs.replace(before, made=today) == new else new


def _providers(all_of_them: Iterable[types.Provider]) -> Iterable[PricedModels]:
    """Yield the providers whose models are recognised by their name alone."""
    for provider in all_of_them:
        if provider.model_match:
            models = tuple(Model(_match(model.match), _prices(model)) for model in provider.models)
            yield PricedModels(provider.id, _match(provider.model_match), models)


def _match(clause: types.MatchLogic) -> Match:
    match clause:
        case types.ClauseEquals(equals=text):
            return Match(equals=text.lower())
        case types.ClauseStartsWith(starts_with=text):
            return Match(starts=text.lower())
        case types.ClauseEndsWith(ends_with=text):
            return Match(ends=text.lower())
        case types.ClauseContains(contains=text):
            return Match(contains=text.lower())
        case types.ClauseRegex(regex=text):
            return Match(regex=text)
        case types.ClauseOr(or_=parts):
            return Match(one_of=tuple(map(_match, parts)))
        case types.ClauseAnd(and_=parts):
            return Match(all_of=tuple(map(_match, parts)))
    raise TypeError(f"a new kind of clause: {clause}")


def text_has_a_price(model: types.ModelInfo) -> bool:
    """Return False when one of a model's prices has no rate for tokens of text, such as a price per hour of sound."""
    return all((price.prices.input_mtok, price.prices.output_mtok) != (None, None) for price in _listed(model))


def _listed(model: types.ModelInfo) -> list[types.ConditionalPrice]:
    return model.prices if isinstance(model.prices, list) else [types.ConditionalPrice(prices=model.prices)]


def _prices(model: types.ModelInfo) -> tuple[Prices, ...]:
    return tuple(map(_conditional, _listed(model))) if text_has_a_price(model) else ()


def _conditional(priced: types.ConditionalPrice) -> Prices:
    prices, since, hours = priced.prices, None, None
    match priced.constraint:
        case types.StartDateConstraint(start_date=day):
            since = day
        case types.TimeOfDateConstraint(start_time=start, end_time=end):
            hours = (_in_utc(start), _in_utc(end))
    return Prices(
        input=_rate(prices.input_mtok),
        output=_rate(prices.output_mtok),
        cache_read=_rate(prices.cache_read_mtok),
        cache_write=_rate(prices.cache_write_mtok),
        since=since,
        hours=hours,
    )


def _in_utc(at: time) -> time:
    if at.tzinfo not in (None, UTC) and at.utcoffset():
        raise ValueError(f"hours of another zone: {at}")
    return at.replace(tzinfo=None)


def _rate(price: object) -> Rate | None:
    if price is None:
        return None
    if isinstance(price, types.TieredPrices):
        [tier] = price.tiers
        return Rate(float(price.base), tier.start, float(tier.price))
    return Rate(float(str(price)))


def main() -> None:
    """Write the list."""
    before = msgspec.json.decode(PRICES.read_bytes(), type=PriceList) if PRICES.exists() else None
    PRICES.write_bytes(text(made(before)))
    print(PRICES.relative_to(Path(__file__).parents[1]))


def text(prices: PriceList) -> bytes:
    """Return the text of a list, one line per model."""
    head = f'{{"source": "{prices.source}", "made": "{prices.made}", "providers": [\n'
    return (head + ",\n".join(map(_provider, prices.providers)) + "\n]}\n").encode()


def _provider(provider: PricedModels) -> str:
    match = msgspec.json.encode(provider.match).decode()
    models = ",\n".join(msgspec.json.encode(model).decode() for model in provider.models)
    return f'{{"name": "{provider.name}", "match": {match}, "models": [\n{models}\n]}}'


if __name__ == "__main__":
    main()
