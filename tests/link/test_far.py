"""The link's other end, with a test in the place of home."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from pro0.link import remote, streams
from pro0.link.streams import Stream
from pro0.terminals import protocol
from tests.link.test_remote import LASTING
from tests.waiting import STUCK, wait_until

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
