"""Linux: a descriptor that stands for one process for all time.

Python has these calls only if the headers it was built with had them, which the builds that uv installs may lack;
the kernel has had them since 5.3.
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
    """Return a descriptor of a process, which is readable once it has ended; raises ProcessLookupError."""
    if hasattr(os, "pidfd_open"):
        return int(os.pidfd_open(pid))
    return _call(_OPEN, pid, 0)


def send(descriptor: int, number: int) -> None:
    """Send a signal to the process that a descriptor stands for; raises ProcessLookupError, PermissionError."""
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
