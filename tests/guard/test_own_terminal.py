"""The terminal that a guard makes, in this process: what it shows and to whom, and what it tells of the end."""

import io
import json
import os
import select
import sys
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pro0.guard import launch as launches
from pro0.guard import output
from pro0.guard import terminal as terminals
from pro0.guard.terminal import AgentTerminal
from pro0.terminals import protocol
from pro0.terminals.connection import Connection, Silent
from tests.guard.shown import SECONDS, terminal
from tests.waiting import STUCK, wait_until


@contextmanager
def log(path: Path) -> Iterator[None]:
    """Let the standard output be a file, as a guard's is."""
    kept, descriptor = os.dup(1), os.open(path, os.O_RDWR | os.O_CREAT)
    os.dup2(descriptor, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(descriptor)


class Stage:
    """A terminal in this process, and its agent's end."""

    def __init__(self, folder: Path) -> None:
        self.wanted = terminal(folder)
        values = {"socket": self.wanted.socket, "library": self.wanted.library, "columns": 80, "lines": 24}
        self.made = AgentTerminal(launches.Terminal(values), "inc-1")
        self.end = os.open(self.made.path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        tty.setraw(self.end)
        self.log = folder / "log"

    def prints(self, text: str) -> None:
        """Print, in as many pieces as there is room for."""
        data = text.encode()
        while data:
            select.select([], [self.end], [], STUCK)
            data = data[os.write(self.end, data) :]

    def typed(self) -> bytes:
        """Return what was typed, once something was."""
        assert select.select([self.end], [], [], STUCK)[0], "something is typed"
        return os.read(self.end, 1 << 16)

    def connect(self) -> Connection:
        return Connection(self.wanted.socket, SECONDS)

    def over(self) -> None:
        os.close(self.end)
        with log(self.log):
            self.made.end()
        assert not self.made._thread.is_alive()


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    made = Stage(tmp_path)
    yield made
    if Path(made.wanted.socket).exists():
        made.over()


def looked(one: Connection) -> dict[str, object]:
    return one.ask(protocol.LOOK, answer=protocol.FRAME)


def rows(one: Connection) -> list[str]:
    found = looked(one)["rows"]
    assert isinstance(found, dict)
    return list(found.values())


def test_who_looks_is_told_who_it_is_and_what_is_shown(stage: Stage) -> None:
    with stage.connect() as one:
        assert one.hello == {"version": protocol.VERSION, "incarnation": "inc-1", "pid": os.getpid()}
        stage.prints("\x1b]2;a title\x07\x1b[>4;2m\x1b[?25lone\r\ntwo")
        wait_until(lambda: rows(one)[:2] == ["one", "two"], STUCK, "it is drawn")
        frame = looked(one)
        told = {name: value for name, value in frame.items() if name not in ("rows", "modes")}
        assert told == {"columns": 80, "lines": 24, "cursor": [3, 1], "visible": False, "title": "a title", "keys": 2}
        assert one.ask(protocol.TEXT, b'{"lines":1}') == {"text": "two"}
        assert one.ask(protocol.HISTORY) == {"rows": ["one", "two"]}


def test_watchers_get_changes_and_say_the_size(stage: Stage) -> None:
    with stage.connect() as one, stage.connect() as other:
        one.send(protocol.WATCH, b'{"columns":100,"lines":30}')
        first = one.wait(protocol.FRAME)
        assert (first["columns"], first["lines"]) == (100, 30)
        assert os.get_terminal_size(stage.end) == (100, 30)
        stage.prints("abc")
        assert one.wait(protocol.FRAME)["rows"] == {"0": "abc"}
        assert other.ask(protocol.FOCUS) == {"told": 1}
        assert one.wait(protocol.FOCUS) == {}
        assert one.ask(protocol.FOCUS) == {"told": 0}
        one.send(protocol.UNWATCH)
        other.send(protocol.SIZE, b'{"columns":2,"lines":1000}')
        assert other.ask(protocol.FOCUS) == {"told": 1}
        assert (looked(other)["columns"], os.get_terminal_size(stage.end)) == (2, (2, 1000))
        assert one.wait(protocol.FOCUS) == {}
        assert other.take() == []
        assert one.ask(protocol.FOCUS) == {"told": 1}, "who gives it a size is a view too"


@pytest.mark.parametrize("leaves", [True, False], ids=["it leaves", "it shows another"])
def test_a_second_view_gives_the_size_back(leaves: bool, stage: Stage) -> None:
    """A view that shows another member takes no size from one that shows this."""
    with stage.connect() as one, stage.connect() as other:
        one.send(protocol.WATCH, b'{"columns":100,"lines":30}')
        one.wait(protocol.FRAME)
        other.send(protocol.SIZE, b'{"columns":60,"lines":20}')
        assert looked(other)["columns"] == 100
        other.send(protocol.WATCH, b'{"columns":60,"lines":20}')
        assert looked(other)["columns"] == 60, "the latest to come"
        if leaves:
            other.close()
        else:
            other.send(protocol.UNWATCH)
        wait_until(lambda: os.get_terminal_size(stage.end) == (100, 30), STUCK, "it is the first one's again")


def test_a_text_waits_for_a_person_who_types(stage: Stage) -> None:
    def put(kind: bytes, words: bytes) -> bool:
        return bool(one.ask(kind, words, protocol.TAKEN)["taken"])

    with stage.connect() as one:
        assert put(protocol.PRESS, b'{"text":"k","quiet":1000000}'), "nobody has typed yet"
        assert stage.typed() == b"k"
        assert put(protocol.INPUT, b"typed")
        assert stage.typed() == b"typed"
        assert not put(protocol.PRESS, b'{"text":"k","quiet":1000000}')
        assert not put(protocol.PASTE, b'{"text":"k","quiet":1000000}')
        assert put(protocol.PASTE, b'{"text":"pasted","quiet":0}')
        assert stage.typed() == b"pasted"
        stage.prints("\x1b[?2004hon")
        wait_until(lambda: rows(one)[0] == "on", STUCK, "it is drawn")
        assert put(protocol.PASTE, b'{"text":"pasted","quiet":0}')
        assert stage.typed() == b"\x1b[200~pasted\x1b[201~"
        assert put(protocol.PRESS, b'{"text":"p","quiet":0}')
        assert stage.typed() == b"p"


BOUNDS = {
    "columns": (
        protocol.SIZE,
        ({"columns": 1000, "lines": 2}, {"columns": 2, "lines": 1000}),
        {"columns": 1001, "lines": 9},
    ),
    "lines": (protocol.SIZE, ({"columns": 9, "lines": 2},), {"columns": 9, "lines": 1001}),
    "no line": (protocol.SIZE, (), {"columns": 9, "lines": 1}),
    "text": (protocol.TEXT, ({"lines": 1}, {"lines": 1 << 20}), {"lines": (1 << 20) + 1}),
}


@pytest.mark.parametrize("what", BOUNDS)
def test_what_may_be_asked_has_bounds(stage: Stage, what: str) -> None:
    kind, good, bad = BOUNDS[what]
    with stage.connect() as one:
        for words in good:
            one.send(kind, json.dumps(words).encode())
        assert one.ask(protocol.TEXT, b'{"lines":1}') == {"text": ""}
        one.send(kind, json.dumps(bad).encode())
        with pytest.raises(Silent):
            one.wait(protocol.HELLO)


def test_what_no_text_may_hold_is_typed_as_a_sign_for_it(stage: Stage) -> None:
    with stage.connect() as one:
        assert one.ask(protocol.PRESS, b'{"text":"a\\ud800","quiet":0}', protocol.TAKEN) == {"taken": True}
        assert stage.typed() == b"a?"


def test_a_program_is_answered_but_not_about_keys(stage: Stage) -> None:
    """A client's own terminal sends the keys as it always does."""
    stage.prints("ab\x1b[?u\x1b[6n")
    assert stage.typed() == b"\x1b[1;3R"


def test_drawing_that_is_held_back_is_shown_at_once_when_let_go(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminals, "HELD", 1e6)
    with stage.connect() as one:
        one.send(protocol.WATCH, b'{"columns":80,"lines":24}')
        one.wait(protocol.FRAME)
        stage.prints("\x1b[?2026hone")
        wait_until(lambda: rows(one)[0] == "one", STUCK, "it is known")
        assert one.take() == []
        stage.prints("two\x1b[?2026l")
        assert one.wait(protocol.FRAME)["rows"] == {"0": "onetwo"}


def test_who_breaks_the_protocol_or_is_too_many_is_let_go(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminals, "CLIENTS", 2)
    with stage.connect() as one, stage.connect() as other:
        with pytest.raises(Silent):
            stage.connect()
        for said in (protocol.message(b"?"), protocol.message(protocol.SIZE, b"{}")):
            other._socket.sendall(said)
            with pytest.raises(Silent):
                other.wait(protocol.FRAME)
            other = wait_until(lambda: connected(stage), STUCK, "there is room again")  # type: ignore[assignment]
        other.close()
        assert len(rows(one)) == 24


def connected(stage: Stage) -> Connection | None:
    try:
        return stage.connect()
    except Silent:
        return None


def test_what_is_shown_last_reaches_who_looks_and_the_log(stage: Stage) -> None:
    with stage.connect() as one:
        one.send(protocol.WATCH, b'{"columns":80,"lines":24}')
        one.wait(protocol.FRAME)
        stage.prints("\x1b[?2026hone\r\ntwo\r\n" + "x" * 79)
        assert output.last_output(stage.made) == f"one\ntwo\n{'x' * 79}"
        stage.over()
        frame = one.wait(protocol.FRAME)
        assert frame["rows"] == {"0": "one", "1": "two", "2": "x" * 79}
        with pytest.raises(Silent):
            one.wait(protocol.FRAME)
    assert stage.log.read_text().split() == ["one", "two", "x" * 79]
    assert not Path(stage.wanted.socket).exists()
    with pytest.raises(Silent):
        stage.connect()


def test_a_terminal_that_fails_says_so_and_is_drained_on(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    said = io.StringIO()
    monkeypatch.setattr(sys, "stderr", said)
    monkeypatch.setattr(stage.made._screen, "feed", lambda data: [][0])
    view = stage.connect()
    stage.prints("x" * (1 << 18))
    wait_until(lambda: "list index out of range" in said.getvalue(), STUCK, "it is said")
    assert said.getvalue() == (
        "pro0 guard: its terminal cannot be shown any more: IndexError: list index out of range\n"
    )
    stage.prints("x" * (1 << 18))
    with pytest.raises(Silent):
        stage.connect()
    with view, pytest.raises(Silent, match="the terminal is gone"):
        view.wait(protocol.FRAME)
    stage.over()


def test_a_survivor_that_prints_on_keeps_nobody_from_the_last_screen(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `yes` may that runs as another user: there is always something to read."""
    pty = stage.made._pty

    def always(read: list[Any], *rest: Any) -> tuple[list[Any], list[Any], list[Any]]:
        return (read, [], []) if read == [pty.fileno] else select.select(read, *rest)

    with stage.connect() as one:
        one.send(protocol.WATCH, b'{"columns":80,"lines":24}')
        one.wait(protocol.FRAME)
        monkeypatch.setattr(terminals, "select", SimpleNamespace(select=always))
        monkeypatch.setattr(pty, "read", lambda: b"on\r\n")
        stage.over()
        assert one.wait(protocol.FRAME)["rows"]
        with pytest.raises(Silent):
            one.wait(protocol.FRAME)
    assert set(stage.log.read_text().split()) == {"on"}


def test_the_end_of_a_terminal_that_does_not_answer_is_not_waited_for(stage: Stage) -> None:
    stopped = SimpleNamespace(last_output=lambda lines, patience: f"  {lines} {patience}\n\ud800")
    assert output.last_output(stopped) == f"{output.LINES} {output.PATIENCE}\n?"  # type: ignore[arg-type]
    stage.over()
    assert stage.made.last_output(9, 0.01) == ""
