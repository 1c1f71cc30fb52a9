"""A client of a guard's terminal, and a pseudo-terminal, in this process: nobody waits for anybody."""

import fcntl
import os
import select
import socket
import struct
import termios
import tty
from collections.abc import Iterator

import pytest

from pro0.guard import pty
from pro0.guard.client import PAUSE, Client, Gone
from pro0.guard.pty import INPUT_LIMIT, Pty
from pro0.terminals import protocol
from tests.waiting import STUCK, wait_until

FULL = 1 << 22
"""Bytes that no socket keeps."""


class Pair:
    """A client, and the other end of its connection."""

    def __init__(self) -> None:
        ours, self.theirs = socket.socketpair()
        self.theirs.settimeout(STUCK)
        self.client = Client(ours)
        self.reader = protocol.MessageReader(protocol.FRAME_LIMIT)

    def taken(self, size: int) -> bytes:
        """Take in so many bytes, while the client sends what waits."""
        data = b""
        while len(data) < size:
            self.client.flush()
            data += self.theirs.recv(1 << 16)
        return data

    def frames(self) -> list[dict[str, object]]:
        """Return the frames that have come."""
        self.theirs.settimeout(0)
        try:
            arrived = self.reader.take(self.theirs.recv(1 << 20))
        except BlockingIOError:
            return []
        assert {kind for kind, _ in arrived} <= {protocol.FRAME}
        return [protocol.unpacked(payload) for _, payload in arrived]


@pytest.fixture
def pair() -> Iterator[Pair]:
    made = Pair()
    yield made
    made.client.close()
    made.theirs.close()


def test_a_client_is_read_message_by_message_and_may_leave(pair: Pair) -> None:
    assert pair.client.read() == []
    assert select.select([pair.client], [], [], 0)[0] == []
    whole = protocol.message(protocol.INPUT, b"abc")
    pair.theirs.sendall(whole + whole[:4])
    assert select.select([pair.client], [], [], STUCK)[0] == [pair.client]
    assert pair.client.read() == [(protocol.INPUT, b"abc")]
    pair.theirs.sendall(whole[4:])
    assert pair.client.read() == [(protocol.INPUT, b"abc")]
    pair.theirs.close()
    for _ in range(2):
        with pytest.raises(Gone):
            pair.client.read()
    pair.client.close()
    for act in (pair.client.read, lambda: pair.client.send(b"x")):
        with pytest.raises(Gone):
            act()


def test_what_a_client_does_not_take_in_waits_and_comes_whole(pair: Pair) -> None:
    waits = [pair.client.sending]
    pair.client.send(b"a" * FULL)
    waits.append(pair.client.sending)
    pair.client.send(b"b")
    assert pair.taken(FULL + 1) == b"a" * FULL + b"b"
    assert [*waits, pair.client.sending] == [False, True, False]


@pytest.mark.parametrize("reads", [True, False])
def test_a_farewell_waits_for_who_takes_it_in_and_for_nobody_else(reads: bool) -> None:
    pair = Pair()
    pair.client.send(b"a" * (1 << 16 if reads else FULL))
    pair.client.farewell(0.01)
    size = 0
    while part := pair.theirs.recv(1 << 16):
        size += len(part)
    assert (size == 1 << 16) is reads
    assert size < FULL
    pair.theirs.close()


