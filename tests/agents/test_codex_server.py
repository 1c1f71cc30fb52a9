"""Codex with a server of its own, by a stand-in: lines, permissions, and how it is started with and without it."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pro0.agents import first_prompt
from pro0.agents.adapter import SessionView
from pro0.agents.codex import server, starter
from pro0.agents.codex.websocket import WebSocket
from pro0.model.need import Choice, PermissionAnswer
from tests.agents import codex_program, placed
from tests.agents.codex_program import Server
from tests.living import ended
from tests.waiting import STUCK, wait_until

LINE = "You have 2 unread messages: run `pro0 inbox`"
Serve = Callable[..., Server]


def answer(choice: Choice, text: str = "") -> PermissionAnswer:
    return PermissionAnswer(choice=choice, text=text, by="human", at=datetime(2026, 11, 23, tzinfo=UTC))


@pytest.fixture
def view(tmp_path: Path) -> SessionView:
    return placed.session_view(tmp_path, "main")


@pytest.fixture
def serve(view: SessionView, short_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Serve one thread for this session, at a short path that its own links to."""
    monkeypatch.setattr(server, "PATIENCE", STUCK)

    def one(**options: Any) -> Server:
        real = short_folder / f"{os.urandom(4).hex()}.sock"
        Path(view.folder, server.SOCKET).symlink_to(real)
        for name, data in server.settings(view.folder, (), ("codex",)).items():
            Path(view.folder, name).write_bytes(data)
        served = Server(**options)
        ending.enter_context(served.serving(str(real)))
        return served

    with ExitStack() as ending:
        yield one


def test_a_line_waits_for_the_end_of_a_turn(view: SessionView, serve: Serve) -> None:
    """Codex asks its model anew when a text comes, and drops what that was just answering."""
    served = serve()
    served.works = True
    assert not server.deliver(view, LINE)
    assert served.said == []


def test_a_line_begins_a_turn(view: SessionView, serve: Serve) -> None:
    served = serve()
    assert server.deliver(view, LINE)
    assert server.deliver(msgspec.structs.replace(view, session=""), "again"), "a session that no file names yet"
    assert served.said == [LINE, "again"]


@pytest.mark.parametrize("letter", ["x", '"', "\x01"], ids=["plain", "quotes", "what JSON writes longest"])
def test_a_session_with_a_long_first_prompt_has_its_channel(letter: str, view: SessionView, serve: Serve) -> None:
    """The prompt is a word of the client, and that is in the file that says where the server is."""
    served = serve(asks=True)
    prompt = letter * first_prompt.IN_ARGV
    for name, data in server.settings(view.folder, (), ("codex", "--", prompt)).items():
        Path(view.folder, name).write_bytes(data)
    (entry,) = server.asked(view) or ()
    assert server.reply(view, entry.key, answer(Choice.ALLOW))
    assert server.deliver(view, LINE)
    assert served.said == [LINE]


def test_a_session_without_a_server_takes_its_line_by_keys(view: SessionView) -> None:
    assert not server.deliver(view, LINE)
    assert server.asked(view) is None
    assert not server.reply(view, "t1:call_1", answer(Choice.ALLOW))


def test_nothing_is_asked_of_the_person_while_nothing_is_asked(view: SessionView, serve: Serve) -> None:
    serve()
    assert server.asked(view) == ()


@pytest.mark.parametrize(
    ("choice", "text", "offered", "decision"),
    [
        (Choice.ALLOW, "", None, "accept"),
        (Choice.ALWAYS, "", None, "acceptForSession"),
        (Choice.DENY, "", None, "decline"),
        (Choice.DENY, "", ["accept", "cancel"], "cancel"),
        (Choice.DENY, "use git mv", ["accept", {"acceptWithExecpolicyAmendment": {}}, "cancel"], "cancel"),
    ],
)
def test_a_permission_is_shown_whole_and_answered_once(
    view: SessionView, serve: Serve, choice: Choice, text: str, offered: list[object] | None, decision: str
) -> None:
    served = serve(asks=True, availableDecisions=offered)
    (entry,) = server.asked(view) or ()
    assert (entry.tool, json.loads(entry.input)) == (
        "command",
        {"command": "touch a", "cwd": "/shop", "reason": "May I?"},
    )
    assert (Choice.ALWAYS in entry.choices) is (offered is None)
    assert not server.reply(view, "t1:call_2", answer(choice)), "another request"
    assert server.reply(view, entry.key, answer(choice, text))
    assert not server.reply(view, entry.key, answer(Choice.ALLOW)), "it is over"
    assert (served.decisions, served.said) == ([decision], [text] if text else [])


