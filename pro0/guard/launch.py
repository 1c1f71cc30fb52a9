"""What a guard is to start: the launch file, read once and removed, since it holds the agent's environment."""

import os

from pro0.guard.text import parse

LIMIT = 4 << 20


class Launch:
    """The values of model.runtime.Launch; raises ValueError for anything that does not have its shape."""

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
        self.grace = _seconds(values.get("grace", 10.0))
        if not os.path.isabs(self.report):  # noqa: PTH117
            raise ValueError("report is not an absolute path")


def take(path: str) -> Launch:
    """Read the launch file and remove it, also when it is bad; raises OSError or ValueError."""
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


def _seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e6:
        raise ValueError("grace is not a number of seconds")
    return float(value)
