"""The lead's lease: a lock held for life, with the holder's identity in it (rulings 3.3, 3.12)."""

import os
from contextlib import suppress
from pathlib import Path

from filelock import lock_descriptor

from pro0.store import atomic
from pro0.store.files import translate
from pro0.store.lock import holder, open_lock, sign, still_there
from pro0.store.paths import LEASE


class Lease:
    """The right to be the lead of one team; it ends with the process, however that ends."""

    def __init__(self, team: Path) -> None:
        self._team = team
        self._descriptor = -1

    def take(self, why: str) -> bool:
        """Try once to take the lease; raises NotFound when the team is not there."""
        try:
            with atomic.folder(self._team) as folder:
                descriptor = open_lock(folder, LEASE)
                if lock_descriptor(descriptor, blocking=False) and still_there(self._team, folder, LEASE, descriptor):
                    sign(descriptor, why)
                    self._descriptor = descriptor
                    return True
                os.close(descriptor)
                return False
        except OSError as error:
            translate(error, self._team / LEASE)

    def holder(self) -> str | None:
        """Return who holds the lease, or None when it is free or the team is gone."""
        with suppress(FileNotFoundError), atomic.folder(self._team) as folder:
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
