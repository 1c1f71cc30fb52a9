"""The terminal that a guard makes for its agent, and those who look at it."""

import json
import os
import signal
import socket
import stat
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from pro0.model.runtime import State
from pro0.terminals import protocol
from pro0.terminals.connection import Connection, Silent
from tests.guard.sessions import Session, python
from tests.guard.shown import SECONDS, Shown, typed
from tests.waiting import wait_until

TELL = """
import json, os, sys, signal, threading
signal.signal(signal.SIGWINCH, lambda *_: None)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGWINCH])

def tell_sizes():  # in a thread: one that comes just before input() waits would be handled after it
    while signal.sigwait([signal.SIGWINCH]):
        print("size", *os.get_terminal_size(), flush=True)

threading.Thread(target=tell_sizes, daemon=True).start()
told = {
    "terminals": [os.ttyname(n) for n in range(3)],
    "leads": os.getsid(0) == os.getpid(),
    "controls": os.tcgetpgrp(os.open("/dev/tty", os.O_RDWR)) == os.getpgrp(),
    "size": list(os.get_terminal_size()),
    "term": os.environ["TERM"],
}
open(sys.argv[1], "w").write(json.dumps(told))
print("told", flush=True)
while True:
    print("got", input(), flush=True)
"""
FLOOD = """
import os, sys
block = b"".join(b"%d and some more of the text of this line\\r\\n" % n for n in range(2000))
left = int(sys.argv[1])
while left > 0:
    left -= os.write(1, block)
os.write(1, b"the flood is over\\r\\n")
import time; time.sleep(600)
"""
NEVER_READS = "import tty, time; tty.setraw(0); print('ready', flush=True); time.sleep(600)"


def test_the_agent_leads_a_session_on_a_terminal_of_its_size(session: Session, tmp_path: Path) -> None:
    """Issue 5, build 1: what a person types reaches it, and a change of size."""
    shown = Shown(session, [*python(TELL), str(tmp_path / "told")], columns=100, lines=30)
    with shown.connect() as one:
        shown.shows(one, lambda rows: "told" in rows, "that it told")
        told = json.loads((tmp_path / "told").read_text())
        assert len(set(told.pop("terminals"))) == 1
        assert told == {"leads": True, "controls": True, "size": [100, 30], "term": "xterm-256color"}
        assert typed(one, "hello\r")
        shown.shows(one, lambda rows: "got hello" in rows, "what was typed")
        one.send(protocol.SIZE, b'{"columns":120,"lines":40}')
        shown.shows(one, lambda rows: "size 120 40" in rows and len(rows) == 40, "the new size")
        typed(one, b"\x03")
    session.reported(lambda report: report.exit, "the end by Ctrl+C")
    assert session.report().exit.signal == signal.SIGINT  # type: ignore[union-attr]


def test_the_socket_is_private_and_goes_with_the_session(session: Session) -> None:
    shown = Shown(session, ["sh", "-c", "echo the last words; read x; exit 3"])
    with shown.connect() as one:
        assert one.hello["incarnation"] == session.incarnation
        assert one.hello["pid"] == shown.guard.pid
        assert stat.S_IMODE(Path(shown.wanted.socket).stat().st_mode) == 0o600
        shown.shows(one, lambda rows: rows[0] == "the last words", "them")
        typed(one, "\r")
        assert shown.guard.wait(SECONDS) == 3
        with pytest.raises(Silent):
            one.wait(protocol.TEXT)
    assert not Path(shown.wanted.socket).exists()
    assert session.report().state is State.CRASHED


def test_an_agent_that_cannot_start_leaves_no_socket(session: Session) -> None:
    shown = Shown(session, ["/no/such/program"])
    shown.guard.wait(SECONDS)
    assert not Path(shown.wanted.socket).exists()
    assert "cannot start /no/such/program" in session.report().exit.reason  # type: ignore[union-attr]


def test_a_terminal_that_cannot_be_made_is_said(session: Session) -> None:
    (session.reports / "t.sock").mkdir()
    Shown(session, ["true"]).guard.wait(SECONDS)
    assert "cannot make a terminal" in session.report().exit.reason  # type: ignore[union-attr]


def test_colours_modes_title_and_cursor_are_told(session: Session) -> None:
    draws = r"printf '\033]2;a title\007\033[?2004h\033[?1002h\033[?1006h\033[1;31mred\033[0m 你好'; cat"
    shown = Shown(session, ["sh", "-c", draws])
    with shown.connect() as one:
        shown.shows(one, lambda rows: "你好" in rows[0], "it")
        frame = one.ask(protocol.LOOK, answer=protocol.FRAME)
        assert frame["title"] == "a title"
        assert frame["modes"] == [1002, 1006, 1007, 2004]
        assert frame["cursor"] == [8, 0]
        assert (frame["columns"], frame["lines"]) == (80, 24)
        assert shown.rows(one)[0] == "\x1b[0m\x1b[1m\x1b[38;5;1mred\x1b[0m 你好"


