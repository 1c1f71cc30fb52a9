"""A guard's look every two seconds: does the team still exist, and does a lead run (behaviour 3.12)?

A look reads two files and one process. It takes no lock, since a look must never keep a lead from the lease.
"""

import os
import time

from pro0.guard import detached
from pro0.guard.launch import Launch, Revival
from pro0.guard.text import parse
from pro0.processes import table
from pro0.store import atomic

TRIES = 5
"""Starts of a lead by one guard without a new lease, before the guard gives up."""
LIMIT = 1 << 20


class Lookout:
    """The looks of one guard."""

    def __init__(self, launch: Launch) -> None:
        self._team = launch.team_folder
        self._gone = launch.gone
        self._gone_since: float | None = None
        self._leads = Leads(launch.revival) if launch.revival else None

    def pause(self, usual: float) -> float:
        """Return the seconds until the next look: the usual number or a little less, fewer when a start is due."""
        due = self._leads.due() if self._leads else usual
        return max(0.0, min(usual * (0.75 + fraction() / 4), due))

    def look(self) -> bool:
        """Look once, and start a lead when one is missing for long enough; False when the team is gone for good."""
        if self._team_is_missing():
            now = time.monotonic()
            if self._gone_since is None:
                self._gone_since = now
            return now - self._gone_since < self._gone or now == self._gone_since
        self._gone_since = None
        if self._leads:
            self._leads.look()
        return True

    def _team_is_missing(self) -> bool:
        """Return True when the home exists without the team; an unmounted home has no folder of teams either."""
        try:
            os.stat(self._team)
        except FileNotFoundError:
            return os.path.isdir(os.path.dirname(self._team))  # noqa: PTH112, PTH120
        except OSError:
            pass
        return False


class Leads:
    """One guard's view of its team's leads, and its starts of a lead."""

    def __init__(self, revival: Revival) -> None:
        self._revival = revival
        self._seen: object = None
        self._gone_since: float | None = None
        self._wait = 0.0
        self._tries = 0

    def due(self) -> float:
        """Return the seconds until the start of a lead is due, unless a lead appears before."""
        return float("inf") if self._gone_since is None else self._gone_since + self._wait - time.monotonic()

    def look(self) -> None:
        """Look once; start a lead when none was seen for the whole patience."""
        lease = _values(_read(self._revival.lease).partition(b"\n")[0])
        if lease != self._seen:
            self._seen, self._tries, self._gone_since = lease, 0, None  # another lead has started meanwhile
        # A living lead, a resting lease, or too many tries: in each case no start is due.
        if _is_held(lease) or lease.get("rests") or self._tries >= TRIES:
            self._gone_since = None
            return
        now = time.monotonic()
        if self._gone_since is None:
            self._gone_since = now
            self._wait = self._revival.patience + self._revival.jitter * fraction()
        elif now - self._gone_since >= self._wait:
            self._gone_since = None
            self._tries += 1
            self._start()

    def _start(self) -> None:
        variables = _values(_read(self._revival.environment)).get("variables")
        if not isinstance(variables, dict) or not variables:
            return  # a team without a stored environment: only the starter of its lead knows one
        revival = self._revival
        detached.start(revival.argv, revival.cwd, {**variables, **revival.variables}, revival.errors)


def fraction() -> float:
    """Return a random number from 0 to 1: it spreads the looks of guards started together."""
    return os.urandom(1)[0] / 255


def _is_held(lease: dict[str, object]) -> bool:
    pid, start, boot_id = lease.get("pid"), lease.get("start"), lease.get("bootId")
    if not isinstance(pid, int) or not isinstance(start, str) or not isinstance(boot_id, str):
        return False
    holder = table.ProcessEntry(pid, 0, start)
    holder.boot_id = boot_id
    return table.alive(holder)


def _read(path: str) -> bytes:
    folder, name = os.path.split(path)
    try:
        with atomic.folder(folder) as descriptor:
            return atomic.read(descriptor, name, LIMIT)
    except OSError:
        return b""


def _values(data: bytes) -> dict[str, object]:
    try:
        value = parse(data.decode())
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
