"""Aides: the lead's background services, and its memory between two looks."""

from collections.abc import Callable
from typing import NamedTuple

from pro0.config import Settings
from pro0.engine.background.announcing import Announcer
from pro0.engine.background.grounds import Grounds
from pro0.engine.background.harvesting import Harvester
from pro0.engine.background.hooking import Hooking
from pro0.engine.background.nudging import Nudger
from pro0.engine.background.relaying import PermissionRelay
from pro0.engine.background.stillness import Stillness
from pro0.engine.log import Log
from pro0.store.teams import TeamStore


class Aides(NamedTuple):
    """The services of one lead. It observes their results, then decides and applies their next jobs."""

    nudger: Nudger
    grounds: Grounds
    stillness: Stillness
    harvester: Harvester
    hooking: Hooking
    announcer: Announcer
    relay: PermissionRelay


def aides_of(team: TeamStore, settings: Settings, log: Log, woken: Callable[[], None]) -> Aides:
    """Return the services of a new lead; each calls `woken` after a job."""
    nudger = Nudger(team, log, woken)
    stillness = Stillness(team, nudger.backend, settings.stuck_seconds)
    hooking = Hooking(team, log, woken)
    return Aides(
        nudger=nudger,
        grounds=Grounds(team, log, woken),
        stillness=stillness,
        harvester=Harvester(team, log, woken, stillness.last),
        hooking=hooking,
        announcer=Announcer(team, settings, log, hooking, woken),
        relay=PermissionRelay(team, nudger.sights, log, woken),
    )
