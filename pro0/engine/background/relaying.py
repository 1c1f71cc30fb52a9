"""Relaying: requests for permission go from the agents' own servers to the person, and the answers back."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime

from pro0.agents.adapter import PermissionChannel, SessionView
from pro0.engine.background.agent_states import AgentStates, WatchedSession
from pro0.engine.background.backlog import Backlog, marked
from pro0.engine.log import Log, reason
from pro0.errors import Pro0Error
from pro0.model.decision import Snapshot
from pro0.model.need import Outcome, PermissionRequest
from pro0.model.runtime import State
from pro0.ops import permissions as requests
from pro0.ops.context import lead_context
from pro0.rules.person import permissions
from pro0.store.teams import TeamStore


class PermissionRelay:
    """Carries the requests of one team in the background, and ends those that were answered elsewhere."""

    def __init__(self, team: TeamStore, agent_states: AgentStates, log: Log, woken: Callable[[], None]) -> None:
        self._context = lead_context(team)
        self._agent_states = agent_states
        self._log = log
        self._woken = woken
        self._under_way: set[str] = set()
        self._known: set[str] = set()
        """The requests that were open at the last look, so before the present snapshot was taken."""
        self._unheard: dict[str, datetime] = {}
        self._trouble = ""
        """The error of the last round, which is logged once."""
        self._backlog = Backlog(self._carry, self._failed)

    def follow(self, snapshot: Snapshot) -> None:
        """Carry new requests of agents to the store, and the outcomes of open ones."""
        try:
            waiting = self._still_open(snapshot)
        except Pro0Error as error:  # the rounds go on, and the next one tries again
            if error.message != self._trouble:
                self._log.write("permission", why=error.message)
            self._trouble = error.message
            return
        self._trouble = ""
        waiting |= {incarnation for incarnation, seen in snapshot.seen.items() if seen.state is State.WAITING}
        for watched in map(self._agent_states.watched, waiting - self._under_way):
            if watched and watched.adapter.permissions:
                with marked(self._under_way, watched.state.incarnation):
                    self._backlog.put(watched)

    def _still_open(self, snapshot: Snapshot) -> set[str]:
        """Settle the requests that are over; return the living sessions with an open one."""
        open_requests = self._open_requests()
        # A session opened after the snapshot is not in it, and yet is not gone.
        judged = tuple(request for request in open_requests if request.id in self._known)
        self._known = {request.id for request in open_requests}
        if over := self._over(snapshot, judged):
            requests.settle(self._context, over)
        return {request.incarnation for request in open_requests if request.id not in over} & snapshot.guards_alive

    def _over(self, snapshot: Snapshot, open_requests: tuple[PermissionRequest, ...]) -> dict[str, Outcome]:
        """Return the outcomes of requests whose agent has gone on, or is gone."""
        self._note_unheard(open_requests, snapshot.now)
        seats = {seat.incarnation: seat for seat in snapshot.runtime.seats}
        fates = {
            request.id: permissions.fate(
                request,
                seats.get(request.incarnation),
                request.incarnation not in snapshot.guards_alive,
                snapshot.now,
                unheard=request.id in self._unheard and snapshot.now >= self._unheard[request.id] + permissions.GONE,
            )
            for request in open_requests
        }
        return {id: fate for id, fate in fates.items() if fate}

    def _note_unheard(self, open_requests: tuple[PermissionRequest, ...], now: datetime) -> None:
        """Note since when nobody waits for the answer to a request. The waiting program also ends with its session."""
        gone = {entry.id for entry in open_requests if requests.is_unheard(entry, entry.machine)}
        self._unheard = {id: self._unheard.get(id, now) for id in gone}

    def _carry(self, watched: WatchedSession) -> None:
        try:
            if watched.adapter.permissions:
                self._exchange(watched.adapter.permissions, watched.session_view, watched)
        finally:
            self._under_way.discard(watched.state.incarnation)

    def _failed(self, watched: WatchedSession, error: Exception) -> None:
        self._log.write("permission", agent=watched.state.agent_id, why=reason(error))

    def _exchange(self, channel: PermissionChannel, session_view: SessionView, watched: WatchedSession) -> None:
        """Relay new requests to the person and answers to the agent; settle requests that the agent has closed."""
        questions = channel.asked(session_view)
        if questions is None:
            return
        open_keys = {question.key for question in questions}
        own_requests = [entry for entry in self._open_requests() if entry.incarnation == watched.state.incarnation]
        for question in questions:
            if question.key not in {request.key for request in own_requests}:
                with suppress(Pro0Error):  # one that cannot be shown whole is answered where the agent asks
                    requests.relay(self._context, watched.state, question)
                    self._woken()
        outcomes: dict[str, Outcome] = {}
        for request in own_requests:
            if request.key not in open_keys:
                outcomes[request.id] = "elsewhere"
            elif request.answer:
                outcomes[request.id] = "taken" if channel.reply(session_view, request.key, request.answer) else ""
        if any(outcomes.values()):
            requests.settle(self._context, outcomes)

    def _open_requests(self) -> tuple[PermissionRequest, ...]:
        """Return the open requests of this machine's members."""
        machine = self._context.team.machine
        of_all = permissions.open_requests(self._context.team.permissions.read())
        return tuple(request for request in of_all if request.machine == machine)
