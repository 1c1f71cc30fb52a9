"""What the lead does beside its rounds, one thing after the other, so that nothing slow keeps it waiting."""

import queue
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Backlog(Generic[T]):
    """Does what is put in, in order, in a thread that starts with the first; at most so many wait, 0 for any number."""

    def __init__(self, do: Callable[[T], None], most: int = 0) -> None:
        self._do = do
        self._waiting: queue.Queue[T] = queue.Queue(most)
        self._worker: threading.Thread | None = None

    def put(self, item: T) -> bool:
        """Have something done, without waiting for it; False when too much waits already."""
        try:
            self._waiting.put_nowait(item)
        except queue.Full:
            return False
        if self._worker is None:
            self._worker = threading.Thread(target=self._work, daemon=True)
            self._worker.start()
        return True

    def finish(self) -> None:
        """Wait until everything is done that was put in."""
        self._waiting.join()

    def _work(self) -> None:
        while True:
            item = self._waiting.get()
            try:
                self._do(item)
            finally:
                self._waiting.task_done()
