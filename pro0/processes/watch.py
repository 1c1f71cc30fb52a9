"""Wait for the ends of processes without polling: pidfd on Linux, kqueue on macOS."""

from __future__ import annotations

import os
import select
import sys

from pro0.processes import pidfd
from pro0.processes.table import may_live

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pro0.model.runtime import Process


class ExitWatch:
    """Report the ends of watched processes. For one thread only; as a context manager it closes itself."""

    def __init__(self) -> None:
        self._watched: dict[Process, int] = {}
        self._gone: list[Process] = []
        self._queue = _Queue()

    def fileno(self) -> int:
        """Return a descriptor, readable while `ended` has processes to report."""
        return self._queue.fileno()

    def add(self, process: Process) -> None:
        """Watch a process; an already ended one counts as ended now. A second call for it does nothing."""
        if process in self._watched or process in self._gone:
            return
        key = self._queue.add(process.pid)
        # Pinned before this check, so no end is missed. A process that cannot be checked may live, so it is watched.
        if key is not None and may_live(process):
            self._watched[process] = key
            return
        if key is not None:
            self._queue.remove(key)
        self._gone.append(process)
        self._queue.wake()

    def discard(self, process: Process) -> None:
        """Stop watching a process, and forget its end if not yet reported."""
        if (key := self._watched.pop(process, None)) is not None:
            self._queue.remove(key)
        elif process in self._gone:
            self._gone.remove(process)

    def ended(self) -> list[Process]:
        """Return the processes ended since the last call, each once, without waiting."""
        keys = self._queue.ready()
        gone, self._gone = self._gone, []
        for process in [watched for watched, key in self._watched.items() if key in keys]:
            self._queue.remove(self._watched.pop(process))
            gone.append(process)
        return gone

    def close(self) -> None:
        """Stop watching; report no more ends."""
        for process in list(self._watched):
            self.discard(process)
        self._queue.close()

    def __enter__(self) -> ExitWatch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Bell:
    """A pipe to make the queue readable at once."""

    def __init__(self) -> None:
        self.listen, self._ring = os.pipe()
        os.set_blocking(self.listen, False)
        os.set_blocking(self._ring, False)

    def ring(self) -> None:
        try:
            os.write(self._ring, b"!")
        except BlockingIOError:
            pass

    def quiet(self) -> None:
        try:
            while True:
                os.read(self.listen, 4096)
        except BlockingIOError:
            pass

    def close(self) -> None:
        os.close(self.listen)
        os.close(self._ring)


if sys.platform == "linux":

    class _Queue:
        """Keys are pidfds."""

        def __init__(self) -> None:
            self._epoll = select.epoll()
            self._bell = _Bell()
            try:
                self._epoll.register(self._bell.listen, select.EPOLLIN)
            except OSError:  # the system limits the watches of each user
                self._bell.close()
                raise

        def fileno(self) -> int:
            return self._epoll.fileno()

        def add(self, pid: int) -> int | None:
            try:
                key = pidfd.open_process(pid)
            except ProcessLookupError:
                return None
            try:
                self._epoll.register(key, select.EPOLLIN)
            except BaseException:
                os.close(key)
                raise
            return key

        def remove(self, key: int) -> None:
            self._epoll.unregister(key)
            os.close(key)

        def ready(self) -> set[int]:
            self._bell.quiet()
            keys: set[int] = set()
            # One call returns at most FD_SETSIZE - 1 of them; the others keep the queue readable for the next call.
            keys.update(key for key, _ in self._epoll.poll(0))
            return keys

        def wake(self) -> None:
            self._bell.ring()

        def close(self) -> None:
            self._epoll.close()
            self._bell.close()

else:  # macOS

    class _Queue:
        """Keys are pids."""

        def __init__(self) -> None:
            self._kqueue = select.kqueue()
            self._bell = _Bell()
            self._control(self._bell.listen, select.KQ_FILTER_READ, select.KQ_EV_ADD, 0)

        def fileno(self) -> int:
            return self._kqueue.fileno()

        def add(self, pid: int) -> int | None:
            try:
                self._control(pid, select.KQ_FILTER_PROC, select.KQ_EV_ADD, select.KQ_NOTE_EXIT)
            except ProcessLookupError:
                return None
            return pid

        def remove(self, key: int) -> None:
            try:
                self._control(key, select.KQ_FILTER_PROC, select.KQ_EV_DELETE, 0)
            except OSError:  # the kernel has dropped the ended process by itself
                pass

        def ready(self) -> set[int]:
            self._bell.quiet()
            return {event.ident for event in self._kqueue.control(None, 1024, 0)}

        def wake(self) -> None:
            self._bell.ring()

        def close(self) -> None:
            self._kqueue.close()
            self._bell.close()

        def _control(self, ident: int, kind: int, flags: int, notes: int) -> None:
            self._kqueue.control([select.kevent(ident, kind, flags, notes)], 0, 0)
