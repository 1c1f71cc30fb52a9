"""The documents of a team that differ by machine: each lead's record, and what the team's configuration means here.

Each lead records its own sessions, and readers see all of them as one record. The processes and panes in the record of
another machine are not on this one. So they are left out, and nothing here takes a stranger's process for a session's.
"""

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import asdict, replace

from pro0.errors import NotFound
from pro0.model.runtime import ENDED, Phase, Runtime, SeatState, State
from pro0.model.team import Share, TeamConfig
from pro0.store.files import File
from pro0.store.paths import CONFIG, record_of

if TYPE_CHECKING:
    from pro0.store.places.place import DocumentPlace
    from pro0.store.places.promises import Documents, SharedDocuments


class OwnRecord(File[Runtime]):
    """The record of this machine's sessions, never that of a later machine of the same name."""

    def __init__(self, place: "DocumentPlace", share: Share | None) -> None:
        self._machine, self._joined = (share.machine, share.joined) if share else ("", "")
        super().__init__(place, record_of(self._machine), Runtime, absent=_absent(self._machine))

    def own(self, record: Runtime) -> Runtime:
        """Return the record if it is this machine's; raises NotFound when a later machine has this one's name."""
        if record.joined != self._joined:
            raise _takes_no_part(self._machine)
        return record

    def decoded(self, data: bytes) -> Runtime:
        """Return the record that these bytes hold; raises StoreError when they are corrupt, NotFound as `own` does."""
        return self.own(super().decoded(data))


class WholeRuntime(OwnRecord):
    """The record of a machine's sessions; a read merges it with the records of all other machines."""

    def __init__(self, documents: "SharedDocuments", share: Share | None) -> None:
        super().__init__(documents.team, share)
        self._documents = documents
        self._files: dict[str, File[Runtime]] = {}

    def read(self) -> Runtime:
        """Return the merged record; raises NotFound when this machine no longer takes part, StoreError when corrupt."""
        records = self.records()
        if self._machine not in records:
            return super().read()  # raises the error for the missing record
        record = self.own(records.pop(self._machine))
        return whole(record, records, self._documents.present(records))

    def find(self) -> Runtime | None:
        """Return the record, or None when it is missing."""
        with suppress(NotFound):
            return self.read()
        return None

    def records(self) -> dict[str, Runtime]:
        """Return the records of all machines that share the team, by their names."""
        documents = self._documents.records()
        return {machine: self._file(machine).decoded(data) for machine, data in documents.items()}

    def _file(self, machine: str) -> File[Runtime]:
        return self._files.setdefault(machine, record_in(self._documents.team, machine))


class LocalConfig(File[TeamConfig]):
    """The configuration of a team that another machine has made, read with this one's project and display."""

    def __init__(self, place: "DocumentPlace", fault: Callable[[TeamConfig], str], share: Share) -> None:
        super().__init__(place, CONFIG, TeamConfig, fault=fault)
        self._own = asdict(share)
        del self._own["machine"], self._own["joined"]

    def read(self) -> TeamConfig:
        """Return the configuration; raises NotFound or StoreError."""
        return replace(super().read(), **self._own)

    def find(self) -> TeamConfig | None:
        """Return the configuration, or None when it is missing."""
        config = super().find()
        return replace(config, **self._own) if config else None


class MachineFiles(NamedTuple):
    """The documents of a team that differ by machine."""

    config: File[TeamConfig]
    record: File[Runtime]
    """The record that the lead of this machine writes."""
    runtime: File[Runtime]
    """The record that readers see."""


def machine_files(documents: "Documents", fault: Callable[[TeamConfig], str]) -> MachineFiles:
    """Return the documents of a team that differ by machine; a team in files has one of each."""
    share, database = documents.share, documents.database
    plain: File[TeamConfig] = File(documents.team, CONFIG, TeamConfig, fault=fault)
    config = LocalConfig(documents.team, fault, share) if share else plain
    record = OwnRecord(documents.team, share)
    return MachineFiles(config, record, WholeRuntime(database, share) if database else record)


def others_of(documents: "Documents") -> list[str]:
    """Return the other machines that share a team; "" is the machine that made it."""
    machines = documents.database.records() if documents.database else ()
    return sorted({*machines} - {own_machine(documents)})


def own_machine(documents: "Documents") -> str:
    """Return the name under which this machine takes part in a team, "" when it has made the team."""
    return documents.share.machine if documents.share else ""


def record_in(place: "DocumentPlace", machine: str) -> File[Runtime]:
    """Return the record of one machine's sessions."""
    return File(place, record_of(machine), Runtime, absent=_absent(machine))


def _absent(machine: str) -> Callable[[], Runtime] | None:
    """Return a function that raises for a missing record, None for the team's maker: its record always exists."""

    def refuse() -> Runtime:
        raise _takes_no_part(machine)

    return refuse if machine else None


def _takes_no_part(machine: str) -> NotFound:
    return NotFound(f"{machine} no longer takes part in this team", hint="pro0 host leave")


def whole(own: Runtime, others: Mapping[str, Runtime], present: Collection[str]) -> Runtime:
    """Return the record of a whole team, merged from this machine's record and those of others, by machine name.

    A session on a machine that is not `present` is unreachable, since nothing says that it has ended.
    """
    if not others:
        return own
    records = (own, *others.values())
    counting = [record for name, record in others.items() if name in present or _has_living(record)]
    elsewhere = chain.from_iterable(_sessions(other, name, name in present) for name, other in others.items())
    return replace(
        own,
        phase=_phase({own.phase, *(record.phase for record in counting)}),
        seats=_newest((*own.seats, *elsewhere)),
        failures=tuple(chain.from_iterable(record.failures for record in records)),
        refusals=tuple(chain.from_iterable(record.refusals for record in records)),
        limits=tuple(chain.from_iterable(record.limits for record in records)),
    )


def _sessions(record: Runtime, machine: str, is_present: bool) -> list[SeatState]:
    states = [replace(state, guard=None, agent=None, handle=None) for state in record.seats]
    if is_present:
        return states
    note = f"{machine or record.lead_machine} takes no part at present"
    return [s if s.state in ENDED else replace(s, state=State.UNREACHABLE, note=note) for s in states]


def _newest(states: tuple[SeatState, ...]) -> tuple[SeatState, ...]:
    """Return one state for each member, the newest: a member may have been on another machine before."""
    newest: dict[str, SeatState] = {}
    for state in states:
        known = newest.get(state.agent_id)
        if known is None or state.generation > known.generation:
            newest[state.agent_id] = state
    return tuple(newest.values())


def _has_living(record: Runtime) -> bool:
    return any(state.state not in ENDED for state in record.seats)


def _phase(phases: set[Phase]) -> Phase:
    if len(phases) == 1:
        return next(iter(phases))
    return Phase.RUNNING if Phase.RUNNING in phases else Phase.STOPPING
