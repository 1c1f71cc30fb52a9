"""Every call of every operation fails (reliability 13, 14; issue 3, must show 2).

After each: the operation worked all the same; or an error of pro0's with a sentence that names what is wrong, and each
document byte for byte as it was, or the error says that the change was made. Nothing is left lying about.
"""

import errno
from pathlib import Path

import msgspec
import pytest

from pro0.errors import Pro0Error
from tests.crash import worlds
from tests.crash.lanes import LANES, SOAK, counted, sample
from tests.crash.operations import OPERATIONS_UNDER_TEST, RUNS, Known, Row, known
from tests.crash.worlds import Place, Tree, World
from tests.faults import EVERY, EVERY_ERROR, Call, Fault, Shim, count, fail_with, fault_at, temporary_files, write_short

ROWS = pytest.mark.parametrize("row", OPERATIONS_UNDER_TEST, ids=lambda row: row.id)
TRIALS_OF_A_ROW = 6
BREAKS_OF_A_ROW = 3
SAY_SO = ("after the change", "partly done")

FAULTS: dict[str, Fault] = {errno.errorcode[code]: fail_with(code) for code in EVERY_ERROR} | {"short": write_short}


@ROWS
@pytest.mark.parametrize("lane", LANES)
def test_failing_at_every_call(row: Row, lane: str, place: Place) -> None:
    expected = known(row)
    with place.home(expected.start) as home:
        calls = count(lambda: row.call(home), EVERY)
    trials = [
        (number, call, what)
        for number, call in enumerate(calls, 1)
        for what in FAULTS
        if (what == "short") <= (call.name == "write")
    ]
    chosen = trials if lane == SOAK else sample(trials, TRIALS_OF_A_ROW, row.id)
    for number, call, what in chosen:
        fail_once(row, expected, place, number, what, f"{what} at call {number}, {call}")
    counted(lane, "injections", row.id, len(chosen))


@ROWS
@pytest.mark.parametrize("lane", LANES)
def test_a_disk_that_stays_broken(row: Row, lane: str, place: Place) -> None:
    """From one call on, all fail, also those that clean up; when it works again, the operation does, and cleans up."""
    expected = known(row)
    with place.home(expected.start) as home:
        calls = count(lambda: row.call(home), EVERY)
    numbers = list(range(1, len(calls) + 1))
    chosen = numbers if lane == SOAK else sample(numbers, BREAKS_OF_A_ROW, row.id)
    for number in chosen:
        with place.home(expected.start) as home:
            try:
                with fault_at(number, fail_from_now_on, EVERY):
                    row.call(home)
            except Pro0Error as error:
                judge(row, expected, home, "EIO", error.message, f"all from call {number}, {calls[number - 1]}")
            worlds.read_everything(home)
            row.again(home, RUNS[1])
            assert worlds.litter(home) == [], number
    counted(lane, "breaks", row.id, len(chosen))


def fail_from_now_on(shim: Shim, name: str, real: Call, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
    """Fail this call and the next one, which fails its next one."""
    shim.at = len(shim.seen) + 1
    return fail_with(errno.EIO)(shim, name, real, args, kwargs)


def fail_once(row: Row, expected: Known, place: Place, number: int, what: str, where: str) -> None:
    with place.home(expected.start) as home:
        said = ""
        try:
            with fault_at(number, FAULTS[what], EVERY):
                row.call(home)
        except Pro0Error as error:
            said = error.message
        judge(row, expected, home, what, said, where)
        worlds.read_everything(home)
        assert temporary_files(home) == [], where
        row.again(home, RUNS[1])
        assert worlds.litter(home) == [], where
        shown = worlds.picture(worlds.tree(home))
        for name in {*shown, *expected.new, *expected.twice}:
            assert shown.get(name) in (expected.new.get(name), expected.twice.get(name)), (name, where)


def judge(row: Row, expected: Known, home: Path, what: str, said: str, where: str) -> None:
    """What is there fits what was said."""
    found = worlds.tree(home)
    if not said:
        if row.owes and worlds.picture(found) != expected.new:  # who could not be told is told later
            worlds.recover(World(home, RUNS[0]))
            found = worlds.tree(home)
        assert worlds.picture(found) == expected.new, where
        return
    assert what != "short", where
    assert what in said, (said, where)
    assert "Errno" not in said, (said, where)
    if not any(so in said for so in SAY_SO):
        documents, old = seen(found), seen(expected.start)
        assert documents == old, (said, where, sorted(n for n in {*documents, *old} if documents.get(n) != old.get(n)))


def seen(tree: Tree) -> dict[str, bytes]:
    """Return the documents as readers see them: no segment that no head counts, of a page what its task counts.

    What is written first and counted later is not there until it is counted (rules/tasks/archive.py).
    A mailbox whose member was never seated is nobody's.
    """
    shown = worlds.documents(tree)
    counted_ = {name: _counted(name, data, shown) for name, data in shown.items()}
    return {name: data for name, data in counted_.items() if data is not None}


def _counted(name: str, data: bytes, shown: dict[str, bytes]) -> bytes | None:
    """Return what readers see of a document, None for nothing."""
    folder, _, file = name.rpartition("/")
    number = int(file.removesuffix(".json")) if file[0].isdigit() else 0
    if folder.endswith("/archive"):
        head = shown[f"{folder.removesuffix('archive')}{'tasks' if name.startswith('tasks/') else 'messages'}.json"]
        return data if number <= int(msgspec.json.decode(head).get("sealed", 0)) else None
    if folder.endswith("/history"):
        listed = msgspec.json.decode(shown["tasks/alpha/tasks.json"])["tasks"]
        earlier = next((task.get("earlier", 0) for task in listed if task["id"] == folder.split("/")[-2]), 0)
        entries = msgspec.json.decode(data)["entries"][: max(0, earlier - (number - 1) * worlds.HISTORY)]
        return msgspec.json.encode(entries) if entries else None
    if name.startswith("mailboxes/"):
        owner = f'"agentId": "{folder.rpartition("/")[2]}"'.encode()
        return data if owner in shown["teams/alpha/wanted.json"] or folder.endswith(("/human", "/lead")) else None
    return data
