"""The lines of the board and their look, in this order: needs, members, tasks, messages."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import groupby
from typing import NamedTuple

from pro0.model.need import Need, NeedKind
from pro0.model.runtime import ENDED, State
from pro0.model.task import SETTLED, Status, Task
from pro0.model.team import placed
from pro0.ops.mail.messages import Letter
from pro0.ops.team.status import MemberStatus, remark
from pro0.rules.tasks.board import Board, why_not_ready
from pro0.rules.text import visible
from pro0.terminals.colours import style
from pro0.view.drawing import columns_of, fitted
from pro0.view.news import News
from pro0.view.reading import said_by

WAITS = "waits for you"
FOLDED = "folded"
"""The id of a line that represents the finished lines of its part."""
NARROW = 60
"""Below this many columns a line is no table row, and shows only the time at its right end."""
TROUBLE = frozenset(
    {
        *(NeedKind.NO_LEAD, NeedKind.CRASH, NeedKind.NOT_STARTED, NeedKind.LOST, NeedKind.ERROR, NeedKind.UNRESPONSIVE),
        *(NeedKind.UNREACHABLE, NeedKind.FAILED, NeedKind.STUCK, NeedKind.HOOK, NeedKind.NOTICE, NeedKind.LOSSES),
    }
)
"""Needs which report that something went wrong. The others ask the person for an answer."""
_TABLE = {"members": (16, 10, 12, 10, 5), "tasks": (10, 11, 3, 12)}
"""The width of each column in the table of a part, except for the last column."""
_RANKS = {
    State.CRASHED: 0,
    State.ERROR: 0,
    State.UNRESPONSIVE: 0,
    State.UNREACHABLE: 0,
    State.WAITING: 1,
    State.DIALOG: 1,
}
_ORDER = (Status.FAILED, Status.IN_PROGRESS, Status.DONE, Status.PENDING, Status.COMPLETED, Status.CANCELLED)


class Item(NamedTuple):
    """One line of the board, which the person can choose."""

    part: str
    id: str
    cells: tuple[str, ...]
    member: str = ""
    """The member for Enter to show and for m to write to."""
    task: str = ""
    """The task that the line is about."""
    look: str = ""
    """The word that decides the colour of the line."""
    since: datetime | None = None
    cost: str = ""
    need: Need | None = None
    labels: tuple[str, ...] = ()
    """Words that a search finds, though the line does not show them."""

    @property
    def text(self) -> str:
        """Return all cells of the line as one text."""
        return " ".join(filter(None, self.cells))

    def row(self, columns: int, now: datetime | None) -> str:
        """Return the line in exactly `columns` columns."""
        right = age(self.since, now) if columns < NARROW else f"{self.cost}  {age(self.since, now):>3}".strip()
        if not right:
            return short(self._left(columns), columns)
        return f"{short(self._left(columns), columns - columns_of(right) - 1)} {right}"

    def _left(self, columns: int) -> str:
        widths = _TABLE.get(self.part, ())
        if columns < NARROW or len(self.cells) <= len(widths):
            return visible(self.text)
        table = [f"{short(visible(cell), room)} " for cell, room in zip(self.cells, widths, strict=False)]
        return "".join(table) + visible(self.cells[-1])


class BoardRows:
    """All lines of the board at one look, with a heading above each part. Finding one takes constant time.

    `places` holds the row of each item. `rows` holds the items and, as text, headings and the gaps between parts.
    """

    def __init__(self, items: Iterable[Item]) -> None:
        self.items: list[Item] = []
        self.rows: list[Item | str] = []
        self.places: list[int] = []
        self._firsts: dict[str, int] = {}
        for part, group in groupby(items, key=lambda item: item.part):
            self._firsts[part] = len(self.items)
            self.rows += [*([""] if self.rows else []), part.upper()]
            for item in group:
                self.places.append(len(self.rows))
                self.items.append(item)
                self.rows.append(item)
        self._numbers = {(item.part, item.id): number for number, item in enumerate(self.items)}

    def number(self, part: str, id: str, otherwise: int = 0) -> int:
        """Return the number of an item; without an id, of the first in its part; for a missing one, `otherwise`."""
        number = self._numbers.get((part, id))
        if number is not None:
            return number
        return self._firsts.get(part, 0) if not id else max(0, min(otherwise, len(self.items) - 1))

    def next_part(self, number: int) -> int:
        """Return the number of the first item in the part after this item's part."""
        parts = list(self._firsts)
        now = parts.index(self.items[number].part)
        return self._firsts[parts[(now + 1) % len(parts)]]

    def next_need(self, number: int) -> int | None:
        """Return the number of the next item that waits for the person, None when nothing does."""
        if WAITS not in self._firsts:
            return None
        following = self.items[number + 1 : number + 2]
        return number + 1 if following and following[0].part == WAITS else 0


def board_rows(news: News, *, unfolded: bool, words: str) -> BoardRows:
    """Return the lines of one look: only those with all `words`; without words, finished lines are folded."""
    board = Board(news.tasks)
    need_subjects = {need.subject for need in news.needs}
    names = {member.agent_id for member in news.members}
    parts = (
        [_need(need, board) for need in news.needs],
        _members(news, unfolded=unfolded or bool(words)),
        _tasks(news, board, need_subjects, unfolded=unfolded or bool(words)),
        [_letter(letter, names) for letter in reversed(news.letters)],
    )
    sought = words.casefold().split()
    every = (item for part in parts for item in part)
    return BoardRows(item for item in every if not sought or _has(item, sought))


