"""The state of a member, as it is shown everywhere."""

from enum import StrEnum


class State(StrEnum):
    """The state of a member, one list everywhere."""

    STARTING = "starting"
    WORKING = "working"
    IDLE = "idle"
    RUNNING = "running"
    WAITING = "waiting"
    DIALOG = "dialog"
    DRAFT = "draft"
    ERROR = "error"
    UNKNOWN = "unknown"
    STOPPING = "stopping"
    UNRESPONSIVE = "unresponsive"
    SHUTDOWN = "shutdown"
    EXITED = "exited"
    CRASHED = "crashed"


ENDED = frozenset({State.SHUTDOWN, State.EXITED, State.CRASHED})
