"""Decide if a lead started by a guard may lead (behaviour 3.12)."""

from pro0.engine.log import Log
from pro0.model.ids import LEAD
from pro0.model.message import Notice
from pro0.model.runtime import Phase
from pro0.model.team import Wish
from pro0.ops.context import clock, lead_context
from pro0.ops.mail import messages
from pro0.rules.lead import revival
from pro0.rules.words import prompts
from pro0.store.lease import Lease
from pro0.store.teams import TeamStore

STOPPED = "stopped"
STAYS_DOWN = "stays down"


def declines(team: TeamStore, lease: Lease) -> bool:
    """Return True when this process must not lead. The guards then wait until somebody else leads."""
    runtime = team.record.read()
    if runtime.phase is Phase.STOPPED and team.wanted.read().wish is Wish.STOP:
        lease.rest(STOPPED)
        return True
    if revival.may_come_back(runtime.revived, clock()):
        return False
    # One id for this burst of revivals, so that several leads tell it only once.
    notice = Notice(
        id=f"lead:down:{runtime.revived[-1].isoformat()}",
        from_=LEAD,
        to=LEAD,
        content=prompts.lead_stays_down(revival.LIMIT),
    )
    messages.deliver(lead_context(team), (notice,))
    lease.rest(STAYS_DOWN)
    Log(team).write("lead stays down", revived=runtime.revived)
    return True
