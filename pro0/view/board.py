"""The board: what waits for the person, members, tasks and messages, and acts on the chosen line."""

from pro0.rules.text import visible
from pro0.view.drawing import BOLD, DIM, RESET, REVERSE, columns_of, fitted, wrapped
from pro0.view.items import BoardRows, Item, board_rows, painted, short
from pro0.view.keys import Key
from pro0.view.line import Line
from pro0.view.news import News
from pro0.view.wishes import FIELDS, WORDY, Prompt, ViewRequest, asked

KEYS = "n next · Enter view · a answer · t task · / find · @ write · ? help · q leave"
"""The footer in 80 columns. `HELP` lists all keys, and fits into 80 columns too."""
FEW = "? help · q leave · n next · a answer"
"""The footer of a narrow terminal."""
HELP = (
    "While a member is shown, all you type goes to it, but for: Shift+arrows the",
    "next or previous member; Ctrl+T this board (twice: it gets a Ctrl+T);",
    "Shift+PageUp looks back: PageUp, PageDown, g, G, / searches, Space marks, y",
    "copies; Shift+PageDown shows what the member has changed.",
    "  Signs where room is short  ▸ at work  ? waits for you  ! in trouble",
    "                             ▪ ended  ✉ unread mail",
    "On this board:",
    "  Up Down PgUp PgDn g G Tab  choose a line; Tab goes to the next part",
    "  n, /, f                    next that waits; find lines; show what is finished",
    "  Enter                      show the chosen member, or who has the chosen task",
    "  Space, d                   read all of the line; what it changed",
    "  l                          how the member ended, and its last lines",
    "  a, r                       answer or approve what the line asks; reject it",
    "  m, b, @                    write to the member; to all; to @name, in one line",
    "  t, A                       a new task, for @name if you like; assign one",
    "  R, o                       restart the member, retry the task; reopen it",
    "  S                          spawn a member: its name, and its agent",
    "  i, x                       interrupt the member's turn; ask it to shut down",
    "  Esc                        end the search; back to the member that was shown",
    "  q                          leave; the team goes on: pro0 team attach",
    "Fields edit as in a shell: Ctrl+A E B F W U K Y, Alt+B F D; Tab for names.",
)
NO_ROOM = "no room for the question: Space shows all of it"
"""The notice in place of a question too long for the terminal."""
GONE = "the chosen line is gone: press the key again for this one"
"""The notice in place of an act, when another line has taken the place of the chosen one."""
_PAGE = 3
"""Lines of the board outside its list: header, gap and footer."""
_STEPS = {"up": -1, "k": -1, "wheel-up": -3, "down": 1, "j": 1, "wheel-down": 3}
"""Keys that choose another line, and the number of lines that they move."""


