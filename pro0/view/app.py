"""The loop of the view. It takes in keys, frames and news, and draws one screen."""

import base64
import os
import select
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from msgspec.structs import replace

from pro0.errors import Pro0Error
from pro0.ops.context import Context
from pro0.ops.tasks.acting import settings
from pro0.rules import desktop
from pro0.view.acts import ACTS, interrupting, on_board
from pro0.view.bar import NOTICE, Notices, bar, title
from pro0.view.board import HELP, BoardView
from pro0.view.drawing import DIM, RESET, Canvas, wrapped
from pro0.view.keys import Key, Keys
from pro0.view.news import News, Reporter
from pro0.view.outer import Outer
from pro0.view.pane import Pane
from pro0.view.panes import Panes
from pro0.view.reading import READS, last_screen
from pro0.view.scroll import Scroll
from pro0.view.wishes import ViewRequest

ESCAPE = 0.03
"""Seconds until an Escape counts as a key, not as the start of a sequence."""
STEPS = {"shift-down": 1, "shift-right": 1, "shift-up": -1, "shift-left": -1}
OWN = ("ctrl-t", "shift-page-up", "shift-page-down")
"""More keys for the view, which a session never gets."""
PASTES: tuple[int, ...] = (2004,)
"""The terminal's modes while the view itself takes the keys."""
WHEEL = (1000, 1006)
"""The terminal's modes for the wheel, where no member reads the mouse."""
MOUSE = frozenset({9, 1000, 1002, 1003})
LATE = 3.0
"""Seconds after which a turn is no longer interrupted: another turn may run by then."""
DEAF = 0.3
"""Seconds after leaving the board in which an Escape is dropped: in a member it could end a turn."""


def watch(context: Context, member: str = "") -> None:
    """Show a team in this terminal until the person leaves; begin with `member` if one is named."""
    with Outer() as outer:
        Viewer(replace(context, vouch=on_board), outer, member).run()


