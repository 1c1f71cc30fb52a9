"""Races on one task: one winner of a claim, pairs that end as one after the other (reliability 4, 6)."""

import os
import shutil
from collections.abc import Callable
from functools import cache
from multiprocessing import Barrier, Pipe
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier as Meeting
from pathlib import Path
from typing import NamedTuple

import pytest

from pro0.errors import Pro0Error
from pro0.model.task import Awaiting, Changes, Draft, Status
from pro0.model.usage import Usage
from pro0.ops.catalog import OPERATIONS
from pro0.ops.tasks import gates, tasks, trees
from pro0.ops.work import runs
from pro0.store.teams import Store
from tests import crowd
from tests.crash import starts, worlds
from tests.crash.lanes import LANES, SOAK, counted, sample
from tests.crash.worlds import Picture, Place, Tree, World
from tests.teams import human, make_team, member
from tests.waiting import STUCK

CROWDS = {2: {"test": 40, SOAK: 1000}, 8: {"test": 20, SOAK: 1000}, 50: {"test": 4, SOAK: 1000}}


def one_task(home: Path) -> None:
    """A team of fifty with one task."""
    tasks.create(human(make_team(home, *(f"w{number}" for number in range(50)))), [Draft(title="one")])


def claim(place: Path, start: Tree, name: str, meeting: Meeting, rounds: int) -> None:
    """Claim the task of each round together with all others; the first client makes, judges and removes its world."""
    for turn in range(rounds):
        home, said = place / f"round-{turn}", place / f"said-{turn}"
        if name == "w0":
            worlds.put(start, home)
        meeting.wait(STUCK)
        try:
            tasks.claim(member(Store(home).team("alpha"), name), "1")
            word = "won"
        except Pro0Error as error:
            word = error.code
        descriptor = os.open(said, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(descriptor, f"{name} {word}\n".encode())
        os.close(descriptor)
        meeting.wait(STUCK)
        if name == "w0":
            judge(home, said, meeting.parties)
            shutil.rmtree(home)


def judge(home: Path, said: Path, number: int) -> None:
    """One has won, and the task is that one's; all others were told so."""
    words = [line.split() for line in said.read_text().splitlines()]
    task = Store(home).team("alpha").tasks.read().tasks[0]
    assert sorted(word for _, word in words) == ["conflict"] * (number - 1) + ["won"], words
    assert (task.status, task.epoch, len(task.history)) == (Status.IN_PROGRESS, 1, 2)
    assert [[task.assignee, "won"]] == [line for line in words if line[1] == "won"]


@pytest.mark.parametrize("number", CROWDS)
@pytest.mark.parametrize("lane", LANES)
def test_one_winner(number: int, lane: str) -> None:
    start, rounds = worlds.made(one_task), CROWDS[number][lane]
    with worlds.folder() as place:
        meeting = Barrier(number)
        crowd.run(claim, [(place, start, f"w{n}", meeting, rounds) for n in range(number)], 600)
    counted(lane, "claims", f"{number}-way", rounds)


Act = Callable[[World, str], object]
ACTS: dict[str, Act] = {
    "create": lambda w, id: tasks.create(w.human(), [Draft(title="more", parent=id)]),
    "claim": lambda w, id: tasks.claim(w.member("w2"), id),
    "take": lambda w, id: tasks.take(w.member("w1")),
    "release": lambda w, id: tasks.release(w.human(), id),
    "complete": lambda w, id: tasks.complete(w.member("w1"), id, "result"),
    "fail": lambda w, id: tasks.fail(w.member("w1"), id, "why"),
    "cancel": lambda w, id: tasks.cancel(w.human(), id, "no"),
    "reopen": lambda w, id: tasks.reopen(w.human(), id),
    "assign": lambda w, id: tasks.assign(w.human(), id, "w1"),
    "update": lambda w, id: tasks.update(w.human(), id, Changes(title="new")),
    "delete": lambda w, id: tasks.delete(w.human(), id),
    "comment": lambda w, id: tasks.comment(w.human(), id, "a remark"),
    "free": lambda w, id: tasks.free(w.lead(), "w1", "inc-w1", "exited"),
    "approve": lambda w, id: gates.approve(w.human(), id, "good"),
    "reject": lambda w, id: gates.reject(w.human(), id, "not yet"),
    "hold": lambda w, id: gates.hold(w.human(), id, Awaiting.WORK),
    "clear": lambda w, id: gates.clear(w.human(), id),
    "hand_off": lambda w, id: gates.hand_off(w.member("w1"), id, Awaiting.INPUT, "which?"),
    "retry": lambda w, id: gates.retry(w.human(), id),
    "close": lambda w, id: gates.close(w.human(), id, "good enough"),
    "continue": lambda w, id: gates.go_on(w.human(), id, "once more"),
    "start": lambda w, id: trees.start(w.human(), id),
    "begin": lambda w, id: trees.begin(w.lead(), id, "w2", "inc-w2"),
    "undo_start": lambda w, id: trees.undo_start(w.lead(), id, "no program"),
    "count": lambda w, id: runs.counted(w.member("w1"), id, Usage(input_tokens=7), 0.5),
    "expire": lambda w, id: trees.expire(w.lead(), id, 1, 30),
}
PHASES = ("1", "2", "6", "8", "9")
"""A pending task, one that w1 works on, a completed one, one that waits for a human, one that has failed."""
PARTNERS = {"test": 6, SOAK: len(ACTS)}
RACES = {"test": 2, SOAK: 200}


def test_every_act_on_a_task_races() -> None:
    """Import makes tasks of its own; of those that are there it knows only which they are."""
    changing = {name for name, operation in OPERATIONS.items() if operation.changes and name.startswith("task.")}
    assert {f"task.{name}" for name in ACTS} == changing - {"task.import"}


class Race(NamedTuple):
    """Two acts on one task, each by its name."""

    one: str
    other: str
    id: str


class End(NamedTuple):
    """What is there after a race, and what each of the two was told."""

    picture: Picture
    one: str
    other: str


def told(home: Path, act: str, id: str, run: str) -> str:
    """Do one of the two, and return what its caller is told."""
    try:
        ACTS[act](World(home, run), id)
    except Pro0Error as error:
        return f"{error.code}: {error.message}".replace(str(home), "")
    return "done"


@cache
def serial(race: Race) -> tuple[End, End]:
    """Return how it ends when one comes after the other."""
    with worlds.folder() as path:
        place = Place(path)
        with place.home(worlds.made(starts.gated)) as home:
            one, other = told(home, race.one, race.id, "a"), told(home, race.other, race.id, "b")
            first = End(ended(home), one, other)
        with place.home(worlds.made(starts.gated)) as home:
            other, one = told(home, race.other, race.id, "b"), told(home, race.one, race.id, "a")
            return first, End(ended(home), one, other)


def ended(home: Path) -> Picture:
    """Return what is there; who is told what is owed late is told now."""
    return worlds.picture(worlds.tree(home))


def runner(connection: Connection, run: str) -> None:
    """Do one act after the other as the connection says, until it says nothing."""
    while order := connection.recv():
        home, act, id = order
        connection.send(told(home, act, id, run))


@pytest.mark.parametrize("one", ACTS)
@pytest.mark.parametrize("lane", LANES)
def test_two_acts_on_one_task_end_as_one_after_the_other(one: str, lane: str, place: Place) -> None:
    (ours, theirs), (our_other, their_other) = Pipe(), Pipe()
    runners = [crowd.start(runner, theirs, "a"), crowd.start(runner, their_other, "b")]
    done = 0
    for number, other in enumerate(sample([*ACTS], PARTNERS[lane], one)):
        for turn in range(number, number + RACES[lane]):
            race = Race(one, other, PHASES[turn % len(PHASES)])
            with place.home(worlds.made(starts.gated)) as home:
                ours.send((home, race.one, race.id))
                our_other.send((home, race.other, race.id))
                words = ours.recv(), our_other.recv()
                found = End(ended(home), *words)
                assert found in serial(race), (race, words, [(end.one, end.other) for end in serial(race)])
            done += 1
    ours.send(None)
    our_other.send(None)
    crowd.all_end_well(runners)
    counted(lane, "races", one, done)
