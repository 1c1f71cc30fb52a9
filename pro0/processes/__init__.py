"""Processes by identity: who is alive, who belongs to whom, ending for certain, and waiting for ends.

A pid alone may be reused; (pid, start, boot id) cannot be. A signal only ever goes to a process whose identity was
verified after it was pinned.

Guards import this package with nothing but the standard library, where importing msgspec would cost them 45 ms each:
so inside, processes are `table.Entry`, and they become `Process` only here, on the way out.
"""

from __future__ import annotations

from pro0.processes import table
from pro0.processes.ending import end, signal_process
from pro0.processes.table import alive, stopped
from pro0.processes.watch import ExitWatch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from pro0.model.runtime import Process

__all__ = [
    "ExitWatch",
    "alive",
    "ancestors",
    "called_with",
    "descendants",
    "end",
    "having",
    "identify",
    "in_group",
    "proven",
    "signal_process",
    "stopped",
    "tagged",
    "variables",
]


def identify(pid: int) -> Process | None:
    """Return the identity of a running process; None when there is none, or only a zombie."""
    found = table.entry(pid)
    return _process(found) if found else None


def tagged(variable: str, values: Collection[str]) -> dict[str, list[Process]]:
    """Return, for each value, this user's processes whose environment says `variable=value`; one scan answers for all.

    macOS hides the environment of Apple's own programs, there a tag proves much, and its absence nothing.
    """
    return {
        value: [_process(found) for found in entries] for value, entries in table.carrying(variable, values).items()
    }


def proven(variable: str, incarnations: Collection[str]) -> dict[str, list[Process]]:
    """Return, for each session, the processes that its guard has started, they or who started them.

    The kernel's mark proves it. Where the system has no marks, a `variable` that says the incarnation has to do.
    """
    return {one: [_process(found) for found in those] for one, those in table.proven(variable, incarnations).items()}


def having(names: Collection[str]) -> list[tuple[Process, dict[str, str]]]:
    """Return this user's processes whose environment has all of these variables, with their values."""
    return [(_process(found), values) for found, values in table.having(names)]


def variables(process: Process, names: Collection[str]) -> dict[str, str]:
    """Return those of these variables that a process was started with; none of one that has ended."""
    return table.variables(process, names)


def called_with(last: Mapping[str, str]) -> set[str]:
    """Return the values of those keys with which, as their last argument, processes of this user were called."""
    from pro0.processes.arguments import last_arguments

    said = last_arguments()
    return {value for argument, value in last.items() if argument in said}


def descendants(pid: int, *, sparing: bool = False) -> list[Process]:
    """Return the children of a process, their children, and so on; zombies are not counted.

    With `sparing` neither what was started for others, as a lead is, nor what is below that.
    """
    return [_process(found) for found in table.below(pid, table.is_spared if sparing else None)]


def in_group(group: int) -> list[Process]:
    """Return the processes of a process group whose leader, of that pid, is not waited for yet: it is no stranger's."""
    return [_process(found) for found in table.in_group(group)]


def ancestors(pid: int) -> list[Process]:
    """Return the parents of a process, nearest first."""
    return [_process(found) for found in table.above(pid)]


def _process(found: table.Entry) -> Process:
    from pro0.model.runtime import Process

    return Process(pid=found.pid, start=found.start, boot_id=found.boot_id)
