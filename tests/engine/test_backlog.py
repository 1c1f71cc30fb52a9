"""What the lead has done beside its rounds."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from pro0.engine.background.backlog import Backlog, marked
from tests.waiting import STUCK


def never(job: int, error: Exception) -> None:
    raise AssertionError(job) from error


def test_all_is_done_in_order_and_too_much_is_refused() -> None:
    done: list[int] = []
    begun, go_on = threading.Event(), threading.Event()

    def slowly(number: int) -> None:
        begun.set()
        assert go_on.wait(STUCK)
        done.append(number)

    backlog = Backlog(slowly, never, most=2)
    assert backlog.put(1)
    assert begun.wait(STUCK), "it waits no more, but is done"
    assert [backlog.put(number) for number in (2, 3, 4)] == [True, True, False]
    go_on.set()
    backlog.finish()
    assert done == [1, 2, 3]


@pytest.mark.parametrize("error", [OSError("no space left"), KeyError("x")], ids=["disk", "fault"])
def test_a_job_that_fails_keeps_no_later_one_waiting(error: Exception) -> None:
    done: list[int] = []
    failed: list[tuple[int, Exception]] = []

    def do(number: int) -> None:
        if number == 1:
            raise error
        done.append(number)

    backlog = Backlog(do, lambda number, why: failed.append((number, why)))
    for number in (1, 2, 3):
        backlog.put(number)
        backlog.finish()
    assert (done, failed) == ([2, 3], [(1, error)])


@contextmanager
def no_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The system starts none, as at the limit of processes."""

    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        yield


def test_a_job_without_a_thread_is_not_taken_and_later_ones_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else whoever waits for the end of all would wait for ever."""
    done: list[int] = []
    backlog = Backlog(done.append, never)
    with no_threads(monkeypatch), pytest.raises(RuntimeError):
        backlog.put(1)
    backlog.finish()
    backlog.put(2)
    backlog.finish()
    assert done == [2]


def test_what_no_thread_began_is_begun_later(monkeypatch: pytest.MonkeyPatch) -> None:
    marks: set[str] = set()
    with no_threads(monkeypatch), pytest.raises(RuntimeError), marked(marks, "a"):
        threading.Thread(target=print).start()
    assert marks == set()
    with marked(marks, "a"):
        pass
    assert marks == {"a"}
