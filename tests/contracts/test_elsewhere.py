"""What is another's for sessions on another machine, and that each test of the short lane is there."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from pro0 import processes
from pro0.engine import hosts
from tests.contracts.conftest import SHORT, played
from tests.contracts.elsewhere import ELSEWHERE, Elsewhere
from tests.contracts.stages import Stage


@pytest.fixture(params=ELSEWHERE)
def far(request: pytest.FixtureRequest, home: Path, tmp_path: Path) -> Iterator[Stage]:
    yield from played(request, tmp_path)


def test_a_guard_that_is_killed_here_ends_nobody_there_before_that_machine_is_asked(far: Elsewhere) -> None:
    """Issue 19, must show 3: and then that session alone."""
    first, other = handles = far.open(2)
    for handle in handles:
        far.shows(handle, "here is")
    far.die(first)
    far.only_alive(handles, {other.incarnation})
    there = [far.report_there(handle) for handle in handles]
    assert [processes.alive(report.guard) for report in there] == [True, True]
    hosts.end(far.hosted(first))
    assert [processes.alive(report.guard) for report in there] == [False, True]


def test_each_test_of_the_short_lane_is_there() -> None:
    names = {
        name
        for path in Path(__file__).parent.glob("test_*.py")
        for name in dir(import_module(f"tests.contracts.{path.stem}"))
    }
    assert {name for name, _ in SHORT} <= names
    assert {mode for _, mode in SHORT} <= ELSEWHERE.keys()
