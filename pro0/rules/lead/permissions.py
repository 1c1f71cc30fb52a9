"""A member's permission mode: from its spawn, else from the lead agent, else from the team (behaviour 3.17)."""

from msgspec.structs import replace

from pro0.errors import ErrorCode, Refused
from pro0.model.ids import LEAD
from pro0.model.team import PermissionMode, Seat, TeamConfig, Wanted


def permission_mode(seat: Seat, wanted: Wanted, config: TeamConfig) -> PermissionMode:
    """Return the mode in force for a seat: it may only read and plan before its plan is approved."""
    if seat.gate and not seat.gate.approved:
        return PermissionMode.PLAN
    lead = next((member.permission_mode for member in wanted.seats if member.agent_id == LEAD), None)
    return seat.permission_mode or lead or config.permission_mode


_ORDER = (PermissionMode.PLAN, PermissionMode.ASK, PermissionMode.EDITS, PermissionMode.BYPASS)


def within(seat: Seat, wanted: Wanted, config: TeamConfig) -> None:
    """Raise Refused when a lead agent would give a member a mode above its own: only a person may do so."""
    own_mode = permission_mode(replace(seat, permission_mode=None, gate=None), wanted, config)
    requested_mode = permission_mode(replace(seat, gate=None), wanted, config)
    if _ORDER.index(requested_mode) > _ORDER.index(own_mode):
        hint = "leave the permission mode out, or ask the person"
        raise Refused(
            f"a lead agent in the mode {own_mode} may not give anybody the mode {requested_mode}",
            code=ErrorCode.NOT_ALLOWED,
            hint=hint,
        )
