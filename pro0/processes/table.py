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
"""The variable, with the value 1, of leads and of what they start for others: it is no session's, wherever it hangs."""


class Entry:
    """One running process: its identity, and who its parent was when it was looked at."""

    __slots__ = ("boot_id", "pid", "ppid", "start")

    def __init__(self, pid: int, ppid: int, start: str) -> None:
        self.pid = pid
        self.ppid = ppid
        self.start = start
        self.boot_id = system.boot_id()


def entry(pid: int) -> Entry | None:
    """Return a running process; None when there is none, or only a zombie."""
    found = system.status(pid)
    return Entry(pid, found[0], found[1]) if found else None


def alive(process: Process | Entry) -> bool:
    """Say whether exactly this process still runs: not a zombie, not a reused pid, not of an earlier boot."""
    if process.boot_id != system.boot_id():
        return False
    found = system.status(process.pid)
    return found is not None and found[1] == process.start


def own() -> list[int]:
    """Return the pids of this user's processes."""
    return system.own_pids()


def below(pid: int, spared: Callable[[int], bool] | None = None) -> list[Entry]:
    """Return the descendants of a process; where `spared(pid)` holds, neither that one nor what is below it."""
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
    """Return, for each value, this user's processes whose environment says `variable=value`."""
    wanted: dict[bytes | None, str] = {value.encode(): value for value in values}
    found: dict[str, list[Entry]] = {value: [] for value in values}
    for pid in system.own_pids():
        text = _variable(system.environment(pid), variable)
        if text in wanted and (one := _verified(pid, variable, wanted[text])):
            found[wanted[text]].append(one)
    return found


def proven(variable: str, incarnations: Collection[str]) -> dict[str, list[Entry]]:
    """Return, for each session, the processes that its guard has started, they or who started them.

    The kernel's mark proves it. Where the system has no marks, a `variable` that says the incarnation has to do.
    """
    if not mark.available():
        return carrying(variable, incarnations)
    wanted: dict[int | None, str] = {mark.mark_of(one): one for one in incarnations}
    found: dict[str, list[Entry]] = {one: [] for one in incarnations}
    for pid in system.pids():
        said = mark.carried_by(pid)
        if said in wanted and not is_spared(pid) and (one := entry(pid)):
            # Asked again, and alive then: what was read was its own.
            found[wanted[said]] += [one] if mark.carried_by(pid) == said and alive(one) else []
    return found


def says(pid: int, variable: str, value: str) -> bool:
    """Say whether the environment of a process has `variable=value`; no when it cannot be read."""
    return _variable(system.environment(pid), variable) == value.encode()


def is_spared(pid: int) -> bool:
    """Say whether a process was started for others, as a lead, a guard or a server is."""
    return says(pid, SPARED, "1")


def having(names: Collection[str]) -> Iterator[tuple[Entry, dict[str, str]]]:
    """Yield this user's processes whose environment has all of these variables, with their values."""
    for pid in system.own_pids():
        values = _values(pid, names)
        if len(values) == len(names) and (one := entry(pid)) and _values(pid, names) == values and alive(one):
            yield one, values


def variables(process: Process | Entry, names: Collection[str]) -> dict[str, str]:
    """Return those of these variables that a process was started with; none of one that has ended."""
    values = _values(process.pid, names)
    return values if alive(process) else {}


def command_line(pid: int) -> bytes:
    """Return the arguments that a process was called with, NUL after each; empty when they cannot be read."""
    return system.command_line(pid)


def stopped(pid: int) -> bool:
    """Say whether a process was stopped, as SIGSTOP does."""
    return system.stopped(pid)


def in_session(session: int) -> list[Entry]:
    """Return the processes of a terminal session, given as the pid of its leader."""
    return _led_by(session, os.getsid)


def in_group(group: int) -> list[Entry]:
    """Return the processes of a process group, given as the pid of its leader, which is not waited for yet."""
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
        # Taken out of the table with their parent: a pid that was reused while it was read makes no endless ring.
        for child in children.pop(waiting.pop(), ()):
            if not (spared and spared(child.pid)):
                waiting.append(child.pid)
                yield child


def _verified(pid: int, variable: str, value: str) -> Entry | None:
    """Return the process if it carries the tag and its start is the same before and after looking: one process."""
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