@pytest.mark.parametrize(("asks", "arrives"), [("", "text"), (r"\033[?2004h", "^[[200~text^[[201~")])
def test_a_paste_is_bracketed_for_who_asked_for_it(session: Session, asks: str, arrives: str) -> None:
    shown = Shown(session, ["sh", "-c", f"stty -echo -icanon; printf '{asks}on: '; exec cat -v"])
    with shown.connect() as one:
        shown.shows(one, lambda rows: rows[0].startswith("on:"), "that it is ready")
        typed(one, '{"text":"text","quiet":0}', protocol.PASTE)
        shown.shows(one, lambda rows: rows[0] == f"on: {arrives}", "the paste")


def test_a_watcher_gets_what_changed_and_only_that(session: Session) -> None:
    shown = Shown(session, ["cat"])
    with shown.connect() as one, shown.connect() as other:
        one.send(protocol.WATCH, b'{"columns":80,"lines":24}')
        first = one.wait(protocol.FRAME)
        assert len(first["rows"]) == 24  # type: ignore[arg-type]
        assert typed(other, "abc")
        assert one.wait(protocol.FRAME)["rows"] == {"0": "abc"}
        one.send(protocol.UNWATCH)
        one.ask(protocol.TEXT, b'{"lines":1}')
        typed(other, "def")
        shown.shows(other, lambda rows: rows[0] == "abcdef", "more")
        assert one.take() == []


@pytest.mark.parametrize("said", [b"", b"[]", b'{"columns":0,"lines":9}', b'{"columns":80}', b"\xff"])
def test_who_talks_nonsense_is_let_go_and_nobody_else(session: Session, said: bytes) -> None:
    shown = Shown(session, ["cat"])
    with shown.connect() as one, shown.connect() as other:
        one.send(protocol.SIZE, said)
        with pytest.raises(Silent):
            one.wait(protocol.FRAME)
        assert typed(other, "abc")
        shown.shows(other, lambda rows: rows[0] == "abc", "it")


def test_only_so_many_may_look_at_once_and_who_looks_is_served(session: Session) -> None:
    """72: hundreds who connect and say nothing take no more room than that, and nobody's turn."""
    shown = Shown(session, ["cat"])
    with shown.connect() as one, ExitStack() as idle:
        for _ in range(300):
            idle.enter_context(socket.socket(socket.AF_UNIX)).connect(shown.wanted.socket)
        assert typed(one, "abc")
        shown.shows(one, lambda rows: rows[0] == "abc", "it")
        assert psutil.Process(shown.guard.pid).num_fds() < 100
    with shown.connect() as late:
        assert typed(late, "def")


def test_a_flood_is_drained_for_nobody_and_for_one_who_does_not_read(session: Session) -> None:
    """47: a child that prints without end; keys are answered meanwhile and memory stays bounded."""
    shown = Shown(session, [*python(FLOOD), str(40 << 20)])
    with shown.connect() as idle, shown.connect() as one:
        idle.send(protocol.WATCH, b'{"columns":80,"lines":24}')  # and never reads what comes
        shown.shows(one, lambda rows: any("the flood is over" in row for row in rows), "the end of the flood")
        assert psutil.Process(shown.guard.pid).memory_info().rss < 200 << 20
        rows = one.ask(protocol.HISTORY)["rows"]
        assert isinstance(rows, list)
        assert 10_000 <= len(rows) < 21_000  # room for that many of any kind, twice as many at most
        text = str(one.ask(protocol.TEXT, b'{"lines":3}')["text"])
        assert text.endswith("the flood is over")
        assert len(text.split("\n")) == 3


@pytest.mark.soak
def test_a_gigabyte_is_drained_while_keys_are_answered(session: Session) -> None:
    """Must show 4: memory bounded, every question answered meanwhile."""
    shown = Shown(session, [*python(FLOOD), str(1 << 30)])
    guard, answers = psutil.Process(shown.guard.pid), 0
    with shown.connect() as idle, shown.connect() as one:
        idle.send(protocol.WATCH, b'{"columns":80,"lines":24}')
        while not any("the flood is over" in row for row in shown.rows(one)):
            assert typed(one, "x")
            typed(one, b"\x7f")
            assert guard.memory_info().rss < 200 << 20
            answers += 1
    assert answers > 100


