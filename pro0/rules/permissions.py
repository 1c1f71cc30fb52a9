"""What a member may do without asking: as its spawn says, else as the lead agent, else as the team (rulings 3.17)."""

from pro0.model.ids import LEAD
from pro0.model.team import PermissionMode, Seat, TeamConfig, Wanted


def permission_mode(seat: Seat, wanted: Wanted, config: TeamConfig) -> PermissionMode:
    """Return the mode in force for a seat: until its plan is approved it may only read and plan."""
    if seat.gate and not seat.gate.approved:
        return PermissionMode.PLAN
    lead = next((other.permission_mode for other in wanted.seats if other.agent_id == LEAD), None)
    return seat.permission_mode or lead or config.permission_mode
