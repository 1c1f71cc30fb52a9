"""The tokens and the cost of model calls: their sums, and those of sessions as they are stored (usage.json)."""

import msgspec

from pro0.model.stored import AgentId, Count, Document, Moment, Stored, Tag


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens and cost so far, from a transcript or an agent's output; an estimate, since some requests are missing."""

    input_tokens: int = 0
    """Not read from a cache."""
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: float | None = None
    """The cost reported by the agent; None if it reports none, and list prices are used."""
    list_usd: float | None = None
    """The list prices of all calls whose cost the agent did not report; None if one of them is not known."""
    models: tuple[str, ...] = ()

    @property
    def tokens(self) -> int:
        """Return the number of all tokens."""
        return self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_write_tokens

    def __add__(self, other: "Usage") -> "Usage":
        """Return the sum; its reported cost sums the known ones, None without any."""
        costs = [part.cost_usd for part in (self, other) if part.cost_usd is not None]
        prices = [part.list_usd for part in (self, other) if part.tokens] or [None]
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            cost_usd=sum(costs) if costs else None,
            list_usd=None if None in prices else sum(price for price in prices if price is not None),
            models=tuple(dict.fromkeys((*self.models, *other.models))),
        )

    def __sub__(self, earlier: "Usage") -> "Usage":
        """Return the usage since an earlier count; the models stay."""
        return Usage(
            input_tokens=self.input_tokens - earlier.input_tokens,
            output_tokens=self.output_tokens - earlier.output_tokens,
            cache_read_tokens=self.cache_read_tokens - earlier.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens - earlier.cache_write_tokens,
            cost_usd=None if self.cost_usd is None else self.cost_usd - (earlier.cost_usd or 0),
            list_usd=None if self.list_usd is None else self.list_usd - (earlier.list_usd or 0),
            models=self.models,
        )


class SessionUsage(Stored, frozen=True):
    """The tokens of one session so far; figures of a transcript are estimates (behaviour 3.18)."""

    agent_id: AgentId
    incarnation: Tag
    agent: str
    session: str = ""
    earlier: tuple[str, ...] = ()
    """The conversations before this one, which count too."""
    models: tuple[str, ...] = ()
    input_tokens: Count = 0
    output_tokens: Count = 0
    cache_read_tokens: Count = 0
    cache_write_tokens: Count = 0
    cost_usd: float | None = None
    """The cost reported by the agent; None if it reports none, and list prices are used."""
    list_usd: float | None = None
    """The list prices of all calls whose cost the agent did not report; None if one of them is not known."""
    at: Moment | None = None


class UsageBook(Document, frozen=True, kw_only=True):
    """usage.json: one entry for each session that ever used a model."""

    sessions: tuple[SessionUsage, ...] = ()
