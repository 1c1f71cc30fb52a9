"""`pro0 team logs`."""

import os
import stat
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import click
import msgspec

from pro0.cli.context import here, named_team
from pro0.cli.output import json_option, json_text, line, local, write
from pro0.store import atomic
from pro0.store.paths import EVENTS, LEAD_LOG
from pro0.store.teams import TeamStore

LIMIT = 4 * 1024 * 1024
"""Bytes that one look reads at most: of a longer file, its end."""
LOOK = 0.25
"""Seconds between two looks of `-f`."""
_SEEN = ("at", "actor", "event", "pid")

Event = dict[str, object]


class Tail:
    """A file of JSON lines, read on from where the last look ended."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._rest = b""

    def fresh(self) -> Iterator[Event]:
        """Yield what was added since the last look; a line that is not JSON is passed over."""
        data = self._rest + self._added()
        *lines, self._rest = data.split(b"\n")
        for text in lines:
            try:
                yield msgspec.json.decode(text, type=Event)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue

    def _added(self) -> bytes:
        with suppress(OSError), atomic.folder(self._path.parent) as folder:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            with open(os.open(self._path.name, flags, dir_fd=folder), "rb") as stream:
                status = os.fstat(stream.fileno())
                if stat.S_ISREG(status.st_mode):
                    begin = self._offset if self._offset <= status.st_size else 0
                    stream.seek(max(begin, status.st_size - LIMIT))
                    data = stream.read(LIMIT)
                    self._offset = stream.tell()
                    return data
        return b""


@click.command()
@named_team
@click.option("-f", "--follow", is_flag=True, help="Go on as more happens, until interrupted.")
@click.option("-n", "--lines", type=click.IntRange(0), default=50, show_default=True, help="Lines to begin with.")
@json_option
def logs(team: str | None, follow: bool, lines: int, as_json: bool) -> None:
    """Show what happened in a team: what people and members did, and what its lead did.

    --json prints one object a line: at, event, actor (of what was done) or pid (of the lead), and more by the event.

    \b
    Examples:
      pro0 team logs
      pro0 team logs alpha -f
      pro0 team logs -n 0 -f --json
    """
    store = here(team).team
    tails = [Tail(store.paths.team / EVENTS), Tail(store.paths.logs / LEAD_LOG)]
    _print(deque(_merged(tails), maxlen=lines), as_json=as_json)
    while follow and _there(store):
        time.sleep(LOOK)
        _print(_merged(tails), as_json=as_json)


def _there(team: TeamStore) -> bool:
    sys.stdout.flush()
    return team.exists()


def _merged(tails: list[Tail]) -> list[Event]:
    return sorted((event for tail in tails for event in tail.fresh()), key=lambda event: str(event.get("at")))


def _print(events: "deque[Event] | list[Event]", *, as_json: bool) -> None:
    for event in events:
        write(json_text(event, indent=0) if as_json else _text(event))


def _text(event: Event) -> str:
    details = "  ".join(f"{key}={value}" for key, value in event.items() if key not in _SEEN)
    return line(f"{_moment(event.get('at'))}  {event.get('actor', 'lead')}  {event.get('event')}  {details}".rstrip())


def _moment(at: object) -> str:
    try:
        return local(datetime.fromisoformat(str(at)))
    except ValueError:
        return str(at)
