"""Ports: each member of this home gets a range of its own, so that servers in two worktrees do not collide."""

from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from pro0.errors import Pro0Error
from pro0.model.team import PortRanges
from pro0.ops.repair.evidence import opened
from pro0.store.files import File, translate
from pro0.store.lock import locked
from pro0.store.paths import PORTS, TeamPaths
from pro0.store.teams import Store, TeamStore

PORT_BASE = "PRO0_PORT_BASE"
"""The variable with the first port of a member's range."""
SIZE = 20
"""The number of ports of one member."""
BASES = range(20000, 32000, SIZE)
"""The first ports of all ranges, below the ephemeral ports of operating systems."""


def port_base(team: TeamStore, agent_id: str) -> int:
    """Return the first port of a member's range, the same in each of its sessions; 0 when no range is free.

    When the first member of a team asks, all members of the team get their ranges, in one write.
    """
    if first_port := team.ports.read().ranges.get(agent_id):
        return first_port
    home, why = team.paths.home, "give a member its ports"
    try:
        # The home's lock keeps two teams from giving the same range; the team's own lock keeps the file whole.
        with locked(home, why):
            other_teams = [name for name in Store(home).names() if name != team.name]
            taken = {base for name in other_teams for base in _used_of(home, name).values()}
            with team.ports.change(why) as change:
                if first_port := change.value.ranges.get(agent_id):
                    return first_port
                ranges = {**_used(team)}
                free = iter([base for base in BASES if base not in taken | {*ranges.values()}])
                wanting = [agent for agent in (agent_id, *_seat_ids(team)) if agent not in ranges]
                ranges |= zip(dict.fromkeys(wanting), free, strict=False)
                if agent_id in ranges:
                    change.value = replace(change.value, ranges=ranges)
                return ranges.get(agent_id, 0)
    except OSError as error:
        translate(error, team.paths.team / PORTS)


def _used_of(home: Path, name: str) -> dict[str, int]:
    """Return the ranges of another team's seats: of all members while the place of its documents is unknown."""
    if team := opened(Store(home), name):
        return _used(team)
    with suppress(Pro0Error):  # its ports are here, wherever its documents are
        return File(TeamPaths(home, name).team, PORTS, PortRanges, absent=PortRanges).read().ranges
    return {}


def _used(team: TeamStore) -> dict[str, int]:
    """Return the ranges of the team's seats: of all members while the wanted ones are unknown."""
    ranges: dict[str, int] = {}
    # Damage to another team must not keep this team from starting.
    with suppress(Pro0Error):
        ranges = team.ports.read().ranges
        wanted = {seat.agent_id for seat in team.wanted.read().seats}
        return {agent_id: base for agent_id, base in ranges.items() if agent_id in wanted}
    return ranges


def _seat_ids(team: TeamStore) -> list[str]:
    """Return the members that are wanted; none while they are unknown."""
    with suppress(Pro0Error):
        return [seat.agent_id for seat in team.wanted.read().seats]
    return []
