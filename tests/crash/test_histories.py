"""Eight clients, random operations, some killed in the middle: one order explains all (reliability 7)."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pro0.store import files
from pro0.store.files import Change, File
from tests import crowd, histories
from tests.crash import worlds
from tests.crash.lanes import LANES, SOAK, counted
from tests.crash.worlds import Place, Tree
from tests.faults import KILLED
from tests.histories import CLIENTS, Call
from tests.waiting import STUCK

CALLS = 200
PARTS = 10
HISTORIES_OF_A_PART = {"test": 1, SOAK: 100}


def history(home: Path, seed: str) -> list[Call]:
    """Let the clients work; for one that is killed another one goes on."""
    left = list(CLIENTS)
    while left:
        started = [(name, crowd.start(histories.client, home, name, seed, CALLS // len(CLIENTS))) for name in left]
        for _, process in started:
            process.join(STUCK)
        assert {process.exitcode for _, process in started} <= {0, KILLED}
        left = [name for name, process in started if process.exitcode == KILLED]
    return histories.read(home)


@pytest.fixture(scope="module")
def start() -> Tree:
    return worlds.made(histories.make)


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("lane", LANES)
def test_one_order_explains_what_each_client_was_told(lane: str, part: int, start: Tree, place: Place) -> None:
    number, killed = HISTORIES_OF_A_PART[lane], 0
    for turn in range(number):
        with place.home(start) as home:
            calls = history(home, f"{part} {turn}")
            assert histories.explained(calls), f"history {part} {turn}: {calls}"
            worlds.read_everything(home)
            killed += sum(call.answer is None for call in calls)
            assert len(calls) >= CALLS
    counted(lane, "histories", str(part), number)
    counted(lane, "killed clients", str(part), killed)


@contextmanager
def careless(self: File[Any], why: str) -> Iterator[Change[Any]]:
    """Read first and lock then, as a store must not."""
    with self.place.open() as folder:
        value = self._load(folder)
    time.sleep(0.02)  # however busy the processors are, another comes in between
    with files.File._translated(self), self.place.locked(why) as folder:
        change = Change(folder, value)
        yield change
        if change.value is not value:
            self.write(folder, change.value)


def test_a_store_that_reads_before_it_locks_is_seen(start: Tree, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(File, "change", careless)
    for turn in range(20):
        with place.home(start) as home:
            if not histories.explained(history(home, f"mutant {turn}")):
                counted("test", "mutants", "a read outside the lock", 1)
                return
    pytest.fail("twenty histories of a careless store were explained")


def test_what_no_order_explains_is_seen() -> None:
    """The search itself: two winners of one claim, an answer from the past, and what a killed client may have done."""

    def call(who: str, verb: str, asked: int, told: int, *answer: object) -> Call:
        return Call(who, verb, "1", asked, told, answer or None)

    def explained(*calls: Call) -> bool:
        return histories.linearizable(calls, histories.tasks_step, histories.start_of_tasks(1))

    won, lost = ("ok", 1, 1), ("no", "conflict")
    assert explained(call("a", "claim", 1, 4, *won), call("b", "claim", 2, 3, *lost))
    assert not explained(call("a", "claim", 1, 4, *won), call("b", "claim", 2, 3, *won))
    assert not explained(call("a", "claim", 3, 4, *won), call("b", "claim", 1, 2, *lost))
    killed = call("c", "claim", 0, histories.NEVER)
    assert explained(killed, call("b", "claim", 1, 2, *lost))
    assert explained(killed, call("b", "claim", 1, 2, *won))
    assert not explained(killed, call("b", "claim", 1, 2, *won), call("a", "show", 3, 4, "ok", "pending", "", 0))
