"""Looking, nudging and pressing keys in terminals that guards make: as in panes."""

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0 import processes
from pro0.errors import BadInput, EnvironmentMissing, Refused
from pro0.installation import adding
from pro0.sessions.in_process import InProcess
from pro0.terminals import protocol
from pro0.terminals.connection import Connection
from tests.contracts.conftest import played
from tests.contracts.elsewhere import SCROLLS, left_on_a_screen
from tests.contracts.stages import Stage
from tests.contracts.test_looks import DRAWS
from tests.waiting import STUCK, wait_until

SECONDS = STUCK
LINE = "pro0: 2 unread messages; run `pro0 inbox` #(touch X) $HOME -R"
MANY = 1000
"""Times 5 kB: more than a terminal holds, and than a link keeps for a machine that is slow."""
NEVER_READS = "import tty, time; tty.setraw(0); print('ready', flush=True); time.sleep(600)"


@pytest.fixture(params=["in-process", "in-process@build1"])
def own(request: pytest.FixtureRequest, home: Path, tmp_path: Path) -> Iterator[Stage]:
    yield from played(request, tmp_path)


def test_a_nudge_arrives_once_and_exactly(own: Stage) -> None:
    """35, 36: the program gets the fixed line and one Enter, and no other session gets anything."""
    handle, record = own.recorder()
    _, other = own.recorder()
    assert own.backend.nudge(handle, LINE)
    wait_until(lambda: record().endswith(b"\r"), SECONDS, "the Enter arrives")
    assert record() == b"\x1b[200~" + LINE.encode() + b"\x1b[201~\r"
    assert other() == b""


@pytest.mark.parametrize("line", ["", "  ", "two\nlines", "bell\a", "\x1b[201~", "tab\t"])
def test_a_nudge_is_one_printable_line(own: Stage, line: str) -> None:
    """36: no sequence can end the paste early."""
    handle, record = own.recorder()
    with pytest.raises(BadInput):
        own.backend.nudge(handle, line)
    assert record() == b""


def test_a_line_stays_without_its_enter_when_something_speaks_against_it(own: Stage) -> None:
    handle, record = own.recorder()
    assert not own.backend.nudge(handle, "abc", lambda: False)
    wait_until(lambda: record().endswith(b"\x1b[201~"), SECONDS, "the line arrives")
    assert own.backend.press(handle, "Escape")
    wait_until(lambda: record().endswith(b"\x1b[201~\x1b"), SECONDS, "the key arrives")
    assert b"\r" not in record()


def test_an_agent_that_never_reads_takes_no_nudge(own: Stage) -> None:
    (handle,) = own.start([own.opening(sys.executable, "-c", NEVER_READS)])
    own.shows(handle, "ready")
    with Connection(handle.socket) as terminal:
        much = json.dumps({"text": "x" * 5000, "quiet": 0}).encode()

        def taken() -> bool:
            return bool(terminal.ask(protocol.PRESS, much, protocol.TAKEN)["taken"])

        if own.refuses_keys:
            while taken():
                pass
            assert not own.backend.nudge(handle, "x" * 5000)
        else:
            for _ in range(MANY):
                wait_until(taken, SECONDS, "home takes it")


def test_screens_are_seen_with_title_style_and_cursor(own: Stage, tmp_path: Path) -> None:
    handles = own.start([own.opening("sh", "-c", DRAWS), *own.sleepers(1)])
    own.shows(handles[0], "second")
    own.shows(handles[1], "here is 0")
    seen = own.backend.look(handles)
    screen = seen[handles[0].incarnation]
    assert screen.rows[:3] == ("plain red", "second", "")
    assert screen.title == "a #(touch renamed) title"
    assert screen.cursor == (0, 2)
    assert "\x1b[1m\x1b[38;5;1mred" in screen.styled[0]
    assert seen[handles[1].incarnation].rows[0] == "here is 0"
    assert not (tmp_path / "renamed").exists()


def test_a_session_that_is_gone_or_stopped_or_anothers(own: Stage) -> None:
    first, second, third = handles = own.open(3)
    for handle in handles:
        own.shows(handle, "here is")
    stranger = replace(first, pid=second.pid)
    own.backend.close(second)
    own.only_alive(handles, {first.incarnation, third.incarnation})
    os.kill(third.pid, signal.SIGSTOP)
    wait_until(lambda: processes.stopped(third.pid), STUCK, "it is stopped")
    try:
        assert set(own.backend.look(handles)) == {first.incarnation}
    finally:
        os.kill(third.pid, signal.SIGCONT)
    assert own.backend.look([stranger]) == {}
    for handle in (second, stranger):
        with pytest.raises(Refused) as refused:
            own.backend.nudge(handle, LINE)
        assert refused.value.code == "backend_stale"
    assert not own.backend.focus(second)


def test_peek_reads_what_scrolled_away_and_what_an_ended_session_showed_last(own: Stage) -> None:
    """Build 7: the same as in a pane, and after the end too."""
    (handle,) = own.start([own.opening(sys.executable, "-c", SCROLLS)])
    own.shows(handle, "x" * 500)
    shown = own.backend.peek(handle, 30).split("\n")
    assert shown[0] == "line 271" if own.history else shown == left_on_a_screen(160, 48)[-30:]
    own.backend.press(handle, "Enter")
    own.only_alive((handle,), set())
    assert own.backend.peek(handle, 30).split("\n") == shown


def test_focus_reaches_the_views_and_says_whether_there_is_one(own: Stage) -> None:
    (handle,) = own.open(1)
    own.shows(handle, "here is 0")
    assert not own.backend.focus(handle)
    with Connection(handle.socket) as view:
        view.send(protocol.SIZE, b'{"columns":90,"lines":20}')
        assert own.backend.focus(handle)
        assert view.wait(protocol.FOCUS) == {}


def test_where_it_cannot_be_it_says_what_is_missing(own: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pro0.terminals.library.find_spec", lambda name: None)
    with pytest.raises(EnvironmentMissing, match="pyghostty is not installed") as error:
        InProcess().terminal(own.place, "i")
    assert str(error.value.hint).startswith(adding("view"))


def test_a_home_whose_path_is_too_long(own: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pro0.terminals.address.sys.platform", "darwin")
    place = replace(own.place, terminals="/x" * 60)
    with pytest.raises(EnvironmentMissing, match="too long for a socket"):
        InProcess().terminal(place, "i")
