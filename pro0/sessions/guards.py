"""The guard of a handle, for backends identifying a session by its guard."""

from pro0.model.runtime import Handle
from pro0.model.stored import Process


def stamp(guard: Process | None) -> str:
    """Return a guard's start and boot id, unique together with its pid; "" for an ended guard."""
    return f"{guard.start} {guard.boot_id}" if guard else ""


def guard_of(handle: Handle) -> Process:
    """Return the guard of a handle, alive or not."""
    start, _, boot_id = handle.server_start.partition(" ")
    return Process(pid=handle.pid, start=start, boot_id=boot_id)
