"""When a terminal shows what has changed, and how long it reads on, by a clock that the test sets."""

import itertools
import os
import select
import threading
import time
import tty
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pro0.guard import pty
from pro0.guard import terminal as terminals
from pro0.guard.pty import INPUT_LIMIT, Pty
from pro0.guard.terminal import CUT, HELD, LAST, SETTLED, AgentTerminal
from pro0.terminals import protocol
from tests.guard.shown import typed
from tests.guard.test_clients import there
from tests.guard.test_own_terminal import Stage, log, rows
from tests.waiting import STUCK, wait_until

HOLD = 2026


class Desk:
    """A terminal without its thread, and those who look at it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *clients: Any) -> None:
        self.now, self.modes = 100.0, set[int]()
        made: Any = AgentTerminal.__new__(AgentTerminal)
        self.terminal = made
        made._clients = list(clients)
        made._state = 5
        made._settled = made._held = 0.0
        made._screen = SimpleNamespace(mode=lambda number: number in self.modes)
        made._drawn = lambda: (["row"], {"title": "t"})
        monkeypatch.setattr(terminals, "time", SimpleNamespace(monotonic=lambda: self.now))


def viewer(**changes: object) -> SimpleNamespace:
    """A client that watches, has taken in all, and sees the present state."""
    shown: list[object] = []
    usual = {"watching": True, "sending": False, "seen": 5, "due": 0.0, "shown": shown}
    return SimpleNamespace(**usual | changes, show=lambda *words: shown.append(words))


def test_a_drawing_settles_once_from_its_first_change(monkeypatch: pytest.MonkeyPatch) -> None:
    one, idle = viewer(), viewer(watching=False, seen=-1)
    desk = Desk(monkeypatch, one, idle)
    made = desk.terminal
    made._changed()
    assert (made._state, made._settled, made._held) == (6, 100.0 + SETTLED, 0.0)
    desk.now = 101.0
    made._changed()
    assert (made._state, made._settled) == (7, 100.0 + SETTLED), "it is seen that much after it began"
    one.seen = 7
    made._changed()
    assert (made._state, made._settled) == (8, 101.0 + SETTLED)
    made._clients, desk.now = [], 102.0
    made._changed()
    assert made._settled == 102.0 + SETTLED


def test_a_drawing_is_held_back_from_its_beginning_and_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(monkeypatch)
    made = desk.terminal
    desk.modes = {HOLD}
    made._changed()
    desk.now = 101.0
    made._changed()
    assert made._held == 100.0 + HELD
    desk.modes = set()
    made._changed()
    assert made._held == 0.0


@pytest.mark.parametrize(("due", "settled", "held"), [*itertools.permutations((1.0, 2.0, 3.0))])
def test_a_frame_is_due_when_nothing_is_in_its_way(
    due: float, settled: float, held: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(monkeypatch)
    desk.terminal._settled, desk.terminal._held = settled, held
    assert desk.terminal._due(viewer(due=due)) == 3.0


LAGS = {
    "it lags": ({"seen": 4}, True),
    "it has seen all": ({}, False),
    "it does not watch": ({"seen": 4, "watching": False}, False),
    "it has not taken in the last": ({"seen": 4, "sending": True}, False),
}


@pytest.mark.parametrize("what", LAGS)
def test_who_gets_a_frame(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    changes, lags = LAGS[what]
    one = viewer(**changes)
    desk = Desk(monkeypatch, one)
    assert desk.terminal._lags(one) is lags
    assert desk.terminal._patience() == (0.0 if lags else None)
    desk.terminal._show()
    assert one.shown == ([(5, ["row"], {"title": "t"}, 100.0)] if lags else [])


def test_the_next_frame_is_waited_for_and_shown_when_it_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = viewer(seen=4, due=102.0), viewer(seen=4, due=101.0)
    desk = Desk(monkeypatch, first, second)
    assert desk.terminal._patience() == 1.0
    desk.terminal._show()
    assert (first.shown, second.shown) == ([], [])
    desk.now = 101.0
    desk.terminal._show()
    assert (len(first.shown), len(second.shown)) == (0, 1)


@pytest.mark.parametrize(("step", "read"), [(0.0, b"0123456789ab"), (LAST / 2, b"0123"), (LAST, b"")])
def test_the_last_output_is_read_to_its_end_but_not_for_ever(
    step: float, read: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A survivor may print without end."""
    for name, size in (("TURN", 4), ("READ", 4)):
        monkeypatch.setattr(pty, name, size)
    desk = Desk(monkeypatch)
    made, fed = desk.terminal, bytearray()
    ticks = itertools.count()
    monkeypatch.setattr(terminals, "time", SimpleNamespace(monotonic=lambda: next(ticks) * step))
    made._screen = SimpleNamespace(mode=lambda _: False, feed=fed.extend, text=lambda lines: f"{lines} {bytes(fed)!r}")
    made._told, made._pty, made._clients = threading.Event(), Pty(80, 24), [viewer()]
    made._changed = lambda: None
    end = os.open(made._pty.path, os.O_RDWR | os.O_NOCTTY)
    tty.setraw(end)
    os.write(end, b"0123456789ab")
    wait_until(lambda: there(made._pty.fileno) == 12, STUCK, "it has come")
    made._tell_last_output(7)
    assert made._last_output == f"7 {read!r}"
    assert made._told.is_set()
    os.close(end)
    made._pty.close()


