"""Observe: one look at the store and the processes, as a snapshot. Takes no lock and changes nothing."""

from collections.abc import Iterable, Mapping

import msgspec

from pro0 import processes
from pro0.agents import AGENTS, adapter_named
from pro0.errors import NotFound, StoreError
from pro0.model.runtime import Process, Report, Runtime, SeatState, Snapshot, Unread
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
        looks = {seat.incarnation: self._look(seat) for seat in runtime.seats}
        reports = {incarnation: report for incarnation, (report, _) in looks.items() if report}
        alive = frozenset(incarnation for incarnation, (_, lives) in looks.items() if lives)
        return Snapshot(
            now=clock(),
            config=team.config.read(),
            wanted=wanted,
            runtime=runtime,
            tasks=team.tasks.read(),
            reports=reports,
            guards_alive=alive,
            leftovers=self._leftovers(runtime, reports, alive),
            unread=self._unread(wanted),
            protocol=self._protocol,
            line=self._line,
        )

    def guards(self, snapshot: Snapshot) -> Iterable[Process]:
        """Yield the living guards, whose ends are to be noticed."""
        for incarnation in snapshot.guards_alive:
            if report := snapshot.reports.get(incarnation):
                yield report.guard

    def _look(self, seat: SeatState) -> tuple[Report | None, bool]:
        """Return a session's report and whether its guard lives; of a dead guard it is the last report there is."""
        report = self._report(seat)
        if _lives(report, seat):
            return report, True
        last = self._report(seat)
        if report is None and last:
            return self._look(seat)  # it has just come up
        return last, False

    def _report(self, seat: SeatState) -> Report | None:
        try:
            return self._team.report(seat.incarnation)
        except (msgspec.MsgspecError, OSError, ValueError):
            return None

    def _leftovers(self, runtime: Runtime, reports: Mapping[str, Report], alive: frozenset[str]) -> frozenset[str]:
        """Return the dead sessions that processes still belong to; one scan of all processes answers for all."""
        doubtful = {s.incarnation for s in runtime.seats if s.guard or s.incarnation in reports} - alive - self._clean
        if not doubtful:
            return frozenset()
        found = {tag for tag, left in processes.tagged(INCARNATION, doubtful).items() if left}
        self._clean |= doubtful - found
        return frozenset(found)

    def _unread(self, wanted: Wanted) -> dict[str, Unread]:
        unread = {}
        for seat in wanted.seats:
            try:
                box = self._team.mailbox(seat.agent_id).head.read()
            except (StoreError, NotFound):  # a seat is wanted a moment before its mailbox is made
                continue
            unread[seat.agent_id] = Unread(unread_up_to(box), box.next_seq - 1 - box.acked)
        return unread


def _lives(report: Report | None, seat: SeatState) -> bool:
    guard = report.guard if report else seat.guard
    return guard is not None and processes.alive(guard)
