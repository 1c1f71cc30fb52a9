"""Aides: what works for the lead in the background, or remembers from one look to the next."""

from collections.abc import Callable
from typing import NamedTuple

from pro0.config import Settings
from pro0.engine.background.grounds import Grounds
from pro0.engine.background.harvesting import Harvester
from pro0.engine.background.hooking import Hooking
from pro0.engine.background.nudging import Nudger
from pro0.engine.background.stillness import Stillness
from pro0.engine.log import Log
from pro0.store.teams import TeamStore


class Aides(NamedTuple):
    """Those of one lead: what they have done is observed, what they are to do is decided and applied."""

    nudger: Nudger
    grounds: Grounds
    stillness: Stillness
    harvester: Harvester
    hooking: Hooking


def aides_of(team: TeamStore, settings: Settings, log: Log, woken: Callable[[], None]) -> Aides:
    """Return the aides of a new lead; `woken` is called when one of them has done something."""
    nudger = Nudger(team, log, woken)
    stillness = Stillness(team, nudger.backend, settings.stuck_seconds)
    return Aides(
        nudger=nudger,
        grounds=Grounds(team, log, woken),
        stillness=stillness,
        harvester=Harvester(team, log, woken, stillness.last),
        hooking=Hooking(team, log, woken),
    )
