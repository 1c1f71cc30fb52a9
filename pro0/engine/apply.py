"""Apply a decision: notices first (repeating them is harmless), then the record, then the sessions."""

import os
import signal
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress

from msgspec.structs import replace

from pro0 import processes
from pro0.config import Settings
from pro0.engine.background.backlog import marked
from pro0.engine.background.services import Services
from pro0.engine.log import Log
from pro0.engine.opening.opening import Opener
from pro0.engine.places import backend_of, place_of
from pro0.engine.record import Record
from pro0.errors import NotFound, Pro0Error, Refused, Unwritable
from pro0.model.decision import (
    Action,
    Announce,
    Ask,
    Decision,
    Deliver,
    Dismiss,
    End,
    Expire,
    Finish,
    Free,
    Harvest,
    Hire,
    Nudge,
    Prepare,
    Question,
    Snapshot,
    Start,
    Tell,
    Withdraw,
)
from pro0.model.ids import LEAD
from pro0.model.message import MessageType, Notice
from pro0.model.need import Need
from pro0.model.runtime import ENDED, Handle, Process, Runtime, SeatState
from pro0.ops import ownership
from pro0.ops.context import lead_context
from pro0.ops.mail import messages
from pro0.ops.tasks import tasks, trees
from pro0.ops.team import members
from pro0.ops.work import checkouts, hiring, readying
from pro0.rules.lead import announcing
from pro0.store import atomic
from pro0.store.paths import HOSTED, trees_of
from pro0.store.teams import TeamStore


