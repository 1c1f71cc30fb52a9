"""The line below a session: every member, what it does, its unread mail, and the keys."""

from collections.abc import Sequence

from pro0.model.runtime import State
from pro0.ops.status import MemberStatus
from pro0.rules.text import visible
from pro0.view.drawing import BOLD, DIM, RESET, REVERSE, columns_of, fitted

HINT = "Shift+↑↓ switch · Ctrl+T board"
COLOURS = {
    State.WORKING: "\x1b[32m",
    State.RUNNING: "\x1b[32m",
    State.STARTING: "\x1b[36m",
    State.WAITING: "\x1b[1;33m",
    State.DIALOG: "\x1b[1;33m",
    State.ERROR: "\x1b[31m",
    State.UNRESPONSIVE: "\x1b[31m",
    State.CRASHED: "\x1b[31m",
    State.EXITED: DIM,
    State.SHUTDOWN: DIM,
    State.IDLE: "",
}


def bar(members: Sequence[MemberStatus], shown: str, columns: int, notice: str = "") -> str:
    """Return the line; the member that is shown is always on it, what has no room is left out."""
    hint = notice or HINT
    parts = [_part(member, is_shown=member.agent_id == shown) for member in members]
    at = next((index for index, member in enumerate(members) if member.agent_id == shown), 0)
    first = 0
    while first < at and sum(columns_of(part) + 1 for part in parts[first : at + 1]) > columns:
        first += 1
    line, room = "", columns
    for part in parts[first:]:
        if columns_of(part) + 1 > room:
            break
        line += f"{part} "
        room -= columns_of(part) + 1
    if columns_of(hint) + 1 <= room:
        return f"{line}{' ' * (room - columns_of(hint) - 1)}{DIM}{visible(hint)}{RESET}"
    return line if not notice else f"{REVERSE}{fitted(visible(notice), columns)}{RESET}"


def _part(member: MemberStatus, *, is_shown: bool) -> str:
    mail = f" ✉{member.unread}" if member.unread else ""
    text = f" {member.agent_id} {member.state}{mail} "
    return f"{REVERSE}{BOLD}{text}{RESET}" if is_shown else f"{COLOURS.get(member.state, '')}{text}{RESET}"
