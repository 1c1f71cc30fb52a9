"""The board: members, requests to the person, tasks by status, messages, and acts on the chosen one."""

from collections.abc import Collection
from typing import NamedTuple

from pro0.model.need import Need
from pro0.model.runtime import ENDED
from pro0.model.task import SETTLED, Status, Task
from pro0.ops.mail.messages import Letter
from pro0.ops.team.status import MemberStatus
from pro0.rules.text import visible
from pro0.view.bar import COLOURS
from pro0.view.drawing import BOLD, DIM, RESET, REVERSE, columns_of, fitted
from pro0.view.keys import Key, pasted
from pro0.view.news import News
from pro0.view.reading import said_by
from pro0.view.wishes import ViewRequest

ORDER = (Status.IN_PROGRESS, Status.DONE, Status.PENDING, Status.FAILED, Status.COMPLETED, Status.CANCELLED)
"""The order of tasks by status: moving ones first, finished ones last."""
KEYS = "Enter view · Space read · m message · a approve · r reject · ? help · q leave"
"""The footer in 80 columns. `HELP` lists all keys, and fits there too."""
FEW = "? help · q leave · Enter view · m message"
"""The footer of a narrow terminal."""
HELP = (
    "While a member is shown, all you type goes to it, but for:",
    "  Shift+Down, Shift+Right    the next member",
    "  Shift+Up, Shift+Left       the one before",
    "  Ctrl+T                     this board (twice: the member gets a Ctrl+T)",
    "  Shift+PageUp               look back: PageUp, PageDown, g, G",
    "                             / searches, Space marks, y copies",
    "  Shift+PageDown             what the member has changed",
    "",
    "  Signs where room is short  ▸ at work  ? waits for you  ! in trouble",
    "                             ▪ ended  ✉ unread mail",
    "",
    "On this board:",
    "  Up, Down, Tab              choose a member, a task or a message",
    "  Enter                      show the chosen member, or who has the chosen task",
    "  Space                      read all of the chosen task or message",
    "  m, b                       write to the chosen member; to all",
    "  a, r                       approve or reject the chosen task that waits",
    "  d                          what the chosen member or task has changed",
    "  i, x                       interrupt the chosen member; ask it to shut down",
    "  Esc                        back to the member that was shown",
    "  q                          leave; the team goes on: pro0 team attach",
)


class Item(NamedTuple):
    """One line of a part of the board; the person can choose it."""

    part: str
    id: str
    text: str
    member: str = ""
    """The member for Enter to show and m to write to."""
    colour: str = ""


class Prompt(NamedTuple):
    """A line being typed, with its act and target."""

    act: str
    target: str
    asks: str
    text: str = ""


