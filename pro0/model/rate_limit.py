"""A provider that has enough for now."""

from pro0.model.stored import Count, Moment, Stored


class RateLimit(Stored, frozen=True):
    """What keeps sessions of one agent from starting: its provider has enough, at least until a moment."""

    agent: str
    since: Moment
    """When the first of the errors in a row began, and in `at` the last one that counted."""
    at: Moment
    until: Moment
    named: bool = False
    """Whether the error named its end; else it is a guess, longer each time."""
    times: Count = 1
    note: str = ""
