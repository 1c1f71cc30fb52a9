"""A team's usage and its cost: per session, member and team."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache, lru_cache

import msgspec
from msgspec.structs import replace

from pro0 import resources
from pro0.decoding import decode
from pro0.errors import BadInput
from pro0.model.caller import ANYONE, HUMAN_ONLY
from pro0.model.usage import SessionUsage, Usage
from pro0.ops.context import Context, operation
from pro0.rules.prices import NONE, Model, PriceList, Tokens, cost_of, model_of

_OF_A_SELLER = re.compile(r".*/|(?:[a-z]+\.)?anthropic\.")
"""What others than its maker put before a model's name, as in `openai/gpt-5` or `us.anthropic.claude-opus-4-5`."""


class Cost(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The usage of one member, or of all; `cost_usd` is None when part of it has no known price."""

    agent_id: str
    agent: str = ""
    sessions: int = 0
    models: tuple[str, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: float | None = 0.0
    known_usd: float = 0.0
    """The part of the cost that is known."""


class TeamCost(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The members' costs, their sum, and the limit (0 for none); an estimate at list prices."""

    members: tuple[Cost, ...]
    total: Cost
    limit_usd: float
    estimate: bool = True


@operation("team.cost", ANYONE, changes=False)
def cost(context: Context) -> TeamCost:
    """Return the usage of each member, and the sum."""
    team = context.team.require()
    book, limit = team.usage.read(), team.wanted.read().max_cost
    names = dict.fromkeys(entry.agent_id for entry in book.sessions)
    members = tuple(_sum(name, [entry for entry in book.sessions if entry.agent_id == name]) for name in names)
    return TeamCost(members=members, total=_sum("all", book.sessions), limit_usd=limit)


@operation("team.limit", HUMAN_ONLY, verdict=True)
def limit(context: Context, usd: float) -> None:
    """Set the limit of the team's cost in US dollars, 0 for no limit; at the limit no new session starts."""
    if not 0 <= usd <= 1e9:
        raise BadInput(f"a limit of {usd:g} is out of range", hint="dollars, 0 for no limit")
    with context.team.require().wanted.change("set the limit of cost") as change:
        change.value = replace(change.value, max_cost=usd)
    context.team.log_event(context.now(), context.caller.agent_id, "team.limit", usd=f"{usd:g}")


def spent(sessions: Iterable[SessionUsage]) -> float:
    """Return the known cost of sessions, in US dollars."""
    return sum(price(entry) or 0.0 for entry in sessions)


def price(entry: SessionUsage) -> float | None:
    """Return a session's cost: as its agent reports it, else at list prices; None without a known price.

    Where not every call was priced by itself, all tokens are priced as small calls of the newest model.
    """
    if entry.cost_usd is not None or entry.list_usd is not None:
        return (entry.cost_usd or 0.0) + (entry.list_usd or 0.0)
    return _list_price(entry, datetime.now(UTC), one_call=False)


def of_call(used: Usage, at: datetime, for_an_hour: int = 0) -> float | None:
    """Return the list price of one call of a model at a time, None without a known price.

    `for_an_hour` is the part of the tokens written to a cache that is kept for an hour.
    """
    return _list_price(used, at, for_an_hour, one_call=True)


def _list_price(used: Usage | SessionUsage, at: datetime, for_an_hour: int = 0, *, one_call: bool) -> float | None:
    cached = used.cache_read_tokens, used.cache_write_tokens
    tokens = Tokens(used.input_tokens, used.output_tokens, *cached, for_an_hour)
    model = _model(used.models[-1]) if used.models and tokens != NONE else None
    return cost_of(model, tokens, at, one_call=one_call) if model else None


@lru_cache(maxsize=256)
def _model(name: str) -> Model | None:
    prices, own_name = _prices(), _OF_A_SELLER.sub("", name)
    return model_of(prices, name) or (model_of(prices, own_name) if own_name != name else None)


@cache
def _prices() -> PriceList:
    return decode(resources.PRICES.read_bytes(), PriceList)


def _sum(agent_id: str, entries: Iterable[SessionUsage]) -> Cost:
    usages = tuple(entries)
    prices = [price(entry) for entry in usages]
    known = sum(usd for usd in prices if usd is not None)
    return Cost(
        agent_id=agent_id,
        agent=", ".join(dict.fromkeys(entry.agent for entry in usages)),
        sessions=len(usages),
        models=tuple(dict.fromkeys(model for entry in usages for model in entry.models)),
        input_tokens=sum(entry.input_tokens for entry in usages),
        output_tokens=sum(entry.output_tokens for entry in usages),
        cache_read_tokens=sum(entry.cache_read_tokens for entry in usages),
        cache_write_tokens=sum(entry.cache_write_tokens for entry in usages),
        cost_usd=None if None in prices else known,
        known_usd=known,
    )