def test_a_frame_is_whole_at_first_and_then_what_changed(pair: Pair) -> None:
    one = pair.client
    assert (one.views, one.watching, one.seen, one.due) == (False, False, -1, 0.0)
    one.watch(watching=True)
    assert one.watching
    steps = [
        ((1, ["a", "b"], {"title": "t"}, 5.0), [{"title": "t", "rows": {"0": "a", "1": "b"}}], 5.0 + PAUSE),
        ((2, ["a", "c"], {"title": "t"}, 6.0), [{"title": "t", "rows": {"1": "c"}}], 6.0 + 1 / 60),
        ((3, ["a", "c"], {"title": "t"}, 7.0), [], 6.0 + PAUSE),
        ((4, ["a", "c"], {"title": "u"}, 8.0), [{"title": "u", "rows": {}}], 8.0 + PAUSE),
        ((5, ["a"], {"title": "u"}, 9.0), [{"title": "u", "rows": {"0": "a"}}], 9.0 + PAUSE),
    ]
    for (state, rows, rest, now), frames, due in steps:
        one.show(state, rows, dict(rest), now)
        assert (pair.frames(), one.seen, one.due) == (frames, state, due)
    one.watch(watching=False)
    assert (one.watching, one.seen, one.due) == (False, -1, 0.0)
    one.show(6, ["a"], {"title": "u"}, 9.5)
    assert pair.frames() == [{"title": "u", "rows": {"0": "a"}}]
    one.watch(watching=True)
    one.show(7, [], {}, 9.5)
    assert (pair.frames(), one.due) == ([], 0.0)


@pytest.fixture
def line() -> Iterator[tuple[Pty, int]]:
    """A terminal and its agent's end, which changes nothing that passes."""
    made = Pty(80, 24)
    end = os.open(made.path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    tty.setraw(end)
    yield made, end
    os.close(end)
    made.close()


def there(end: int) -> int:
    """Return how many bytes can be read at one end: they come some time after they were written at the other."""
    return int(struct.unpack("i", fcntl.ioctl(end, termios.FIONREAD, bytes(4)))[0])


def test_a_terminal_has_its_size(line: tuple[Pty, int]) -> None:
    made, end = line
    assert os.get_terminal_size(end) == (80, 24)
    made.resize(60_000, 50_000)
    assert os.get_terminal_size(end) == (60_000, 50_000)
    made.resize(120, 40)
    assert struct.unpack("HHHH", fcntl.ioctl(end, termios.TIOCGWINSZ, bytes(8))) == (40, 120, 0, 0), "and no pixels"


@pytest.mark.parametrize("turn", [5, 8])
def test_output_is_read_in_turns(line: tuple[Pty, int], turn: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made, end = line
    assert made.read() == b""
    monkeypatch.setattr(pty, "TURN", turn)
    monkeypatch.setattr(pty, "READ", 4)
    os.write(end, b"0123456789abcdefghij")
    wait_until(lambda: there(made.fileno) == 20, STUCK, "it has come")
    assert [made.read() for _ in range(4)] == [b"01234567", b"89abcdef", b"ghij", b""]


def test_input_comes_to_the_agent(line: tuple[Pty, int]) -> None:
    made, end = line
    assert made.put(b"hello")
    assert made.waiting == b""
    wait_until(lambda: there(end) == 5, STUCK, "it has come")
    assert os.read(end, 9) == b"hello"


def test_input_waits_for_an_agent_that_does_not_read_and_comes_whole(line: tuple[Pty, int]) -> None:
    """In the place of its terminal a pipe that is full, for that takes in nothing by itself."""
    made, _ = line
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    kept, made.fileno = made.fileno, writing
    filled = 0
    while not made.waiting:
        made.put(b"#" * 4096)
        filled += 4096
    text = bytes(ord("a") + n % 26 for n in range(INPUT_LIMIT))
    room = INPUT_LIMIT - len(made.waiting)
    assert not made.put(text[: room + 1])
    assert made.put(text[:room])
    assert len(made.waiting) == INPUT_LIMIT
    assert not made.put(b"x")
    arrived = b""
    while len(arrived) < filled + room:
        arrived += os.read(reading, 1000)
        made.write()
    assert (arrived, bytes(made.waiting)) == (b"#" * filled + text[:room], b"")
    made.fileno = kept
    os.close(reading)
    os.close(writing)


def test_what_nobody_will_read_is_not_kept() -> None:
    made = Pty(80, 24)
    kept, made.fileno = made.fileno, -1
    assert made.put(b"x")
    assert made.waiting == b""
    assert made.read() == b""
    made.fileno = kept
    ends = [kept, made._agents_end]
    made.let_go()
    made.let_go()
    made.close()
    for end in ends:
        with pytest.raises(OSError, match="Bad file"):
            os.fstat(end)
