"""A member's terminal in a browser: what is shown, to whom, and who may type into it."""

import asyncio
import json
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection

from pro0.guard.pty import INPUT_LIMIT
from pro0.model.runtime import Handle, State
from pro0.store.teams import TeamStore
from pro0.web.screen import MODES, BrowserScreen
from pro0.web.sources import Captured, GuardTerminal, MemberSession
from pro0.web.terminals import KEYS_LIMIT
from tests.contracts.stages import STAGES, Stage
from tests.teams import set_state
from tests.waiting import STUCK, wait_until
from tests.web.browsers import Browser

Another = Callable[[str], Browser]


class Looker:
    """A browser's terminal: the bytes that came, drawn by a terminal emulator of another make."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.screen = pyte.Screen(80, 24)
        self.stream = pyte.Stream(self.screen)
        self.told: list[dict[str, Any]] = []
        self.frames = 0

    def hear(self, seconds: float = STUCK) -> None:
        """Take in one message."""
        heard = self.socket.recv(seconds)
        if isinstance(heard, bytes):
            self.frames += 1
            self.stream.feed(heard.decode())
            return
        news = json.loads(heard)
        self.told.append(news)
        if news["type"] == "size":
            self.screen.resize(news["lines"], news["columns"])

    def shows(self, text: str) -> None:
        """Wait until the screen shows a text."""
        while text not in "\n".join(self.screen.display):
            self.hear()

    def say(self, kind: str, **wish: object) -> None:
        """Send one wish."""
        self.socket.send(json.dumps({"type": kind, **wish}))

    def hears(self, kind: str) -> dict[str, Any]:
        """Return the next news of a kind."""
        while True:
            for news in self.told:
                if news["type"] == kind:
                    self.told.remove(news)
                    return news
            self.hear()


@pytest.fixture(params=["tmux", "in-process"])
def stage(request: pytest.FixtureRequest, team: TeamStore, tmp_path: Path) -> Iterator[Stage]:
    made = STAGES[request.param](tmp_path)
    with team.config.change("a test") as change:
        change.value = replace(change.value, mode=made.backend.name)
    try:
        yield made
    finally:
        made.leave()


def seated(team: TeamStore, handle: Handle, state: State = State.WORKING) -> None:
    """Let the store know that w1's session is shown there."""
    set_state(team, "w1", state, handle.incarnation)
    with team.runtime.change("a test") as change:
        seats = tuple(replace(seat, handle=handle) if seat.agent_id == "w1" else seat for seat in change.value.seats)
        change.value = replace(change.value, seats=seats)


def test_a_screen_is_shown_and_followed(browser: Browser, team: TeamStore, stage: Stage) -> None:
    handle, record = stage.recorder()
    seated(team, handle)
    looker = Looker(browser.open("/terminal/alpha/w1"))
    looker.shows("ready")
    size = looker.screen.columns, looker.screen.lines
    looker.say("keys", data="x")
    assert looker.hears("refused")["code"] == "not_allowed"
    looker.say("take")
    assert looker.hears("taken")["taken"] is True
    looker.say("keys", data="hello \u00e9\r\x1b[A")
    wait_until(lambda: record().endswith(b"hello \xc3\xa9\r\x1b[A"), STUCK, "it arrives")
    assert not stage.backend.press(handle, "Enter"), "a person types"
    assert (looker.screen.columns, looker.screen.lines) == size
    assert '"terminal.taken"' in (team.paths.team / "events.jsonl").read_text()


def test_who_only_looks_changes_nothing(another: Another, team: TeamStore, stage: Stage) -> None:
    handle, record = stage.recorder()
    seated(team, handle)
    before = record()
    looker = Looker(another("look").open("/terminal/alpha/w1"))
    looker.shows("ready")
    size = looker.screen.columns, looker.screen.lines
    looker.say("resize", columns=40, lines=10)
    for wish in ({"type": "take"}, {"type": "keys", "data": "x"}, {"type": "nothing"}, {"type": "resize"}, {}):
        looker.socket.send(json.dumps(wish))
        looker.hears("refused")
    second = Looker(another("look").open("/terminal/alpha/w1"))
    second.shows("ready")
    assert (second.screen.columns, second.screen.lines) == size
    assert record() == before


