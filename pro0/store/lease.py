"""The lead's lease: a lock held for life, with the holder's identity in it (rulings 3.3, 3.12)."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import lock_descriptor

from pro0.store import atomic
from pro0.store.files import translate
from pro0.store.lock import holder, open_lock, sign, still_there
from pro0.store.paths import LEASE

TRIES = 10
PAUSE = 0.01
"""Whoever looks for the holder has the lock for a moment: a few tries, so many seconds apart, tell that from a lead."""


class Lease:
    """The right to be the lead of one team; it ends with the process, however that ends."""

    def __init__(self, team: Path) -> None:
        self._team = team
        self._descriptor = -1

    def take(self, why: str) -> bool:
        """Take the lease, or return False when somebody has it; raises NotFound when the team is not there."""
        with self._translated(), atomic.folder(self._team) as folder:
            for _ in range(TRIES):
                if self._try(folder, why):
                    return True
                time.sleep(PAUSE)
        return False

    def holder(self) -> str | None:
        """Return who holds the lease, or None when it is free or the team is gone."""
        with self._translated(), suppress(FileNotFoundError), atomic.folder(self._team) as folder:
            descriptor = open_lock(folder, LEASE)
            try:
                return None if lock_descriptor(descriptor, blocking=False) else holder(descriptor)
            finally:
                os.close(descriptor)
        return None

    def drop(self) -> None:
        """Give the lease up."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _try(self, folder: int, why: str) -> bool:
        descriptor = open_lock(folder, LEASE)
        try:
            if lock_descriptor(descriptor, blocking=False) and still_there(self._team, folder, LEASE, descriptor):
                sign(descriptor, why)
                self._descriptor = descriptor
        finally:
            if self._descriptor != descriptor:
                os.close(descriptor)
        return self._descriptor == descriptor

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            translate(error, self._team / LEASE)
