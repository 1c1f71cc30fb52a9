"""What a client was sent and did not take in counts as not given, and what it took in as given (rulings 3.4)."""

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from pro0.mcp.channel import unread
from pro0.ops.mail import messages
from tests.mcp.conftest import Serve
from tests.mcp.served import PATIENCE, Served
from tests.mcp.test_callers import as_member
from tests.teams import human, make_team
from tests.waiting import wait_until

linux = pytest.mark.skipif(sys.platform != "linux", reason="no other system tells")
Ends = tuple[int, int]


@pytest.fixture
def ends(request: pytest.FixtureRequest) -> Iterator[Ends]:
    """The end to read from and the end to write to."""
    with ExitStack() as stack:
        if request.param == "pipe":
            pair = os.pipe()
            for end in pair:
                stack.callback(os.close, end)
            yield pair
        else:
            reader, writer = (stack.enter_context(end) for end in socket.socketpair())
            yield reader.fileno(), writer.fileno()


@linux
@pytest.mark.parametrize("ends", ["pipe", "socket"], indirect=True)
def test_what_its_reader_has_left_is_known(ends: Ends) -> None:
    reader, writer = ends
    assert unread(writer) == 0
    os.write(writer, b"one\n")
    assert unread(writer)
    os.read(reader, 100)
    assert unread(writer) == 0


def test_of_a_file_nobody_knows_who_reads_it(tmp_path: Path) -> None:
    with (tmp_path / "file").open("wb") as file:
        assert unread(file.fileno()) is None


@linux
def test_mail_that_is_cancelled_before_it_is_read_is_given_again(home: Path, serve: Serve) -> None:
    """However late the cancellation comes; and once."""
    team = make_team(home, "w1")
    server = serve(**as_member(team, "w1")).open()
    messages.send(human(team), "w1", "hello")
    asked = server.request("tools/call", {"name": "check_messages"})
    assert server.process.stdout
    answer = server.process.stdout.fileno()
    wait_until(lambda: unread(answer), PATIENCE, "the answer is there")
    server.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": asked}})
    assert server.hear()["id"] == asked
    assert [[letter["content"] for letter in given(server)] for _ in range(2)] == [["hello"], []]


@linux
def test_mail_that_was_read_is_not_given_again(home: Path, serve: Serve) -> None:
    """Though its call is cancelled later, as OpenCode does at the end of a turn: soon the server has seen it read."""
    team = make_team(home, "w1")
    server = serve(**as_member(team, "w1")).open()

    def once() -> bool:
        messages.send(human(team), "w1", "hello")
        asked = server.request("tools/call", {"name": "check_messages"})
        assert server.hear()["id"] == asked
        for _ in range(10):
            server.ask("ping")
        server.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": asked}})
        return given(server) == []

    wait_until(once, PATIENCE, "what was read is not given again")


def given(server: Served) -> list[Any]:
    """Return the mail that a member is given now."""
    return list(server.call("check_messages")["structuredContent"]["messages"])
