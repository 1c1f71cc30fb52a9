"""A pipe by which threads and signal handlers wake a loop."""

import os
import threading
from contextlib import suppress


class Bell:
    """Wakes the one loop that waits for its descriptor."""

    def __init__(self) -> None:
        self._readable, self._writable = os.pipe()
        for descriptor in (self._readable, self._writable):
            os.set_blocking(descriptor, False)
        self._lock = threading.RLock()  # a signal handler may ring while its thread does
        self._closed = False

    def fileno(self) -> int:
        """Return a descriptor, readable after a ring."""
        return self._readable

    def ring(self) -> None:
        """Wake the loop; do nothing after `close`, when another file may have the pipe's descriptor."""
        with self._lock, suppress(BlockingIOError):
            if not self._closed:
                os.write(self._writable, b"x")

    def drain(self) -> None:
        """Forget the rings so far."""
        with suppress(BlockingIOError):
            os.read(self._readable, 4096)

    def close(self) -> None:
        """Close the pipe; later rings do nothing."""
        with self._lock:
            self._closed = True
            os.close(self._readable)
            os.close(self._writable)
