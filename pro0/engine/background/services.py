"""Services: background work beside the rounds of the lead, and its memory between two looks."""

from collections.abc import Callable, Collection
from typing import NamedTuple

from pro0.config import Settings
from pro0.engine.background.announcing import Announcer
from pro0.engine.background.harvesting import Harvester
from pro0.engine.background.hooking import Hooking
from pro0.engine.background.nudging import Nudger
from pro0.engine.background.relaying import PermissionRelay
from pro0.engine.background.stuck import StuckWatch
from pro0.engine.background.worktree_jobs import WorktreeJobs
from pro0.engine.hosts import HostSweep
from pro0.engine.log import Log
from pro0.store.teams import TeamStore


class Services(NamedTuple):
    """The services of one lead. It observes their results, then decides and applies their next jobs."""

    nudger: Nudger
    worktree_jobs: WorktreeJobs
    stuck_watch: StuckWatch
    harvester: Harvester
    hooking: Hooking
    announcer: Announcer
    relay: PermissionRelay
    host_sweep: HostSweep

    def keep(self, incarnations: Collection[str]) -> None:
        """Forget the work for all other sessions."""
        for service in (self.nudger, self.harvester, self.hooking):
            service.keep(incarnations)


def services_of(team: TeamStore, settings: Settings, log: Log, woken: Callable[[], None]) -> Services:
    """Return the services of a new lead; each calls `woken` after a job."""
    nudger = Nudger(team, log, woken)
    stuck_watch = StuckWatch(team, nudger.backend, settings.stuck_seconds)
    hooking = Hooking(team, log, woken)
    return Services(
        nudger=nudger,
        worktree_jobs=WorktreeJobs(team, log, woken),
        stuck_watch=stuck_watch,
        harvester=Harvester(team, log, woken, stuck_watch.last),
        hooking=hooking,
        announcer=Announcer(team, settings, log, hooking, woken),
        relay=PermissionRelay(team, nudger.agent_states, log, woken),
        host_sweep=HostSweep(team, log, woken),
    )
