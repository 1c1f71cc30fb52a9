"""Waiting for the lead to act on a request, for a limited time: clients give up on a tool that takes too long.

The engine is imported only when a call waits, and most agents make no such call.
"""

from contextlib import suppress

from pro0.errors import TimedOut
from pro0.model.team import Seat, ShutdownWish
from pro0.ops.context import Context
from pro0.ops.team import members

PATIENCE = 20.0
"""Seconds."""


def led(context: Context) -> None:
    """Return once the team has a lead; raises EnvironmentMissing."""
    from pro0.engine.opening.launch import ensure_lead

    ensure_lead(context.team)


def started(context: Context, seat: Seat) -> None:
    """Return once a member is up; raises EnvironmentMissing for a start that failed."""
    from pro0.engine import outcomes

    led(context)
    outcomes.started(context.team, [seat], quietly)


def ended(context: Context, seat: Seat) -> None:
    """Return once a member has ended, or after `PATIENCE`; raises Refused for a member that stays."""
    from pro0.engine import outcomes

    led(context)
    with suppress(TimedOut):
        outcomes.shut_down(context.team, seat, quietly, patience=PATIENCE)


def stopped(context: Context, wish: ShutdownWish | None) -> None:
    """Return once the team has stopped, or after `PATIENCE`; at once for a caller with a seat in the team."""
    from pro0.engine import outcomes

    led(context)
    seated = any(seat.agent_id == context.caller.agent_id for seat in members.members(context).wanted.seats)
    if wish and not seated:
        with suppress(TimedOut):
            outcomes.stopped(context.team, wish, quietly, patience=PATIENCE)


def quietly(_text: str) -> None:
    """Show nothing, since a program waits and no person."""
