"""The lead's lease: a lock held for life, with the holder's identity in it (behaviour 3.3, 3.12).

Guards read the lease without a lock, so a reader never keeps a lead from taking it. The folder of the logs is locked
with the lease. So nobody can lead beside a lead after a person deleted its lease.
"""

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import msgspec

from pro0 import __version__, installation
from pro0.decoding import decode
from pro0.model.runtime import Process
from pro0.processes import table
from pro0.store import atomic
from pro0.store.files import translate
from pro0.store.lock import both_locked, holder, open_lock, replaced, still_there
from pro0.store.paths import LEASE, LOGS

TRIES = 10
PAUSE = 0.01
"""Tries, and seconds between them: a reader holds the lock for a moment only, a lead holds it longer."""
_LIMIT = 4096
_LONGEST = 1 << 20
_NO_FOLDER = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


class Holder(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The lease's content: its last taker, and `rests`, telling guards to start no lead until the next taker."""

    pid: int
    start: str
    boot_id: str
    version: str
    why: str
    rests: bool = False
    commit: str = ""
    """The commit of its pro0 when it took the lease, "" when it is unknown."""

    def __str__(self) -> str:
        return f"pid {self.pid} ({self.why}, pro0 {self.version})"

    @property
    def process(self) -> Process:
        """Return the last taker's process."""
        return Process(pid=self.pid, start=self.start, boot_id=self.boot_id)


class Lease:
    """The right to be the lead of one team; it ends with the process, however the process ends."""

    def __init__(self, team: Path) -> None:
        self._team = team
        self._held: list[int] = []
        self._why = ""

    def take(self, why: str) -> bool:
        """Take the lease, or return False when it is held; raises NotFound when the team is gone."""
        with self._translated(), atomic.folder(self._team) as folder:
            for _ in range(TRIES):
                if self._try(folder, why):
                    return True
                time.sleep(PAUSE)
        return False

    def keep(self) -> None:
        """Put a deleted lease back in its place; until then the logs' lock keeps others out."""
        with self._translated(), suppress(FileNotFoundError), atomic.folder(self._team) as folder:
            if not still_there(self._team, folder, LEASE, self._held[0]):
                new = open_lock(folder, LEASE)
                try:
                    if atomic.lock(new):  # otherwise a reader holds it for a moment: try again at the next call
                        _sign(new, self._why)
                        os.dup2(new, self._held[0], inheritable=False)
                finally:
                    atomic.close(new)

    def holder(self) -> str | None:
        """Return the holder's name, or None when the lease is free or the team is gone."""
        with self._translated(), suppress(FileNotFoundError), atomic.folder(self._team) as folder:
            opened = _open(folder)
            try:
                if _locked(opened):
                    return None
                return str(_signed(os.pread(opened[0], _LIMIT, 0)) or holder(opened[0]))
            finally:
                _close(opened)
        return None

    def read(self) -> Holder | None:
        """Return the lease's last taker, without a lock, held or free; None when the lease cannot be read."""
        with self._translated(), suppress(FileNotFoundError), atomic.folder(self._team) as folder:
            return _signed(atomic.read(folder, LEASE, _LONGEST))
        return None

    def rest(self, why: str) -> None:
        """Note in the held lease that no guard may start a lead until somebody takes the lease again."""
        with self._translated():
            _sign(self._held[0], why, rests=True)

    def has_duties(self) -> bool:
        """Return True when this lead has the duties of the whole team."""
        return True

    def drop(self) -> None:
        """Release the lease."""
        _close(self._held)
        self._held = []

    def _try(self, folder: int, why: str) -> bool:
        opened = _open(folder)
        try:
            mine = _locked(opened) and still_there(self._team, folder, LEASE, opened[0])
            if mine and not replaced(folder, LEASE, opened[0]):
                _sign(opened[0], why)
                self._held, self._why = opened, why
        finally:
            if not self._held:
                _close(opened)
        return bool(self._held)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            translate(error, self._team / LEASE)


def _open(folder: int) -> list[int]:
    """Open the lease and the folder of the logs; without that folder only a repair takes the lease, no lead."""
    lease = open_lock(folder, LEASE)
    try:
        logs = os.open(LOGS, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
    except OSError as error:
        if error.errno in _NO_FOLDER:
            return [lease]
        os.close(lease)
        raise
    return [lease, logs]


def _locked(opened: list[int]) -> bool:
    lease, *logs = opened
    return both_locked(logs[0], lease) if logs else atomic.lock(lease)


def _close(opened: list[int]) -> None:
    for descriptor in opened:
        atomic.close(descriptor)


def _sign(descriptor: int, why: str, *, rests: bool = False) -> None:
    """Write the holder as the first line, then cut the rest: so a whole line is there at every moment."""
    me = table.entry(os.getpid())
    start, boot_id = (me.start, me.boot_id) if me else ("", "")
    signature = Holder(os.getpid(), start, boot_id, __version__, why, rests, _own_commit())
    line = msgspec.json.encode(signature) + b"\n"
    os.pwrite(descriptor, line, 0)
    os.ftruncate(descriptor, len(line))


@cache
def _own_commit() -> str:
    """Return the commit of this process's code: that of its start, even if the clone has moved on."""
    return installation.commit()


def _signed(data: bytes) -> Holder | None:
    with suppress(msgspec.MsgspecError, RecursionError, ValueError):
        return decode(data.partition(b"\n")[0], Holder)
    return None