class Viewer:
    """One person looking at one team."""

    def __init__(self, context: Context, outer: Outer, member: str = "") -> None:
        self._context = context
        self._outer = outer
        self._canvas = Canvas()
        self._keys = Keys()
        self._board = BoardView()
        self._on_board, self._left = False, False
        self._scroll: Scroll | None = None
        self._known_needs: set[str] | None = None
        self._rings = settings(context).bell
        self._next: list[Callable[[], None]] = []
        """Calls that the reporter's thread leaves for the loop to make."""
        self._deaf_until = 0.0
        self._notices = Notices()
        self._size = outer.size()
        self._reporter = Reporter(context, outer.wake)
        self._panes = Panes(self._room(), self._recall)
        self._meet()
        if member:
            self._panes.show(member)

    def run(self) -> None:
        """Draw and wait until the person leaves, or the terminal is gone."""
        while not (self._left or self._outer.ended):
            self._draw()
            self._wait()
        self._panes.leave()

    def _wait(self) -> None:
        panes = self._panes.by_descriptor()
        ready, _, _ = select.select([0, self._outer.woken, *panes], [], [], ESCAPE if self._keys.waiting else NOTICE)
        if 0 in ready:
            self._typed(self._keys.take(self._outer.read()))
        elif self._keys.waiting:
            self._typed(self._keys.late())
        for descriptor in ready:
            if descriptor in panes:
                panes[descriptor].take()
        if self._outer.woken in ready:
            self._outer.awake()
            self._resized()
            self._meet()
        self._follow()

    def _meet(self) -> None:
        """Take in the reporter's outcomes and news."""
        for outcome in self._reporter.outcomes():
            self._say(outcome)
        while self._next:
            self._next.pop(0)()
        self._ring(self._reporter.news)
        self._panes.meet(self._reporter.news)
        self._stay()

    def _stay(self) -> None:  # no key goes nowhere
        self._on_board = self._on_board or not (self._panes.shown and self._reporter.news.status)

    def _recall(self, pane: Pane) -> None:
        """Get the last screen of a member that ended before this view came."""
        self._reporter.do(partial(self._remember, pane))

    def _remember(self, pane: Pane) -> str:
        rows: list[str] = []
        with suppress(Pro0Error):  # without a last screen the pane says so
            rows = last_screen(self._context, pane.name, self._room()[1])
        pane.remember(rows)
        return ""

    def _ring(self, news: News) -> None:
        """Ring for new needs since the last look; those of the first look only show in the bar."""
        if news.status and self._known_needs is not None and self._rings:
            self._outer.write(desktop.rung(os.environ, f"pro0 {news.status.name}", news.needs, self._known_needs))
        if news.status:
            self._known_needs = {need.id for need in news.needs}

    def _follow(self) -> None:
        """Show a requested pane, and an arrived history."""
        if self._panes.show_wanted():
            self._on_board, self._scroll = False, None
        pane = self._panes.shown
        if pane and pane.refused:
            pane.refused = False
            self._say(f"{pane.name} does not read what is typed")
        if pane and pane.history is not None:
            self._scroll = Scroll(pane.history, self._room()[1])
            pane.history = None

    def _resized(self) -> None:
        if self._outer.taken_again() or self._size != self._outer.size():
            self._size = self._outer.size()
            self._canvas.forget()
            self._outer.write("\x1b[2J")
            self._panes.fit(*self._room())

    def _room(self) -> tuple[int, int]:
        """Return the size of a session: all lines but the last."""
        return self._size[0], self._size[1] - 1

    def _typed(self, keys: list[Key]) -> None:
        """Route keys to the view or to the session. Adjacent keys for the session are sent in one piece."""
        through = b""
        for key in keys:
            if self._is_dropped(key):
                continue
            taken = self._on_board or self._scroll or key.name in STEPS or key.name in OWN or self._turns(key)
            if not taken:
                through += key.data
                continue
            self._through(through)
            through = b""
            self._press(key)
            self._stay()
        self._through(through)

    def _is_dropped(self, key: Key) -> bool:
        """Return True for an Escape right after leaving the board, and for a click while nothing reads the mouse."""
        if key.name == "escape" and not self._on_board:
            return time.monotonic() < self._deaf_until
        return key.is_mouse and not self._turns(key) and not self._wants_mouse()

    def _turns(self, key: Key) -> bool:
        """Return True for a turn of the wheel while no shown member reads the mouse."""
        return key.name in ("wheel-up", "wheel-down") and not self._wants_mouse()

    def _wants_mouse(self) -> bool:
        pane = self._panes.shown
        return bool(pane and not (self._on_board or self._scroll) and MOUSE & set(pane.modes))

    def _through(self, data: bytes) -> None:
        if data and self._panes.shown:
            self._panes.shown.type(data)

    def _press(self, key: Key) -> None:
        if self._scroll:
            self._grant(self._scroll.press(key))
        elif key.name in STEPS:
            self._on_board = False
            self._panes.step(STEPS[key.name])
        elif self._on_board:
            self._grant(self._board.press(key, self._reporter.news))
        elif key.name == "ctrl-t":
            self._on_board = True
            self._board.open()
        elif key.name == "shift-page-down":
            self._grant(ViewRequest("diff", self._panes.shown.name) if self._panes.shown else None)
        elif self._panes.shown and key.name != "wheel-down":
            self._panes.shown.ask_history()

    def _grant(self, wish: ViewRequest | None) -> None:
        match wish:
            case None:
                return
            case ViewRequest(act="leave"):
                self._left = True
            case ViewRequest(act="back") if self._scroll:
                self._scroll = None
            case ViewRequest(act="back"):
                self._on_board = False
                self._deaf_until = time.monotonic() + DEAF
            case ViewRequest(act="help"):
                self._read(wrapped("\n".join(HELP), self._size[0]))
            case ViewRequest(act="say", text=text):
                self._say(text)
            case ViewRequest(act="read" | "diff" | "words" as act, target=id):
                self._reporter.do(partial(self._fetch, act, id))
            case ViewRequest(act="view", target=name):
                self._on_board = False
                self._panes.meet(self._reporter.news)  # a line may be newer than the panes
                self._panes.show(name)
            case ViewRequest(act="key", text=text):
                self._on_board = False
                self._through(text.encode())
            case ViewRequest(act="copy", text=text):
                self._copy(text)
            case ViewRequest(act="interrupt", target=name, text=text):
                self._interrupt(name, confirmed=text == "y")
            case ViewRequest(act=act, target=target, text=text):
                self._reporter.do(partial(ACTS[act], self._context, target, text))

    def _read(self, rows: list[str]) -> None:
        self._scroll = Scroll(rows, self._room()[1], from_top=True)

    def _fetch(self, act: str, id: str) -> str:
        """Get the full text for a line of the board, and leave it for the loop to show."""
        self._next.append(partial(self._read, READS[act](self._context, self._reporter.news, id, self._size[0])))
        return ""

    def _interrupt(self, name: str, *, confirmed: bool) -> None:
        """Interrupt a member's turn, or its program if `confirmed`; in any other state it gets no key."""
        member, pane = self._reporter.news.member(name), self._panes.named(name)
        if member and pane and pane.connection:
            self._reporter.do(partial(self._aim, pane, member.agent, time.monotonic() + LATE, confirmed=confirmed))
        else:
            self._say(f"{name} has no terminal here")

    def _aim(self, pane: Pane, agent: str, until: float, *, confirmed: bool) -> str:
        """Check that there is something to interrupt, and leave the interruption for the loop."""
        key = interrupting(self._context, pane.name, agent, confirmed=confirmed)
        self._next.append(partial(self._hit, pane, key, until))
        return ""

    def _hit(self, pane: Pane, key: bytes, until: float) -> None:
        if not pane.connection:
            self._say(f"{pane.name} has no terminal here")
        elif time.monotonic() > until:
            self._say(f"{pane.name} is not interrupted: reading its state took too long; try again")
        else:
            pane.type(key)
            self._say(f"{pane.name} is interrupted")

    def _copy(self, text: str) -> None:
        """Put a text on the person's clipboard, through their terminal."""
        self._outer.write(f"\x1b]52;c;{base64.b64encode(text.encode()).decode()}\x07")
        self._scroll = None
        count = text.count("\n") + 1
        self._say(f"{count} line{'s' if count > 1 else ''} sent to your terminal's clipboard")

    def _say(self, text: str) -> None:
        self._notices.say(text, time.monotonic())

    def _draw(self) -> None:
        columns, lines = self._size
        pane = self._panes.shown
        is_seen = not (self._scroll or (self._on_board and self._board.asks))
        notice = self._notices.shown(time.monotonic()) if is_seen else ""
        cursor, modes = None, (*PASTES, *WHEEL)
        if self._scroll:
            rows = self._scroll.rows(columns, lines)
        elif self._on_board or pane is None:
            rows = self._board.rows(self._reporter.news, columns, lines, notice)
            cursor = self._board.cursor(columns, lines)
        else:
            rows, cursor = self._session(pane, notice)
            modes = pane.modes if self._wants_mouse() else (*pane.modes, *WHEEL)
        self._outer.title(title(self._reporter.news))
        self._outer.mirror(modes)
        self._outer.write(self._canvas.paint(rows, columns, cursor))

    def _session(self, pane: Pane, notice: str) -> tuple[list[str], tuple[int, int] | None]:
        """Return a session's rows with the bar below, and its cursor if it fits."""
        (columns, room), news = self._room(), self._reporter.news
        rows = [*(pane.rows or ["", f"  {DIM}{pane.nothing}{RESET}"])[:room]]
        rows += [""] * (room - len(rows))
        rows.append(bar(news.members, pane.name, columns, notice or self._panes.notice(), news.needs))
        fits = pane.cursor and pane.cursor[0] < columns and pane.cursor[1] < room
        return rows, pane.cursor if fits else None
