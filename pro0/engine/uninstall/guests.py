"""Sessions that run here for teams of other machines."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from pro0 import processes
from pro0.decoding import decode
from pro0.model.runtime import Report
from pro0.ops.context import TEAM
from pro0.ops.identity import INCARNATION
from pro0.ops.repair.evidence import entries
from pro0.store.paths import HOSTED_LAUNCH, HOSTED_REPORT, HOSTS


class GuestSession(NamedTuple):
    """A member of another machine's team whose session runs here; `member` and `team` are "" when unknown."""

    id: str
    member: str
    team: str

    @property
    def name(self) -> str:
        """Return its name for a person to read."""
        return self.member or f"the session {self.id}"

    @property
    def end(self) -> str:
        """Return how to end it: through its team at home, or by a command here when that home is gone."""
        command = f"here: pro0 hosted end {self.id}"
        return (
            f"on its team's machine: pro0 member shutdown {self.member} -t {self.team}; or {command}"
            if self.team
            else command
        )


def guests(home: Path) -> Iterator[GuestSession]:
    """Yield the sessions of other machines whose guard or processes live."""
    places = {place.name: place for place in entries(home / HOSTS) if not place.name.startswith(".")}
    of_sessions = processes.proven(INCARNATION, list(places)) if places else {}
    guarded = processes.called_with({str(place / HOSTED_LAUNCH): id for id, place in places.items()})
    for id, place in places.items():
        report, group = _report(place), of_sessions[id]
        if group or id in guarded or (report and processes.alive(report.guard)):
            teams = [team for process in group if (team := processes.variables(process, (TEAM,)).get(TEAM))]
            yield GuestSession(id, report.agent_id if report else "", teams[0] if report and teams else "")


def _report(place: Path) -> Report | None:
    with suppress(OSError, msgspec.MsgspecError, ValueError):
        return decode((place / HOSTED_REPORT).read_bytes(), Report)
    return None
