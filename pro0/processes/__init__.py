"""Processes by identity: find the living and their owners, end them for certain, and wait for their ends.

A pid may be reused; (pid, start, boot id) cannot be. Every signal goes to a pinned process, and its identity is
verified after the pinning.

Guards import this package with the standard library alone; msgspec would cost each guard 45 ms. So this package
works with `table.ProcessEntry` inside, and returns `Process` to its callers.
"""

from __future__ import annotations

from pro0.processes import table
from pro0.processes.ending import end, signal_process
from pro0.processes.table import alive, boot_id, may_live, stopped
from pro0.processes.watch import ExitWatch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from pro0.model.runtime import Process

__all__ = [
    "ExitWatch",
    "alive",
    "ancestors",
    "boot_id",
    "called_with",
    "descendants",
    "end",
    "having",
    "identify",
    "in_group",
    "may_live",
    "proven",
    "signal_process",
    "stopped",
    "tagged",
    "variables",
]


def identify(pid: int) -> Process | None:
    """Return the identity of a running process; None for a missing process or a zombie."""
    entry = table.entry(pid)
    return _process(entry) if entry else None


def tagged(variable: str, values: Collection[str]) -> dict[str, list[Process]]:
    """Return, for each value, this user's processes with `variable=value` in their environment, in one scan.

    macOS hides the environment of Apple's own programs. There a found tag proves much, and a missing tag nothing.
    """
    return {
        value: [_process(entry) for entry in entries] for value, entries in table.carrying(variable, values).items()
    }


def proven(variable: str, incarnations: Collection[str]) -> dict[str, list[Process]]:
    """Return, for each session, the processes its guard started, directly or indirectly.

    The kernel's mark proves it. On a system without marks, the `variable` with the incarnation must do.
    """
    return {
        incarnation: [_process(entry) for entry in entries]
        for incarnation, entries in table.proven(variable, incarnations).items()
    }


def having(names: Collection[str]) -> list[tuple[Process, dict[str, str]]]:
    """Return this user's processes with all of these variables in their environment, and the values."""
    return [(_process(entry), values) for entry, values in table.having(names)]


def variables(process: Process, names: Collection[str]) -> dict[str, str]:
    """Return the wanted variables of a process's initial environment; none of an ended process."""
    return table.variables(process, names)


def called_with(final_argument_keys: Mapping[str, str]) -> set[str]:
    """Return the values of all keys found as the last argument of one of this user's processes."""
    from pro0.processes.arguments import last_arguments

    arguments = last_arguments()
    return {value for argument, value in final_argument_keys.items() if argument in arguments}


def descendants(pid: int, *, sparing: bool = False) -> list[Process]:
    """Return the children of a process, their children, and so on; zombies are not counted.

    With `sparing`, leave out processes started for others, such as a lead, and all their descendants.
    """
    return [_process(entry) for entry in table.below(pid, table.is_spared if sparing else None)]


def in_group(group: int) -> list[Process]:
    """Return the processes of a group, by its leader's pid; the leader is not reaped yet, so the pid is not reused."""
    return [_process(entry) for entry in table.in_group(group)]


def ancestors(pid: int) -> list[Process]:
    """Return the parents of a process, nearest first."""
    return [_process(entry) for entry in table.above(pid)]


def _process(entry: table.ProcessEntry) -> Process:
    from pro0.model.runtime import Process

    return Process(pid=entry.pid, start=entry.start, boot_id=entry.boot_id)
