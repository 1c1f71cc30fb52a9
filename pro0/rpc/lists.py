"""The lists for subscribers. Each change has a number, so a client goes on after a lost connection."""

import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from itertools import count
from threading import Lock
from typing import Literal, NamedTuple, Protocol
from weakref import WeakSet

from pro0.model.caller import Caller
from pro0.ops.context import new_id

Version = Callable[[], int]
Change = tuple[Literal["create", "update", "delete"], str, object]
"""The operation, the id of the item, and the item as it is now."""
KEPT = 10_000
"""Changed items that one list remembers for clients that come back."""
SPANS = 16
"""The most creations and deletions of one item that a list remembers."""
LISTS = 32
"""Lists without a reader that are kept for clients that come back."""

RESCAN = 2.0
"""Seconds between two looks."""
TRANSCRIPTS = 1.0
"""Seconds between two looks while a transcript is followed."""


class Source(Protocol):
    """The source of a list."""

    @property
    def now(self) -> Mapping[str, object]:
        """Return the list by ids, as it was at the last look."""

    def changes(self) -> Iterable[Change]:
        """Look again, and yield what has changed since the last look."""

    @property
    def sign(self) -> object:
        """Return a value that changes when files outside the store change; None for a list from the store alone."""

    @property
    def behind(self) -> bool:
        """Return True when the last look could not read the whole list."""


class Reader:
    """A reader who was told a list up to the change `seq`."""

    def __init__(self, seq: int) -> None:
        self.seq = seq


class _Item(NamedTuple):
    """One item's last change, and the numbers of the changes that created and deleted it, in turn."""

    seq: int
    spans: tuple[int, ...]
    value: object

    def change(self, key: str, since: int) -> Change | None:
        """Return the change for a reader who knows the list as of `since`, None when nothing changed for it."""
        existed = bisect_right(self.spans, since) % 2 == 1
        if self.value is None:
            return ("delete", key, None) if existed else None
        return "update" if existed else "create", key, self.value


class NumberedList:
    """One list for all its readers. Only the last change of each item is kept.

    `version` returns a new number when something may have changed, so that many readers cost one look.
    """

    def __init__(self, source: Source, version: Version | None = None) -> None:
        self.name = new_id()
        self._source = source
        self._version = version or count().__next__
        self._looked_at = -1
        self._lock = Lock()
        self._readers: WeakSet[Reader] = WeakSet()
        self._items: dict[str, _Item] = {}
        self._seq = self._oldest = 0

    @property
    def is_read(self) -> bool:
        """Return True while the list has a reader."""
        return bool(self._readers)

    @property
    def sign(self) -> object:
        """Return the sign of its source."""
        return self._source.sign

    @property
    def behind(self) -> bool:
        """Return True when its source could not read the whole list."""
        return self._source.behind

    def snapshot(self, reader: Reader) -> Mapping[str, object]:
        """Return the whole list to a new reader."""
        with self._lock:
            self._look()
            reader.seq = self._seq
            self._readers.add(reader)
            return dict(self._source.now)

    def go_on(self, reader: Reader) -> bool:
        """Resume an earlier reader; return False when some changes that it missed are not kept any more."""
        with self._lock:
            if can := self._oldest <= reader.seq <= self._seq:
                self._readers.add(reader)
                self._looked_at = -1
            return can

    def news(self, reader: Reader) -> list[tuple[int, Change]]:
        """Return the changes that a reader was not told yet, in order, each with its number."""
        with self._lock:
            if self._version() != self._looked_at:
                self._look()
            fresh = []
            for key, item in reversed(self._items.items()):
                if item.seq <= reader.seq:
                    break
                if change := item.change(key, reader.seq):
                    fresh.append((item.seq, change))
            reader.seq = self._seq
            return fresh[::-1]

    def _look(self) -> None:
        version = self._version()
        for operation, key, value in self._source.changes():
            self._seq += 1
            item = self._items.pop(key, None)
            spans = item.spans if item else () if operation == "create" else (0,)
            spans += () if operation == "update" else (self._seq,)
            if len(spans) > SPANS and spans[1] <= self._told:
                self._oldest = max(self._oldest, spans[1])
                spans = spans[2:]
            self._items[key] = _Item(self._seq, spans, value)
        while len(self._items) > KEPT and (oldest_entry := next(iter(self._items.items())))[1].seq <= self._told:
            self._oldest = max(self._oldest, oldest_entry[1].seq)
            del self._items[oldest_entry[0]]
        self._looked_at = version

    @property
    def _told(self) -> int:
        """Return the number of the last change that every reader has been told."""
        return min((reader.seq for reader in self._readers), default=self._seq)


class Lists:
    """The lists of one team, separate for each caller, since a member may not see all that the person sees."""

    def __init__(self, version: Version | None = None) -> None:
        self._version = version
        self._lock = Lock()
        self._lists: dict[tuple[str, Caller], NumberedList] = {}

    def get(self, name: str, caller: Caller, source: Callable[[], Source]) -> NumberedList:
        """Return a list; make it when nobody has read it yet."""
        with self._lock:
            listed = self._lists.pop((name, caller), None) or NumberedList(source(), self._version)
            idle = [key for key, numbered in self._lists.items() if not numbered.is_read]
            for key in idle[:-LISTS]:
                del self._lists[key]
            self._lists[name, caller] = listed
            return listed

    def signs(self) -> list[object]:
        """Return the signs of the lists that have readers and come from files outside the store."""
        with self._lock:
            return [listed.sign for listed in self._lists.values() if listed.is_read and listed.sign is not None]


class Rescan:
    """Checks from time to time whether a subscribed list may have changed, without reading a document.

    Network file systems miss changes, and transcripts are not in the watched folders.
    """

    def __init__(self, signs: Callable[[], Iterable[object]], lists: Lists) -> None:
        self._signs = signs
        self._lists = lists
        self._seen: object = None
        self._due = 0.0
        self._pause = RESCAN

    @property
    def seconds(self) -> float:
        """Return the most seconds to wait until the next look."""
        return max(0.0, self._due - time.monotonic())

    def reset(self) -> None:
        """Count the present state as seen."""
        self._seen = self._look()
        self._due = time.monotonic() + self._pause

    def forget(self) -> None:
        """Count everything as new at the next look."""
        self._seen = None

    def changed(self) -> bool:
        """Return True when a look was due and found a change."""
        if time.monotonic() < self._due:
            return False
        before = self._seen
        self.reset()
        return before != self._seen

    def _look(self) -> object:
        """Return a value that differs after every change of a list, and at each look while a sign cannot be read."""
        try:
            elsewhere = self._lists.signs()
            self._pause = TRANSCRIPTS if elsewhere else RESCAN
            return [*elsewhere, *self._signs()]
        except Exception:  # noqa: BLE001 - the thread that looks serves everybody
            return object()
