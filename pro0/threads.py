"""A few threads that run jobs in parallel. Each starts when it is first needed."""

import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue

Job = Callable[[], None]


class JobThreads:
    """Up to `most` threads for jobs that may block. A failing job does not end its thread."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._started = 0
        self._jobs: SimpleQueue[tuple[Job, Job] | None] = SimpleQueue()  # a thread ends at None

    def do(self, job: Job, failed: Job) -> None:
        """Queue a job; `failed` is called if the job raises an error."""
        self._jobs.put((job, failed))
        if self._started < self._most:
            with suppress(RuntimeError):  # no thread can be started now: a running or a later one does the job
                threading.Thread(target=self._work, daemon=True).start()
                self._started += 1

    def end(self) -> None:
        """End all threads once the queued jobs are done."""
        for _ in range(self._started):
            self._jobs.put(None)

    def _work(self) -> None:
        while jobs := self._jobs.get():
            job, failed = jobs
            try:
                job()
            except Exception:  # noqa: BLE001 - the thread goes on with other jobs
                failed()