class BoardView:
    """The state of the board: the chosen line, folding, the search, and the line being typed."""

    def __init__(self) -> None:
        self._chosen, self._number = ("", ""), 0
        self._held: tuple[str, str] | None = None
        """The line last drawn as the chosen one. Keys act on this line only, wherever it has moved since."""
        self._prompt: Prompt | None = None
        self._unfolded = False
        self._words = ""
        self._known: tuple[News, bool, str] | None = None
        self._board_rows = BoardRows(())
        self._page = 1
        self._room = (80, 24)

    @property
    def asks(self) -> bool:
        """Return True while the person types a line in the footer, in place of notices."""
        return self._prompt is not None

    def open(self) -> None:
        """End a search and choose the first line, which is the most urgent need if there is any."""
        self._words = ""
        self.choose("")

    def choose(self, part: str) -> None:
        """Choose the first line of a part."""
        self._chosen, self._held = (part, ""), None

    def press(self, key: Key, news: News) -> ViewRequest | None:
        """Act on a key; return a request to the view, if any."""
        if self._prompt:
            return self._type(self._prompt, key, news)
        lines = self._lines(news)
        if self._moves(key.name, lines):
            return None
        item = lines.items[self._at(lines)] if lines.items else None
        match key.name:
            case "escape" | "ctrl-c" if self._words:
                self._seek("")
            case "escape" | "ctrl-c":
                return ViewRequest("back")
            case "q":
                return ViewRequest("leave")
            case "ctrl-t":
                return ViewRequest("key", text="\x14")
            case "?":
                return ViewRequest("help")
            case "f":
                self._fold()
            case name if name in FIELDS:
                self._prompt = FIELDS[name]._replace(line=Line("@", 1) if name == "@" else Line(self._sought(name)))
            case name if item:
                return self._act(name, item, news)
        return None

    def rows(self, news: News, columns: int, lines: int, notice: str) -> list[str]:
        """Return the visible rows of the board, with a header and a footer."""
        listing = self._lines(news)
        at = listing.places[self._hold(listing)] if listing.items else 0
        self._room = columns, lines
        head, foot = [_head(news, columns, self._words), *([""] if lines > 2 * _PAGE else [])], self._foot(notice)
        self._page = room = max(lines - len(head) - len(foot), 1)
        top = max(0, min(at - room // 2, len(listing.rows) - room))
        body = [
            _drawn(row, columns, news, chosen=top + place == at)
            for place, row in enumerate(listing.rows[top : top + room])
        ]
        return [*head, *body, *[""] * (room - len(body)), *foot][-lines:]

    def cursor(self, columns: int, lines: int) -> tuple[int, int] | None:
        """Return the cursor's position while the person types, else None."""
        if not self._prompt:
            return None
        if self._prompt.at_once:
            return min(columns_of(_question(self._prompt, columns)[-1]) + 1, columns - 1), lines - 1
        asks, room = _asks(self._prompt, columns)
        return columns_of(asks) + self._prompt.line.shown(room)[1], lines - 1

    def _lines(self, news: News) -> BoardRows:
        """Return the rows of the list, computed once for each news, search and folding."""
        sought = (news, self._unfolded, self._words)
        if self._known is None or self._known[0] is not news or self._known[1:] != sought[1:]:
            self._known, self._board_rows = sought, board_rows(news, unfolded=self._unfolded, words=self._words)
        return self._board_rows

    def _at(self, lines: BoardRows) -> int:
        """Return the number of the chosen line; when it is gone, of the line now in its place."""
        self._number = lines.number(*(self._held or self._chosen), self._number)
        return self._number

    def _hold(self, lines: BoardRows) -> int:
        """Return the number of the chosen line, and keep it as the one that the person has seen."""
        number = self._at(lines)
        self._held = self._held or _key(lines.items[number])
        return number

    def _moves(self, name: str, lines: BoardRows) -> bool:
        """Choose another line if the key moves; return True for such a key."""
        if not lines.items:
            return False
        now, last_place = self._at(lines), len(lines.items) - 1
        if name == "tab":
            place = lines.next_part(now)
        elif name == "n":
            need = lines.next_need(now)
            place = now if need is None else need
        elif name in _STEPS:
            place = now + _STEPS[name]
        elif name in ("page-up", "page-down"):
            place = now + (self._page if name == "page-down" else -self._page)
        elif name in ("g", "home", "G", "end"):
            place = 0 if name in ("g", "home") else last_place
        else:
            return False
        self._held = self._chosen = _key(lines.items[max(0, min(last_place, place))])
        return True

    def _seek(self, words: str) -> None:
        """Search for words; once the search ends, the line chosen before is chosen again."""
        self._words, self._held = words, None

    def _fold(self) -> None:
        self._unfolded, self._held = not self._unfolded, None

    def _sought(self, name: str) -> str:
        return self._words if name == "/" else ""

    def _foot(self, notice: str) -> list[str]:
        columns = self._room[0]
        if self._prompt and self._prompt.at_once:
            rows = _question(self._prompt, columns) if self._is_whole(self._prompt) else [short(NO_ROOM, columns)]
            return [f"{BOLD}{row}{RESET}" for row in rows]
        if self._prompt:
            asks, room = _asks(self._prompt, columns)
            return [f"{BOLD}{asks}{RESET}{self._prompt.line.shown(room)[0]}"]
        keys = KEYS if columns > len(KEYS) else FEW
        text = short(f" {visible(notice)}", columns) if notice else f" {keys}"
        return [f"{REVERSE}{fitted(text, columns)}{RESET}"]

    def _is_whole(self, prompt: Prompt) -> bool:
        """Return True when the terminal has room for the whole question: nobody should say yes to half of it."""
        columns, lines = self._room
        return len(_question(prompt, columns)) < max(lines - 1, 2)

    def _act(self, name: str, item: Item, news: News) -> ViewRequest | None:
        wish = asked(name, item, news)
        if wish and self._held and self._held != _key(item):
            self._held = self._chosen = _key(item)
            return ViewRequest("say", text=GONE)
        if isinstance(wish, Prompt):
            self._prompt = wish
            return None
        if wish and wish.act == "unfold":
            self._fold()
            return None
        return wish

    def _type(self, prompt: Prompt, key: Key, news: News) -> ViewRequest | None:
        if key.name in ("escape", "ctrl-c") or (key.name == "ctrl-d" and not prompt.line.text):
            self._prompt = None
            if prompt.act == "find":
                self._seek("")
            return None
        if prompt.at_once and not self._is_whole(prompt):
            self._prompt = None
            return ViewRequest("say", text=NO_ROOM)
        if prompt.at_once or key.name == "enter":
            self._prompt = None
            text = key.name if prompt.at_once else prompt.line.text
            if prompt.act == "find" or (not text.strip() and prompt.act in WORDY):
                return None
            return ViewRequest(prompt.act, prompt.target, text)
        line = _completed(prompt.line, news) if key.name == "tab" else prompt.line.press(key)
        self._prompt = prompt._replace(line=line)
        if prompt.act == "find":
            self._seek(line.text)
        return None


def _key(item: Item) -> tuple[str, str]:
    """Return the identity of a line, which stays the same from look to look."""
    return item.part, item.id


def _question(prompt: Prompt, columns: int) -> list[str]:
    """Return a whole question that one key answers, wrapped into rows."""
    return wrapped(f"{prompt.asks}:", columns)


def _asks(prompt: Prompt, columns: int) -> tuple[str, int]:
    """Return the question, cut to fit, and the columns left for the answer."""
    limit = max(columns * 2 // 3, 2)
    asks = f"{prompt.asks}: " if columns_of(prompt.asks) + 2 <= limit else f"{short(prompt.asks, limit - 2)}: "
    return asks, max(columns - columns_of(asks), 3)


def _completed(line: Line, news: News) -> Line:
    """Return the line with the member's name before the cursor completed, if only one member fits."""
    begun = line.text[: line.at].rpartition(" ")[2].removeprefix("@")
    fitting = [member.agent_id for member in news.members if member.agent_id.startswith(begun)]
    return line.put(f"{fitting[0][len(begun) :]} ") if begun and len(fitting) == 1 else line


def _head(news: News, columns: int, words: str) -> str:
    look = news.status
    if look is None:
        return f"{BOLD}{short(visible(news.trouble), columns)}{RESET}"
    team_state = f"{look.name} · {look.phase}{', paused' if look.paused else ''}"
    counts = [f"{count} {name.replace('_', ' ')}" for name, count in look.tasks.items() if count]
    trouble = f"  ! {news.trouble}" if news.trouble else ""
    sought = f"/{words} · " if words else ""
    head = f"{sought}{team_state} · {', '.join(counts) or 'no tasks'}{trouble} · {look.project}"
    return f"{BOLD}{short(visible(head), columns)}{RESET}"


def _drawn(row: Item | str, columns: int, news: News, *, chosen: bool) -> str:
    if isinstance(row, str):
        return f"{DIM}{row}{RESET}" if row else ""
    text = f"{'›' if chosen else ' '} {row.row(columns - 2, news.at)}"
    return f"{REVERSE}{text}{RESET}" if chosen else painted(row, text, RESET)
