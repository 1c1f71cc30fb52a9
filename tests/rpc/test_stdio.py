"""The bridge of `pro0 rpc --stdio`: how messages are cut out of its input, and what it says when a lead goes."""

import io
import json
import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pro0.errors import BadInput, EnvironmentMissing, Pro0Error
from pro0.rpc.stdio import bridge
from pro0.store.paths import SOCKET
from pro0.store.teams import TeamStore
from pro0.terminals import address
from tests.waiting import STUCK

VERSION = {"jsonrpc": "2.0"}
READS = socket.SOCK_SEQPACKET if sys.platform == "linux" else socket.SOCK_STREAM
"""With packets each piece is one read; macOS has none for such sockets, and may join pieces."""
PACKET = 4096
"""Bytes of one read, at least: the rest of a longer packet would be lost."""


def said(team: TeamStore, *pieces: bytes) -> tuple[bytes, Pro0Error | None]:
    """Bridge an input that arrives in these pieces; return what came out, and what was raised."""
    source, client = socket.socketpair(socket.AF_UNIX, READS)
    sink, raised = io.BytesIO(), list[Pro0Error]()

    def carry() -> None:
        try:
            bridge(team, source.detach(), sink)
        except Pro0Error as error:
            raised.append(error)

    carrying = threading.Thread(target=carry, daemon=True)
    carrying.start()
    with client:
        for piece in pieces:
            for begin in range(0, len(piece), PACKET):
                client.sendall(piece[begin : begin + PACKET])
    carrying.join(STUCK)
    assert not carrying.is_alive(), "the bridge hangs"
    return sink.getvalue(), next(iter(raised), None)


def messages(out: bytes, *, framed: bool) -> Iterator[Any]:
    """Yield the messages of an output."""
    if not framed:
        yield from map(json.loads, out.splitlines())
        return
    while out:
        head, _, out = out.partition(b"\r\n\r\n")
        name, _, size = head.partition(b": ")
        assert name == b"Content-Length"
        yield json.loads(out[: int(size)])
        out = out[int(size) :]


def framing(body: bytes, first: bytes = b"") -> bytes:
    return b"%sContent-Length: %d\r\n\r\n%s" % (first, len(body), body)


CALLS = st.builds(
    lambda method, key: VERSION | {"method": method} | key,
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20),
    st.just({}) | st.fixed_dictionaries({"id": st.integers() | st.text(max_size=5) | st.none()}),
)
BODIES = st.builds(
    lambda message, indent, ascii_only: json.dumps(message, indent=indent, ensure_ascii=ascii_only).encode(),
    CALLS | st.lists(CALLS, min_size=1, max_size=3),
    st.sampled_from([None, 1]),
    st.booleans(),
)
HEADERS = st.permutations(
    [b"Content-Length: %d", b"Content-Type: application/vscode-jsonrpc; charset=utf-8", b"X-Other: {"]
).flatmap(lambda names: st.integers(names.index(b"Content-Length: %d") + 1, 3).map(lambda count: names[:count]))
FRAMED = st.builds(
    lambda head, body, case: case(b"\r\n".join(head)) % len(body) + b"\r\n\r\n" + body,
    HEADERS,
    BODIES,
    st.sampled_from([bytes, lambda head: head.replace(b"Content", b"CONTENT"), lambda head: head.replace(b": ", b":")]),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(FRAMED, min_size=1, max_size=4).map(b"".join), st.data())
def test_framed_messages_are_answered_alike_however_they_are_cut(
    team: TeamStore, path: Path, stream: bytes, data: st.DataObject
) -> None:
    assert path
    whole = said(team, stream)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(stream)), max_size=30))) if data.draw(st.booleans()) else None
    places = [0, *(range(1, len(stream)) if cuts is None else cuts), len(stream)]
    pieces = [stream[begin:end] for begin, end in pairwise(places) if end > begin]
    assert said(team, *pieces) == whole
    out, error = whole
    assert error is None
    keys = [one.get("id") for answer in messages(out, framed=True) for one in _each(answer)]
    bodies = [json.loads(part) for part in _bodies(stream)]
    assert keys == [call["id"] for body in bodies for call in _each(body) if "id" in call]


def _each(message: Any) -> list[Any]:
    return message if isinstance(message, list) else [message]


