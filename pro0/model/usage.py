"""What sessions have used (usage.json): kept by the lead, read from the agents' own transcripts."""

from pro0.model.stored import AgentId, Count, Document, Moment, Stored, Tag


class SessionUsage(Stored, frozen=True):
    """The tokens of one session so far; figures of a transcript are estimates (behaviour 3.18)."""

    agent_id: AgentId
    incarnation: Tag
    agent: str
    session: str = ""
    models: tuple[str, ...] = ()
    input_tokens: Count = 0
    output_tokens: Count = 0
    cache_read_tokens: Count = 0
    cache_write_tokens: Count = 0
    cost_usd: float | None = None
    """What the agent itself says; None when it says nothing, and list prices must tell."""
    at: Moment | None = None


class UsageBook(Document, frozen=True, kw_only=True):
    """usage.json: one entry for each session that ever used a model."""

    sessions: tuple[SessionUsage, ...] = ()
