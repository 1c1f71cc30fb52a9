"""The guard that a handle names, where a session is known by its guard."""

from pro0.model.runtime import Handle
from pro0.model.stored import Process


def stamp(guard: Process | None) -> str:
    """Return what, beside the pid, tells a guard from all others; "" for one that has ended."""
    return f"{guard.start} {guard.boot_id}" if guard else ""


def guard_of(handle: Handle) -> Process:
    """Return the guard of a handle; it need not live."""
    start, _, boot_id = handle.server_start.partition(" ")
    return Process(pid=handle.pid, start=start, boot_id=boot_id)
