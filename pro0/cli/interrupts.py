"""Interrupts that are not lost. Python drops an exception from a signal during a callback, such as an import.

It does so wherever a weak reference or a `__del__` calls back, and every import makes such references. So this module
imports nothing that is not there when the interpreter has started.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from types import FrameType
else:
    import _signal as signal

INTERRUPTED = 130
"""The exit code of a program that was interrupted."""

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def leave_at_once() -> None:
    """Let Ctrl-C end this process at once, without an exception, unless it is ignored."""
    if signal.getsignal(signal.SIGINT) == signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def as_usual() -> None:
    """Let Ctrl-C raise KeyboardInterrupt again, unless it is ignored."""
    if signal.getsignal(signal.SIGINT) == _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


class at_once:  # noqa: N801 - it reads as what it does
    """In this block Ctrl-C ends the process at once. It is for times when there is nothing to clear up."""

    def __enter__(self) -> None:
        self._before = signal.getsignal(signal.SIGINT)
        leave_at_once()

    def __exit__(self, *_error: object) -> None:
        if self._before == signal.default_int_handler:
            as_usual()


def _leave(_number: int, _frame: "FrameType | None") -> None:
    os._exit(INTERRUPTED)


def is_interrupt(error: BaseException | None) -> bool:
    """Return True for a KeyboardInterrupt, and for an error caused by one, as some of Python's own waits raise."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def forget() -> None:
    """Make sure that `python -m` ends with our exit code, even after an interrupt.

    Once an interrupt has left code run by `exec`, as dataclasses use it, Python later ends itself by SIGINT. Running
    another piece of code by `exec` makes Python forget the interrupt.
    """
    exec("")


class Interruption:
    """A request to end this process. Code that must not be interrupted sets `clearing_up`."""

    def __init__(self) -> None:
        self.asked = False
        self.clearing_up = False

    def check(self) -> None:
        """Raise KeyboardInterrupt if this process was asked to end: Python may have dropped the first exception."""
        if self.asked:
            raise KeyboardInterrupt

    def hear(self, _number: int, _frame: "FrameType | None") -> None:
        """Handle a signal: only the first raises KeyboardInterrupt, and none does while clearing up."""
        is_first, self.asked = not self.asked, True
        if is_first and not self.clearing_up:
            raise KeyboardInterrupt


_within: list[Interruption] = []


def within() -> Interruption | None:
    """Return the Interruption of the innermost `interruptible` block, None outside of all."""
    return _within[-1] if _within else None


class interruptible:  # noqa: N801 - it reads as what it does
    """In this block the first INT, TERM or HUP raises KeyboardInterrupt, and is remembered for `check`."""

    def __enter__(self) -> Interruption:
        interruption, self._before = Interruption(), {}
        _within.append(interruption)
        self._unraisable, sys.unraisablehook = sys.unraisablehook, self._dropped
        for number in _SIGNALS:
            if signal.getsignal(number) != signal.SIG_IGN:
                self._before[number] = signal.signal(number, interruption.hear)
        return interruption

    def __exit__(self, *_error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        sys.unraisablehook = self._unraisable
        _within.pop()

    def _dropped(self, report: "sys.UnraisableHookArgs") -> None:
        if not isinstance(report.exc_value, KeyboardInterrupt):
            self._unraisable(report)