def age(since: datetime | None, now: datetime | None) -> str:
    """Return the time since a moment in a short form: 5s, 12m, 3h, 9d."""
    if since is None or now is None:
        return ""
    seconds = max(0, int((now - since).total_seconds()))
    for room, unit, size in ((60, "s", 1), (3600, "m", 60), (86400, "h", 3600)):
        if seconds < room:
            return f"{seconds // size}{unit}"
    return f"{seconds // 86400}d"


def short(text: str, columns: int) -> str:
    """Return a plain text in exactly `columns` columns, with an ellipsis when it is cut."""
    text = text.rstrip()
    return fitted(text, columns) if columns_of(text) <= columns else f"{fitted(text, columns - 1)}…"


def price(dollars: float | None) -> str:
    """Return a cost as text: empty for none, "$?" for an unknown one."""
    if dollars is None:
        return "$?"
    return f"${dollars:.2f}" if dollars else ""


def _has(item: Item, sought: list[str]) -> bool:
    text = " ".join((item.text, *item.labels)).casefold()
    return item.id != FOLDED and all(word in text for word in sought)


def _need(need: Need, board: Board) -> Item:
    look = "crashed" if need.kind in TROUBLE else "" if need.kind is NeedKind.MAIL else "waiting"
    task = board.get(need.subject)
    labels = task.labels if task else ()
    id = task.id if task else ""
    return Item(WAITS, need.id, (need.sentence,), need.member, id, look, need.since, need=need, labels=labels)


def _members(news: News, *, unfolded: bool) -> Iterator[Item]:
    """Yield the members in trouble, then those that wait, the others, and last the ended ones."""
    ended = [member for member in news.members if member.state in ENDED and member.state is not State.CRASHED]
    present = [member for member in news.members if member not in ended]
    for member in sorted(present, key=lambda member: _RANKS.get(member.state, 2)):
        yield _member(member, news)
    if ended:
        yield _fold("members", f"{len(ended)} ended", unfolded=unfolded)
    for member in ended if unfolded else ():
        yield _member(member, news)


def _member(member: MemberStatus, news: News) -> Item:
    mail = f"✉{member.unread}" if member.unread else ""
    agent = placed(member.agent, member.host)
    cells = (member.agent_id, agent, str(member.state), member.task or "", mail, remark(member))
    cost = price(news.costs.get(member.agent_id, 0.0))
    id = member.agent_id
    return Item("members", id, _one_lines(cells), id, member.task or "", member.state, member.since, cost)


def _tasks(news: News, board: Board, need_subjects: set[str], *, unfolded: bool) -> Iterator[Item]:
    tasks = sorted(
        (task for task in news.tasks if task.id not in need_subjects), key=lambda task: _ORDER.index(task.status)
    )
    over = [task for task in tasks if task.status in (Status.COMPLETED, Status.CANCELLED)]
    items = [_task(task, why_not_ready(board, task)) for task in tasks[: len(tasks) - len(over)]]
    yield from sorted(items, key=lambda item: _READINESS.get(item.cells[1], 0))
    if over:
        yield _fold("tasks", f"{len(over)} finished", unfolded=unfolded)
    for task in over if unfolded else ():
        yield _task(task, "")


_READINESS: Mapping[str, int] = {"failed": -1, "ready": 1, "blocked": 2, "held back": 2, "waiting": 2, "epic": 3}
"""The order of tasks by their status word: failed ones, those at work, ready ones, then the rest."""


def _task(task: Task, why: str | None) -> Item:
    word, note = _standing(task, why)
    title = f"{note} · {task.title}" if note else task.title
    level = "" if task.status in SETTLED else f"P{task.priority}"
    since = _since(task)
    cells = _one_lines((task.id, word, level, task.assignee or "", title))
    cost = price(task.cost_usd or 0.0)
    return Item("tasks", task.id, cells, task.assignee or "", task.id, word, since, cost, labels=task.labels)


def _standing(task: Task, why: str | None) -> tuple[str, str]:
    """Return the status of a task in a word or two, and the reason for it."""
    if task.status is not Status.PENDING:
        return task.status.words, task.closed_reason
    if why is None:
        return "ready", ""
    word, _, note = why.removeprefix("is ").partition(": ")
    word = {"waits for its turn": "waiting", "an epic, which only groups tasks": "epic"}.get(word, word)
    return word, note


def _since(task: Task) -> datetime | None:
    if task.status in SETTLED:
        return task.completed_at or task.updated_at
    if task.claim:
        return task.claim.claimed_at
    return task.created_at if task.status is Status.PENDING else task.updated_at


def _fold(part: str, text: str, *, unfolded: bool) -> Item:
    return Item(part, FOLDED, (f"{'▾' if unfolded else '▸'} {text} · f {'folds' if unfolded else 'shows'} them",))


def _letter(letter: Letter, names: set[str]) -> Item:
    message = letter.message
    text = f"{said_by(message.from_, letter.mailbox)}: {message.content}"
    member = message.from_ if message.from_ in names else ""
    return Item("messages", message.id, (_one_line(text),), member, since=message.timestamp)


def _one_line(text: str) -> str:
    return " ".join(text.split("\n"))


def _one_lines(cells: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(_one_line, cells))


def painted(item: Item, text: str, ends: str) -> str:
    """Return a text in the colours of an item's line."""
    begins = style(item.look)
    return f"{begins}{text}{ends}" if begins else text
