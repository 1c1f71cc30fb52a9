"""A queue of background jobs, done one after the other, so that slow work never delays the lead."""

import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

T = TypeVar("T")


@contextmanager
def marked(marks: set[T], name: T) -> Iterator[None]:
    """Mark a job as begun while its thread starts. If no thread starts, unmark it, so that a later round begins it."""
    marks.add(name)
    try:
        yield
    except RuntimeError:  # the system starts no more threads
        marks.discard(name)
        raise


class Backlog(Generic[T]):
    """Does queued jobs in order, in one thread started by the first. At most `most` wait, 0 for any number.

    A job that fails is handed to `failed` with its error, and the next one is done.
    """

    def __init__(self, do: Callable[[T], None], failed: Callable[[T, Exception], None], most: int = 0) -> None:
        self._do = do
        self._failed = failed
        self._waiting: queue.Queue[T] = queue.Queue(most)
        self._worker: threading.Thread | None = None

    def put(self, item: T) -> bool:
        """Queue a job without waiting; return False when the queue is full.

        Raises RuntimeError when the system starts no thread. Then the job is not queued.
        """
        if self._worker is None:
            worker = threading.Thread(target=self._work, daemon=True)
            worker.start()
            self._worker = worker
        try:
            self._waiting.put_nowait(item)
        except queue.Full:
            return False
        return True

    def finish(self) -> None:
        """Wait until all queued jobs are done."""
        self._waiting.join()

    def _work(self) -> None:
        while True:
            item = self._waiting.get()
            try:
                self._do(item)
            except Exception as error:  # noqa: BLE001 - no failure of one job is worth losing the others
                self._failed(item, error)
            finally:
                self._waiting.task_done()
