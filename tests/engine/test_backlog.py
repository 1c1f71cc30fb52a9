"""What the lead has done beside its rounds."""

import threading

from pro0.engine.background.backlog import Backlog
from tests.waiting import STUCK


def test_all_is_done_in_order_and_too_much_is_refused() -> None:
    done: list[int] = []
    begun, go_on = threading.Event(), threading.Event()

    def slowly(number: int) -> None:
        begun.set()
        assert go_on.wait(STUCK)
        done.append(number)

    backlog = Backlog(slowly, most=2)
    assert backlog.put(1)
    assert begun.wait(STUCK), "it waits no more, but is done"
    assert [backlog.put(number) for number in (2, 3, 4)] == [True, True, False]
    go_on.set()
    backlog.finish()
    assert done == [1, 2, 3]