def _bodies(stream: bytes) -> Iterator[bytes]:
    while stream:
        head, _, stream = stream.partition(b"\r\n\r\n")
        [size] = [int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")]
        yield stream[:size]
        stream = stream[size:]


CALL = json.dumps(VERSION | {"id": 1, "method": "team.cost"}).encode()


@pytest.mark.parametrize(
    "head",
    [b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n", b"content-type:x\r\n", b"X-Client: {\r\n"],
)
def test_any_header_may_stand_first(team: TeamStore, path: Path, head: bytes) -> None:
    assert path
    out, error = said(team, framing(CALL, head) + framing(CALL))
    assert error is None
    assert ["result" in one for one in messages(out, framed=True)] == [True, True]


@pytest.mark.parametrize("line", [b"hello", b'"Content-Length": 5', b"12: 5", b"{", b" : "])
def test_a_line_that_is_no_header_is_a_message_of_its_own(team: TeamStore, path: Path, line: bytes) -> None:
    assert path
    out, error = said(team, line + b"\n" + CALL + b"\n")
    assert error is None
    assert ["result" in one for one in messages(out, framed=False)] == [False, True]


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: " + b"9" * 5000,
        b"Content-Length: " + b"0" * 70_000 + b"5",
        b"Content-Length: x",
        b"Content-Length: -1",
        b"Content-Length:",
        b"Content-Type: x",
    ],
    ids=["5,000 digits", "zeros", "a word", "negative", "empty", "missing"],
)
def test_a_header_without_a_length_is_answered_once_and_ends_the_bridge(
    team: TeamStore, path: Path, head: bytes
) -> None:
    assert path
    out, error = said(team, framing(CALL) + head + b"\r\n\r\n" + CALL + framing(CALL))
    good, bad = sorted(messages(out, framed=True), key=lambda message: "error" in message)
    assert ("result" in good, bad["id"], bad["error"]["code"]) == (True, None, -32700)
    assert isinstance(error, BadInput)
    assert "Content-Length" in error.message
    assert error.hint


def test_a_message_over_the_limit_does_not_end_the_bridge(team: TeamStore, path: Path) -> None:
    assert path
    out, error = said(team, framing(b"x" * 5_000_000) + framing(CALL))
    assert error is None
    assert [one.get("id") for one in messages(out, framed=True)] == [None, 1]


@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_WRONLY])
def test_an_input_that_cannot_be_read_is_said(team: TeamStore, path: Path, tmp_path: Path, flags: int) -> None:
    """It is a folder, or a file to write alone."""
    assert path
    source = tmp_path
    if flags == os.O_WRONLY:
        (source := tmp_path / "file").touch()
    with pytest.raises(BadInput, match="stdin cannot be read: ") as raised:
        bridge(team, os.open(source, flags), io.BytesIO())
    assert raised.value.hint


ANSWER = b'{"jsonrpc":"2.0","id":1,"result":{}}\n'
NEWS = b'{"jsonrpc":"2.0","method":"ticket.list.changed","params":{}}\n'
TOLD = VERSION | {"method": "team.cost"}
CALLED = TOLD | {"id": 1}


@contextmanager
def leaving(team: TeamStore, says: bytes) -> Iterator[None]:
    """Let a lead be that says this much when its client has ended, and goes."""

    def lead() -> None:
        connection, _ = listener.accept()
        with connection:
            while connection.recv(65536):
                pass
            connection.sendall(says)

    with address.bound(str(team.paths.team / SOCKET)) as listener:
        listener.listen()
        thread = threading.Thread(target=lead, daemon=True)
        thread.start()
        yield
        thread.join(STUCK)


@pytest.mark.parametrize(
    ("asked", "says", "gone"),
    [
        ([CALLED], b"", True),
        ([CALLED], ANSWER, False),
        ([CALLED], ANSWER[:-9], True),
        ([CALLED], NEWS, True),
        ([CALLED, CALLED], NEWS + ANSWER, True),
        ([CALLED, CALLED], ANSWER + NEWS + ANSWER, False),
        ([TOLD], b"", False),
        ([[CALLED, TOLD, CALLED]], b"[" + ANSWER[:-1] + b"," + ANSWER[:-1] + b"]\n", False),
        ([[CALLED, TOLD, CALLED]], b"", True),
        ([[TOLD, TOLD]], b"", False),
        ([{"no": "message"}], b"", True),
        ([], b"", False),
    ],
)
@pytest.mark.parametrize("framed", [False, True])
def test_a_lead_that_owes_an_answer_is_said_to_have_gone(
    team: TeamStore, asked: list[object], says: bytes, gone: bool, framed: bool
) -> None:
    """The client has ended its input before, as with `pro0 rpc --stdio < requests`."""
    bodies = [json.dumps(one).encode() for one in asked]
    with leaving(team, says):
        out, error = said(team, *(map(framing, bodies) if framed else (body + b"\n" for body in bodies)))
    assert (type(error) if error else None) is (EnvironmentMissing if gone else None)
    assert len([*messages(out, framed=framed)]) == says.count(b"\n")
