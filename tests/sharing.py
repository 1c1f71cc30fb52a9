"""Machines that share a team: homes of one machine, each with its folder of the team, and one database."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pro0.model.runtime import Phase, SeatState, State
from pro0.model.team import Environment, Seat, Share, StorePointer
from pro0.store.database import joining
from pro0.store.database.pointer import pointer_in
from pro0.store.lease import Lease
from pro0.store.teams import Store, TeamStore
from tests.teams import NOW, make_team

if TYPE_CHECKING:
    from pro0.store.database.documents import DatabaseDocuments

_NUMBERS = count()


def founded(home: Path, url: str) -> TeamStore:
    """A team of a database, which has others, on the machine that makes it, with the member w1."""
    team = make_team(home, name=f"shared-{os.getpid()}-{next(_NUMBERS)}", url=url)
    seated(team, "w1")
    return team


def share(machine: str = "two", **fields: object) -> Share:
    """What a machine knows of a team for itself."""
    return replace(Share(machine=machine, project=f"/projects/{machine}"), **fields)


def pointer_of(team: TeamStore) -> StorePointer:
    """Where a team of a database is."""
    pointer = pointer_in(team.paths.team)
    assert pointer
    return pointer


def joined(team: TeamStore, machine: str = "two", home: Path | None = None) -> TeamStore:
    """The team as another machine has it, which joins it now; its home is beside that of the first one."""
    there = home or team.paths.home.with_name(f"home-{machine}")
    own = share(machine, joined=f"joined-{next(_NUMBERS)}")
    return joining.join(Store(there), team.name, pointer_of(team).url, own, Environment())


def state_of(member: str, state: State = State.IDLE, **fields: object) -> SeatState:
    """A session as its machine's lead records it."""
    made = SeatState(agent_id=member, generation=1, incarnation=f"inc-{member}", state=state, since=NOW, started_at=NOW)
    return replace(made, **fields)


def seated(team: TeamStore, *members: str, task: str | None = None) -> None:
    """Give a machine members that live, as its lead records them."""
    with team.wanted.change("a test") as change:
        seats = (Seat(member, member.title(), "shell", machine=team.machine, task=task) for member in members)
        change.value = replace(change.value, seats=(*change.value.seats, *seats))
    for member in members:
        team.mailbox(member).make()
    recorded(team, *map(state_of, members))


def recorded(team: TeamStore, *states: SeatState, phase: Phase = Phase.RUNNING) -> None:
    """Let the lead of a machine record these sessions too."""
    with team.record.change("a test") as change:
        change.value = replace(change.value, phase=phase, seats=(*change.value.seats, *states))


def shared(team: TeamStore) -> "DatabaseDocuments":
    """The documents of a team in a database, as such."""
    from pro0.store.database.documents import DatabaseDocuments  # late: it needs psycopg

    assert isinstance(team.documents, DatabaseDocuments)
    return team.documents


@contextmanager
def led(team: TeamStore) -> Iterator[Lease]:
    """Have a lead at work on a machine."""
    lease = team.documents.lease()
    assert lease.take("a test")
    try:
        yield lease
    finally:
        lease.drop()
