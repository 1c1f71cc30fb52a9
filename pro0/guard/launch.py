"""A guard's launch file: read once and removed, for it holds the agent's environment.

The guard that removes the file has the session. A second guard of the same file finds it gone and ends.
"""

import os

from pro0.guard.text import parse

LIMIT = 4 << 20


class Launch:
    """The values of model.runtime.Launch; raises ValueError for any other shape."""

    def __init__(self, values: object) -> None:
        if not isinstance(values, dict):
            raise ValueError("not an object")
        self.agent_id = _text(values, "agentId")
        self.incarnation = _text(values, "incarnation")
        self.team = _text(values, "team")
        self.team_uid = _text(values, "teamUid")
        self.argv = _texts(values.get("argv"))
        self.cwd = _text(values, "cwd")
        self.env = _environment(values.get("env"))
        self.report = _text(values, "report")
        self.first_state = _text(values, "firstState", "starting")
        self.grace = _seconds(values, "grace", 10.0)
        self.team_folder = _folder(values, "teamFolder")
        self.look = _seconds(values, "look", 2.0)
        self.gone = _seconds(values, "gone", 5.0)
        self.revival = Revival(values["revival"]) if values.get("revival") is not None else None
        self.terminal = Terminal(values["terminal"]) if values.get("terminal") is not None else None
        if not os.path.isabs(self.report):  # noqa: PTH117
            raise ValueError("report is not an absolute path")


class Revival:
    """The values of model.runtime.Revival; raises ValueError for any other shape."""

    def __init__(self, values: object) -> None:
        if not isinstance(values, dict):
            raise ValueError("revival is not an object")
        self.argv = _texts(values.get("argv"))
        self.cwd = _text(values, "cwd")
        self.lease = _text(values, "lease")
        self.environment = _text(values, "environment")
        self.variables = _environment(values.get("variables"))
        self.errors = _text(values, "errors")
        self.patience = _seconds(values, "patience", 5.0)
        self.jitter = _seconds(values, "jitter", 1.5)


class Terminal:
    """The values of model.runtime.Terminal; raises ValueError for any other shape."""

    def __init__(self, values: object) -> None:
        if not isinstance(values, dict):
            raise ValueError("terminal is not an object")
        self.socket = _folder(values, "socket")
        self.library = _folder(values, "library")
        self.columns = int(_seconds(values, "columns", 160))
        self.lines = int(_seconds(values, "lines", 48))
        self.scrollback = int(_seconds(values, "scrollback", 10000))
        if not self.socket or not self.library or min(self.columns, self.lines) < 2:
            raise ValueError("terminal is incomplete")


def take(path: str) -> Launch:
    """Read the launch file and remove it, also a bad one; raises OSError or ValueError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        data = _read(descriptor)
    finally:
        os.close(descriptor)
        os.unlink(path)  # noqa: PTH108
    return Launch(parse(data.decode()))


def _read(descriptor: int) -> bytes:
    data = b""
    while part := os.read(descriptor, 1 << 16):
        data += part
        if len(data) > LIMIT:
            raise ValueError(f"more than {LIMIT} bytes")
    return data


def _text(values: dict[str, object], name: str, default: str | None = None) -> str:
    value = values.get(name, default)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name} is not a text")
    return value


def _texts(value: object) -> list[str]:
    if not isinstance(value, list) or not value or not all(isinstance(item, str) for item in value):
        raise ValueError("argv is not a list of texts")
    return value


def _environment(value: object) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        raise ValueError("env is not an object of texts")
    return value


def _folder(values: dict[str, object], name: str) -> str:
    value = values.get(name, "")
    if not isinstance(value, str) or (value and not os.path.isabs(value)):  # noqa: PTH117
        raise ValueError(f"{name} is not an absolute path")
    return value


def _seconds(values: dict[str, object], name: str, default: float) -> float:
    value = values.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e6:
        raise ValueError(f"{name} is not a number of seconds")
    return float(value)
