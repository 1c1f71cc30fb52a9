"""Linux: read processes from /proc with bare system calls, since sweeps read hundreds of processes."""

import os
import time

GONE = (FileNotFoundError, ProcessLookupError, PermissionError)
"""The errors of a look at a process that has ended, or at a hidden process of another user."""

_ZOMBIE = (b"Z", b"X", b"x")
_NO_PROGRAM = 0x00200000 | 0x00000004
"""Flags of kernel threads, and of processes ending or already ended."""
_CODE, _STACK = 23, 25
"""Indexes of code and stack addresses in a stat line, after the name: random, and 0 until an exec is complete."""
_UNFINISHED = b"0 "
_SECRET = b"1"
"""The code address shown for a process closed to this one."""
_PAUSES = (0.0, 0.001, 0.004, 0.02, 0.05)
"""Seconds between the looks at a process without visible arguments or environment."""

_boot: list[str] = []


def unseen(error: OSError) -> Exception:
    """Return the error to raise when a look fails for any other reason, such as too many open files."""
    import errno  # late: these would cost each guard 4 ms

    from pro0.errors import EnvironmentMissing

    name = errno.errorcode.get(error.errno or 0, "?")
    message = f"the system's table of processes cannot be read: {error.strerror or error} ({name})"
    return EnvironmentMissing(message, hint="try again in a moment")


def boot_id() -> str:
    """Return the id of this boot of the machine."""
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


def forged() -> bool:
    """Return True when something is mounted over a process's entry in /proc, or when nobody can tell."""
    mounts = [line.split()[4] for line in _read("/proc/self/mountinfo").splitlines()]
    return not mounts or any(place.startswith(b"/proc/") and place[6:7].isdigit() for place in mounts)


def stopped(pid: int) -> bool:
    """Return True when a process is stopped, as by SIGSTOP; False when nobody can tell."""
    try:
        return _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()[:1] in ([b"T"], [b"t"])
    except Exception:  # noqa: BLE001 - a look that failed; naming its error would cost each guard 4 ms
        return False


def pids() -> list[int]:
    """Return the pids of all processes."""
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError as error:
        raise unseen(error) from error


def own_pids() -> list[int]:
    """Return the pids of this user's processes."""
    user = os.geteuid()
    numbers = []
    try:
        with os.scandir("/proc") as entries:
            for entry in entries:
                if entry.name.isdigit() and _owner(entry) == user:
                    numbers.append(int(entry.name))
    except OSError as error:
        raise unseen(error) from error
    return numbers


def environment(pid: int) -> bytes:
    """Return a process's initial environment, NUL after each entry; empty when unreadable."""
    return _started_with(pid, "environ")


def command_line(pid: int) -> bytes:
    """Return a process's arguments, NUL after each; empty when unreadable."""
    return _started_with(pid, "cmdline")


def _started_with(pid: int, name: str) -> bytes:
    """Return a /proc file with a process's initial arguments or environment.

    During an exec a process shows neither, so look again: a missed process would survive its session's end.
    Kernel threads and a stranger's pid 1 never show any. Every sweep meets them, so they must cost almost nothing.
    """
    path, earlier_program = f"/proc/{pid}/{name}", b""
    data = _read(path)
    for pause in _PAUSES:
        if data or not (program := _program(pid)) or program == earlier_program:
            break
        if program.startswith(_UNFINISHED):
            time.sleep(pause)
        else:  # an exec may just have ended; the same program at the next look has nothing to show
            earlier_program = program
        data = _read(path)
    return data


def _threads_live(fields: list[bytes]) -> bool:
    """Return True when the first thread has ended and others still run: such a process is alive."""
    return fields[0] == b"Z" and int(fields[17]) > 1


def _program(pid: int) -> bytes:
    """Return a value unique to one exec of a process; empty when the process can never show its arguments."""
    fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    if not fields or int(fields[6]) & _NO_PROGRAM or fields[_CODE] == _SECRET:
        return b""
    return b" ".join(fields[_CODE : _STACK + 1])


def _owner(entry: os.DirEntry[str]) -> int | None:
    try:
        return entry.stat().st_uid
    except GONE:
        return None


def _read(path: str) -> bytes:
    """Return a file of /proc, empty without its process; any other failure proves nothing, and is raised."""
    try:
        return _content(path)
    except GONE:
        return b""
    except OSError as error:
        raise unseen(error) from error


def _content(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        parts = []
        while part := os.read(descriptor, 65536):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(descriptor)
