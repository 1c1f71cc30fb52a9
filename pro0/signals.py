"""Signals that ask this process to end, held back for a moment."""

import signal
import threading
from collections.abc import Iterator
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