def test_a_change_of_files_is_shown_with_what_it_changes(view: SessionView, serve: Serve) -> None:
    served = serve(asks=True, command=None)
    served.method = "item/fileChange/requestApproval"
    (entry,) = server.asked(view) or ()
    assert (entry.tool, json.loads(entry.input)) == ("file change", [{"path": "a", "diff": "+x"}])
    served.request["itemId"] = "call_9"
    assert server.asked(view) == (), "what cannot be shown whole is answered in the pane"


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65_535, 65_536, 300_000])
def test_texts_of_any_size_arrive_whole(view: SessionView, serve: Serve, size: int) -> None:
    served = serve()
    assert server.deliver(view, "ü" * (size // 2) + "x" * (size % 2))
    assert [len(text.encode()) for text in served.said] == [size]


@given(data=st.binary(max_size=300))
@settings(max_examples=40)
def test_a_server_that_says_anything_is_no_server(data: bytes) -> None:
    """Then the connection ends: all that can be seen is messages, and an OSError at last."""
    here, there = socket.socketpair()
    with here, there:
        there.sendall(b"HTTP/1.1 101 Switching Protocols\r\n\r\n" + data)
        there.shutdown(socket.SHUT_WR)
        connection = WebSocket(here, STUCK)
        with pytest.raises(OSError):
            received_by(connection)


def received_by(connection: WebSocket) -> None:
    """Receive until the end."""
    while True:
        connection.receive()


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 404 Not Found\r\n\r\n", b"x" * 70_000])
def test_who_does_not_speak_it_is_left(said: bytes) -> None:
    here, there = socket.socketpair()
    with here, there:
        there.sendall(said)
        there.shutdown(socket.SHUT_WR)
        with pytest.raises(OSError):
            WebSocket(here, STUCK)


PROGRAM = f'#!/bin/sh\nexec {sys.executable} {codex_program.__file__} "$@"\n'


@pytest.fixture
def start(view: SessionView, short_folder: Path, tmp_path: Path) -> Iterator[Callable[..., tuple[int, list[str]]]]:
    """Start codex as a guard does; return the pid and words of its terminal program."""
    started: list[subprocess.Popen[bytes]] = []
    folder = short_folder / os.urandom(4).hex()
    folder.mkdir()

    def one(mode: str = "", permitted: tuple[str, str] | None = None) -> tuple[int, list[str]]:
        program, shown = tmp_path / "bin" / "codex", tmp_path / "shown"
        program.parent.mkdir()
        program.write_text(PROGRAM)
        program.chmod(0o700)
        before = server.resuming(str(folder), "main", *permitted) if permitted else ()
        for name, data in server.settings(str(folder), (), ("codex", "--remote", "there"), before).items():
            (folder / name).write_bytes(data)
        environment = {"PATH": f"{program.parent}:{os.environ['PATH']}", "SHOWN": str(shown), "MODE": mode}
        environment["PYTHONPATH"] = str(Path(codex_program.__file__).parents[2])
        words = [*starter.command(str(folder)), "codex", "--no-daemon"]
        started.append(subprocess.Popen(words, env=environment, stdin=subprocess.PIPE))
        wait_until(shown.exists, STUCK, "it is up")
        pid, told = json.loads(shown.read_text())
        return int(pid), list(told)

    yield one
    for process in started:
        with suppress(psutil.Error):
            for below in psutil.Process(process.pid).children(recursive=True):
                below.kill()
        process.kill()
        process.communicate()


def test_the_terminal_program_is_a_client_of_its_own_server(start: Callable[..., tuple[int, list[str]]]) -> None:
    pid, words = start()
    assert words == ["--remote", "there"]
    (keeper,) = psutil.Process(pid).children()
    (served,) = keeper.children()
    assert "app-server" in served.cmdline()


def test_a_version_without_such_a_server_runs_alone(start: Callable[..., tuple[int, list[str]]]) -> None:
    pid, words = start("old")
    assert words == ["--no-daemon"]
    wait_until(lambda: all(ended(child) for child in psutil.Process(pid).children()), STUCK, "nothing left")


def test_a_version_that_takes_no_such_word_is_given_none(start: Callable[..., tuple[int, list[str]]]) -> None:
    """Issue 17, must show 4: 0.149 ends with an error for it."""
    assert start("older")[1] == []


@pytest.mark.parametrize("sandbox", ["read-only", "workspace-write", "danger-full-access"])
@pytest.mark.parametrize("policy", ["never", "on-request"])
def test_a_session_is_resumed_with_what_is_permitted_now(
    start: Callable[..., tuple[int, list[str]]], sandbox: str, policy: str
) -> None:
    _, words = start(permitted=(sandbox, policy))
    assert words == ["--remote", "there"]


def test_where_more_or_less_would_be_permitted_a_resumed_session_runs_alone(
    start: Callable[..., tuple[int, list[str]]],
) -> None:
    """Its own words say then what is permitted."""
    pid, words = start("as before", ("danger-full-access", "never"))
    assert words == ["--no-daemon"]
    wait_until(lambda: all(ended(child) for child in psutil.Process(pid).children()), STUCK, "nothing left")


def test_without_its_server_the_terminal_program_is_ended(start: Callable[..., tuple[int, list[str]]]) -> None:
    """Else it would try for ever to reach it, and nobody would know."""
    pid, _ = start()
    client = psutil.Process(pid)
    (served,) = client.children()[0].children()
    served.kill()
    wait_until(lambda: ended(client), STUCK, "it is ended")
