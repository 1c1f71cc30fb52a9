"""The loop of the view: keys, frames and news in, one screen out."""

import base64
import os
import select
import time
from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from pro0.agents import adapter_named
from pro0.model.runtime import ENDED
from pro0.ops.context import Context
from pro0.ops.tasks.acting import settings
from pro0.rules import desktop
from pro0.view.acts import ACTS, on_board
from pro0.view.bar import bar
from pro0.view.board import HELP, BoardView
from pro0.view.drawing import DIM, RESET, Canvas
from pro0.view.keys import Key, Keys
from pro0.view.news import News, Reporter
from pro0.view.outer import Outer
from pro0.view.pane import Pane
from pro0.view.reading import changes, whole, wrapped
from pro0.view.scroll import Scroll
from pro0.view.wishes import ViewRequest

ESCAPE = 0.03
"""Seconds until an Escape counts as a key, not as the start of a sequence."""
NOTICE = 5.0
"""Seconds to show the outcome of an act."""
STEPS = {"shift-down": 1, "shift-right": 1, "shift-up": -1, "shift-left": -1}
OWN = ("ctrl-t", "shift-page-up", "shift-page-down")
"""The other keys which a session does not get."""
PASTES: tuple[int, ...] = (2004,)
"""The terminal's modes while the view itself takes the keys."""


def watch(context: Context) -> None:
    """Show a team in this terminal until the person leaves."""
    with Outer() as outer:
        Viewer(replace(context, vouch=on_board), outer).run()


