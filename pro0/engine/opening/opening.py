"""Opening sessions: launch files for the guards, panes from the backend, the record; all undone on failure."""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from pro0 import resources
from pro0.agents import adapter_of, limited
from pro0.agents.adapter import Adapter, Invocation
from pro0.agents.installed import require
from pro0.engine.log import Log
from pro0.engine.opening import elsewhere
from pro0.engine.opening.briefs import Briefs
from pro0.engine.opening.environment import lead_variables, member_environment, of_agent, start_environment
from pro0.engine.opening.versions import off_for
from pro0.engine.places import backend_of, place_of
from pro0.errors import EnvironmentMissing, ErrorCode, NotFound, Pro0Error, Refused, StoreError
from pro0.model.decision import Snapshot, Start
from pro0.model.home import AgentAct
from pro0.model.runtime import ENDED, Failure, Handle, Launch, Revival, Runtime, SeatState, State
from pro0.model.task import Task
from pro0.model.team import Environment, Member, Seat, TeamConfig
from pro0.ops.context import clock, lead_context
from pro0.ops.tasks import trees
from pro0.ops.team import members
from pro0.ops.work.ports import PORT_BASE, port_base
from pro0.rules.lead.plan import MEMORY
from pro0.sessions.backend import Opening
from pro0.store import atomic
from pro0.store.files import encode
from pro0.store.teams import TeamStore


