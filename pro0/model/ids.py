"""Names: one gate for every name that becomes a path, a pane title or a key."""

import re

from pro0.errors import BadInput

LEAD = "lead"
HUMAN = "human"
ALL = "all"
RESERVED = frozenset({LEAD, HUMAN, ALL})

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,47}")
_INCARNATION = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,63}")
_TASK = re.compile(r"(?:task-)?([1-9][0-9]{0,8})")


def team_name(text: str) -> str:
    """Return the name of a team, or raise BadInput (behaviour 3.2)."""
    return _checked(text, "team name")


def machine(text: str) -> str:
    """Return the name of a machine that shares a team, or raise BadInput."""
    return _checked(text, "machine name")


def agent_id(text: str, noun: str = "member name") -> str:
    """Return a member's agent id, or raise BadInput for a bad or reserved one (behaviour 3.2)."""
    checked = _checked(text, noun)
    if checked in RESERVED:
        raise BadInput(f"the name {checked!r} is reserved", hint="choose another name")
    return checked


def agent_id_from(display: str, noun: str = "member name") -> str:
    """Make an agent id from a display name, "Frontend Coder" becoming "frontend-coder"; a role's id is made so too."""
    if not display.isprintable() or not display.isascii():
        raise BadInput(f"{display!r} cannot be a {noun}", hint="use letters a-z, digits, '-' and spaces")
    return agent_id(re.sub(r"[ _]+", "-", display.strip()).lower(), noun)


def incarnation(text: str) -> str:
    """Return the name of a session, or raise BadInput."""
    if not is_incarnation(text):
        raise BadInput(f"{text!r} cannot be an incarnation")
    return text


def is_incarnation(text: str) -> bool:
    """Say whether a text can be the name of a session."""
    return bool(_INCARNATION.fullmatch(text))


def task_id(text: str) -> str:
    """Return "task-7" for "task-7" or "7", or raise BadInput."""
    match = _TASK.fullmatch(text)
    if not match:
        raise BadInput(f"{text!r} is not a task id", hint="task ids look like task-7, or just 7")
    return f"task-{match[1]}"


def is_task_id(text: str) -> bool:
    """Return True for the whole id of a task, the name of its folder."""
    return text.startswith("task-") and bool(_TASK.fullmatch(text))


def task_number(id: str) -> int:
    """Return the number in a task id, for sorting."""
    return int(id.removeprefix("task-"))


def _checked(text: str, noun: str) -> str:
    if not NAME.fullmatch(text):
        raise BadInput(
            f"{text!r} cannot be a {noun}",
            hint="use 1 to 48 of a-z, 0-9 and '-', starting with a letter or a digit",
        )
    return text
