"""A repair that meets errors: what was sound stays as it is, what is broken is there still, and it can be finished.

That being killed in it does no harm is in tests/cli/test_doctor.py.
"""

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from pro0 import processes
from pro0.errors import Pro0Error
from pro0.model.usage import SessionUsage, UsageBook
from pro0.ops.repair.repair import repair
from pro0.ops.tasks import tasks
from tests.crash import starts, worlds
from tests.crash.lanes import LANES, SOAK, counted, sample
from tests.crash.worlds import Place, Tree, World
from tests.faults import EVERY, EVERY_ERROR, Fault, count, fail_with, fault_at, temporary_files

TRIALS = {"test": 8, SOAK: 400}
FILES = (
    *("teams/alpha/config.json", "teams/alpha/wanted.json", "teams/alpha/runtime.json", "tasks/alpha/tasks.json"),
    *("tasks/alpha/archive/000001.json", "tasks/alpha/task-3/history/000001.json", "tasks/alpha/task-2/comments.json"),
    *("mailboxes/alpha/human/messages.json", "mailboxes/alpha/human/archive/000001.json", "teams/alpha/usage.json"),
)


def everything(home: Path) -> None:
    """Every kind of file is there."""
    starts.much_mailed(home)
    starts.turn(World(home, "w"), 1)
    with worlds.small_archive():
        tasks.fail(World(home, "w").member("w1"), "2")
    with World(home, "w").human().team.usage.change("test") as used:
        used.value = UsageBook(sessions=(SessionUsage(agent_id="w1", incarnation="inc-w1", agent="claude"),))


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No process is looked at: there may be hundreds, and each costs calls."""
    monkeypatch.setattr(processes, "having", lambda _names: [])
    monkeypatch.setattr(processes, "tagged", lambda _variable, values: {value: [] for value in values})


def mend(home: Path) -> list[str]:
    outcome = repair(World(home).human(), "/project")
    return [*outcome.done, *outcome.refused]


def broken(name: str) -> tuple[Tree, bytes]:
    """Return the world with one file broken so that all of it can be mended, and what is in that file."""
    start = dict(worlds.made(everything))
    bad = (start[name] or b"").replace(b'"revision": ', b'"revision": "x", "surprise": ', 1)
    assert bad != start[name]
    return start | {name: bad}, bad


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("lane", LANES)
def test_a_repair_that_meets_an_error_can_be_finished(name: str, lane: str, place: Place) -> None:
    start, bad = broken(name)
    with place.home(start) as home:
        calls = count(lambda: mend(home), EVERY)
        mended = worlds.documents(worlds.tree(home))
    chosen = sample(list(enumerate(calls, 1)), TRIALS[lane], name)
    for number, call in chosen:
        code = EVERY_ERROR[number % len(EVERY_ERROR)]
        with place.home(start) as home:
            said = tried(lambda home=home: mend(home), number, fail_with(code))  # type: ignore[misc]
            assert "Errno" not in said, said
            where = f"{errno.errorcode[code]} at call {number}, {call}: {said}"
            found = worlds.tree(home)
            assert bad in found.values(), where
            sound = {other: data for other, data in worlds.documents(start).items() if other not in (name, head(name))}
            assert {other: found.get(other) for other in sound} == sound, where
            assert temporary_files(home) == [], where
            mend(home)
            after = worlds.documents(worlds.tree(home))
            # The error may have met the note of what was lost, which delays no repair; the repair itself has said it.
            assert {n: worlds.plain(data) for n, data in (mended | after).items()} == {
                n: worlds.plain(data) for n, data in mended.items()
            }, where
            assert {Path(n).name for n in mended.keys() - after.keys()} <= {"troubles.json"}, where
            worlds.read_everything(home)
    counted(lane, "repairs", name, len(chosen))


def tried(act: Callable[[], object], number: int, fault: Fault) -> str:
    try:
        with fault_at(number, fault, EVERY):
            act()
    except Pro0Error as error:
        return error.message
    return ""


def head(name: str) -> str:
    """Return the file that counts a segment, which is written anew with it."""
    folder = name.partition("/archive/")[0]
    return f"{folder}/{'messages' if name.startswith('mailboxes') else 'tasks'}.json"
