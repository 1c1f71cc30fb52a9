"""Command lines of processes: a guard is known by them."""

import os

from pro0.processes import table


def last_arguments() -> set[str]:
    """Return the last argument of every process of this user."""
    return {argv[-1] for pid in table.own_pids() if (argv := arguments(pid))}


def arguments(pid: int) -> list[str]:
    """Return the command line of a process; empty for a missing or unreadable process."""
    data = table.command_line(pid)
    return [os.fsdecode(part) for part in data.removesuffix(b"\0").split(b"\0")] if data else []
