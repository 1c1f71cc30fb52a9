"""The lead's log: one JSON object a line."""

import os
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import TypeVar

from pro0.errors import Pro0Error
from pro0.model.runtime import SeatState
from pro0.model.stored import iso
from pro0.ops.context import clock
from pro0.store import atomic, journal
from pro0.store.files import translate
from pro0.store.paths import LEAD_LOG
from pro0.store.teams import TeamStore

T = TypeVar("T")


def reason(error: Exception) -> str:
    """Return an error's message, with the type's name for an error that is not pro0's."""
    return error.message if isinstance(error, Pro0Error) else f"{type(error).__name__}: {error}"


class Log:
    """Appends to the lead's log. A vanished team is no failure."""

    def __init__(self, team: TeamStore) -> None:
        try:
            with atomic.folder(team.paths.logs) as folder:
                journal.check(folder, LEAD_LOG)
                self._folder = os.dup(folder)
        except OSError as error:
            translate(error, team.paths.logs / LEAD_LOG)

    def write(self, event: str, **details: object) -> None:
        """Append one event with its details."""
        line = {"at": iso(clock()), "pid": os.getpid(), "event": event, **details}
        with suppress(OSError):  # a full disk is no reason to leave a team without its lead
            journal.append(self._folder, LEAD_LOG, line)


class SessionNet:
    """Catches the errors of looking at one session, so that the lead still looks at the others. Logs each once."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._known: dict[str, str] = {}

    def look(self, state: SeatState, look: Callable[[], T]) -> T | None:
        """Return the result of a look at one session, None when the look fails."""
        try:
            result = look()
        except Exception as error:  # noqa: BLE001 - an agent writes its files itself, and must not stop the team
            why = reason(error)
            if self._known.get(state.incarnation) != why:
                self._log.write("trouble", agent=state.agent_id, incarnation=state.incarnation, why=why)
            self._known[state.incarnation] = why
            return None
        self._known.pop(state.incarnation, None)
        return result

    def failed(self, incarnation: str) -> bool:
        """Return True when the last look at a session failed."""
        return incarnation in self._known

    def keep(self, incarnations: Collection[str]) -> None:
        """Forget all other sessions."""
        self._known = {name: why for name, why in self._known.items() if name in incarnations}
