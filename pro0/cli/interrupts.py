"""Interrupts that are not lost: Python drops an exception that a signal raises in a callback, as during an import.

It does so wherever a weak reference or a `__del__` calls back, and every import makes such references.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = 130
"""The exit code of a program that was interrupted."""

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def at_once() -> Iterator[None]:
    """Let Ctrl-C end this process at once, without an exception: for the time when there is nothing to clear up."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield  # ignored, or somebody else's, such as an at_once() around this one
        return
    leave_at_once()
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def leave_at_once() -> None:
    """Let Ctrl-C end this process at once from now on, unless it is ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def _leave(_number: int, _frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)


class Interruption:
    """Whether this process was asked to end; `clearing_up` is set by who must not be disturbed any more."""

    def __init__(self) -> None:
        self.asked = False
        self.clearing_up = False

    def check(self) -> None:
        """Raise KeyboardInterrupt when this process was asked to end: what was raised then may have been dropped."""
        if self.asked:
            raise KeyboardInterrupt

    def hear(self, _number: int, _frame: FrameType | None) -> None:
        """Take in a signal: the first raises KeyboardInterrupt, later ones and those while it is cleared up do not."""
        first, self.asked = not self.asked, True
        if first and not self.clearing_up:
            raise KeyboardInterrupt


@contextmanager
def interruptible() -> Iterator[Interruption]:
    """Let the first INT, TERM or HUP raise KeyboardInterrupt, and be remembered for `check`."""
    interruption, before, drop = Interruption(), {}, sys.unraisablehook

    def dropped(found: "sys.UnraisableHookArgs") -> None:
        if not isinstance(found.exc_value, KeyboardInterrupt):
            drop(found)

    try:
        sys.unraisablehook = dropped
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, interruption.hear)
        yield interruption
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        sys.unraisablehook = drop