class Opener:
    """Opens sessions of one team; `grace` is the seconds between TERM and KILL at a session's end.

    With `revive` the guards of these sessions restart a dead lead.
    """

    def __init__(
        self, team: TeamStore, config: TeamConfig, log: Log, grace: float, *, revive: bool = False, ssh: str = "ssh"
    ) -> None:
        self._team = team
        self._config = config
        self._log = log
        self._grace = grace
        self._ssh = ssh
        self._revival = _revival(team, config) if revive else None
        self._backend = backend_of(config)
        self._place = place_of(team, config)
        self._briefs = Briefs(team, config)
        self._sessions: dict[str, str] = {}
        self._off: dict[str, tuple[AgentAct, ...]] = {}
        self._lead = lead_context(team)

    def open(self, runtime: Runtime, starts: Sequence[Start], before: Runtime) -> None:
        """Open the sessions and record their places; a failure restores the state of `before`.

        Each session prepares alone, so one failure does not stop the others. The backend then opens all or none.
        """
        states = {state.incarnation: state for state in runtime.seats}
        self._sessions, self._off = {}, {}  # those of starts that failed are of no use any more
        openings: dict[Start, Opening] = {}
        # A bad seat must not keep the others from starting, so each failure is undone alone.
        for start in starts:
            try:
                openings[start] = self._opening(start, states[start.incarnation], self._claim_task(start))
            except Pro0Error as error:
                self._undo([start], error, before)
            except OSError as error:
                self._undo([start], StoreError(f"its launch file cannot be written: {error.strerror}"), before)
        if openings:
            self._open_all(openings, before)

    def list_missing_members(self, snapshot: Snapshot) -> None:
        """List opened sessions in config.json after a lead died before listing them.

        Members without a seat are removed from the list.
        """
        listed = {member.session_id for member in snapshot.config.members}
        missing = {s.agent_id: s for s in snapshot.runtime.seats if s.handle and s.state not in ENDED}
        missing = {name: state for name, state in missing.items() if state.incarnation not in listed}
        seats = {seat.agent_id: seat for seat in snapshot.wanted.seats}
        if any(member.agent_id not in seats for member in snapshot.config.members):
            with self._team.config.change("list members") as listing:
                seated = tuple(member for member in listing.value.members if member.agent_id in seats)
                listing.value = replace(listing.value, members=seated)
        self._list_members(
            [_member(seats[name], state.incarnation) for name, state in missing.items() if name in seats]
        )

    def _open_all(self, openings: Mapping[Start, Opening], before: Runtime) -> None:
        try:
            handles = self._backend.open(self._place, [*openings.values()])
        except Pro0Error as error:
            self._undo([*openings], error, before)
        else:
            self._record_handles([*openings], handles)

    def _claim_task(self, start: Start) -> Task | None:
        """Give a session the claim on its task before its process starts."""
        seat = start.seat
        if seat.task is None:
            return None
        return trees.begin(self._lead, seat.task, seat.agent_id, start.incarnation, start.work_folder)

    def _opening(self, start: Start, state: SeatState, task: Task | None) -> Opening:
        paths, seat = self._team.paths, start.seat
        if start.work_folder.error:
            why = start.work_folder
            raise EnvironmentMissing(why.error, hint=why.hint or None, of_team=why.of_team)
        self._team.mailbox(seat.agent_id).make()
        adapter = adapter_of(seat)
        environment = self._environment(adapter, seat, state, task)
        if not seat.host:
            require(adapter, environment["PATH"])
        off = self._off[start.incarnation] = off_for(paths.home, adapter, None if seat.host else environment["PATH"])
        adapter = limited(adapter, off)
        brief = self._briefs.brief(seat, adapter, state, environment, task)
        call = adapter.call(elsewhere.brief_there(brief) if seat.host else brief)
        earlier = elsewhere.earlier_conversation(adapter, state) if seat.host else ""
        self._sessions[start.incarnation] = earlier or brief.session
        launch = self._launch(state, adapter, call, environment)
        hosted = None
        if seat.host:
            hosted, launch = elsewhere.linked(self._team, adapter, brief, launch, self._ssh, earlier)
        _startable(launch)
        name = paths.launch(start.incarnation)
        # An existing launch file stays. The guard that removes it owns the session, so none starts twice.
        if not start.prepared:
            # Only the machine knows whether a resumed agent gets a prompt, so none is written here to be waited for.
            self._briefs.write_agent_files(start.incarnation, {} if earlier else call.files, call.links)
            if hosted:
                elsewhere.write(self._team, hosted)
            with atomic.folder(paths.sessions) as folder:
                atomic.replace(folder, name, encode(launch))
        return Opening(
            incarnation=start.incarnation,
            title=seat.agent_id,
            argv=resources.guard_argv(paths.sessions / name),
            log=paths.log(seat.agent_id),
            window=seat.window,
        )

    def _launch(self, state: SeatState, adapter: Adapter, call: Invocation, environment: Mapping[str, str]) -> Launch:
        paths = self._team.paths
        return Launch(
            agent_id=state.agent_id,
            incarnation=state.incarnation,
            team=self._team.name,
            team_uid=self._config.uid,
            argv=call.argv,
            cwd=state.worktree or self._config.project,
            env={**environment, **call.env},
            report=str(paths.sessions / paths.report(state.incarnation)),
            first_state=adapter.first_state,
            grace=self._grace,
            team_folder=str(paths.team),
            revival=self._revival,
            terminal=self._backend.terminal(self._place, state.incarnation),
        )

    def _environment(self, adapter: Adapter, seat: Seat, state: SeatState, task: Task | None) -> dict[str, str]:
        identity = members.identity(self._team, state)
        if task:
            identity |= members.task_identity(task.id, task.parent or "")
        if seat.disposable:
            identity |= members.worker_identity(seat.task or "", str(self._team.paths.team))
        if base := port_base(self._team, seat.agent_id):
            identity |= {PORT_BASE: str(base)}
        passes = () if seat.host else adapter.passes  # an agent on another machine uses that machine's keys
        return member_environment(of_agent(self._started_in(), passes), identity)

    def _record_handles(self, starts: Sequence[Start], handles: Iterable[Handle]) -> None:
        by_incarnation = {handle.incarnation: handle for handle in handles}
        with self._team.record.change("record handles") as change:
            seats = (self._opened(s, by_incarnation.get(s.incarnation)) for s in change.value.seats)
            change.value = replace(change.value, seats=tuple(seats))
        self._list_members([_member(start.seat, start.incarnation) for start in starts])

    def _opened(self, state: SeatState, handle: Handle | None) -> SeatState:
        if handle is None:
            return state
        session, off = (kept.pop(state.incarnation, None) for kept in (self._sessions, self._off))
        return replace(state, handle=handle, session=session or state.session, off=off or ())

    def _list_members(self, members: Sequence[Member]) -> None:
        new = {member.agent_id: member for member in members}
        if new:
            with self._team.config.change("list members") as listing:
                unchanged = [m for m in listing.value.members if m.agent_id not in new]
                listing.value = replace(listing.value, members=(*unchanged, *new.values()))

    def _started_in(self) -> Environment:
        """Return the team's start environment, or this process's for a team without one."""
        recorded = self._team.environment.read()
        return recorded if recorded.variables else Environment(variables=start_environment(os.environ))

    def _undo(self, starts: Sequence[Start], error: Pro0Error, before: Runtime) -> None:
        """Undo a failed spawn, and record its reason.

        A seat stays, as crashed, when nobody waits for its start, or when it may run in spite of the error; the lead
        then ends it.
        """
        failed = {start.incarnation: start.seat.agent_id for start in starts}
        earlier = {
            state.agent_id: _given_up(state, error) if state.incarnation in failed else state
            for state in before.seats
            if state.agent_id in failed.values()
        }
        taken = {start.incarnation for start in starts if not self._take_back(start)}
        may_run = taken if error.code is ErrorCode.TMUX_TIMEOUT else set()
        staying = may_run | {start.incarnation for start in starts if start.seat.unattended}
        failures = [_failure(start.seat, error) for start in starts]
        for start in starts:
            if task := start.seat.task:
                with suppress(NotFound, Refused):
                    trees.undo_start(self._lead, task, error.message, incarnation=start.incarnation)
        with self._team.record.change("record a failed spawn") as change:
            given_up = (_given_up(s, error) if s.incarnation in staying else s for s in change.value.seats)
            restored = (earlier.get(s.agent_id) if s.incarnation in failed.keys() - staying else s for s in given_up)
            seats = tuple(state for state in restored if state)
            change.value = replace(change.value, seats=seats, failures=(*change.value.failures, *failures)[-MEMORY:])
        for start in (start for start in starts if start.incarnation not in staying):
            state = earlier.get(start.seat.agent_id)
            back_to = state.generation if state else None
            members.undo(self._lead, start.seat.agent_id, start.seat.generation, back_to)
        self._log.write("spawn failed", why=error.message)

    def _take_back(self, start: Start) -> bool:
        """Remove a session's launch file; return False when it is gone, such as when a guard has taken it."""
        try:
            (self._team.paths.sessions / self._team.paths.launch(start.incarnation)).unlink()
        except FileNotFoundError:
            return False
        return True


