"""The machines that share a team in a database: list them, and give one up."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from pro0.errors import BadInput, NotFound, Refused
from pro0.model.caller import ANYONE, HUMAN_ONLY
from pro0.model.runtime import ENDED, Runtime
from pro0.model.team import Seat
from pro0.ops import permissions
from pro0.ops.context import Context, lead_context, operation
from pro0.ops.tasks import tasks
from pro0.rules.person.permissions import open_requests
from pro0.store.database.sharing import WholeRuntime, record_in
from pro0.store.teams import TeamStore

if TYPE_CHECKING:
    from pro0.store.places.promises import SharedDocuments


class MachineStatus(msgspec.Struct, frozen=True, rename="camel"):
    """One machine as shown by `host list`."""

    name: str
    """The name under which it takes part; empty for the machine that made the team."""
    hostname: str
    """The machine's name for itself; empty before its first lead."""
    here: bool
    present: bool
    """True while its lead runs."""
    since: datetime | None
    """The time when its last lead began."""
    version: str
    members: tuple[str, ...]
    """Its members that have not ended."""


@operation("host.list", ANYONE, changes=False)
def list_machines(context: Context) -> tuple[MachineStatus, ...]:
    """Return the machines of a shared team, its maker first."""
    team = context.team.require()
    database, records = _shared(team)
    present = database.present(records)
    return tuple(
        MachineStatus(
            name=name,
            hostname=record.lead_machine,
            here=name == team.machine,
            present=name in present,
            since=record.lead_since,
            version=record.lead_version,
            members=tuple(state.agent_id for state in record.seats if state.state not in ENDED),
        )
        for name, record in sorted(records.items())
    )


@operation("host.leave", HUMAN_ONLY)
def give_up(context: Context, machine: str) -> tuple[str, ...]:
    """Take a machine and its members out of a team, give back their tasks, and return the members.

    Raises Refused while its lead is at work, NotFound when no machine of that name takes part. After an interruption
    it may be called again.
    """
    team = context.team.require()
    database, records = _shared(team)
    if not machine:
        raise BadInput("the machine that made the team cannot leave it", hint="pro0 team cleanup removes the team")
    if machine not in records:
        raise NotFound(f"no machine called {machine} takes part in {team.name}", hint="pro0 host list")
    with _led_by_nobody(database, team, machine):
        sessions = _sessions(team, machine)
        _give_back(team, machine, sessions)
        with team.wanted.change(f"{machine} leaves") as change:
            gone = tuple(seat.agent_id for seat in change.value.seats if seat.machine == machine)
            change.value = replace(change.value, seats=tuple(s for s in change.value.seats if s.machine != machine))
            database.drop_record(change.place, machine)
        _give_back(team, machine, sessions)  # its members run on, and may have claimed until now
    team.log_event(context.now(), context.caller.agent_id, "host.leave", machine=machine)
    return gone


@contextmanager
def _led_by_nobody(database: "SharedDocuments", team: TeamStore, machine: str) -> Iterator[None]:
    """Prevent a machine's lead from starting; raises Refused, naming the machine, while that lead runs."""
    with ExitStack() as stack:
        try:
            stack.enter_context(database.led_by_nobody(machine))
        except Refused as error:
            text = f"{machine} cannot be given up while its lead runs"
            raise Refused(text, code=error.code, hint=f"on {machine}: pro0 host leave {team.name}") from None
        yield


def _sessions(team: TeamStore, machine: str) -> dict[str, str]:
    """Return the sessions of a machine's members, by their agent ids; "" for none yet."""
    unopened = {seat.agent_id: "" for seat in team.wanted.read().seats if seat.machine == machine}
    record = record_in(team.documents.team, machine).read()
    return unopened | {state.agent_id: state.incarnation for state in record.seats}


def _give_back(team: TeamStore, machine: str, sessions: dict[str, str]) -> None:
    """Give back the tasks held by or reserved for members of a machine, and end their requests for permissions.

    A member that is on another machine by now keeps its reserved tasks.
    """
    how = f"was on {machine}, which no longer takes part"
    moved = {seat.agent_id for seat in team.wanted.read().seats if seat.machine != machine}
    for agent_id, incarnation in sessions.items():
        tasks.free(lead_context(team), agent_id, incarnation, how, keep=agent_id in moved)
    requests = open_requests(team.permissions.read())
    permissions.settle(lead_context(team), {request.id: "ended" for request in requests if request.machine == machine})


def where(team: TeamStore, seat: Seat) -> str:
    """Return the machine where a member's agent runs, empty for this one."""
    return seat.host or ("" if seat.machine == team.machine else machine_name(team, seat.machine))


def machine_name(team: TeamStore, machine: str) -> str:
    """Return the name of a machine in a shared team; for the team's maker, the name that its last lead gave."""
    return machine or record_in(team.documents.team, "").read().lead_machine


def nothing_to_show(team: TeamStore, seat: Seat) -> NotFound:
    """Return the error for a member without a terminal here."""
    is_here = seat.machine == team.machine
    why = "has nothing to show" if is_here else f"runs on {machine_name(team, seat.machine)}, and is shown there"
    return NotFound(f"{seat.agent_id} {why}", hint=f"pro0 member show {seat.agent_id}")


def _shared(team: TeamStore) -> tuple["SharedDocuments", dict[str, Runtime]]:
    """Return a team's database and the records of its machines; raises BadInput for a team in files."""
    database = team.documents.database
    if database is None or not isinstance(team.runtime, WholeRuntime):
        hint = f"move it: pro0 store copy {team.name} postgresql://…"
        raise BadInput(f"{team.name} is stored in files on this machine, which no other machine shares", hint=hint)
    return database, team.runtime.records()
