"""An adapter's memory of one session between two looks."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pro0.agents.transcripts import Follower
from pro0.model.screen import LastWords, Reading, Screen
from pro0.model.usage import Usage

if TYPE_CHECKING:
    from pro0.rules.screens.screens import Drawing


ListPrice = Callable[[Usage, datetime, int], float | None]
"""What one call of a model costs at the list prices of a moment, in US dollars; None if that is not known.

The number is the part of the tokens written to a cache that is kept for an hour.
"""


class Memory:
    """The amounts read and counted so far; losing it costs only time. Without `price` nothing is priced."""

    def __init__(self, price: ListPrice | None = None) -> None:
        self._price = price
        self.total: Usage | None = None
        """All usage counted, None for nothing yet."""
        self.files: dict[str, Path] = {}
        """Source files, by purpose."""
        self.before = Usage()
        """The sum read last, where a file tells sums: of it or, at first, of an earlier session."""
        self.goes_on = False
        """True until the first sum is read from a file that continues another file's count."""
        self.model = ""
        """The model last named in the file, where it is named separately."""
        self.subagents: dict[str, None] = {}
        """The ids of the conversations that this one has started, in order, where their usage is in other files."""
        self.changes: dict[str, int] = {}
        """The last database change read, by conversation."""
        self.pause_until = 0.0
        """When to ask an unresponsive server again, by the monotonic clock."""
        self.asked_at: tuple[float, str] = (-1.0, "")
        """The time of the file's last change when the server was last asked, and the server's answer."""
        self.conversation = ""
        """The present conversation, where only the agent's server knows it; empty until the server has named it."""
        self.own: set[str] = set()
        """The ids of the conversations used in the agent's process."""
        self.others: set[str] = set()
        """The ids of everything else that the server has loaded."""
        self.follow_at = 0.0
        """When to ask the server for conversations again, by the monotonic clock."""
        self._parts: dict[str, Memory] = {}
        self._followers: dict[Path, Follower] = {}
        self._counted: dict[str, Usage] = {}
        self._words: tuple[object, LastWords | None] = (None, None)
        self._drawn: tuple[Screen | None, Drawing | None, tuple[Reading, ...]] = (None, None, ())

    def follow(self, path: Path) -> Follower:
        """Return the follower of a growing file; it remembers its position."""
        return self._followers.setdefault(path, Follower(path))

    @property
    def unread(self) -> bool:
        """True after a failed last look at one of the growing files."""
        return any(file.failed for file in self._followers.values()) or any(
            part.unread for part in self._parts.values()
        )

    def part(self, name: str) -> Memory:
        """Return the memory of one of several files with separate counts."""
        return self._parts.setdefault(name, Memory(self._price))

    def words(self, read: Callable[[], LastWords | None], *files: Path) -> LastWords | None:
        """Return the last words in these files, read again only after a change of one."""
        signature = [_signature(path) for path in files]
        if self._words[0] != signature:
            self._words = signature, read()
        return self._words[1]

    def drawn(
        self, drawing: Drawing, screen: Screen, read: Callable[[Drawing, Screen], tuple[Reading, ...]]
    ) -> tuple[Reading, ...]:
        """Return the readings of a screen, read again only after a change of it."""
        if self._drawn[:2] != (screen, drawing):
            self._drawn = screen, drawing, read(drawing, screen)
        return self._drawn[2]

    def count(self, key: str, used: Usage, at: datetime | None = None, for_an_hour: int = 0) -> None:
        """Count one call of a model under a key; of two counts under one key the larger wins.

        Each is priced by its own model and size, as at that time; `None` is now. `for_an_hour` is as in `ListPrice`.
        """
        if self._price:
            price = 0.0 if used.cost_usd is not None else self._price(used, at or datetime.now(UTC), for_an_hour)
            used = replace(used, list_usd=price)
        before = self._counted.get(key)
        if before and before.output_tokens > used.output_tokens:
            return
        self._counted[key] = used
        self.total = (self.total or Usage()) + used - (before or Usage())


def _signature(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size
