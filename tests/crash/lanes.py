"""Two lanes, and the counts that each test leaves for the table in docs/faults.md (tests/crash/figures.py)."""

import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

import pytest

from tests.elsewhere import has_members_there

T = TypeVar("T")

TEST = "test"
SOAK = "soak"
LANES = (TEST, pytest.param(SOAK, marks=pytest.mark.soak))
_running: list[pytest.Item] = []
COUNTS = Path(__file__).parents[2] / ".pytest_cache" / "faults"


def sample(items: Sequence[T], number: int, seed: str) -> list[T]:
    """Return at most so many of some items, the same ones for the same seed, in order."""
    chosen = random.Random(seed).sample(range(len(items)), min(number, len(items)))
    return [items[index] for index in sorted(chosen)]


def a_few(cases: Iterable[object], number: int) -> list[object]:
    """Return all cases as parameters: so many drawn ones, always the same, for `make test`, the others for the soak."""
    listed = list(cases)
    drawn = {id(case) for case in sample(listed, number, f"{number} of {len(listed)}")}
    return [case if id(case) in drawn else _only_long(case) for case in listed]


def _only_long(case: object) -> object:
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.soak)


def place_of(lane: str, what: str, part: str) -> Path:
    """Return the file in which one test writes down its count."""
    name = "".join(letter if letter.isalnum() else "-" for letter in part)
    return COUNTS / lane / what / f"{name}.json"


def now_running(item: pytest.Item) -> None:
    """Note which test runs: what is marked as long counts as that, whichever of its parameters says so."""
    _running[:] = [item]


def lane_of(lane: str) -> str:
    """Return the lane of a count of the test that runs: one that `make test` leaves out does not count for it."""
    return SOAK if any(item.get_closest_marker(SOAK) for item in _running) else lane


def counted(lane: str, what: str, part: str, number: int) -> None:
    """Write down and print how many trials one test did; the same test overwrites its own earlier count.

    The rows are about members on this machine, so a test that has them on another one does not count.
    """
    if any(map(has_members_there, _running)):
        return
    place = place_of(lane_of(lane), what, part)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps({"what": what, "part": part, "number": number}))
    print(f"{what}: {number} ({part})")
