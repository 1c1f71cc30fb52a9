"""macOS: read processes with psutil, imported at the first look, for a Linux guard must never need it."""

from __future__ import annotations

import errno
import os

from pro0.processes.linux import GONE, unseen

TYPE_CHECKING = False
if TYPE_CHECKING:
    import psutil

_SHOWS_NOTHING = (errno.EINVAL, errno.EIO)
"""What macOS answers for the arguments of a process that is in an exec, or ends."""

_boot: list[str] = []


def boot_id() -> str:
    """Return the id of this boot: the kernel's uuid for it, or else the boot time."""
    if not _boot:
        _boot.append(_session_uuid() or _boot_time())
    return _boot[0]


def status(pid: int) -> tuple[int, str] | None:
    """Return the parent's pid and the start (seconds since 1970) of a running process; None for a zombie."""
    import psutil

    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return process.ppid(), f"{_start(process):.6f}"
    except (psutil.Error, *GONE, ValueError):
        return None
    except OSError as error:
        raise unseen(error) from error


def stopped(pid: int) -> bool:
    """Return True when a process is stopped, as by SIGSTOP; False when nobody can tell."""
    import psutil

    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_STOPPED)
    except (psutil.Error, OSError, ValueError):
        return False


def pids() -> list[int]:
    """Return the pids of all processes."""
    import psutil

    return psutil.pids()


def own_pids() -> list[int]:
    """Return the pids of this user's processes."""
    user = os.geteuid()
    return [pid for pid in pids() if _owner(pid) == user]


def environment(pid: int) -> bytes:
    """Return a process's initial environment, NUL after each entry; empty when unreadable."""
    import psutil

    try:
        variables = psutil.Process(pid).environ()
    except (psutil.Error, *GONE, ValueError, SystemError):  # SystemError: psutil 7.2 on macOS, its pull request 2854
        return b""
    except OSError as error:
        if error.errno in _SHOWS_NOTHING:
            return b""
        raise unseen(error) from error
    return b"".join(f"{name}={value}\0".encode(errors="surrogateescape") for name, value in variables.items())


def command_line(pid: int) -> bytes:
    """Return a process's arguments, NUL after each; empty when unreadable."""
    import psutil

    try:
        called = psutil.Process(pid).cmdline()
    except (psutil.Error, *GONE, ValueError):
        return b""
    except OSError as error:
        if error.errno in _SHOWS_NOTHING:
            return b""
        raise unseen(error) from error
    return b"".join(f"{argument}\0".encode(errors="surrogateescape") for argument in called)


def _start(process: psutil.Process) -> float:
    """Return the kernel's own start time.

    On macOS, the public `create_time()` of psutil 7.1 moves when the clock is set, and differently in every process.
    A guard and its lead would then disagree on the living processes.
    """
    native = process._proc  # type: ignore[attr-defined]
    try:
        return float(native.create_time(monotonic=True))
    except TypeError:  # psutil 7.0: there it does not move
        return float(native.create_time())


def _owner(pid: int) -> int:
    import psutil

    try:
        return psutil.Process(pid).uids().effective
    except (psutil.Error, *GONE, ValueError):
        return -1
    except OSError as error:
        raise unseen(error) from error


def _session_uuid() -> str:
    import ctypes

    value, size = ctypes.create_string_buffer(64), ctypes.c_size_t(64)
    try:
        failed = ctypes.CDLL(None).sysctlbyname(b"kern.bootsessionuuid", value, ctypes.byref(size), None, 0)
    except AttributeError:  # not a BSD
        return ""
    return "" if failed else value.value.decode()


def _boot_time() -> str:
    import psutil

    return f"{psutil.boot_time():.0f}"
