"""Looks at teams in databases; a silent database delays the list only briefly."""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, wait
from contextlib import suppress
from typing import Generic, TypeVar

FIRST, PATIENCE = 2.0, 0.2
"""Seconds to wait for a team without any result so far, and for one with an earlier result."""
T = TypeVar("T")


class Looks(Generic[T]):
    """Repeated looks at teams, at each in a thread of its own, and their last results."""

    def __init__(self, look: Callable[[str], T], silent: Callable[[str], T]) -> None:
        self._look = look
        self._silent = silent
        self._latest: dict[str, T] = {}
        self._under_way: dict[str, Future[T]] = {}

    def latest(self, names: Iterable[str]) -> dict[str, T]:
        """Return the last result for each of these teams; `silent` makes one for a team without any."""
        teams = [*names]
        self._latest = {name: latest for name, latest in self._latest.items() if name in teams}
        self._take(teams)
        late = {*self._under_way}
        for name in teams:
            if name not in late:
                with suppress(RuntimeError):  # no thread is left: the next look tries again
                    self._under_way[name] = _begun(self._look, name)
        fresh = [name for name in teams if name not in self._latest]
        wait([self._under_way[name] for name in fresh if name in self._under_way], FIRST)
        wait([self._under_way[name] for name in self._under_way if name not in late], PATIENCE)
        self._take(teams)
        self._latest |= {name: self._silent(name) for name in teams if name not in self._latest}
        return {name: self._latest[name] for name in teams}

    def is_late(self, name: str) -> bool:
        """Return True while a look at this team is still under way: its last result may be old."""
        return name in self._under_way

    def _take(self, names: Iterable[str]) -> None:
        for name in names:
            if name in self._under_way and self._under_way[name].done():
                self._latest[name] = self._under_way.pop(name).result()


def _begun(look: Callable[[str], T], name: str) -> Future[T]:
    future: Future[T] = Future()

    def do() -> None:
        try:
            future.set_result(look(name))
        except Exception as error:  # noqa: BLE001 - raised for whoever takes the result
            future.set_exception(error)

    threading.Thread(target=do, name="look", daemon=True).start()
    return future
