"""Threads for jobs: none is lost with a job that fails, or with a thread that does not start."""

import threading
from queue import SimpleQueue

import pytest

from pro0.threads import JobThreads
from tests.waiting import STUCK


def test_a_job_that_fails_is_told_and_ends_no_thread() -> None:
    threads, said = JobThreads(1), SimpleQueue[str]()

    def fails() -> None:
        raise KeyError

    threads.do(fails, lambda: said.put("failed"))
    threads.do(lambda: said.put("done"), lambda: said.put("no"))
    assert [said.get(timeout=STUCK) for _ in range(2)] == ["failed", "done"]
    threads.end()


def test_a_job_waits_for_a_thread_that_the_system_has_not(monkeypatch: pytest.MonkeyPatch) -> None:
    threads, said = JobThreads(1), SimpleQueue[int]()

    def no_thread(_thread: threading.Thread) -> None:
        monkeypatch.undo()
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", no_thread)
    for number in range(2):
        threads.do(lambda number=number: said.put(number), lambda: said.put(-1))  # type: ignore[misc]
    assert [said.get(timeout=STUCK) for _ in range(2)] == [0, 1]
    threads.end()
