"""What the lead has done beside its rounds."""

import threading

import pytest

from pro0.engine.background.backlog import Backlog
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