def _startable(launch: Launch) -> None:
    """Raise EnvironmentMissing when the guard would not find the program."""
    program, path = launch.argv[0], launch.env.get("PATH", os.defpath)
    folders = [""] if "/" in program else path.split(os.pathsep)
    places = [Path(launch.cwd, folder, program) for folder in folders]
    programs = [place for place in places if os.path.isfile(place)]  # noqa: PTH113 - a Path raises where nobody may search
    if not programs:
        raise EnvironmentMissing(f"there is no program {program!r}", hint="name one that is on the PATH of the team")
    if not any(os.access(place, os.X_OK) for place in programs):
        raise EnvironmentMissing(f"{program!r} is not executable", hint=f"chmod +x {programs[0]}")


def _failure(seat: Seat, error: Pro0Error) -> Failure:
    place = (seat.agent_id, seat.generation)
    return Failure(*place, clock(), error.message, error.hint or "", seat.task, of_team=error.of_team)


def _given_up(state: SeatState, error: Pro0Error) -> SeatState:
    """Return the crashed state of a session that was begun and cannot go on."""
    return replace(state, state=State.CRASHED, since=clock(), note=error.message)


def _member(seat: Seat, incarnation: str) -> Member:
    return Member(
        name=seat.name,
        agent_id=seat.agent_id,
        category=seat.role,
        session_id=incarnation,
        spawned_at=clock(),
        agent=seat.agent,
    )


def _revival(team: TeamStore, config: TeamConfig) -> Revival:
    paths = team.paths
    return Revival(
        argv=resources.lead_argv(team.name, revived=True),
        cwd=config.project,
        lease=str(paths.lease),
        environment=str(team.environment.path),
        variables=lead_variables(str(paths.home)),
        errors=str(paths.lead_errors),
    )
