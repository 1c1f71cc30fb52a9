"""Opening sessions: launch files for the guards, places from the backend, the record; or all of it undone."""

import os
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from pro0 import resources
from pro0.agents import adapter_named
from pro0.engine.environment import member_environment
from pro0.engine.log import Log
from pro0.engine.places import backend_of, place_of
from pro0.errors import Pro0Error, StoreError
from pro0.model.runtime import Failure, Handle, Launch, Runtime, SeatState, Start
from pro0.model.team import Member, TeamConfig
from pro0.ops import members
from pro0.ops.context import clock, lead_context
from pro0.rules.supervision import MEMORY
from pro0.sessions.backend import Opening
from pro0.store import atomic
from pro0.store.files import encode
from pro0.store.teams import TeamStore


class Opener:
    """Opens sessions of one team; `grace` is the seconds between TERM and KILL when one ends."""

    def __init__(self, team: TeamStore, config: TeamConfig, log: Log, grace: float) -> None:
        self._team = team
        self._config = config
        self._log = log
        self._grace = grace
        self._backend = backend_of(config)
        self._place = place_of(config)

    def open(self, runtime: Runtime, starts: Sequence[Start], before: Runtime) -> None:
        """Open the sessions, all or none, and record where they are; a failure is undone, to how it was `before`."""
        states = {state.incarnation: state for state in runtime.seats}
        try:
            openings = [self._opening(start, states[start.incarnation]) for start in starts]
            handles = self._backend.open(self._place, openings)
        except Pro0Error as error:
            self._undo(starts, error, before)
        except OSError as error:
            self._undo(starts, StoreError(f"its launch file cannot be written: {error.strerror}"), before)
        else:
            self._enter(starts, handles)

    def _opening(self, start: Start, state: SeatState) -> Opening:
        paths, seat = self._team.paths, start.seat
        self._team.mailbox(seat.agent_id).make()
        identity = members.identity(self._team, state) | members.task_identity("", "")
        chosen = adapter_named(seat.agent)
        launch = Launch(
            agent_id=seat.agent_id,
            incarnation=start.incarnation,
            team=self._team.name,
            team_uid=self._config.uid,
            argv=chosen.argv(seat),
            cwd=self._config.project,
            env=member_environment(os.environ, identity),
            report=str(paths.sessions / paths.report(start.incarnation)),
            first_state=chosen.first_state,
            grace=self._grace,
        )
        name = paths.launch(start.incarnation)
        with atomic.folder(paths.sessions) as folder:
            atomic.replace(folder, name, encode(launch))
        return Opening(
            incarnation=start.incarnation,
            title=seat.agent_id,
            argv=resources.guard_argv(paths.sessions / name),
            log=paths.log(seat.agent_id),
        )

    def _enter(self, starts: Sequence[Start], handles: Iterable[Handle]) -> None:
        by_incarnation = {handle.incarnation: handle for handle in handles}
        with self._team.runtime.change("record handles") as change:
            seats = (replace(s, handle=by_incarnation.get(s.incarnation, s.handle)) for s in change.value.seats)
            change.value = replace(change.value, seats=tuple(seats))
        new = {start.seat.agent_id: self._member(start) for start in starts}
        with self._team.config.change("list members") as listing:
            kept = [m for m in listing.value.members if m.agent_id not in new]
            listing.value = replace(listing.value, members=(*kept, *new.values()))

    def _member(self, start: Start) -> Member:
        seat = start.seat
        return Member(
            name=seat.name,
            agent_id=seat.agent_id,
            category=seat.role,
            session_id=start.incarnation,
            spawned_at=clock(),
            agent=seat.agent,
        )

    def _undo(self, starts: Sequence[Start], error: Pro0Error, before: Runtime) -> None:
        """Take a spawn that failed back, whole, and say at which step and why."""
        failed = {start.incarnation: start.seat.agent_id for start in starts}
        earlier = {state.agent_id: state for state in before.seats if state.agent_id in failed.values()}
        failures = [
            Failure(s.seat.agent_id, s.seat.generation, clock(), error.message, error.hint or "") for s in starts
        ]
        for start in starts:
            (self._team.paths.sessions / self._team.paths.launch(start.incarnation)).unlink(missing_ok=True)
        with self._team.runtime.change("record a failed spawn") as change:
            kept = (earlier.get(s.agent_id) if s.incarnation in failed else s for s in change.value.seats)
            seats = tuple(state for state in kept if state)
            change.value = replace(change.value, seats=seats, failures=(*change.value.failures, *failures)[-MEMORY:])
        for start in starts:
            state = earlier.get(start.seat.agent_id)
            back_to = state.generation if state else None
            members.undo(lead_context(self._team), start.seat.agent_id, start.seat.generation, back_to)
        self._log.write("spawn failed", why=error.message)
