"""Signals that ask this process to end: delay them for a moment, or react to the first one only."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_ASKING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def held_back() -> Iterator[None]:
    """Delay these signals until the end of the block, then handle only the first.

    A signal during the start of a program would otherwise leave that program running, unknown to everybody.
    """
    came: list[int] = []
    is_main = threading.current_thread() is threading.main_thread()  # other threads get no signals
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
    """Raise KeyboardInterrupt for the first SIGINT only, and for none after a call of the yielded function.

    Programs started in this block still react to SIGINT: it is handled here, and not set to be ignored.
    """
    before = signal.getsignal(signal.SIGINT)

    def deaf() -> None:
        signal.signal(signal.SIGINT, lambda _number, _frame: None)

    def interrupt(_number: int, _frame: object) -> None:
        deaf()  # before the raise, so that a second signal cannot come in between
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield lambda: None
        return
    signal.signal(signal.SIGINT, interrupt)
    try:
        yield deaf
    finally:
        signal.signal(signal.SIGINT, before)
