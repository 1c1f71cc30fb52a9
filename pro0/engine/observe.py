"""Observe: one look at the store and the processes, as a snapshot. Takes no lock and changes nothing."""

from collections.abc import Iterable

import msgspec

from pro0 import processes
from pro0.agents import AGENTS, adapter_named
from pro0.errors import StoreError
from pro0.model.runtime import Process, Report, Runtime, SeatState, Snapshot
from pro0.model.team import Wanted
from pro0.ops.context import INCARNATION, clock
from pro0.rules.mail import unread_up_to
from pro0.store.teams import TeamStore


class Observer:
    """Looks at one team; it remembers which dead sessions left nothing behind, since nothing can come of nothing."""

    def __init__(self, team: TeamStore) -> None:
        self._team = team
        self._clean: set[str] = set()
        adapters = [adapter_named(name) for name in AGENTS]
        self._protocol = frozenset(a.name for a in adapters if a.answers_shutdown)
        self._line = frozenset(a.name for a in adapters if a.delivery == "line")

    def snapshot(self) -> Snapshot:
        """Return the team as it is now; raises StoreError for a corrupt file, NotFound when the team is gone."""
        team = self._team
        wanted, runtime = team.wanted.read(), team.runtime.read()
        reports = self._reports(runtime.seats)
        alive = frozenset(self._alive(runtime.seats, reports))
        return Snapshot(
            now=clock(),
            config=team.config.read(),
            wanted=wanted,
            runtime=runtime,
            tasks=team.tasks.read(),
            reports=reports,
            guards_alive=alive,
            leftovers=self._leftovers(runtime, alive),
            unread=self._unread(wanted),
            protocol=self._protocol,
            line=self._line,
        )

    def guards(self, snapshot: Snapshot) -> Iterable[Process]:
        """Yield the living guards, whose ends are to be noticed."""
        for incarnation in snapshot.guards_alive:
            if report := snapshot.reports.get(incarnation):
                yield report.guard

    def _reports(self, seats: Iterable[SeatState]) -> dict[str, Report]:
        found = {}
        for seat in seats:
            try:
                report = self._team.report(seat.incarnation)
            except (msgspec.MsgspecError, OSError, ValueError):
                continue
            if report:
                found[seat.incarnation] = report
        return found

    def _alive(self, seats: Iterable[SeatState], reports: dict[str, Report]) -> Iterable[str]:
        for seat in seats:
            report = reports.get(seat.incarnation)
            guard = report.guard if report else seat.guard
            if guard and processes.alive(guard):
                yield seat.incarnation

    def _leftovers(self, runtime: Runtime, alive: frozenset[str]) -> frozenset[str]:
        """Return the dead sessions that processes still belong to; one scan of all processes answers for all."""
        doubtful = {s.incarnation for s in runtime.seats if s.guard} - alive - self._clean
        if not doubtful:
            return frozenset()
        found = {tag for tag, left in processes.tagged(INCARNATION, doubtful).items() if left}
        self._clean |= doubtful - found
        return frozenset(found)

    def _unread(self, wanted: Wanted) -> dict[str, int]:
        unread = {}
        for seat in wanted.seats:
            try:
                unread[seat.agent_id] = unread_up_to(self._team.mailbox(seat.agent_id).head.read())
            except StoreError:
                continue
        return unread
