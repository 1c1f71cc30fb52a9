"""Start a program on a terminal where posix_spawn cannot: macOS opens the streams before it makes the session.

A terminal opened then controls no session. Nothing would tell the program of another size, Ctrl+C or a hang-up.
"""

import errno
import fcntl
import os
import termios

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from typing import NoReturn
else:
    import _signal as signal

_ERRNO = 1
"""Bytes of the number of an error."""


def start(program: bytes, words: list[bytes], variables: dict[bytes, bytes], terminal: str) -> int:
    """Start a program that leads a session on a terminal, and return its pid; raises OSError."""
    failure, tell = os.pipe()
    # The child keeps all signals blocked until they have their default: the guard's handlers are not meant for it.
    before = signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())
    try:
        pid = os.fork()
        if not pid:
            _become(program, words, variables, terminal, tell)
    except OSError:
        os.close(failure)
        raise
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(tell)
    with open(failure, "rb") as pipe:
        number = pipe.read(_ERRNO)  # nothing: the new program has closed the other end
    if number:
        os.waitpid(pid, 0)
        raise OSError(number[0], os.strerror(number[0]))
    return pid


def _become(program: bytes, words: list[bytes], variables: dict[bytes, bytes], terminal: str, tell: int) -> "NoReturn":
    """Become the program, or write the number of the error and end."""
    try:
        signal.set_wakeup_fd(-1)  # a signal noted there would wake the guard
        os.setsid()
        stream = os.open(terminal, os.O_RDWR)
        fcntl.ioctl(stream, termios.TIOCSCTTY, 0)
        for number in range(3):
            os.dup2(stream, number)
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.execve(program, words, variables)
    except (OSError, ValueError) as error:  # ValueError: a NUL inside a text
        os.write(tell, bytes([getattr(error, "errno", None) or errno.EINVAL]))
    finally:
        os._exit(127)
