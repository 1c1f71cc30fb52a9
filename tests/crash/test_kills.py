"""Killed at every call of every operation, and again in what follows (reliability 11, 11b, 22; issue 3, must show 1).

After each: what was acknowledged is there, else every document is as before or after; readers read all of it; the
operation works when it is done again; nothing is left lying about.
"""

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from pro0.ops.catalog import OPERATIONS
from tests.crash import worlds
from tests.crash.lanes import LANES, SOAK, counted, sample
from tests.crash.operations import ELSEWHERE, OPERATIONS_UNDER_TEST, RUNS, Known, Row, known
from tests.crash.worlds import Picture, Place, Tree
from tests.faults import CHANGING, DONE, EVERY, KILLED, Fault, Seen, count, in_child, kill_after, kill_before

ROWS = pytest.mark.parametrize("row", OPERATIONS_UNDER_TEST, ids=lambda row: row.id)
POINTS_OF_A_ROW = 6
FIRST_OF_A_ROW = 2
PAIRS_OF_A_ROW = {"test": 2, SOAK: 200}


class Point(NamedTuple):
    """Where it is killed: before or after one call, counted from 1."""

    number: int
    call: Seen
    fault: Fault


def test_every_operation_that_changes_something_is_in_the_table() -> None:
    changing = {name for name, operation in OPERATIONS.items() if operation.changes}
    assert changing - {row.name for row in OPERATIONS_UNDER_TEST} - set(ELSEWHERE) == set()


KINDS = {
    *("config", "wanted", "runtime", "environment", "events.jsonl", "lead.lock", "troubles", "permissions"),
    *("tasks", "comments", "messages", "segment of mail", "segment of the archive", "page of history"),
}


def kind(name: str) -> str:
    """Return what a file is, whatever its team, member or number."""
    name = re.sub(r"^archive/[^/]+/", "", name)  # what is kept of a team is a home
    sealed = {"mailboxes": "segment of mail", "tasks": "segment of the archive"}
    if "/history/" in name:
        return "page of history"
    return sealed[name.partition("/")[0]] if "/archive/" in name else Path(name).name.removesuffix(".json")


def test_every_kind_of_file_is_written_by_some_operation() -> None:
    """Reports are written by guards: see below. The text of a lock is gone when the lock is."""
    written = set()
    for row in OPERATIONS_UNDER_TEST:
        with worlds.folder() as path, Place(path).home(known(row).start) as home:
            row.call(home)
            after = worlds.tree(home)
            written |= {kind(name) for name, data in after.items() if data and data != known(row).start.get(name)}
    assert written == KINDS


@ROWS
@pytest.mark.parametrize("lane", LANES)
def test_killed_at_every_call(row: Row, lane: str, place: Place) -> None:
    """Before and after each call; in `make test` after a sample of those that only read."""
    expected = known(row)
    all_points = list(points(row, expected.start, place))
    chosen = all_points if lane == SOAK else sample(all_points, POINTS_OF_A_ROW, row.id)
    for point in chosen:
        with place.home(expected.start) as home:
            ended = killed(row, home, RUNS[0], point)
            assert ended == KILLED, (point, ended)
            old_or_new(expected, home, point)
            row.again(home, RUNS[1])
            whole_again(home, [expected.new, expected.twice], point)
    counted(lane, "points", row.id, len(chosen))


@ROWS
def test_what_was_acknowledged_is_there(row: Row, place: Place) -> None:
    """Killed as soon as the call has returned."""
    expected = known(row)
    with place.home(expected.start) as home:
        assert in_child(lambda: row.call(home), 0, kill_before) == DONE
        assert worlds.picture(worlds.tree(home)) == expected.new
        assert worlds.litter(home) == []
        worlds.read_everything(home)


@ROWS
@pytest.mark.parametrize("lane", LANES)
def test_killed_again_in_what_follows(row: Row, lane: str, place: Place) -> None:
    """For each state that a first kill leaves, the same operation again, killed before calls of it that change."""
    expected = known(row)
    first = [point for point in points(row, expected.start, place) if point.fault is kill_before]
    first = [point for point in first if point.call.name in CHANGING]
    done, dice = 0, random.Random(row.id)
    chosen = first if lane == SOAK else sample(first, FIRST_OF_A_ROW, row.id)
    for point in chosen:
        left = left_by(row, expected, place, point)
        second = [other for other in again_points(row, left, place) if other.call.name in CHANGING]
        second = dice.sample(second, min(len(second), PAIRS_OF_A_ROW[lane] // max(1, len(chosen)) + 1))
        for other in second:
            with place.home(left) as home:
                assert killed_again(row, home, other) == KILLED
                worlds.read_everything(home)
                row.again(home, RUNS[2])
                whole_again(home, [expected.new, expected.twice, expected.thrice], (point, other))
        done += len(second)
    counted(lane, "pairs", row.id, done)


def left_by(row: Row, expected: Known, place: Place, point: Point) -> Tree:
    """Return what is there after a kill."""
    with place.home(expected.start) as home:
        killed(row, home, RUNS[0], point)
        return worlds.tree(home)


def points(row: Row, start: Tree, place: Place) -> Iterator[Point]:
    """Yield every place of an operation where it can be killed."""
    yield from _points(lambda home: row.call(home), start, place, (kill_before, kill_after))


def again_points(row: Row, start: Tree, place: Place) -> Iterator[Point]:
    yield from _points(lambda home: row.again(home, RUNS[1]), start, place, (kill_before,))


def _points(act: Callable[[Path], object], start: Tree, place: Place, faults: tuple[Fault, ...]) -> Iterator[Point]:
    with place.home(start) as home:
        seen = count(lambda: act(home), EVERY)
    for number, call in enumerate(seen, 1):
        for fault in faults:
            yield Point(number, call, fault)


def killed(row: Row, home: Path, run: str, point: Point) -> int:
    return in_child(lambda: row.call(home, run), point.number, point.fault, EVERY)


def killed_again(row: Row, home: Path, point: Point) -> int:
    return in_child(lambda: row.again(home, RUNS[1]), point.number, point.fault, EVERY)


def old_or_new(expected: Known, home: Path, point: object) -> None:
    """Each document is as before or after, or a whole one in between; people can read all of it."""
    found = worlds.tree(home)
    shown, texts = worlds.picture(found), worlds.documents(found)
    for name in {*shown, *expected.old, *expected.new}:
        if shown.get(name) not in (expected.old.get(name), expected.new.get(name)):
            first, last = expected.revisions.get(name, (0, 0))
            assert worlds.readable(texts.get(name, b"")), (name, point)
            assert first < worlds.revision(texts[name]) < last, (name, point)
    worlds.read_everything(home)


def whole_again(home: Path, allowed: list[Picture], point: object) -> None:
    """After the next operation each document is as after one or more of it; nothing is left lying about."""
    shown = worlds.picture(worlds.tree(home))
    for name in {*shown, *(name for one in allowed for name in one)}:
        assert shown.get(name) in [one.get(name) for one in allowed], (name, point, shown.get(name))
    assert worlds.litter(home) == [], point
    worlds.read_everything(home)
