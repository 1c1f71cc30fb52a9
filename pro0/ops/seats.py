"""Find members by agent id or name, in any case; and check whether the processes in a team's files live."""

from collections.abc import Iterator
from contextlib import suppress

import msgspec

from pro0 import processes
from pro0.errors import ErrorCode, NotFound, Pro0Error
from pro0.model.ids import HUMAN, LEAD
from pro0.model.runtime import ENDED, Process, Runtime, SeatState, State
from pro0.model.team import Seat, Wanted
from pro0.store.teams import TeamStore


class Roster(msgspec.Struct, frozen=True):
    """All seats of a team, with the sessions' states."""

    team: str
    wanted: Wanted
    runtime: Runtime

    def find(self, text: str) -> Seat:
        """Return the seat with that id or name, in any case; raises NotFound."""
        folded = text.strip().casefold()
        for seat in self.wanted.seats:
            if folded in (seat.agent_id, seat.name.casefold()):
                return seat
        names = ", ".join(seat.agent_id for seat in self.wanted.seats) or "nobody yet"
        raise NotFound(f"{text!r} is not a member of {self.team}", hint=f"members: {names}")

    def state(self, agent_id: str) -> SeatState | None:
        """Return the state of a seat's present generation, None before its first report."""
        generation = next((seat.generation for seat in self.wanted.seats if seat.agent_id == agent_id), 0)
        return next((s for s in self.runtime.seats if s.agent_id == agent_id and s.generation == generation), None)

    def ended(self, agent_id: str) -> State | None:
        """Return the end state of a member, None while it lives or starts."""
        state = self.state(agent_id)
        return state.state if state and state.state in ENDED else None

    def over(self, agent_id: str) -> bool:
        """Return True when a member has ended, whether a lead has noticed or not."""
        state = self.state(agent_id)
        return state is not None and (state.state in ENDED or has_died(state))

    def live(self) -> list[Seat]:
        """Return the seats still alive or starting."""
        return [seat for seat in self.wanted.seats if not self.ended(seat.agent_id)]

    def awaits_restart(self, agent_id: str) -> bool:
        """Return True when a crashed member can be restarted; a session for one task cannot."""
        seat = next((seat for seat in self.wanted.seats if seat.agent_id == agent_id), None)
        lasting = seat is not None and not seat.disposable and not seat.task
        return lasting and self.ended(agent_id) is State.CRASHED

    def mailbox(self, text: str) -> str:
        """Return the mailbox for a message, like `address`; a crashed member with a possible restart counts too."""
        folded = text.strip().casefold()
        if folded not in (LEAD, HUMAN) and self.awaits_restart(id := self.find(text).agent_id):
            return id
        return self.address(text)

    def address(self, text: str) -> str:
        """Return the id of a member, `lead` or `human`; raises NotFound for an unknown or ended member."""
        folded = text.strip().casefold()
        if folded in (LEAD, HUMAN):
            return folded
        seat = self.find(text)
        if how := self.ended(seat.agent_id):
            hint = f"start it again: pro0 member restart {seat.agent_id}"
            raise NotFound(f"{seat.agent_id} has ended ({how})", code=ErrorCode.RECIPIENT_ENDED, hint=hint)
        return seat.agent_id


def has_died(state: SeatState) -> bool:
    """Return True for a session whose processes are proved dead, before a lead has noticed."""
    return state.state not in ENDED and all(
        process is not None and not processes.may_live(process) for process in (state.guard, state.agent)
    )


def led(wanted: Wanted, machine: str) -> bool:
    """Return True when an agent reads the mailbox `lead`: one with a seat, or a living agent from outside.

    An agent from outside runs on the machine that made the team. Other machines cannot see it, and assume it lives.
    """
    outside = wanted.outside
    lives = outside is not None and (bool(machine) or processes.alive(outside.process))
    return lives or any(seat.agent_id == LEAD for seat in wanted.seats)


def roster(team: TeamStore) -> Roster:
    """Read the team's members, without a lock."""
    return Roster(team.name, team.require().wanted.read(), team.runtime.read())


class LifeSigns:
    """Polls one team for its documents, and for the processes in lists: whether they live, and the lead works.

    No file changes when the last of these processes dies, or when the lead is stopped. The documents are read anew only
    when they have changed.
    """

    def __init__(self) -> None:
        self._documents: object = None
        self._lead: Process | None = None
        self._processes: tuple[Process, ...] = ()

    def look(self, team: TeamStore) -> Iterator[object]:
        """Yield values that differ after every change visible in a list of the team."""
        documents = tuple(team.documents.signs())
        if documents != self._documents:
            self._documents, self._lead, self._processes = None, None, ()
            with suppress(Pro0Error):  # what cannot be read now is read at the next look
                runtime = team.runtime.read()
                self._lead, self._processes = runtime.lead, _told_of(runtime, team.wanted.read())
                self._documents = documents
        yield documents
        yield tuple(map(processes.may_live, self._processes))
        yield self._lead is not None and processes.stopped(self._lead.pid)


def _told_of(runtime: Runtime, wanted: Wanted) -> tuple[Process, ...]:
    outside = wanted.outside
    sessions = (process for seat in runtime.seats if seat.state not in ENDED for process in (seat.guard, seat.agent))
    return tuple(filter(None, (runtime.lead, outside.process if outside else None, *sessions)))
