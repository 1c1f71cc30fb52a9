"""The lead process: observe, decide, apply, then sleep until an event. It holds its team's lease for life."""

import os
import selectors
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from datetime import datetime
from pathlib import Path

from msgspec.structs import replace

from pro0 import __version__, processes
from pro0.config import Settings
from pro0.engine import machines
from pro0.engine.apply import Applier
from pro0.engine.background.services import services_of
from pro0.engine.cleanup import remove
from pro0.engine.log import Log, reason
from pro0.engine.observe import Observer
from pro0.engine.record import Record
from pro0.engine.revival import declines
from pro0.errors import ErrorCode, NotFound, Pro0Error, Refused, Unwritable
from pro0.ops import trust
from pro0.ops.context import clock, new_id
from pro0.processes import ExitWatch
from pro0.processes.bell import Bell
from pro0.rules.lead import revival
from pro0.rules.lead.supervision import decide
from pro0.store.lease import Lease
from pro0.store.paths import CONCERNS_THE_LEAD
from pro0.store.teams import Store, TeamStore
from pro0.store.watch import Watch

RESCAN = 2.0
"""Seconds until the lead looks without an event: network file systems can miss changes."""

Beside = Callable[[TeamStore], AbstractContextManager[object]]
"""Opens the context of other work that this process does while it leads a team."""


def run(team: TeamStore, *, revived: bool = False, beside: Beside = nullcontext) -> int:
    """Lead one team until it is stopped or this process is asked to end; raises Refused when it has a lead already.

    A lead `revived` by a guard ends silently when another lead exists, or when none is wanted. The context
    of `beside` is open while it leads.
    """
    if team.machine and machines.is_gone(team):
        machines.end_all(team)
        return 0
    machines.require_clock(team)
    project = Path(team.require().config.read().project)
    settings = trust.settings(team.paths.home, project, os.environ)
    lease = team.documents.lease()
    if not lease.take("lead"):
        if revived:
            return 0
        raise Refused(f"{team.name} has a lead already: {lease.holder()}", code=ErrorCode.LEAD_ALIVE)
    try:
        if revived and declines(team, lease):
            return 0
        with beside(team):
            return Lead(team, settings, lease, revived=revived).work()
    finally:
        lease.drop()


class Lead:
    """One life of a lead."""

    def __init__(self, team: TeamStore, settings: Settings, lease: Lease, *, revived: bool = False) -> None:
        self._team = team
        self._lease = lease
        self._revived = revived
        self._tidy = settings.cleanup_on_exit
        self._log = Log(team)
        self._bell = Bell()
        self._services = services_of(team, settings, self._log, self._bell.ring)
        self._record = Record(team)
        self._observer = Observer(team, settings, self._services, self._record, lease)
        self._applier = Applier(team, settings, self._services, self._record, self._log, self._bell.ring)
        self._exits = ExitWatch()
        self._trouble: set[str] = set()
        self._asked_to_end = False

    def work(self) -> int:
        """Repeat rounds until the work is over. When only this process ends, the sessions go on."""
        documents = self._team.documents
        watch = documents.watch([documents.team, documents.tasks, documents.mailboxes], CONCERNS_THE_LEAD)
        self._heed_signals()
        with self._selector(watch) as selector:
            self._sign_in()
            try:
                while not self._asked_to_end:
                    wake_at, over = self._round()
                    if over:
                        self._leave()
                        break
                    self._sleep(selector, watch, wake_at)
            except NotFound:
                self._log.write("team gone")
                if self._team.machine:
                    machines.end_all(self._team)
            finally:
                watch.close()
                self._services.hooking.end()  # without this lead nobody would limit their time
        self._log.write("lead ends")
        return 0

    def _round(self) -> tuple[datetime | None, bool]:
        """Observe, decide and apply once. A file error is logged once and retried later."""
        try:
            self._keep_the_lease()
            snapshot = self._observer.snapshot()
            for guard in self._observer.guards(snapshot):
                self._exits.add(guard)
            decision = decide(snapshot, new_id)
            over = self._applier.apply(snapshot, decision)
            self._services.relay.follow(snapshot)
        except Exception as error:  # no file is worth losing the lead
            if isinstance(error, NotFound) and self._is_gone():
                raise
            self._complain(*self._observer.trouble, *self._applier.trouble, error)
            return None, False
        self._complain(*self._observer.trouble, *self._applier.trouble)
        return decision.wake_at, over

    def _keep_the_lease(self) -> None:
        """Keep the lease; when another lead got it meanwhile, this one ends."""
        try:
            with suppress(Unwritable):  # safe: the locked folder keeps others from the lease
                self._lease.keep()
        except Refused as error:
            self._asked_to_end = True
            if self._is_gone():
                raise NotFound(error.message) from error
            raise

    def _is_gone(self) -> bool:
        """Return True when the team is proven to be gone; a server out of reach proves nothing."""
        try:
            return machines.is_gone(self._team)
        except Pro0Error as error:
            self._complain(error)
            return False

    def _leave(self) -> None:
        self._services.worktree_jobs.finish()
        self._services.hooking.finish()
        for duty in (self._tidy_up, self._remove_if_owed):
            try:
                duty()
            except Exception as error:  # noqa: BLE001 - one duty left undone is no reason to skip the other
                self._complain(error)

    def _tidy_up(self) -> None:
        if self._tidy:
            self._applier.dismantle()

    def _remove_if_owed(self) -> None:
        if self._team.wanted.read().remove and not self._team.machine:
            remove(Store(self._team.paths.home), self._team, force=False, show=self._log.write)

    def _complain(self, *errors: Exception) -> None:
        """Log new errors; skip those of the last round."""
        trouble = {reason(error) for error in errors}
        for why in sorted(trouble - self._trouble):
            self._log.write("trouble", why=why)
        self._trouble = trouble

    def _sleep(self, selector: selectors.BaseSelector, watch: Watch, wake_at: datetime | None) -> None:
        until = (wake_at - clock()).total_seconds() if wake_at else RESCAN
        selector.select(min(max(until, 0.0), RESCAN))
        watch.drain()
        self._bell.drain()
        self._exits.ended()

    def _sign_in(self) -> None:
        runtime, me, now = self._record.read(), processes.identify(os.getpid()), clock()
        past = (*revival.lately(runtime.revived, now), now) if self._revived else ()
        machine = socket.gethostname() if self._team.documents.database else ""
        signed = replace(runtime, lead=me, lead_version=__version__, lead_since=now, lead_machine=machine, revived=past)
        self._record.write(signed, "lead starts")
        self._log.write("lead starts", version=__version__, revived=self._revived)

    @contextmanager
    def _selector(self, watch: Watch) -> Iterator[selectors.BaseSelector]:
        with selectors.DefaultSelector() as selector:
            for source in (watch, self._exits, self._bell):
                selector.register(source, selectors.EVENT_READ)
            yield selector

    def _heed_signals(self) -> None:
        """Let TERM and INT end this process between two rounds. Ignore a terminal hangup."""
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._ask_to_end)

    def _ask_to_end(self, _number: int, _frame: object) -> None:
        self._asked_to_end = True
        self._bell.ring()
