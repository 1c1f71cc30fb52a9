"""A process, as it is stored."""

from pro0.model.stored import Pid, Stored


class Process(Stored, frozen=True):
    """One process for all time: a pid alone may be reused, with start and boot id it cannot be."""

    pid: Pid
    start: str
    boot_id: str