def test_a_terminal_takes_the_size_of_who_types(browser: Browser, team: TeamStore, tmp_path: Path) -> None:
    stage = STAGES["in-process"](tmp_path)
    try:
        with team.config.change("a test") as change:
            change.value = replace(change.value, mode="in-process")
        handle, _ = stage.recorder()
        seated(team, handle)
        looker = Looker(browser.open("/terminal/alpha/w1"))
        looker.shows("ready")
        looker.say("resize", columns=61, lines=17)
        looker.say("take")
        while (looker.screen.columns, looker.screen.lines) != (61, 17):
            looker.hear()
    finally:
        stage.leave()


def test_who_does_not_read_is_said(browser: Browser, team: TeamStore, tmp_path: Path) -> None:
    """A large paste comes in many messages; those that an agent has no room for are not lost unsaid."""
    stage = STAGES["in-process"](tmp_path)
    try:
        with team.config.change("a test") as change:
            change.value = replace(change.value, mode="in-process")
        deaf = "import time, tty; tty.setraw(0); print('deaf', flush=True); time.sleep(600)"
        [handle] = stage.start([stage.opening(sys.executable, "-c", deaf)])
        seated(team, handle)
        looker = Looker(browser.open("/terminal/alpha/w1"))
        looker.shows("deaf")
        looker.say("take")
        for _ in range(2 + INPUT_LIMIT // KEYS_LIMIT):
            looker.say("keys", data="x" * KEYS_LIMIT)
        assert "does not read" in looker.hears("refused")["message"]
    finally:
        stage.leave()


def test_a_terminal_that_is_not_reached_takes_no_keys() -> None:
    """A key may come before its guard has answered, and after it is gone: the browser is told, and stays."""
    source = GuardTerminal(Handle(backend="in-process", incarnation="inc-w1"))
    source.resize(61, 17)
    assert asyncio.run(source.type(b"x")) is False


def test_who_asks_whether_it_is_there_is_answered(browser: Browser, team: TeamStore, stage: Stage) -> None:
    handle, _ = stage.recorder()
    seated(team, handle)
    looker = Looker(browser.open("/terminal/alpha/w1"))
    looker.hears("session")
    looker.say("there")
    looker.hears("there")
    assert not [news for news in looker.told if news["type"] == "refused"]


def test_an_ended_session_shows_its_end_and_the_next_one_follows(
    browser: Browser, team: TeamStore, stage: Stage
) -> None:
    handle, _ = stage.recorder()
    seated(team, handle)
    looker = Looker(browser.open("/terminal/alpha/w1"))
    looker.shows("ready")
    [another] = stage.start([stage.opening("sh", "-c", "echo second; exec sleep 600")])
    stage.shows(another, "second")
    seated(team, handle, State.SHUTDOWN)
    stage.die(handle)
    while not looker.hears("session")["over"]:
        pass
    seated(team, another)
    looker.shows("second")


def test_a_look_is_taken_in_where_the_screen_is_sent(stage: Stage) -> None:
    """Else a row that comes while the changes are put together counts as sent, and never is."""
    handle, _ = stage.recorder()
    threads = list[int]()

    class Noting(BrowserScreen):
        def show(self, rows: Iterable[str], columns: int, cursor: tuple[int, int] | None) -> bool:
            threads.append(threading.get_ident())
            return super().show(rows, columns, cursor)

    async def look() -> str:
        screen, session = Noting(), MemberSession(handle, False, stage.backend.name)
        async for _ in Captured(session, lambda: True).frames(screen):
            pass
        return screen.changes()

    assert "ready" in asyncio.run(look())
    assert threads == [threading.get_ident()]


def test_what_is_not_there_is_refused(browser: Browser) -> None:
    for path in ("/terminal/alpha/nobody", "/terminal/beta/w1", "/terminal/alpha"):
        with pytest.raises(InvalidStatus):
            browser.open(path)


def test_a_revoked_device_sees_nothing_more(browser: Browser, another: Another, team: TeamStore, stage: Stage) -> None:
    handle, _ = stage.recorder()
    seated(team, handle)
    phone = another("look")
    looker = Looker(phone.open("/terminal/alpha/w1"))
    looker.shows("ready")
    browser.rpc().result("device.revoke", device=phone.id)
    with pytest.raises(ConnectionClosed):
        looker.shows("what nobody says")


LETTERS = st.text(st.sampled_from("ab \u00e9\u2500\u2588|\\"), max_size=12)
PLAIN = st.lists(st.lists(LETTERS, min_size=4, max_size=4), min_size=1, max_size=6)


@given(PLAIN, st.tuples(st.integers(0, 11), st.integers(0, 3)))
def test_changes_make_the_same_screen_as_the_rows(screens: list[list[str]], cursor: tuple[int, int]) -> None:
    made, shown = BrowserScreen(), pyte.Screen(12, 4)
    stream = pyte.Stream(shown)
    for rows in screens:
        made.show(rows, 12, cursor)
        stream.feed(made.changes())
        assert [row.rstrip() for row in shown.display] == [row.rstrip() for row in rows]
        assert (shown.cursor.x, shown.cursor.y) == cursor


MODE_SETS = st.frozensets(st.sampled_from(sorted(MODES)))
FRAMES = st.tuples(st.sampled_from(["goes on", "another session", "its last screen"]), st.booleans(), MODE_SETS)


@given(st.lists(FRAMES))
def test_a_browser_has_the_modes_of_the_session_that_it_types_into(
    frames: list[tuple[str, bool, frozenset[int]]],
) -> None:
    """Another session that follows has none of the modes that the one before has left in the browser."""
    made, has = BrowserScreen(), set[int]()
    for what, typing, modes in frames:
        if what != "goes on":
            made.again()
        made.typing = typing
        if what == "its last screen":
            made.show(["the end"], 20, None)
            wanted = frozenset[int]()
        else:
            values = {"columns": 20, "lines": 1, "rows": {"0": "ready"}, "cursor": [0, 0], "visible": True}
            assert made.take(values | {"modes": [*modes]})
            wanted = modes if typing else frozenset()
        for mode, way in re.findall(r"\x1b\[\?(\d+)([hl])", made.changes()):
            (has.add if way == "h" else has.discard)(int(mode))
        assert has & MODES == wanted


LETTER = r"[ -~\u00a0-\u202d\u202f-\uffff]"
ALLOWED = re.compile(rf"(?:{LETTER}|\x1b\[[0-9;:]*m|\x1b\[\d+;1H|\x1b\[\d+G|\x1b\[2?[JK]|\x1b\[\?(?:7|25)[hl])*")
ESCAPES = st.sampled_from(
    [
        *(
            "\x1b]52;c;aGk=\x07",
            "\x1b]0;title\x1b\\",
            "\x1b]8;;http://x\x1b\\y\x1b]8;;\x1b\\",
            "\x1b[2J",
            "\x1b[?1049h",
        ),
        *("\x1bP+q\x1b\\", "\x1b[6n", "\x1b[c", "\x1bc", "\x9b2J", "\x07", "\x08", "\r\n", "\x00", "\u202e", "\x1b"),
        *("\x1b[31m", "\x1b[0m", "text", "\x1b[5;5H", "\x1b_x\x1b\\", "\x0e", "\u009d52;c;x\u009c", "\u200b"),
    ]
)


@given(st.lists(st.lists(ESCAPES, max_size=8).map("".join), min_size=1, max_size=4))
def test_nothing_but_letters_and_colours_passes(rows: list[str]) -> None:
    made = BrowserScreen()
    made.show(rows, 80, None)
    text = made.changes()
    assert ALLOWED.fullmatch(text), repr(text)
    assert "\u202e" not in text
