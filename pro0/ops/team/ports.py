"""Ports: each member of this home gets a range of its own, so that servers in two worktrees do not collide."""

from functools import partial
from pathlib import Path

from msgspec.structs import replace

from pro0.errors import Pro0Error
from pro0.model.team import PortRanges
from pro0.store.files import File
from pro0.store.paths import PORTS
from pro0.store.teams import Store, TeamStore

PORT_BASE = "PRO0_PORT_BASE"
"""The variable with the first port of a member's range."""
SIZE = 20
"""Ports of one member."""
BASES = range(20000, 32000, SIZE)
"""The first ports of all ranges: below those which systems hand out by themselves."""
_ranges = partial(File, name=PORTS, kind=PortRanges, absent=PortRanges)


def port_base(team: TeamStore, agent_id: str) -> int:
    """Return the first port of a member's range, the same in each of its sessions; 0 when no range is free."""
    home, owner = team.paths.home, _owner(team.name, team.config.read().uid, agent_id)
    if known := _of(_ranges(home).read().ranges, owner):
        return known
    with _ranges(home).change("give a member its ports") as change:
        held = change.value.ranges
        if known := _of(held, owner):
            return known
        kept = {base: whose for base, whose in held.items() if _lasts(home, whose)}
        free = next((base for base in BASES if str(base) not in kept), 0)
        change.value = replace(change.value, ranges=kept | ({str(free): owner} if free else {}))
        return free


def _owner(team: str, uid: str, agent_id: str) -> str:
    return f"{team}/{uid}/{agent_id}"


def _of(ranges: dict[str, str], owner: str) -> int:
    return next((int(base) for base, whose in ranges.items() if whose == owner), 0)


def _lasts(home: Path, owner: str) -> bool:
    """Return True while the seat is wanted, and when nobody can tell."""
    name, uid, agent_id = owner.split("/")
    team = Store(home).team(name)
    try:
        if not team.exists() or team.config.read().uid != uid:
            return False
        return any(seat.agent_id == agent_id for seat in team.wanted.read().seats)
    except Pro0Error:
        return True