class Viewer:
    """One person looking at one team."""

    def __init__(self, context: Context, outer: Outer) -> None:
        self._context = context
        self._outer = outer
        self._canvas = Canvas()
        self._keys = Keys()
        self._panes: dict[str, Pane] = {}
        self._shown = ""
        self._board = BoardView()
        self._on_board = False
        self._scroll: Scroll | None = None
        self._left = False
        self._known_needs: set[str] | None = None
        self._rings = settings(context).bell
        self._whole = ""
        self._changes: list[str] = []
        self._notice, self._notice_until = "", 0.0
        self._size = outer.size()
        self._reporter = Reporter(context, outer.wake)
        self._meet()

    def run(self) -> None:
        """Draw and wait until the person leaves, or the terminal is gone."""
        while not (self._left or self._outer.ended):
            self._draw()
            self._wait()
        for pane in self._panes.values():
            pane.leave()

    def _wait(self) -> None:
        panes = {pane.connection.fileno(): pane for pane in self._panes.values() if pane.connection}
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
        """Connect to all current sessions."""
        news = self._reporter.news
        if self._reporter.notice:
            self._say(self._reporter.notice)
            self._reporter.notice = ""
        if self._whole:
            self._read(self._whole)
            self._whole = ""
        if self._changes:
            self._scroll = Scroll(self._changes, self._room()[1], from_top=True)
            self._changes = []
        self._ring(news)
        names = [member.agent_id for member in news.members]
        for gone in self._panes.keys() - set(names):
            self._panes.pop(gone).leave()
        for name in names:
            pane = self._panes.setdefault(name, Pane(name))
            incarnation, socket = news.sockets.get(name, ("", ""))
            if socket:
                pane.meet(incarnation, socket)
                pane.fit(*self._room())
        if self._shown not in self._panes:
            self._show(names[0] if names else "")
        self._on_board = self._on_board or not names

    def _ring(self, news: News) -> None:
        """Ring for what needs the person since the last look; what did at the first look is on the bar."""
        if news.status and self._known_needs is not None and self._rings:
            self._outer.write(desktop.rung(os.environ, f"pro0 {news.status.name}", news.needs, self._known_needs))
        if news.status:
            self._known_needs = {need.id for need in news.needs}

    def _follow(self) -> None:
        """Show a requested pane, and an arrived history."""
        for candidate in self._panes.values():
            if candidate.wanted:
                candidate.wanted = False
                self._show(candidate.name)
                self._on_board, self._scroll = False, None
        pane = self._panes.get(self._shown)
        if pane and pane.refused:
            pane.refused = False
            self._say(f"{pane.name} does not read what is typed")
        if pane and pane.history is not None:
            self._scroll = Scroll(pane.history, self._room()[1])
            pane.history = None

    def _resized(self) -> None:
        if self._size != self._outer.size():
            self._size = self._outer.size()
            self._canvas.forget()
            self._outer.write("\x1b[2J")
            for pane in self._panes.values():
                pane.fit(*self._room())

    def _room(self) -> tuple[int, int]:
        """Return the size of a session: all lines but the last."""
        return self._size[0], self._size[1] - 1

    def _show(self, name: str) -> None:
        if before := self._panes.get(self._shown):
            before.unwatch()
        self._shown = name
        if name in self._panes:
            self._panes[name].watch(*self._room())

    def _step(self, step: int) -> None:
        names = list(self._panes)
        order = [member.agent_id for member in self._reporter.news.members if member.agent_id in names]
        if order:
            at = order.index(self._shown) if self._shown in order else 0
            self._show(order[(at + step) % len(order)])

    def _typed(self, keys: list[Key]) -> None:
        """Route keys to the view or to the session. Keys for the session go in one piece."""
        through = b""
        for key in keys:
            taken = self._on_board or self._scroll or key.name in STEPS or key.name in OWN
            if not taken:
                through += key.data
                continue
            self._through(through)
            through = b""
            self._press(key)
        self._through(through)

    def _through(self, data: bytes) -> None:
        if data and self._shown in self._panes:
            self._panes[self._shown].type(data)

    def _press(self, key: Key) -> None:
        if self._scroll:
            self._grant(self._scroll.press(key))
        elif key.name in STEPS:
            self._on_board = False
            self._step(STEPS[key.name])
        elif self._on_board:
            self._grant(self._board.press(key, self._reporter.news))
        elif key.name == "ctrl-t":
            self._on_board = True
            self._board.choose("tasks")
        elif key.name == "shift-page-down":
            self._grant(ViewRequest("diff", self._shown) if self._shown in self._panes else None)
        elif self._shown in self._panes:
            self._panes[self._shown].ask_history()

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
            case ViewRequest(act="help"):
                self._read("\n".join(HELP))
            case ViewRequest(act="say", text=text):
                self._say(text)
            case ViewRequest(act="read", target=id):
                self._reporter.do(partial(self._fetch, id))
            case ViewRequest(act="diff", target=name):
                self._reporter.do(partial(self._compare, name))
            case ViewRequest(act="view", target=name):
                self._on_board = False
                self._show(name)
            case ViewRequest(act="key", text=text):
                self._on_board = False
                self._through(text.encode())
            case ViewRequest(act="copy", text=text):
                self._copy(text)
            case ViewRequest(act="interrupt", target=name):
                self._interrupt(name)
            case ViewRequest(act=act, target=target, text=text):
                self._reporter.do(_errand(self._context, act, target, text))

    def _read(self, text: str) -> None:
        self._scroll = Scroll(wrapped(text, self._size[0]), self._room()[1], from_top=True)

    def _fetch(self, id: str) -> str:
        """Get all of a task or a message, for the view to show next."""
        self._whole = whole(self._context, self._reporter.news, id)
        return ""

    def _compare(self, name: str) -> str:
        """Get what a member or a task has changed, for the view to show next."""
        self._changes = changes(self._context, name, self._size[0])
        return ""

    def _interrupt(self, name: str) -> None:
        member = self._reporter.news.member(name)
        if member and name in self._panes:
            self._panes[name].type(b"\x1b" if adapter_named(member.agent).interrupt else b"\x03")
            self._say(f"{name} is interrupted")

    def _copy(self, text: str) -> None:
        """Put a text on the person's clipboard, through their terminal."""
        self._outer.write(f"\x1b]52;c;{base64.b64encode(text.encode()).decode()}\x07")
        self._scroll = None
        self._say(f"copied {len(text.splitlines())} lines")

    def _say(self, text: str) -> None:
        self._notice, self._notice_until = text, time.monotonic() + NOTICE

    def _draw(self) -> None:
        columns, lines = self._size
        notice = self._notice if time.monotonic() < self._notice_until else ""
        pane = self._panes.get(self._shown)
        cursor, modes = None, PASTES
        if self._scroll:
            rows = self._scroll.rows(columns, lines)
        elif self._on_board or pane is None:
            rows = self._board.rows(self._reporter.news, columns, lines, notice)
            cursor = self._board.cursor(columns, lines)
        else:
            rows, cursor = self._session(pane, notice)
            modes = pane.modes
        self._outer.mirror(modes)
        self._outer.write(self._canvas.paint(rows, columns, cursor))

    def _session(self, pane: Pane, notice: str) -> tuple[list[str], tuple[int, int] | None]:
        """Return a session's rows with the bar below, and its cursor if it fits."""
        columns, room = self._room()
        rows = [*(pane.rows or self._nothing(pane))[:room]]
        rows += [""] * (room - len(rows))
        news = self._reporter.news
        rows.append(bar(news.members, pane.name, columns, notice or self._over(pane), news.needs))
        fits = pane.cursor and pane.cursor[0] < columns and pane.cursor[1] < room
        return rows, pane.cursor if fits else None

    def _nothing(self, pane: Pane) -> list[str]:
        return ["", f"  {DIM}{pane.name} shows nothing yet{RESET}"]

    def _over(self, pane: Pane) -> str:
        """Return a notice when a member has no terminal. An ended member's notice names the restart command."""
        if pane.connection:
            return ""
        member = self._reporter.news.member(pane.name)
        restart = f": pro0 member restart {pane.name}" if member and member.state in ENDED else ""
        return f"{pane.name} has no terminal now{restart}"


def _errand(context: Context, act: str, target: str, text: str) -> Callable[[], str]:
    return lambda: ACTS[act](context, target, text)
