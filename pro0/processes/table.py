"""The system's table of processes, read anew by every call; standard library only on Linux."""

from __future__ import annotations

import os
import sys

from pro0.processes import mark

if sys.platform == "linux":
    from pro0.processes import linux as system
else:  # macOS
    from pro0.processes import portable as system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from pro0.model.runtime import Process


SPARED = "PRO0_LEAD"
"""The variable of leads and of processes they start for others, with the value 1: no session owns these."""


class Entry:
    """One running process: its identity, and its parent's pid at the time of the look."""

    __slots__ = ("boot_id", "pid", "ppid", "start")

    def __init__(self, pid: int, ppid: int, start: str) -> None:
        self.pid = pid
        self.ppid = ppid
        self.start = start
        self.boot_id = system.boot_id()


def entry(pid: int) -> Entry | None:
    """Return a running process; None for a missing process or a zombie."""
    found = system.status(pid)
    return Entry(pid, found[0], found[1]) if found else None


def alive(process: Process | Entry) -> bool:
    """Return True while exactly this process runs: not a zombie, not a reused pid, not of an earlier boot."""
    if process.boot_id != system.boot_id():
        return False
    found = system.status(process.pid)
    return found is not None and found[1] == process.start


def own() -> list[int]:
    """Return the pids of this user's processes."""
    return system.own_pids()


def below(pid: int, spared: Callable[[int], bool] | None = None) -> list[Entry]:
    """Return the descendants of a process, without those with `spared(pid)` true and all below them."""
    children: dict[int, list[Entry]] = {}
    for found in _all():
        children.setdefault(found.ppid, []).append(found)
    return list(_walk(pid, children, spared))


def above(pid: int) -> list[Entry]:
    """Return the ancestors of a process, nearest first."""
    line: list[Entry] = []
    found = entry(pid)
    while found and found.ppid and (found := entry(found.ppid)):
        line.append(found)
    return line


def carrying(variable: str, values: Collection[str]) -> dict[str, list[Entry]]:
    """Return, for each value, this user's processes with `variable=value` in their environment."""
    wanted: dict[bytes | None, str] = {value.encode(): value for value in values}
    found: dict[str, list[Entry]] = {value: [] for value in values}
    for pid in system.own_pids():
        text = _variable(system.environment(pid), variable)
        if text in wanted and (one := _verified(pid, variable, wanted[text])):
            found[wanted[text]].append(one)
    return found


def proven(variable: str, incarnations: Collection[str]) -> dict[str, list[Entry]]:
    """Return, for each session, the processes its guard started, directly or indirectly.

    The kernel's mark proves it. On a system without marks, the `variable` with the incarnation must do.
    """
    if not mark.available():
        return carrying(variable, incarnations)
    wanted: dict[int | None, str] = {mark.mark_of(one): one for one in incarnations}
    found: dict[str, list[Entry]] = {one: [] for one in incarnations}
    for pid in system.pids():
        said = mark.carried_by(pid)
        if said in wanted and not is_spared(pid) and (one := entry(pid)):
            # Read again while it lives: so the mark was this process's own, not that of a reused pid.
            found[wanted[said]] += [one] if mark.carried_by(pid) == said and alive(one) else []
    return found


def says(pid: int, variable: str, value: str) -> bool:
    """Return True when a process's environment has `variable=value`; False when it is unreadable."""
    return _variable(system.environment(pid), variable) == value.encode()


def is_spared(pid: int) -> bool:
    """Return True for a process started for others, such as a lead, a guard or a server."""
    return says(pid, SPARED, "1")


def having(names: Collection[str]) -> Iterator[tuple[Entry, dict[str, str]]]:
    """Yield this user's processes with all of these variables in their environment, and the values."""
    for pid in system.own_pids():
        values = _values(pid, names)
        if len(values) == len(names) and (one := entry(pid)) and _values(pid, names) == values and alive(one):
            yield one, values


def variables(process: Process | Entry, names: Collection[str]) -> dict[str, str]:
    """Return the wanted variables of a process's initial environment; none of an ended process."""
    values = _values(process.pid, names)
    return values if alive(process) else {}


def command_line(pid: int) -> bytes:
    """Return a process's arguments, NUL after each; empty when unreadable."""
    return system.command_line(pid)


def stopped(pid: int) -> bool:
    """Return True when a process is stopped, as by SIGSTOP."""
    return system.stopped(pid)


def in_session(session: int) -> list[Entry]:
    """Return the processes of a terminal session, given its leader's pid."""
    return _led_by(session, os.getsid)


def in_group(group: int) -> list[Entry]:
    """Return the processes of a process group, given its leader's pid; the leader is not waited for yet."""
    return _led_by(group, os.getpgid)


def _led_by(leader: int, leader_of: Callable[[int], int]) -> list[Entry]:
    return [one for pid in system.pids() if _asked(leader_of, pid) == leader and (one := entry(pid))]


def _asked(leader_of: Callable[[int], int], pid: int) -> int | None:
    try:
        return leader_of(pid)
    except OSError:
        return None


def _all() -> Iterator[Entry]:
    for pid in system.pids():
        if found := entry(pid):
            yield found


def _walk(pid: int, children: dict[int, list[Entry]], spared: Callable[[int], bool] | None) -> Iterator[Entry]:
    waiting = [pid]
    while waiting:
        # Children leave the table with their parent, so a pid reused during the scan makes no endless loop.
        for child in children.pop(waiting.pop(), ()):
            if not (spared and spared(child.pid)):
                waiting.append(child.pid)
                yield child


def _verified(pid: int, variable: str, value: str) -> Entry | None:
    """Return a process with this tag, checked to be the same process before and after reading its environment."""
    found = entry(pid)
    return found if found and says(pid, variable, value) and alive(found) else None


def _values(pid: int, names: Collection[str]) -> dict[str, str]:
    environment = system.environment(pid)
    found = {name: _variable(environment, name) for name in names}
    return {name: os.fsdecode(text) for name, text in found.items() if text is not None}


def _variable(environment: bytes, name: str) -> bytes | None:
    """Return a variable's value as the process itself would read it: the first one counts."""
    lead = b"\0" + name.encode() + b"="
    _, found, rest = (b"\0" + environment).partition(lead)
    return rest.partition(b"\0")[0] if found else None
