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


class ProcessEntry:
    """One running process: its identity, and its parent's pid at the time of the look."""

    __slots__ = ("boot_id", "pid", "ppid", "start")

    def __init__(self, pid: int, ppid: int, start: str) -> None:
        self.pid = pid
        self.ppid = ppid
        self.start = start
        self.boot_id = system.boot_id()


def boot_id() -> str:
    """Return the id of this boot of the machine."""
    return system.boot_id()


def entry(pid: int) -> ProcessEntry | None:
    """Return a running process; None for a missing process or a zombie."""
    parent_and_start = system.status(pid)
    return ProcessEntry(pid, parent_and_start[0], parent_and_start[1]) if parent_and_start else None


def alive(process: Process | ProcessEntry) -> bool:
    """Return True while exactly this process runs: not a zombie, not a reused pid, not of an earlier boot."""
    if process.boot_id != system.boot_id():
        return False
    parent_and_start = system.status(process.pid)
    return parent_and_start is not None and parent_and_start[1] == process.start


def may_live(process: Process | ProcessEntry) -> bool:
    """Return False for a process proved to have ended; True also when nobody can tell."""
    try:
        return alive(process)
    except Exception:  # noqa: BLE001 - a look that failed; naming its error would cost each guard 4 ms
        return True


def own_pids() -> list[int]:
    """Return the pids of this user's processes."""
    return system.own_pids()


def below(pid: int, spared: Callable[[int], bool] | None = None) -> list[ProcessEntry]:
    """Return the descendants of a process, without those with `spared(pid)` true and all below them."""
    children: dict[int, list[ProcessEntry]] = {}
    for process in _all():
        children.setdefault(process.ppid, []).append(process)
    return list(_walk(pid, children, spared))


def above(pid: int) -> list[ProcessEntry]:
    """Return the ancestors of a process, nearest first."""
    line: list[ProcessEntry] = []
    ancestor = entry(pid)
    while ancestor and ancestor.ppid and (ancestor := entry(ancestor.ppid)):
        line.append(ancestor)
    return line


def carrying(variable: str, values: Collection[str]) -> dict[str, list[ProcessEntry]]:
    """Return, for each value, this user's processes with `variable=value` in their environment."""
    value_of: dict[bytes | None, str] = {value.encode(): value for value in values}
    carriers: dict[str, list[ProcessEntry]] = {value: [] for value in values}
    for pid in system.own_pids():
        text = _variable(system.environment(pid), variable)
        if text in value_of and (carrier := _verified(pid, variable, value_of[text])):
            carriers[value_of[text]].append(carrier)
    return carriers


def proven(variable: str, incarnations: Collection[str]) -> dict[str, list[ProcessEntry]]:
    """Return, for each session, the processes its guard started, directly or indirectly.

    The kernel's mark proves it. On a system without marks, the `variable` with the incarnation must do.
    """
    if not mark.available():
        return carrying(variable, incarnations)
    incarnation_of: dict[int | None, str] = {mark.mark_of(incarnation): incarnation for incarnation in incarnations}
    members: dict[str, list[ProcessEntry]] = {incarnation: [] for incarnation in incarnations}
    for pid in system.pids():
        carried = mark.carried_by(pid)
        if carried in incarnation_of and not is_spared(pid) and (incarnation := entry(pid)):
            # Read again while it lives: so the mark was this process's own, not that of a reused pid.
            members[incarnation_of[carried]] += (
                [incarnation] if mark.carried_by(pid) == carried and alive(incarnation) else []
            )
    return members


def says(pid: int, variable: str, value: str) -> bool:
    """Return True when a process's environment has `variable=value`; False when it is unreadable."""
    return _variable(system.environment(pid), variable) == value.encode()


def is_spared(pid: int) -> bool:
    """Return True for a process started for others, such as a lead, a guard or a server."""
    return says(pid, SPARED, "1")


def having(names: Collection[str]) -> Iterator[tuple[ProcessEntry, dict[str, str]]]:
    """Yield this user's processes with all of these variables in their environment, and the values."""
    for pid in system.own_pids():
        values = _values(pid, names)
        if len(values) == len(names) and (process := entry(pid)) and _values(pid, names) == values and alive(process):
            yield process, values


def variables(process: Process | ProcessEntry, names: Collection[str]) -> dict[str, str]:
    """Return the wanted variables of a process's initial environment; none of an ended process."""
    values = _values(process.pid, names)
    return values if alive(process) else {}


def command_line(pid: int) -> bytes:
    """Return a process's arguments, NUL after each; empty when unreadable."""
    return system.command_line(pid)


def stopped(pid: int) -> bool:
    """Return True when a process is stopped, as by SIGSTOP."""
    return system.stopped(pid)


def in_session(session: int) -> list[ProcessEntry]:
    """Return the processes of a terminal session, given its leader's pid."""
    return _led_by(session, os.getsid)


def in_group(group: int) -> list[ProcessEntry]:
    """Return the processes of a process group, given its leader's pid; the leader is not reaped yet."""
    return _led_by(group, os.getpgid)


def _led_by(leader: int, leader_of: Callable[[int], int]) -> list[ProcessEntry]:
    return [member for pid in system.pids() if _leader_or_none(leader_of, pid) == leader and (member := entry(pid))]


def _leader_or_none(leader_of: Callable[[int], int], pid: int) -> int | None:
    try:
        return leader_of(pid)
    except OSError:
        return None


def _all() -> Iterator[ProcessEntry]:
    for pid in system.pids():
        if running := entry(pid):
            yield running


def _walk(
    pid: int, children: dict[int, list[ProcessEntry]], spared: Callable[[int], bool] | None
) -> Iterator[ProcessEntry]:
    waiting = [pid]
    while waiting:
        # Children leave the table with their parent, so a pid reused during the scan makes no endless loop.
        for child in children.pop(waiting.pop(), ()):
            if not (spared and spared(child.pid)):
                waiting.append(child.pid)
                yield child


def _verified(pid: int, variable: str, value: str) -> ProcessEntry | None:
    """Return a process with this tag, checked to be the same process before and after reading its environment."""
    process = entry(pid)
    return process if process and says(pid, variable, value) and alive(process) else None


def _values(pid: int, names: Collection[str]) -> dict[str, str]:
    environment = system.environment(pid)
    texts = {name: _variable(environment, name) for name in names}
    return {name: os.fsdecode(text) for name, text in texts.items() if text is not None}


def _variable(environment: bytes, name: str) -> bytes | None:
    """Return a variable's value as the process itself would read it: the first one counts."""
    lead = b"\0" + name.encode() + b"="
    _, separator, rest = (b"\0" + environment).partition(lead)
    return rest.partition(b"\0")[0] if separator else None
