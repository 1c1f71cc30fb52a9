"""The bar below a session: every member with its state, its unread mail, and the keys."""

from collections.abc import Sequence

from pro0.model.need import Need, NeedKind
from pro0.model.runtime import State
from pro0.ops.team.status import MemberStatus
from pro0.rules.text import visible
from pro0.terminals.colours import style
from pro0.view.drawing import BOLD, DIM, RESET, REVERSE, columns_of, fitted
from pro0.view.news import News

HINT = "Shift+↑↓ switch · Ctrl+T board"
SHORT = "Ctrl+T board"
NOTICE = 5.0
"""Seconds to show the outcome of an act."""
READ = 1.0
"""Seconds that a person may need to read a notice."""
MARKS = {
    State.WORKING: "▸",
    State.RUNNING: "▸",
    State.STARTING: "…",
    State.WAITING: "?",
    State.DIALOG: "?",
    State.ERROR: "!",
    State.UNRESPONSIVE: "!",
    State.UNREACHABLE: "!",
    State.CRASHED: "!",
    State.EXITED: "▪",
    State.SHUTDOWN: "▪",
    State.IDLE: "",
}
"""Signs for states, when there is no room for their names."""


class Notices:
    """Texts for the person, the newest first. They are shown for NOTICE seconds from the first frame with the newest.

    A text that follows within READ seconds is shown beside the earlier ones; a later text replaces them.
    """

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._since: float | None = None

    def say(self, text: str, now: float) -> None:
        """Add a text for the next frame."""
        if self._since is not None and now - self._since > READ:
            self._texts = []
        self._texts = [text, *(text_before for text_before in self._texts if text_before != text)]
        self._since = None

    def shown(self, now: float) -> str:
        """Return what a frame shows now."""
        self._since = now if self._since is None else self._since
        return " · ".join(self._texts) if now - self._since < NOTICE else ""


def bar(
    members: Sequence[MemberStatus], shown_member: str, columns: int, notice: str = "", needs: Sequence[Need] = ()
) -> str:
    """Return the bar, which includes the number of needs.

    With little room the states of members not shown become signs; with less, some members are only counted.
    """
    message, counts = visible(notice), in_short(needs)
    needs_text = f"{RESET}{style(State.WAITING)}{counts}{RESET}{DIM}" if counts else ""
    long, short = (f"{needs_text} · {hint}" if needs_text else hint for hint in (HINT, SHORT))
    for hint, brief in ((message or long, False), (message or short, False), (message or short, True)):
        parts = [_part(member, is_shown=member.agent_id == shown_member, brief=brief) for member in members]
        if _width(parts) + columns_of(hint) < columns:
            return _line(parts, hint, columns)
    if message:
        return f"{REVERSE}{fitted(message, columns)}{RESET}"
    at = next((index for index, member in enumerate(members) if member.agent_id == shown_member), 0)
    room = columns - columns_of(needs_text) - 1 if needs_text else columns
    around = " ".join(_around(parts, at, room))
    return f"{around} {needs_text}" if needs_text and columns_of(around) <= room else around


def title(news: News) -> str:
    """Return the title of the terminal: the team, and the number of needs."""
    team = " ".join(visible(news.status.name).split()) if news.status else ""
    return " · ".join(filter(None, (f"pro0 {team}", in_short(news.needs))))


def in_short(needs: Sequence[Need]) -> str:
    """Return the number of needs, such as `2 wait · 1 mail`, or an empty string."""
    mail = sum(need.kind is NeedKind.MAIL for need in needs)
    wait = len(needs) - mail
    counts = (f"{wait} wait{'s' if wait == 1 else ''}" if wait else "", f"{mail} mail" if mail else "")
    return " · ".join(part for part in counts if part)


def _line(parts: Sequence[str], hint: str, columns: int) -> str:
    room = columns - 1 - _width(parts) - columns_of(hint)
    return f"{' '.join(parts)} {' ' * room}{DIM}{hint}{RESET}"


def _around(parts: list[str], at: int, columns: int) -> list[str]:
    """Return the shown member's part, as many neighbours as fit, and the number left out on either side."""
    for start in range(at + 1):
        for stop in range(len(parts), at, -1):
            before = [f"{DIM}+{start}{RESET}"] if start else []
            after = [f"{DIM}+{len(parts) - stop}{RESET}"] if stop < len(parts) else []
            visible_parts = [*before, *parts[start:stop], *after]
            if _width(visible_parts) <= columns:
                return visible_parts
    return parts[at : at + 1]


def _width(parts: Sequence[str]) -> int:
    return sum(columns_of(part) + 1 for part in parts)


def _part(member: MemberStatus, *, is_shown: bool, brief: bool) -> str:
    mail = f" ✉{member.unread}" if member.unread else ""
    if brief and not is_shown:
        text = f"{member.agent_id}{MARKS.get(member.state, '')}{mail.strip()}"
    else:
        text = f" {member.agent_id} {member.state}{mail} "
    return f"{REVERSE}{BOLD}{text}{RESET}" if is_shown else f"{style(member.state)}{text}{RESET}"
