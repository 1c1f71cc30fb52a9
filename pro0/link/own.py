"""The link's own session at home: its team, and its member.

The store is loaded at the first use: many links never need it, and the less a link loads, the faster it starts.
"""

import os
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pro0.errors import Pro0Error
from pro0.store import paths

if TYPE_CHECKING:
    from pro0.ops.context import Context
    from pro0.store.teams import TeamStore


class OwnSession:
    """This process's own session; the guard above proves which member it belongs to."""

    def __init__(self, team: str, agent_id: str) -> None:
        self._team_name, self.agent_id = team, agent_id

    @cached_property
    def team(self) -> "TeamStore":
        """Return the team; it may be gone."""
        from pro0.store.teams import Store

        return Store(paths.home(os.environ)).team(self._team_name)

    @cached_property
    def context(self) -> "Context":
        """Return the context of an operation that this member calls."""
        from pro0.ops.context import Context, caller_of

        caller, _ = caller_of(os.environ, self.team.paths.home)
        return Context(self.team, caller)


class OwnSendings:
    """The ids of the commands of this session that send something, noted before they begin.

    After a restart of this machine the next link knows by them what must not be sent again.
    """

    def __init__(self, folder: Path, *, again: bool) -> None:
        self._file = folder / "sent"
        self._earlier = frozenset(self._noted()) if again else frozenset[str]()

    def has_begun_before(self, id: str) -> bool:
        """Return True when an earlier link has begun this command."""
        return id in self._earlier

    def note(self, id: str) -> None:
        """Note that a command begins; a full disk keeps nothing back."""
        from pro0.store.files import add_folder

        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        with suppress(Pro0Error, OSError):
            add_folder(self._file.parent)
            descriptor = os.open(self._file, flags, 0o600)
            try:
                os.write(descriptor, f"{id}\n".encode())
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def _noted(self) -> list[str]:
        with suppress(OSError, UnicodeDecodeError):
            return self._file.read_text().splitlines()
        return []
