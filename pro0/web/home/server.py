"""The server of conversations about a home: it looks at all teams every two seconds, while somebody subscribes."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from pro0.errors import Pro0Error
from pro0.ops.seats import LifeSigns
from pro0.rpc.server import RpcServer
from pro0.store.teams import Store, TeamStore


class HomeServer(RpcServer):
    """A server like a team's, but without a watched folder: teams come and go."""

    def __init__(self, home: Path) -> None:
        super().__init__(TeamStore(home, "any"))
        self._store = Store(home)
        self._teams: dict[str, LifeSigns] = {}

    def _signs(self) -> Iterator[object]:
        # A team may come and go between two looks, and a list have it: only the folder's time tells then.
        with suppress(OSError):
            yield (self._store.home / "teams").stat().st_mtime_ns
        for name in self._names():
            yield name
            with suppress(Pro0Error):  # a team that cannot be read hides no other
                yield from self._teams.setdefault(name, LifeSigns()).look(self._store.team(name))

    def _names(self) -> list[str]:
        with suppress(Pro0Error):
            return self._store.names()
        return []

    def _is_gone(self) -> bool:
        return False

    def _watch_if_wanted(self) -> None:
        """Watch nothing: looking again does."""