class Applier:
    """Carries decisions out for one team. It calls `woken` after each background job."""

    def __init__(
        self,
        team: TeamStore,
        settings: Settings,
        services: Services,
        record: Record,
        log: Log,
        woken: Callable[[], None],
    ) -> None:
        self.trouble: list[Pro0Error] = []
        """Errors from the last decision. They leave parts of it owed, but sessions still end."""
        self._team = team
        self._services = services
        self._record = record
        self._log = log
        self._woken = woken
        self._grace = settings.end_grace_seconds
        self._context = lead_context(team)
        config = team.config.read()
        self._uid = config.uid
        self._backend = backend_of(config)
        self._place = place_of(team, config)
        self._opener = Opener(team, config, log, self._grace, revive=settings.revive_lead, ssh=settings.ssh)
        self._ending: set[str] = set()
        self._owed: set[Action] = set()
        self._labels: dict[Handle, str] = {}
        self._marks: tuple[dict[Handle, bool], int] = ({}, 0)

    def apply(self, snapshot: Snapshot, decision: Decision) -> bool:
        """Carry one decision out; return True when the lead's work is over."""
        self.trouble = []
        runtime = self._tell_all(snapshot.runtime, decision)
        if runtime != snapshot.runtime or self._record.trouble:
            self._record.write(runtime, "record the state")
            self._log_turns(snapshot.runtime, runtime)
            self._services.hooking.tell(snapshot.runtime, runtime)
            self._label(runtime)
        self._mark(runtime, decision.needs)
        self._keep(snapshot, decision.announced)
        if snapshot.person is not None and snapshot.tasks is not None:  # a need that cannot be seen is not gone
            self._services.announcer.forget(decision.needs)
        for action in decision.actions:
            self._touch(runtime, action)
        if self._record.trouble:  # ending needs no disk; starts and the lead's own end wait for it
            self.trouble.append(self._record.trouble)
            return False
        self._opener.list_missing_members(snapshot)
        starts = [action for action in decision.actions if isinstance(action, Start)]
        if starts:
            self._opener.open(runtime, starts, before=snapshot.runtime)
        return any(isinstance(action, Finish) for action in decision.actions)

    def _label(self, runtime: Runtime) -> None:
        """Show changed session states in the pane borders."""
        now = {seat.handle: str(seat.state) for seat in runtime.seats if seat.handle and seat.state not in ENDED}
        new = {handle: state for handle, state in now.items() if self._labels.get(handle) != state}
        self._labels = now
        if new:
            with suppress(Pro0Error):  # a stale border harms nobody
                self._backend.label(new)

    def _log_turns(self, before: Runtime, after: Runtime) -> None:
        """Log the end of each turn, with the agent's last words."""
        for seat in after.seats:
            previous = before.session(seat.incarnation)
            turn = seat.turn
            if turn and (previous is None or previous.turn != turn):
                details = {"how": turn.how, "claims": turn.claims, "running": turn.running, "words": turn.words}
                self._log.write("turn ended", agent=seat.agent_id, **details)

    def _keep(self, snapshot: Snapshot, announced: tuple[str, ...] | None) -> None:
        """Record what this lead announced, for later leads. What leads of other machines announced stays."""
        if announced is None:
            return
        try:
            with self._team.announced.change("record what was announced") as change:
                keys = change.value.keys
                mine = {*announcing.own_keys(keys, snapshot)}
                change.value = replace(change.value, keys=(*(name for name in keys if name not in mine), *announced))
        except Pro0Error as error:
            self.trouble.append(error)

    def _mark(self, runtime: Runtime, needs: Sequence[Need]) -> None:
        """Show changed needs in borders and window names."""
        members = {need.member for need in needs}
        marks = {
            seat.handle: seat.agent_id in members for seat in runtime.seats if seat.handle and seat.state not in ENDED
        }
        if (marks, len(needs)) != self._marks:
            self._marks = marks, len(needs)
            with suppress(Pro0Error):
                self._backend.mark(marks, len(needs))

    def dismantle(self) -> None:
        """Remove the team's server, reports and unused worktrees (3.14, cleanupOnExit)."""
        self._backend.dismantle(self._place)
        if not readying.tears_down(self._team):
            checkouts.clear_unused(trees_of(self._team.paths.home, self._team.name, self._uid), self._place.project)
        with suppress(OSError), atomic.folder(self._team.paths.sessions) as folder:
            for name in os.listdir(folder):
                if name.endswith(HOSTED):  # its machine has not said yet that it is over
                    continue
                with suppress(OSError):
                    os.unlink(name, dir_fd=folder)

    def _tell_all(self, before: Runtime, decision: Decision) -> Runtime:
        """Carry out the file changes. An unusable mailbox delays nobody; its notice stays owed."""
        runtime = decision.runtime
        for action in decision.actions:
            # These come back every round, so they would flood the log. A nudge is logged at its end.
            if action not in self._owed and not isinstance(action, Prepare | Harvest | Question | Nudge | Announce):
                self._log.write("decided", action=type(action).__name__.lower(), detail=action)
            if self._tell_or_owe(action):
                self._owed.discard(action)
            else:
                self._owed.add(action)
                runtime = _untold(before, runtime, action)
        return runtime

    def _tell_or_owe(self, action: Action) -> bool:
        """Carry out one file change. While the disk takes no writes, note the error and return False."""
        try:
            return self._tell(action)
        except Unwritable as error:
            self.trouble.append(error)
            return False

    def _tell(self, action: Action) -> bool:
        """Carry out one file change; return True when it is done."""
        match action:
            case Tell(id=id, to=to, content=content, type=kind):
                return self._deliver(Notice(id=id, from_=LEAD, to=to, content=content, type=kind))
            case Ask(id=id, agent_id=to, content=content):
                kind = MessageType.SHUTDOWN_REQUEST
                return self._deliver(Notice(id=id, from_=LEAD, to=to, content=content, type=kind))
            case Free(agent_id=agent_id, incarnation=incarnation, how=how, keep=keep):
                tasks.free(self._context, agent_id, incarnation, how, keep=keep)
            case Withdraw(request_id=request_id, stay=stay):
                members.withdraw(self._context, request_id, stay)
            case Deliver(wishes=True):
                messages.pay(self._context, self._team.wanted)
                return not self._team.wanted.read().outbox
            case Deliver():
                messages.pay(self._context, self._team.tasks)
                return not self._team.tasks.read().outbox
            case Hire() | Dismiss() | Expire():
                with suppress(NotFound, Refused):  # somebody was faster: the next round decides from the new state
                    self._see_to_a_task(action)
        return True

    def _see_to_a_task(self, action: Hire | Dismiss | Expire) -> None:
        match action:
            case Hire(task_id=id, agent_id=agent_id):
                hiring.hire(self._context, id, agent_id)
            case Dismiss(agent_id=agent_id, generation=generation):
                hiring.dismiss(self._context, agent_id, generation)
            case Expire(task_id=id, epoch=epoch, minutes=minutes):
                trees.expire(self._context, id, epoch, minutes)

    def _deliver(self, notice: Notice) -> bool:
        return notice.id in messages.deliver(self._context, (notice,))

    def _touch(self, runtime: Runtime, action: object) -> None:
        match action:
            case End(incarnation=incarnation, firm=True):
                self._end_firmly(runtime, incarnation)
            case End(incarnation=incarnation):
                for guard in self._guard(runtime, incarnation):
                    processes.signal_process(guard, signal.SIGTERM)
            case Prepare(seat=seat):
                self._services.worktree_jobs.begin(seat)
            case Harvest() as harvest:
                self._services.harvester.begin(harvest)
            case Question(key=key, state=state):
                self._services.hooking.ask(key, state)
            case Nudge() as nudge:
                self._nudge(runtime, nudge)
            case Announce() as announce:
                self._services.announcer.begin(announce)

    def _nudge(self, runtime: Runtime, nudge: Nudge) -> None:
        if state := runtime.session(nudge.incarnation):
            self._services.nudger.begin(nudge, state)

    def _end_firmly(self, runtime: Runtime, incarnation: str) -> None:
        """End a session's tagged processes and its guard, in the background: it may take the whole grace."""
        if incarnation in self._ending:
            return
        launch = self._team.paths.sessions / self._team.paths.launch(incarnation)
        with suppress(OSError):  # a disk that takes no writes must keep no process alive
            launch.unlink(missing_ok=True)

        def find() -> list[Process]:
            tagged = ownership.of_sessions(self._team, self._uid, [incarnation])[incarnation]
            return [*tagged, *self._guard(runtime, incarnation)]

        def end() -> None:
            try:
                survivors = processes.end(find, self._grace)
                self._log.write("ended", incarnation=incarnation, left=[process.pid for process in survivors])
            except Pro0Error as error:  # the next round finds who is left
                self._log.write("trouble", why=error.message)
            finally:
                self._ending.discard(incarnation)
                if not os.path.lexists(launch):  # else the next round repeats this, and is not urgent
                    self._woken()

        with marked(self._ending, incarnation):
            threading.Thread(target=end, daemon=True).start()

    def _guard(self, runtime: Runtime, incarnation: str) -> list[Process]:
        """Return a session's guard when it is alive and proven."""
        recorded = [seat.guard for seat in runtime.seats if seat.incarnation == incarnation and seat.guard]
        return [guard for guard in recorded if ownership.is_guard(self._team, guard, incarnation)]


def _untold(before: Runtime, runtime: Runtime, action: Action) -> Runtime:
    """Return the record without this notice, request or withdrawal, so that the next round decides it again."""
    match action:
        case Tell(id=id):
            seats = (_without(state, id, before.session(state.incarnation)) for state in runtime.seats)
            runtime = replace(runtime, told=tuple(key for key in runtime.told if not id.startswith(key)))
        case Ask(agent_id=agent_id):
            seats = (replace(s, asked=None, asked_at=None) if s.agent_id == agent_id else s for s in runtime.seats)
        case Withdraw(request_id=request_id):
            refusals = (refusal for refusal in runtime.refusals if refusal.request_id != request_id)
            return replace(runtime, refusals=tuple(refusals))
        case _:
            return runtime
    return replace(runtime, seats=tuple(seats))


def _without(state: SeatState, id: str, before: SeatState | None) -> SeatState:
    """Return a seat without the mark of this notice. The comments of this round are told again."""
    comments_told = before.heard if before and id.startswith(f"{state.incarnation}:comment:") else state.heard
    return replace(state, heard=comments_told, told=tuple(key for key in state.told if not id.startswith(key)))