def test_an_agent_that_never_reads_is_not_waited_for(session: Session) -> None:
    """47: what waits for it is bounded, and who types is told."""
    shown = Shown(session, python(NEVER_READS))
    with shown.connect() as one:
        shown.shows(one, lambda rows: rows[0] == "ready", "that it is ready")
        taken = [typed(one, b"x" * 10000) for _ in range(200)]
        assert taken[0]
        assert not taken[-1]
        assert shown.rows(one)[0] == "ready"
        assert psutil.Process(shown.guard.pid).memory_info().rss < 100 << 20


def test_clients_that_die_at_any_moment_harm_nobody(session: Session) -> None:
    """Must show 4: a view that is killed closes its connection wherever it was."""
    shown = Shown(session, [*python(FLOOD), str(5 << 20)])
    with shown.connect() as one:
        for moment in range(60):
            other = socket.socket(socket.AF_UNIX)
            other.connect(shown.wanted.socket)
            other.send(protocol.message(protocol.WATCH, b'{"columns":90,"lines":30}')[: moment % 36 + 1])
            other.close()
        shown.shows(one, lambda rows: any("the flood is over" in row for row in rows), "the end")
        wait_until(lambda: psutil.Process(shown.guard.pid).num_fds() < 30, SECONDS, "their connections are closed")


def test_what_was_shown_last_is_in_the_log(session: Session, tmp_path: Path) -> None:
    session.log = os.open(tmp_path / "log", os.O_WRONLY | os.O_CREAT, 0o600)
    shown = Shown(session, ["sh", "-c", "seq 100; printf '\\033[31mlast\\033[0m'; exit 1"])
    shown.guard.wait(SECONDS)
    os.close(session.log)
    lines = (tmp_path / "log").read_text().splitlines()
    assert lines[-2:] == ["100", "last"]
    assert lines[0] == "1"


def test_a_killed_guard_hangs_its_agent_up(session: Session) -> None:
    shown = Shown(session, ["sh", "-c", "echo ready; exec sleep 600"])
    with shown.connect() as one:
        shown.shows(one, lambda rows: rows[0] == "ready", "that it is ready")
    agent = session.agent()
    shown.guard.kill()
    wait_until(lambda: not psutil.pid_exists(agent.pid), SECONDS, "the agent has ended")


def test_a_path_that_is_too_long_for_a_socket(session: Session) -> None:
    """PRO0_HOME may be deep."""
    deep = session.reports / ("d" * 100)
    deep.mkdir()
    session.reports = deep
    shown = Shown(session, ["cat"])
    with shown.connect() as one:
        assert typed(one, "abc")
        shown.shows(one, lambda rows: rows[0] == "abc", "it")


ANSWERS = b"\x1b[1;1R\x1b[?62;22c"
"""Where the cursor is, and what the terminal is; they may come apart."""


def test_a_program_that_asks_gets_an_answer_but_not_for_the_clipboard(session: Session, tmp_path: Path) -> None:
    """36: what a program prints makes the terminal do nothing but draw, and answer what it always answers."""
    script = (
        "stty raw -echo min 1 time 0; printf '\\033[6n\\033]52;c;?\\007\\033[?u\\033[21t\\033[c';"
        f" {{ dd bs=1 count={len(ANSWERS)}; stty min 0 time 5; dd bs=100 count=1; }} 2>/dev/null"
        f" > {tmp_path}/answer; printf done; sleep 600"
    )
    shown = Shown(session, ["sh", "-c", script])
    with shown.connect() as one:
        shown.shows(one, lambda rows: "done" in rows[0], "that it has an answer")
    assert (tmp_path / "answer").read_bytes() == ANSWERS


def test_drawing_that_is_held_back_is_shown_in_the_end(session: Session) -> None:
    """Mode 2026, by a program that never lets go."""
    shown = Shown(session, ["sh", "-c", r"read x; printf '\033[?2026hheld'; read y"])
    with shown.connect() as one:
        one.send(protocol.WATCH, b'{"columns":80,"lines":24}')
        one.send(protocol.INPUT, b"\r")
        while "held" not in str(one.wait(protocol.FRAME)["rows"]):
            pass


def test_a_connection_to_nobody_is_silent(tmp_path: Path) -> None:
    with pytest.raises(Silent, match="No such file"):
        Connection(str(tmp_path / "none"))
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "mute"))
    listener.listen()
    with pytest.raises(Silent, match="timed out"):
        Connection(str(tmp_path / "mute"), 0.05)
    listener.close()
