"""An adapter's memory of one session between two looks."""

from pathlib import Path

from msgspec.structs import replace

from pro0.agents.transcripts import Follower
from pro0.model.screen import Usage


class Memory:
    """The amounts read and counted so far; losing it costs only time."""

    def __init__(self) -> None:
        self.total: Usage | None = None
        """All usage counted, None for nothing yet."""
        self.files: dict[str, Path] = {}
        """Source files, by purpose."""
        self.before = Usage()
        """An earlier session's usage, where the file counts on from it."""
        self.model = ""
        """The model last named in the file, where it is named separately."""
        self.last_change = 0
        """The last database change read."""
        self.pause_until = 0.0
        """When to ask an unresponsive server again, by the monotonic clock."""
        self._followers: dict[Path, Follower] = {}
        self._counted: dict[str, Usage] = {}

    def follow(self, path: Path) -> Follower:
        """Return the follower of a growing file; it remembers its position."""
        return self._followers.setdefault(path, Follower(path))

    def count(self, key: str, used: Usage) -> None:
        """Count usage under a key; of two counts under one key the larger wins."""
        before = self._counted.get(key)
        if before and before.output_tokens > used.output_tokens:
            return
        self._counted[key] = used
        self.total = exchanged(self.total or Usage(), used, before or Usage())


def exchanged(so_far: Usage, added: Usage, removed: Usage) -> Usage:
    """Return a sum with one part replaced by another."""
    costs = [used.cost_usd for used in (so_far, added) if used.cost_usd is not None]
    return replace(
        so_far,
        input_tokens=so_far.input_tokens + added.input_tokens - removed.input_tokens,
        output_tokens=so_far.output_tokens + added.output_tokens - removed.output_tokens,
        cache_read_tokens=so_far.cache_read_tokens + added.cache_read_tokens - removed.cache_read_tokens,
        cache_write_tokens=so_far.cache_write_tokens + added.cache_write_tokens - removed.cache_write_tokens,
        cost_usd=sum(costs) - (removed.cost_usd or 0) if costs else None,
        models=tuple(dict.fromkeys((*so_far.models, *added.models))),
    )
