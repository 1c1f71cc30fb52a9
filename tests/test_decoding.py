"""Values of a type from JSON: many threads may meet a type at once, and a fork may come between."""

import subprocess
import sys

import msgspec
import pytest

from pro0.decoding import convert, decoder
from tests.waiting import STUCK

RACE = """
import sys, threading
import msgspec
from pro0.decoding import convert, decode, decoder

sys.setswitchinterval(1e-6)
ways = {
    "decoder": lambda kind: decoder(kind).decode(b'{"g0": {"a": {"f0": [1]}}}'),
    "decode": lambda kind: decode(b'{"g0": {"a": {"f0": [1]}}}', kind),
    "convert": lambda kind: convert({"g0": {"a": {"f0": [1]}}}, kind),
    "msgspec": lambda kind: msgspec.json.Decoder(kind).decode(b'{"g0": {"a": {"f0": [1]}}}'),
}
first, second, turns = ways[sys.argv[1]], ways[sys.argv[2]], int(sys.argv[3])

def meet(way, kind):
    barrier.wait()
    values.append(way(kind))

for turn in range(turns):
    inner = msgspec.defstruct(f"Inner{turn}", [(f"f{n}", list[int] | None, None) for n in range(20)])
    outer = msgspec.defstruct(f"Outer{turn}", [(f"g{n}", dict[str, inner] | None, None) for n in range(20)])
    barrier, values = threading.Barrier(2), []
    threads = [threading.Thread(target=meet, args=(way, outer)) for way in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [value.g0["a"].f0 for value in values] == [[1], [1]]
"""
"""Two threads meet the same types, new ones at each turn."""


def race(first: str, second: str, turns: int) -> int:
    """Return how the process ended in which two threads met types in these ways."""
    return subprocess.run([sys.executable, "-c", RACE, first, second, str(turns)], check=False).returncode


@pytest.mark.parametrize("second", ["decoder", "decode", "convert"])
@pytest.mark.parametrize("first", ["decoder", "decode", "convert"])
def test_two_threads_meet_a_type_at_once(first: str, second: str) -> None:
    assert race(first, second, 100) == 0


@pytest.mark.soak
def test_the_race_is_real() -> None:
    """Once msgspec holds by itself, the lock may go."""
    assert race("msgspec", "msgspec", 5000) != 0


FORKS = """
import os, threading
import msgspec
from pro0.decoding import decode, decoder

kinds = [msgspec.defstruct(f"Kind{n}", [(f"f{m}", list[int] | None, None) for m in range(30)]) for n in range(300)]
thread = threading.Thread(target=lambda: [decoder(kind) for kind in kinds])
thread.start()
children = []
for kind in kinds[:60:2]:
    if (pid := os.fork()) == 0:
        os._exit(0 if decode(b'{"f0": [1]}', kind) == kind(f0=[1]) else 1)
    children.append(pid)
thread.join()
assert {os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children} == {0}
"""
"""Children of a process in which another thread prepares types meanwhile; newer Pythons warn of that."""


def test_a_child_of_a_fork_prepares_types_whatever_another_thread_did() -> None:
    """The fork waits for a type under preparation, so the child meets none half prepared and no lock is held."""
    assert subprocess.run([sys.executable, "-c", FORKS], timeout=STUCK, check=False).returncode == 0


def test_a_decoder_is_made_once() -> None:
    assert decoder(dict[str, int]) is decoder(dict[str, int])


def test_attributes_are_read_only_when_asked_for() -> None:
    class Length:
        metres = 1.5

    shape = msgspec.defstruct("Shape", [("metres", float)])
    assert convert(Length(), shape, from_attributes=True) == shape(metres=1.5)
    with pytest.raises(msgspec.ValidationError):
        convert(Length(), shape)
