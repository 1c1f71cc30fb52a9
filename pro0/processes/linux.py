"""Linux: everything from /proc, with bare system calls, since sweeps read it for hundreds of processes."""

import os
import time

_ZOMBIE = (b"Z", b"X", b"x")
_NO_PROGRAM = 0x00200000 | 0x00000004
"""The flags of a thread of the kernel, and of what is ending or has ended."""
_CODE, _STACK = 23, 25
"""Which fields of a stat, counted behind the name, tell where code and stack are: random, 0 before an exec is done."""
_UNFINISHED = b"0 "
_SECRET = b"1"
"""What stands there for a process that this one may not look at."""
_PAUSES = (0.0, 0.001, 0.004, 0.02, 0.05)
"""Seconds between the looks at a process that does not show what it was started with."""

_boot: list[str] = []


def boot_id() -> str:
    """Return what names this boot of the machine."""
    if not _boot:
        _boot.append(_read("/proc/sys/kernel/random/boot_id").decode().strip())
    return _boot[0]


def status(pid: int) -> tuple[int, str] | None:
    """Return the parent's pid and the start (ticks since boot, field 22) of a running process; None for a zombie."""
    # The second field is the program's name, in brackets, and may itself hold brackets and spaces.
    fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    if not fields or (fields[0] in _ZOMBIE and not _threads_live(fields)):
        return None
    return int(fields[1]), fields[19].decode()


def stopped(pid: int) -> bool:
    """Return whether a process was stopped, as SIGSTOP does."""
    return _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()[:1] in ([b"T"], [b"t"])


def pids() -> list[int]:
    """Return the pids of all processes."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def own_pids() -> list[int]:
    """Return the pids of this user's processes."""
    own = os.geteuid()
    found = []
    with os.scandir("/proc") as entries:
        for one in entries:
            if one.name.isdigit() and _owner(one) == own:
                found.append(int(one.name))
    return found


def environment(pid: int) -> bytes:
    """Return the environment that a process was started with, NUL after each entry; empty when it cannot be read."""
    return _started_with(pid, "environ")


def command_line(pid: int) -> bytes:
    """Return the arguments that a process was called with, NUL after each; empty when they cannot be read."""
    return _started_with(pid, "cmdline")


def _started_with(pid: int, name: str) -> bytes:
    """Return one of the files that tell what a process was started with.

    In the midst of an exec a process shows none: it is looked at again, since who is not found is not ended. All others
    that show none must cost next to nothing, for every sweep looks at them: a stranger's pid 1, threads of the kernel.
    """
    path, seen = f"/proc/{pid}/{name}", b""
    found = _read(path)
    for pause in _PAUSES:
        if found or not (program := _program(pid)) or program == seen:
            break
        if program.startswith(_UNFINISHED):
            time.sleep(pause)
        else:  # the exec may just have ended; only if this is still the same program afterwards it has none
            seen = program
        found = _read(path)
    return found


def _threads_live(fields: list[bytes]) -> bool:
    """Say whether a first thread that has ended left others running: such a process is alive."""
    return fields[0] == b"Z" and int(fields[17]) > 1


def _program(pid: int) -> bytes:
    """Return what differs from one exec of a process to the next; empty when it can never show what started it."""
    fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    if not fields or int(fields[6]) & _NO_PROGRAM or fields[_CODE] == _SECRET:
        return b""
    return b" ".join(fields[_CODE : _STACK + 1])


def _owner(one: os.DirEntry[str]) -> int | None:
    try:
        return one.stat().st_uid
    except OSError:
        return None


def _read(path: str) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        parts = []
        while part := os.read(descriptor, 65536):
            parts.append(part)
        return b"".join(parts)
    except OSError:
        return b""
    finally:
        os.close(descriptor)