class BoardView:
    """The chosen line of the board, and the line being typed."""

    def __init__(self) -> None:
        self._chosen = ("", "")
        self._prompt: Prompt | None = None

    def choose(self, part: str) -> None:
        """Choose the first line of a part."""
        self._chosen = (part, "")

    def press(self, key: Key, news: News) -> ViewRequest | None:
        """Act on a key; return a request to the view, if any."""
        if self._prompt:
            return self._type(self._prompt, key)
        items = _items(news)
        item = items[self._index(items)] if items else None
        match key.name:
            case "escape" | "ctrl-c":
                return ViewRequest("back")
            case "q":
                return ViewRequest("leave")
            case "ctrl-t":
                return ViewRequest("key", text="\x14")
            case "?":
                return ViewRequest("help")
            case "up" | "k":
                self._step(items, -1)
            case "down" | "j":
                self._step(items, 1)
            case "tab":
                self._next_part(items)
            case "b":
                self._prompt = Prompt("broadcast", "", "to all")
            case _ if item:
                return self._act(key.name, item, news)
        return None

    def rows(self, news: News, columns: int, lines: int, notice: str) -> list[str]:
        """Return the rows of the board, with a header and a footer."""
        items = _items(news)
        chosen = self._index(items)
        body, at = _body(items, chosen, columns)
        room = lines - 3
        top = max(0, min(at - room // 2, len(body) - room))
        body_rows = body[top : top + room]
        return [
            _head(news, columns),
            "",
            *body_rows,
            *[""] * (room - len(body_rows)),
            self._foot(columns, notice),
        ]

    def cursor(self, columns: int, lines: int) -> tuple[int, int] | None:
        """Return the cursor's position while the person types, else None."""
        if not self._prompt:
            return None
        return columns_of(f"{self._prompt.asks}: {_tail(self._prompt, columns)}"), lines - 1

    def _foot(self, columns: int, notice: str) -> str:
        if self._prompt:
            return f"{BOLD}{self._prompt.asks}:{RESET} {_tail(self._prompt, columns)}"
        keys = KEYS if columns > len(KEYS) else FEW
        return f"{REVERSE}{fitted(f' {visible(notice) or keys}', columns)}{RESET}"

    def _act(self, name: str, item: Item, news: News) -> ViewRequest | None:
        if name == " " and not news.member(item.id):
            return ViewRequest("read", item.id)
        if name == "d":
            target = item.member if item.part == "messages" else item.id
            return (
                ViewRequest("diff", target)
                if target
                else ViewRequest("say", text="choose a member or a task: d shows its changes")
            )
        if name in ("enter", " ", "i", "m"):
            return self._turn_to(name, item)
        if name == "x":
            if not news.member(item.id):
                return ViewRequest("say", text="choose a member: x asks one to shut down")
            self._prompt = Prompt("shutdown", item.id, f"ask {item.id} to shut down? y or n")
        elif name in ("a", "r"):
            if not any(task.id == item.id and task.waits for task in news.tasks):
                return ViewRequest("say", text="choose a task that waits for you: a approves and r rejects it")
            act = "approve" if name == "a" else "reject"
            self._prompt = Prompt(act, item.id, f"{act} {item.id}, with")
        return None

    def _turn_to(self, name: str, item: Item) -> ViewRequest | None:
        """Show, interrupt or write to the member of the chosen line."""
        if not item.member:
            return ViewRequest(
                "say", text="no member wrote this" if item.part == "messages" else "nobody has this task"
            )
        if name == "m":
            self._prompt = Prompt("send", item.member, f"to {item.member}")
            return None
        return ViewRequest("interrupt" if name == "i" else "view", item.member)

    def _type(self, prompt: Prompt, key: Key) -> ViewRequest | None:
        typed = prompt.text
        match key.name:
            case "enter":
                self._prompt = None
                if not typed and prompt.act in ("send", "broadcast"):
                    return None
                return ViewRequest(prompt.act, prompt.target, typed)
            case "escape" | "ctrl-c":
                self._prompt = None
                return None
            case "backspace":
                typed = typed[:-1]
            case "ctrl-u":
                typed = ""
            case "paste":
                typed += " ".join(pasted(key).split())
            case name if len(name) == 1:
                typed += name
        self._prompt = prompt._replace(text=typed)
        return None

    def _index(self, items: list[Item]) -> int:
        part, id = self._chosen
        same = [index for index, item in enumerate(items) if item.part == part]
        exact = [index for index in same if items[index].id == id]
        return (exact or same or [0])[0]

    def _step(self, items: list[Item], step: int) -> None:
        if items:
            item = items[max(0, min(len(items) - 1, self._index(items) + step))]
            self._chosen = (item.part, item.id)

    def _next_part(self, items: list[Item]) -> None:
        parts = list(dict.fromkeys(item.part for item in items))
        if parts:
            now = items[self._index(items)].part
            self._chosen = (parts[(parts.index(now) + 1) % len(parts)], "")


def _items(news: News) -> list[Item]:
    members = [_member(member) for member in news.members]
    ids = {task.id for task in news.tasks}
    asks = [_need(need, ids) for need in news.needs]
    asked = {ask.id for ask in asks}
    order = sorted((task for task in news.tasks if task.id not in asked), key=lambda task: ORDER.index(task.status))
    tasks = [_task(task) for task in order]
    letters = [_letter(letter, news) for letter in reversed(news.letters)]
    return [*members, *asks, *tasks, *letters]


def _member(member: MemberStatus) -> Item:
    mail = f"✉{member.unread}" if member.unread else ""
    note = member.note or member.queued
    text = f"{member.agent_id:<16} {member.agent:<10} {member.state:<12} {member.task or '':<10} {mail:<5} {note}"
    colour = DIM if member.state in ENDED else COLOURS.get(member.state, "")
    return Item("members", member.agent_id, text, member.agent_id, colour)


def _need(need: Need, ids: Collection[str]) -> Item:
    about = need.subject if need.subject in (need.member, *ids) else need.id
    return Item("waits for you", about, need.what, need.member, "\x1b[1;33m")


def _task(task: Task) -> Item:
    status = task.status.words
    text = f"{task.id:<10} {status:<12} {task.assignee or '':<12} {task.title}"
    return Item("tasks", task.id, text, task.assignee or "", DIM if task.status in SETTLED else "")


def _letter(letter: Letter, news: News) -> Item:
    sender = letter.message.from_
    text = f"{said_by(sender, letter.mailbox)}: {letter.message.content}"
    return Item("messages", letter.message.id, text, sender if news.member(sender) else "")


def _head(news: News, columns: int) -> str:
    look = news.status
    team_state = f"{look.name} · {look.phase}{', paused' if look.paused else ''}" if look else ""
    counts = [f"{count} {name.replace('_', ' ')}" for name, count in look.tasks.items() if count] if look else []
    trouble = f"  ! {news.trouble}" if news.trouble else ""
    where = f" · {look.project}" if look else ""
    head = f"{team_state} · {', '.join(counts) or 'no tasks'}{trouble}{where}"
    return f"{BOLD}{_short(visible(head), columns)}{RESET}"


def _body(items: list[Item], chosen: int, columns: int) -> tuple[list[str], int]:
    """Return the lines of the board, and the index of the chosen one."""
    body: list[str] = []
    at, part = 0, ""
    for index, item in enumerate(items):
        if item.part != part:
            part = item.part
            body += [*([""] if body else []), f"{DIM}{part.upper()}{RESET}"]
        if index == chosen:
            at = len(body)
        text = _short(f"{'›' if index == chosen else ' '} {visible(' '.join(item.text.split(chr(10))))}", columns)
        body.append(f"{REVERSE}{text}{RESET}" if index == chosen else f"{item.colour}{text}{RESET}")
    return body, at


def _short(text: str, columns: int) -> str:
    """Return a plain text in exactly `columns` columns, with an ellipsis when it is cut."""
    text = text.rstrip()
    return fitted(text, columns) if columns_of(text) <= columns else f"{fitted(text, columns - 1)}…"


def _tail(prompt: Prompt, columns: int) -> str:
    """Return the typed text, or only its end when room is short."""
    text, room = visible(prompt.text), max(columns - columns_of(f"{prompt.asks}: ") - 1, 2)
    if columns_of(text) <= room:
        return text
    while columns_of(text) >= room:
        text = text[1:]
    return f"…{text}"
