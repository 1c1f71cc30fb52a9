"""The server of conversations about a home: it looks at all teams every two seconds, while anybody is subscribed."""

import threading
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
        self._there: dict[str, object] = {}
        """Team in a database → its life signs at the last look, made by a thread of its own."""
        self._looking: set[str] = set()

    def _signs(self) -> Iterator[object]:
        # A list may have a team that came and went between two looks: then only the folder's time tells.
        with suppress(OSError):
            yield (self._store.home / "teams").stat().st_mtime_ns
        for name in self._names():
            yield name
            with suppress(Pro0Error):  # a team that cannot be read hides no other
                team, signs = self._store.team(name), self._teams.setdefault(name, LifeSigns())
                if team.documents.database:
                    self._look_there(team, signs)
                else:
                    yield from signs.look(team)

    def _look_there(self, team: TeamStore, signs: LifeSigns) -> None:
        """Look at a team in a database, in another thread, unless a look at it is under way already."""

        def look() -> None:
            signs_now: object = None
            try:
                with suppress(Pro0Error):
                    signs_now = [*signs.look(team)]
            finally:
                self._finish(lambda: self._seen_there(team.name, signs_now))

        if team.name not in self._looking:
            with suppress(RuntimeError):  # no thread is left: the next look tries again
                threading.Thread(target=look, name="look", daemon=True).start()
                self._looking.add(team.name)

    def _seen_there(self, name: str, signs_now: object) -> None:
        self._looking.discard(name)
        if signs_now != self._there.get(name):
            self._there[name] = signs_now
            self._changed()

    def _names(self) -> list[str]:
        with suppress(Pro0Error):
            return self._store.names()
        return []

    def _is_gone(self) -> bool:
        return False

    def _watch_if_wanted(self) -> None:
        """Watch no folder: the repeated looks replace it."""
