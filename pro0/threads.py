"""A few threads that do jobs side by side; each starts when it is wanted first."""

import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue

Job = Callable[[], None]


class JobThreads:
    """Up to `most` threads for jobs that may block; a job that fails ends none of them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._started = 0
        self._jobs: SimpleQueue[tuple[Job, Job] | None] = SimpleQueue()  # a thread ends at None

    def do(self, job: Job, failed: Job) -> None:
        """Have a job done, and `failed` when an error comes out of it."""
        self._jobs.put((job, failed))
        if self._started < self._most:
            with suppress(RuntimeError):  # the system has no thread left: another one does it, or one that starts later
                threading.Thread(target=self._work, daemon=True).start()
                self._started += 1

    def end(self) -> None:
        """End each thread, after the jobs that came before."""
        for _ in range(self._started):
            self._jobs.put(None)

    def _work(self) -> None:
        while jobs := self._jobs.get():
            job, failed = jobs
            try:
                job()
            except Exception:  # noqa: BLE001 - the thread goes on for all others
                failed()
