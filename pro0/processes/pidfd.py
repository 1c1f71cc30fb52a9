"""Linux: a descriptor for one process; it never passes to another process.

The kernel has these calls since 5.3. Python has them only when its build's headers had them, and the builds installed
by uv may lack them.
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    import _signal as signal

_SEND_SIGNAL = 424  # the same numbers on every architecture
_OPEN = 434


def open_process(pid: int) -> int:
    """Return a descriptor of a process, readable once the process has ended; raises ProcessLookupError."""
    if hasattr(os, "pidfd_open"):
        return int(os.pidfd_open(pid))
    return _call(_OPEN, pid, 0)


def send(descriptor: int, number: int) -> None:
    """Send a signal to a descriptor's process; raises ProcessLookupError, PermissionError."""
    if hasattr(signal, "pidfd_send_signal"):
        signal.pidfd_send_signal(descriptor, number)
    else:
        _call(_SEND_SIGNAL, descriptor, number, 0, 0)


def _call(*arguments: int) -> int:
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    result = int(library.syscall(*arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
