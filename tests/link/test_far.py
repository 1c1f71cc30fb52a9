"""The link's other end, with a test in the place of home."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from pro0.link import remote, streams
from pro0.link.far import fitting
from pro0.link.near import SILENT
from pro0.link.streams import Stream
from pro0.link.tunnel import LIMIT
from pro0.terminals import protocol
from tests.link.test_remote import LASTING, order
from tests.waiting import STUCK, wait_until

BOLD = "\x1b[1m"
THERE = f"far-{os.getpid()}"


@pytest.fixture
def far(home: Path) -> Iterator[Stream]:
    """A connection from home; the session is over afterwards."""
    words = (sys.executable, "-m", "pro0", "hosted", "serve", THERE)
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        yield Stream(process.stdout.fileno(), process.stdin.fileno())
        process.stdin.close()
    remote.end(home, THERE, STUCK)


def test_a_size_that_changes_before_there_is_a_terminal_counts(far: Stream) -> None:
    """Its terminal is shown at home (behaviour 3.32)."""
    far.send(streams.BEGIN, msgspec.to_builtins(LASTING))
    far.send(protocol.SIZE, {"columns": 101, "lines": 30})
    frames: list[dict[str, object]] = []

    def is_shown() -> bool:
        frames.extend(json.loads(payload) for kind, payload in far.read() if kind == protocol.FRAME)
        return bool(frames)

    wait_until(is_shown, STUCK, "its terminal is shown")
    assert (frames[-1]["columns"], frames[-1]["lines"]) == (101, 30)


def framed(row: str, rows: int) -> bytes:
    """A frame as the terminal there sends it."""
    frame = {"columns": 250, "lines": rows, "cursor": [0, 0], "title": "", "rows": dict.fromkeys(range(rows), row)}
    return protocol.packed(protocol.FRAME, frame)[5:]


@pytest.mark.parametrize(
    ("row", "left"),
    [
        ("plain", "plain"),
        (BOLD + "e\u0301" * 250, BOLD + "e\u0301" * 250),
        (BOLD + ("e" + "\u0301" * 60) * 250, BOLD + "e" * 250),
        ("x" * 100_000, ""),
    ],
    ids=["plain", "few marks", "many marks", "too long"],
)
def test_home_takes_every_screen(row: str, left: str) -> None:
    """A row that is full of marks is no reason to cut the link, and again and again (behaviour 3.32)."""
    payload = framed(row, 70)
    taken = fitting(payload)
    assert len(taken) <= LIMIT
    assert json.loads(taken) == {**json.loads(payload), "rows": {str(index): left for index in range(70)}}
    assert taken == payload or row != left


def test_it_gives_signs_of_life(far: Stream) -> None:
    """Also while nothing happens: what is shared may be dead, and no ssh tells (behaviour 3.32)."""
    far.send(streams.BEGIN, msgspec.to_builtins(order("sleep", "1000")))
    signs: list[float] = []

    def has_signed_again() -> bool:
        signs.extend(time.monotonic() for kind, _ in far.read() if kind == streams.ALIVE)
        return len(signs) > 2

    wait_until(has_signed_again, STUCK, "it gives signs")
    assert signs[2] - signs[1] < SILENT / 2
