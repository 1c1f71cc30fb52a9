"""A person who types in a session is never disturbed, and what they type is never sent for them (36, issue 4 line 3).

Between the last look at an input and its Enter lie some milliseconds, in which a person may begin to type: so the
condition is decided where the keys come in, in the very moment of the Enter.
"""

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from pro0.model.runtime import Handle
from pro0.sessions import backend
from pro0.sessions.tmux.script import typed_since
from pro0.terminals import protocol
from pro0.terminals.connection import Connection
from tests.contracts.conftest import played
from tests.contracts.elsewhere import ELSEWHERE
from tests.contracts.stages import InsideStage, Stage, TmuxStage
from tests.waiting import STUCK, wait_until

SECONDS = STUCK
LINE = "You have 2 unread messages: run `pro0 inbox`"
PASTED = b"\x1b[200~" + LINE.encode() + b"\x1b[201~"

pytestmark = pytest.mark.usefixtures("home")
Types = Callable[[str], object]


@pytest.fixture(params=["tmux", "tmux-inside", "in-process", *ELSEWHERE])
def stage(request: pytest.FixtureRequest, home: Path, tmp_path: Path) -> Iterator[Stage]:
    yield from played(request, tmp_path)


def person(stage: Stage, handle: Handle) -> AbstractContextManager[Types]:
    """A person who looks at a session, and what they type with."""
    return at_a_terminal(stage, handle) if isinstance(stage, TmuxStage) else at_a_view(handle)


@contextmanager
def at_a_terminal(stage: TmuxStage, handle: Handle) -> Iterator[Types]:
    if isinstance(stage, InsideStage):  # its panes are synchronised, which is another test
        stage.tmux("set-option", "-w", "-t", handle.pane, "synchronize-panes", "off")
    master, slave = os.openpty()
    command = stage.backend.attach_command(stage.place, [handle])
    environment = os.environ | {"TERM": "xterm"}
    with subprocess.Popen(
        command, stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True
    ) as one:
        try:
            wait_until(lambda: stage.tmux("list-clients"), SECONDS, "somebody is there")
            stage.backend.focus(handle)
            time.sleep(backend.QUIET + 1)  # to come counts as to type
            yield lambda text: os.write(master, text.encode())
        finally:
            one.terminate()
            os.close(slave)
            os.close(master)


@contextmanager
def at_a_view(handle: Handle) -> Iterator[Types]:
    with Connection(handle.socket) as view:
        yield lambda text: view.ask(protocol.INPUT, text.encode(), protocol.TAKEN)


def test_what_is_typed_after_the_last_look_stops_the_enter(stage: Stage) -> None:
    handle, record = stage.recorder()
    with person(stage, handle) as types:

        def looked_then_typed() -> bool:
            types("n")
            wait_until(lambda: record().endswith(b"n"), SECONDS, "it arrives")
            return True

        assert not stage.backend.nudge(handle, LINE, looked_then_typed)
        types("o, wait")
        wait_until(lambda: record().endswith(b"no, wait"), SECONDS, "the rest arrives")
        assert record() == PASTED + b"no, wait"


def test_a_person_who_types_is_left_alone_until_they_rest(stage: Stage) -> None:
    handle, record = stage.recorder()
    with person(stage, handle) as types:
        looked = time.monotonic()
        types("half ")
        wait_until(lambda: record() == b"half ", SECONDS, "it arrives")
        assert not stage.backend.nudge(handle, LINE, looked=looked)
        assert not stage.backend.press(handle, "Enter", looked)
        assert not stage.backend.press(handle, "Escape")
        assert record() == b"half "
        time.sleep(backend.QUIET + 1)
        assert not stage.backend.press(handle, "Enter", looked), "that look was before they typed"
        assert stage.backend.press(handle, "Escape")
        wait_until(lambda: record() == b"half \x1b", SECONDS, "the key arrives")


def test_who_types_now_is_left_alone_however_old_the_look_is(stage: Stage) -> None:
    handle, record = stage.recorder()
    with person(stage, handle) as types:
        types("half ")
        wait_until(lambda: record() == b"half ", SECONDS, "it arrives")
        for seconds in (70, 4000):
            assert not stage.backend.press(handle, "Enter", time.monotonic() - seconds)
            assert not stage.backend.nudge(handle, LINE, looked=time.monotonic() - seconds)
        assert record() == b"half "


def test_a_person_who_types_elsewhere_holds_nothing_up(stage: Stage) -> None:
    handle, record = stage.recorder()
    other, typed = stage.recorder()
    with person(stage, other) as types:
        types("a long text")
        wait_until(lambda: typed() == b"a long text", SECONDS, "it arrives")
        assert stage.backend.nudge(handle, LINE)
        wait_until(lambda: record() == PASTED + b"\r", SECONDS, "the line arrives")


def test_what_is_typed_into_synchronised_panes_is_typed_into_each(home: Path, tmp_path: Path) -> None:
    stage = TmuxStage(tmp_path)
    try:
        (handle, record), (other, _) = stage.recorder(), stage.recorder()
        with at_a_terminal(stage, other) as types:
            stage.tmux("set-option", "-w", "-t", handle.pane, "synchronize-panes", "on")
            types("to all")
            wait_until(lambda: record() == b"to all", SECONDS, "it arrives")
            assert not stage.backend.nudge(handle, LINE)
            assert record() == b"to all"
    finally:
        stage.leave()


def test_each_byte_typed_from_elsewhere_arrives_as_it_is(home: Path, tmp_path: Path) -> None:
    """So do the keys of a browser: Ctrl and a letter, arrows, Escape, and Alt with a letter."""
    stage = TmuxStage(tmp_path)
    try:
        handle, record = stage.recorder()
        for data in (b"\x03", b"\x1b[A", b"\x1b", "é \\ $".encode(), bytes(range(1, 256))):
            before = record()
            assert stage.backend.type(handle, data)
            wait_until(lambda: record() == before + data, SECONDS, f"{data!r} arrives")  # noqa: B023
        before = record()
        assert not stage.backend.type(handle, b"\0"), "no script can hold it, as Ctrl and the space bar send it"
        assert stage.backend.type(handle, b"a\0b")
        wait_until(lambda: record() == before + b"ab", SECONDS, "the rest arrives")
    finally:
        stage.leave()


def test_nobody_has_typed_at_a_time_that_is_yet_to_come(home: Path, tmp_path: Path) -> None:
    """A clock that was put back by a day would else keep every line waiting for a day."""
    stage = TmuxStage(tmp_path)
    try:
        handle, _ = stage.recorder()
        with at_a_terminal(stage, handle) as types:
            types("x")
            for now, told in ((time.time(), "1"), (time.time() - 86400, "")):
                shown = stage.tmux("display-message", "-p", "-t", handle.pane, typed_since(handle.pane, now - 9, now))
                assert shown == told
    finally:
        stage.leave()
