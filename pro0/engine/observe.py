"""Observe: take one snapshot of the store and the processes, without locks or changes."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import TypeVar

from pro0 import looking, processes
from pro0.agents import adapter_named
from pro0.config import Settings
from pro0.decoding import convert
from pro0.engine.background.ledger import Ledger
from pro0.engine.background.services import Services
from pro0.engine.jumps import Jumps
from pro0.engine.places import place_of
from pro0.engine.record import Record
from pro0.errors import Pro0Error
from pro0.model.agent import AGENTS
from pro0.model.decision import LeadPolicy, Person, Seen, Snapshot, Workers
from pro0.model.home import HookEvent
from pro0.model.runtime import ENDED, Handle, Process, Report, Runtime, SeatState, State, Unread
from pro0.model.team import Wanted
from pro0.ops import ownership, permissions
from pro0.ops.team import needs
from pro0.rules import mail
from pro0.store.lease import Lease
from pro0.store.teams import TeamStore

T = TypeVar("T")

LOOKS = 20
"""Attempts at finding the pane of an adopted session."""


class Observer:
    """Looks at one team. It remembers lasting facts: proven guards, and dead sessions without leftovers."""

    def __init__(self, team: TeamStore, settings: Settings, services: Services, record: Record, lease: Lease) -> None:
        self.trouble: list[Pro0Error] = []
        """Errors from the last look. They leave parts of it missing, but supervision goes on."""
        self._team = team
        self._policy = convert(settings, LeadPolicy, from_attributes=True)
        self._services = services
        self._record = record
        self._lease = lease
        self._ledger = Ledger(team)
        self._jumps = Jumps()
        self._backend = services.nudger.backend
        self._clean: set[str] = set()
        self._guards: set[tuple[Process, str]] = set()
        self._looked: dict[str, int] = {}
        config = team.config.read()
        self._uid = config.uid
        self._place = place_of(team, config)

    def snapshot(self) -> Snapshot:
        """Return the team as it is now; raises NotFound for a missing team, StoreError for a corrupt file.

        Unreadable tasks, mailboxes and reports are left out, since the lead can do without them.
        """
        team, services, self.trouble, now = self._team, self._services, [], self._jumps.look()
        runtime = self._recorded()
        reports, alive, unopened = self._looks(runtime)
        # Read after the looks: whoever knows that a session has ended then also knows what it wrote before.
        wanted, tasks = team.wanted.read(), self._unless_it_fails(team.tasks.read, None)
        adapters = [adapter_named(name) for name in {seat.agent for seat in wanted.seats} & AGENTS.keys()]
        seen = self._seen(wanted, runtime, reports)
        return Snapshot(
            now=now,
            machine=team.machine,
            has_duties=self._lease.has_duties(),
            others=self._others(runtime),
            policy=self._policy,
            config=team.config.read(),
            wanted=wanted,
            runtime=runtime,
            tasks=tasks,
            reports=reports,
            guards_alive=alive,
            leftovers=self._leftovers(runtime, reports, alive),
            elsewhere=services.host_sweep.look(runtime, alive),
            unopened=unopened,
            handles=self._handles(runtime, reports, alive),
            unread=self._unread(runtime),
            seen=seen,
            moved=self._jumps.moved(wanted, runtime, tasks, (*seen.values(), *reports.values())),
            spent=self._spent(wanted),
            nudged=services.nudger.arrived(),
            queued=services.nudger.queued(),
            worktree_jobs=services.worktree_jobs.found(wanted.seats),
            workers=self._workers(wanted, runtime, alive),
            hooked=HookEvent.TEAMMATE_IDLE in services.hooking.events(),
            answers=services.hooking.answers(),
            person=self._unless_it_fails(lambda: self._person(wanted, runtime), None),
            surfaces=services.announcer.surfaces(),
            announced=services.announcer.done(),
            protocol=frozenset(a.name for a in adapters if a.answers_shutdown),
            line=frozenset(a.name for a in adapters if a.delivery == "line"),
            channels=frozenset(a.name for a in adapters if a.deliver),
        )

    def _recorded(self) -> Runtime:
        """Return the record, and forget all sessions that are not in it.

        The lead never decides about such a session again. A failed start puts the previous session back into the
        record, but within the same round, so no look comes in between.
        """
        runtime = self._record.read()
        incarnations = frozenset(state.incarnation for state in runtime.seats)
        self._services.keep(incarnations)
        self._ledger.keep(incarnations)
        self._clean &= incarnations
        self._guards = {(guard, incarnation) for guard, incarnation in self._guards if incarnation in incarnations}
        self._looked = {name: looks for name, looks in self._looked.items() if name in incarnations}
        return runtime

    def _seen(self, wanted: Wanted, runtime: Runtime, reports: Mapping[str, Report]) -> dict[str, Seen]:
        return self._unless_it_fails(lambda: self._services.nudger.agent_states.look(wanted, runtime, reports), {})

    def _spent(self, wanted: Wanted) -> float | None:
        """Return the total cost, or the last known one when usage cannot be read or written now."""
        watched = self._services.nudger.agent_states.all()
        spent = self._unless_it_fails(lambda: self._ledger.look(watched, wanted.max_cost), None)
        return self._ledger.last_known() if spent is None else spent

    def _others(self, runtime: Runtime) -> Runtime:
        """Return what the leads of other machines that share the team have recorded."""
        if self._team.documents.database is None:
            return Runtime()
        own = {state.agent_id for state in runtime.seats}
        whole = self._unless_it_fails(self._team.runtime.read, runtime)
        return Runtime(
            seats=tuple(state for state in whole.seats if state.agent_id not in own),
            failures=tuple(failure for failure in whole.failures if failure not in runtime.failures),
            limits=tuple(limit for limit in whole.limits if limit not in runtime.limits),
        )

    def guards(self, snapshot: Snapshot) -> Iterable[Process]:
        """Yield the living guards, so that the lead notices their ends."""
        for incarnation in snapshot.guards_alive:
            if report := snapshot.reports.get(incarnation):
                yield report.guard

    def _looks(self, runtime: Runtime) -> tuple[dict[str, Report], frozenset[str], dict[str, bool]]:
        """Return the reports of sessions, the living ones, and the unopened ones."""
        looks = {seat.incarnation: self._look(seat) for seat in runtime.seats}
        unopened = self._unopened(looks, runtime)
        reports = {incarnation: report for incarnation, (report, _) in looks.items() if report}
        alive = frozenset(incarnation for incarnation, (_, lives) in looks.items() if lives)
        return reports, alive, unopened

    def _unopened(self, looks: dict[str, tuple[Report | None, bool]], runtime: Runtime) -> dict[str, bool]:
        """Return the sessions that a dead lead, or a restart, left without a guard; True when the launch file exists.

        No guard has taken the launch file of such a session, or will. The order of checks matters: a guard removes its
        launch file, then reports, and is alive in between. A report found meanwhile goes into `looks`.
        """
        paths = self._team.paths
        unseen = [seat for seat in runtime.seats if not looks[seat.incarnation][0]]
        doubtful = {s.incarnation: s for s in unseen if _is_doubtful(s) or ownership.goes_on_elsewhere(self._team, s)}
        if not doubtful:
            return {}
        files = {incarnation: paths.sessions / paths.launch(incarnation) for incarnation in doubtful}
        prepared = {incarnation: looking.lexists(file) for incarnation, file in files.items()}
        guards = processes.called_with({str(file): incarnation for incarnation, file in files.items()})
        for incarnation in doubtful.keys() - guards:
            looks[incarnation] = self._look(doubtful[incarnation])
        return {i: has_file for i, has_file in prepared.items() if i not in guards and not looks[i][0]}

    def _handles(self, runtime: Runtime, reports: Mapping[str, Report], alive: frozenset[str]) -> dict[str, Handle]:
        """Return the places of living sessions whose lead died before recording them."""
        handles = {}
        for seat in runtime.seats:
            report = reports.get(seat.incarnation)
            if report and seat.incarnation in alive and _is_elsewhere(seat, report) and self._may_look(seat):
                log = self._team.paths.log(seat.agent_id)
                with suppress(Pro0Error):
                    if handle := self._backend.find(self._place, seat.incarnation, report.guard, log):
                        handles[seat.incarnation] = handle
        return handles

    def _may_look(self, seat: SeatState) -> bool:
        """Count an attempt; return False after `LOOKS`, since a session may be shown nowhere."""
        self._looked[seat.incarnation] = self._looked.get(seat.incarnation, 0) + 1
        return self._looked[seat.incarnation] <= LOOKS

    def _look(self, seat: SeatState) -> tuple[Report | None, bool]:
        """Return a session's report, the last one if its guard is dead, and True if the guard is alive."""
        report = self._report(seat)
        if self._lives(report, seat):
            return report, True
        last_report = self._report(seat)
        if report is None and last_report:
            return self._look(seat)  # the guard came up between the two reads
        return last_report, False

    def _lives(self, report: Report | None, seat: SeatState) -> bool:
        guard = report.guard if report else seat.guard
        if guard is None or (guard, seat.incarnation) in self._guards:
            return guard is not None and processes.alive(guard)
        if not ownership.is_guard(self._team, guard, seat.incarnation):
            return False
        self._guards.add((guard, seat.incarnation))
        return True

    def _report(self, seat: SeatState) -> Report | None:
        def look() -> Report | None:
            report = self._team.report(seat.incarnation)
            return None if report and ownership.is_outdated(self._team, seat, report) else report

        return self._unless_it_fails(look, None)

    def _unless_it_fails(self, look: Callable[[], T], otherwise: T) -> T:
        try:
            return look()
        except Pro0Error as error:
            self.trouble.append(error)
            return otherwise

    def _leftovers(self, runtime: Runtime, reports: Mapping[str, Report], alive: frozenset[str]) -> frozenset[str]:
        """Return dead sessions with processes left. One scan of all processes answers for all of them."""
        doubtful = {s.incarnation for s in runtime.seats if s.guard or s.incarnation in reports} - alive - self._clean
        late = self._late(runtime, reports)
        if not doubtful:
            return late
        leftover_sessions = {
            tag for tag, remaining in ownership.of_sessions(self._team, self._uid, doubtful).items() if remaining
        }
        self._clean |= doubtful - leftover_sessions
        return late | leftover_sessions

    def _late(self, runtime: Runtime, reports: Mapping[str, Report]) -> frozenset[str]:
        """Return ended sessions that never came up, but have a guard or may still get one.

        A lead may give up such a session, and then die before it has ended the guard.
        """
        paths = self._team.paths
        files = {
            seat.incarnation: paths.sessions / paths.launch(seat.incarnation)
            for seat in runtime.seats
            if seat.state in ENDED and not seat.guard and seat.incarnation not in (*reports, *self._clean)
        }
        if not files:
            return frozenset()
        awaited = {incarnation for incarnation, file in files.items() if looking.lexists(file)}
        late = awaited | processes.called_with({str(file): incarnation for incarnation, file in files.items()})
        self._clean |= files.keys() - late
        return frozenset(late)

    def _workers(self, wanted: Wanted, runtime: Runtime, alive: frozenset[str]) -> Workers:
        """Return the known facts about workers."""
        tasks = {seat.agent_id: seat.task for seat in wanted.seats if seat.disposable and seat.task}
        states = [state for state in runtime.seats if state.agent_id in tasks]
        remarks = {task: self._unless_it_fails(self._team.comments(task).find, None) for task in tasks.values()}
        return Workers(
            harvested=self._services.harvester.done(),
            comments={task: document.comments for task, document in remarks.items() if document},
            still=self._services.stuck_watch.look(state for state in states if state.incarnation in alive),
        )

    def _person(self, wanted: Wanted, runtime: Runtime) -> Person:
        mail, older = needs.unread(self._team, wanted)
        troubles = self._team.troubles.read().troubles
        announced = self._team.announced.read().keys
        requests, past = permissions.readable_requests(self._team)
        left_alone = needs.left_alone(wanted, runtime, self._team.machine)
        return Person(mail, older, troubles, requests, left_alone, announced, past)

    def _unread(self, runtime: Runtime) -> dict[str, Unread]:
        unread = {}
        for seat in runtime.seats:
            if box := self._unless_it_fails(self._team.mailbox(seat.agent_id).head.find, None):
                unread[seat.agent_id] = mail.news(box, seat.incarnation)
        return unread


def _is_doubtful(seat: SeatState) -> bool:
    return seat.state is State.STARTING and not seat.guard and not seat.handle


def _is_elsewhere(seat: SeatState, report: Report) -> bool:
    """Return True when the recorded place is missing, or belongs to a late guard."""
    return seat.handle is None or (seat.handle.pid not in (0, report.guard.pid))
