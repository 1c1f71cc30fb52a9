"""Signals asking this process to end: held back for a moment, or heard once."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_ASKING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def held_back() -> Iterator[None]:
    """Hold them back, then hear the first: a program whose start one cut short would go on unknown."""
    came: list[int] = []
    is_main = threading.current_thread() is threading.main_thread()  # no other thread hears any
    handlers = {number: handler for number in _ASKING if is_main and callable(handler := signal.getsignal(number))}
    for number in handlers:
        signal.signal(number, lambda number, _frame: came.append(number))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if came:
            handlers[signal.Signals(came[0])](came[0], None)


@contextmanager
def interrupted_once() -> Iterator[Callable[[], None]]:
    """Hear the first SIGINT alone, and none after a call of the yielded function.

    A program that is started meanwhile hears its own, since none is ignored.
    """
    before = signal.getsignal(signal.SIGINT)

    def deaf() -> None:
        signal.signal(signal.SIGINT, lambda _number, _frame: None)

    def interrupt(_number: int, _frame: object) -> None:
        deaf()  # here, so that a second one cannot come in between
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield lambda: None
        return
    signal.signal(signal.SIGINT, interrupt)
    try:
        yield deaf
    finally:
        signal.signal(signal.SIGINT, before)
