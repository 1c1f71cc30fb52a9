"""The person's own terminal: taken over, set to the shown session's modes, and restored at the end."""

import os
import signal
import sys
import termios
import tty
from collections.abc import Iterable
from types import FrameType

from pro0.terminals import protocol

_KEEP_TITLE = "\x1b[22;2t"
_ENTER = "\x1b[?1049h\x1b[?7l\x1b[?1007l\x1b[2J"
_LEAVE = "\x1b[0m\x1b[?7h\x1b[?1007h\x1b[?25h\x1b[?1049l\x1b[23;2t"
MIRRORED = (1, 66, 9, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 2004)
"""Terminal modes copied from the shown session: the form of keys, mouse, focus and pastes."""
_ENDS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)


class Outer:
    """The terminal at descriptors 0 and 1, taken over inside a `with` block."""

    def __init__(self) -> None:
        self.ended = False
        """True when somebody asked the view to end."""
        self.woken, self._waker = os.pipe()
        os.set_blocking(self._waker, False)
        os.set_blocking(self.woken, False)
        self._modes: frozenset[int] = frozenset()
        self._title = ""
        self._continued = False
        """True when the view was stopped, and goes on."""

    def __enter__(self) -> "Outer":
        self._before = termios.tcgetattr(0)
        self._signals = {number: signal.getsignal(number) for number in (*_ENDS, signal.SIGWINCH, signal.SIGCONT)}
        for number in self._signals:
            signal.signal(number, self._signalled)
        try:
            tty.setraw(0)
            self.write(_KEEP_TITLE + _ENTER)
        except BaseException:
            self._give_back()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._give_back()

    def taken_again(self) -> bool:
        """Take the terminal over again after a stop, as a shell has used it meanwhile; return True if so."""
        if not self._continued:
            return False
        self._continued = False
        modes, self._modes, self._title = self._modes, frozenset(), ""
        try:
            tty.setraw(0)
        except termios.error:  # the terminal is gone
            self.ended = True
        self.write(_ENTER)
        self.mirror(modes)
        return True

    def size(self) -> tuple[int, int]:
        """Return columns and lines."""
        size = os.get_terminal_size(1)
        return max(size.columns, 2), max(size.lines, 3)

    def write(self, text: str) -> None:
        """Write all of a text to the terminal. A lost terminal ends the view."""
        data = text.encode(errors="replace")
        try:
            while data:
                data = data[os.write(1, data) :]
        except OSError:
            self.ended = True

    def read(self) -> bytes:
        """Return typed bytes. A lost terminal ends the view."""
        try:
            data = os.read(0, 1 << 16)
        except OSError:
            data = b""
        self.ended = self.ended or not data
        return data

    def wake(self) -> None:
        """Wake the loop waiting for `woken`, from any thread."""
        try:
            os.write(self._waker, b"x")
        except BlockingIOError:  # a full pipe wakes the loop anyway
            pass

    def awake(self) -> None:
        """Forget the wake-ups so far."""
        try:
            os.read(self.woken, 4096)
        except BlockingIOError:
            pass

    def mirror(self, modes: Iterable[int]) -> None:
        """Set exactly those of these modes that are in `MIRRORED`."""
        modes_now = frozenset(modes) & frozenset(MIRRORED)
        changes = protocol.switches(self._modes, modes_now)
        self._modes = modes_now
        if changes:
            self.write(changes)

    def title(self, text: str) -> None:
        """Set the terminal's title if it changed; the person's own title returns at the end."""
        if text != self._title:
            self._title = text
            self.write(f"\x1b]2;{text}\x07")

    def _give_back(self) -> None:
        self.mirror(())
        self.write(_LEAVE)
        try:
            termios.tcsetattr(0, termios.TCSAFLUSH, self._before)
        except termios.error:  # the terminal is gone
            pass
        for number, before in self._signals.items():
            signal.signal(number, before)
        sys.stdout.flush()

    def _signalled(self, number: int, _frame: FrameType | None) -> None:
        self.ended = self.ended or number in _ENDS
        self._continued = self._continued or number == signal.SIGCONT
        self.wake()
