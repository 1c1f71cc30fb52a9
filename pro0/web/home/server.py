"""The server of conversations about a home: it looks at all teams every two seconds, while somebody subscribes."""

from contextlib import suppress
from pathlib import Path

from pro0.errors import Pro0Error
from pro0.rpc.server import RpcServer
from pro0.store.paths import RUNTIME, TASKS, WANTED
from pro0.store.teams import Store, TeamStore


class HomeServer(RpcServer):
    """A server like that of a team, which watches no folder: teams come and go."""

    def __init__(self, home: Path) -> None:
        super().__init__(TeamStore(home, "any"))
        self._store = Store(home)

    def _signs(self) -> list[tuple[int, int]]:
        signs = []
        with suppress(Pro0Error):
            for name in self._store.names():
                paths = self._store.team(name).paths
                for path in (paths.team / WANTED, paths.team / RUNTIME, paths.tasks / TASKS):
                    with suppress(OSError):
                        status = path.stat()
                        signs.append((status.st_ino, status.st_mtime_ns))
        return signs

    def _watch_if_wanted(self) -> None:
        """Watch nothing: looking again does."""
