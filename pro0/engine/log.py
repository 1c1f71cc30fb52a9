"""The lead's log: one JSON object a line."""

import os
from contextlib import suppress

import msgspec

from pro0.model.stored import iso
from pro0.ops.context import clock
from pro0.store import atomic
from pro0.store.files import translate
from pro0.store.paths import LEAD_LOG
from pro0.store.teams import TeamStore


class Log:
    """Appends to the lead's log; the team may vanish under it, which is no failure."""

    def __init__(self, team: TeamStore) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            with atomic.folder(team.paths.logs) as folder:
                self._descriptor = os.open(LEAD_LOG, flags, atomic.FILE_MODE, dir_fd=folder)
        except OSError as error:
            translate(error, team.paths.logs / LEAD_LOG)

    def write(self, event: str, **details: object) -> None:
        """Append one event with its details."""
        line = {"at": iso(clock()), "pid": os.getpid(), "event": event, **details}
        with suppress(OSError):  # a full disk is no reason to leave a team without its lead
            os.write(self._descriptor, msgspec.json.encode(line, enc_hook=str) + b"\n")