@pytest.mark.parametrize(("quiet", "put"), [(0, True), (2000, True), (2001, False)])
def test_a_text_waits_for_so_many_milliseconds(quiet: int, put: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(monkeypatch)
    desk.terminal._typed, desk.terminal._pty = 98.0, SimpleNamespace(put=lambda _: True)
    assert desk.terminal._put_when_quiet({"text": "k", "quiet": quiet}, bytes) is put


PASTES = {
    "there is always room": ("1 1 1 1", "abcd"),
    "no room for a piece": ("1 0 1 1", "a"),
    "no room for some": ("1 0 1 0 1 1 1 1", "a"),
    "no room for the first": ("0 1 1", ""),
    "a pause ends it": ("1 0 1 | 1 1", "ade"),
    "still no room after a pause": ("1 0 1 | 0 1 | 1", "af"),
}


@pytest.mark.parametrize("what", PASTES)
def test_a_paste_has_no_hole(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pieces of a paste come one after the other; without one of them, the rest would mean something else."""
    pieces, comes = PASTES[what]
    desk, arrived, one, letters = Desk(monkeypatch), bytearray(), SimpleNamespace(cut_until=0.0), iter(b"abcdefgh")
    room = False

    def put(data: bytes) -> bool:
        arrived.extend(data if room else b"")
        return room

    desk.terminal._pty = SimpleNamespace(put=put)
    for piece in pieces.split():
        desk.now += CUT if piece == "|" else CUT / 3
        if piece != "|":
            room, letter = piece == "1", bytes([next(letters)])
            assert desk.terminal._put_typed(one, letter) is arrived.endswith(letter)
    assert arrived.decode() == comes


@pytest.mark.parametrize("many", [1, 4])
def test_the_end_is_drawn_told_and_written_down(many: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that was printed is read, though somebody may print on; and who watches is told, whatever was held back."""
    farewells: list[float] = []
    clients = [viewer(seen=4, due=9.0, farewell=farewells.append) for _ in range(many)]
    desk = Desk(monkeypatch, *clients)
    made, fed, closed = desk.terminal, bytearray(), list[str]()
    desk.now, made._settled, made._held = 0.5, 9.0, 9.0
    made._screen = SimpleNamespace(mode=lambda _: False, feed=fed.extend, text=lambda lines: f"{lines} \ud800")
    made._pty, made._listener = Pty(80, 24), SimpleNamespace(close=lambda: closed.append("listener"))
    end = os.open(made._pty.path, os.O_RDWR | os.O_NOCTTY)
    tty.setraw(end)
    os.write(end, b"last words")
    wait_until(lambda: there(made._pty.fileno) == 10, STUCK, "it has come")
    waits: list[float] = []

    def waiting(*words: Any) -> Any:
        waits.append(words[3])
        return select.select(*words)

    monkeypatch.setattr(terminals, "select", SimpleNamespace(select=waiting))
    with log(tmp_path / "log"):
        made._finish()
    assert set(waits) == {LAST}
    os.close(end)
    assert (bytes(fed), closed, farewells) == (b"last words", ["listener"], [LAST / many] * many)
    assert [len(one.shown) for one in clients] == [1] * many
    assert (tmp_path / "log").read_text() == f"{terminals.LAST_LINES} ?\n"


@pytest.fixture
def stage(tmp_path: Path) -> Any:
    made = Stage(tmp_path)
    yield made
    made.over()


def test_what_an_agent_did_not_read_at_once_comes_whole(stage: Stage) -> None:
    text = bytes(ord("a") + n % 26 for n in range(INPUT_LIMIT - 1))
    with stage.connect() as one:
        assert typed(one, text)
        arrived = b""
        while len(arrived) < len(text):
            arrived += stage.typed()
        assert arrived == text
        stage.prints("seen")
        wait_until(lambda: rows(one)[0] == "seen", STUCK, "it is drawn")


def test_a_terminal_with_nothing_to_do_sleeps(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    turns = itertools.count()

    def counted(*words: Any) -> Any:
        next(turns)
        return select.select(*words)

    with stage.connect() as one:
        monkeypatch.setattr(terminals, "select", SimpleNamespace(select=counted))
        for _ in range(3):
            one.ask(protocol.TEXT, b'{"lines":1}')
            time.sleep(0.1)
        assert next(turns) < 50
