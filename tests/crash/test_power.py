"""Power is lost after any call: what was acknowledged is there, and what is there can be read (reliability 15).

The model is in tests/crash/power.py. Three mutants of the write path show that it sees what it should.
"""

import inspect
from collections.abc import Callable, Iterator

import pytest

from pro0.errors import Pro0Error
from pro0.store import atomic
from tests.crash import worlds
from tests.crash.lanes import LANES, SOAK, counted, sample
from tests.crash.operations import OPERATIONS_UNDER_TEST, RUNS, Known, Row, known
from tests.crash.power import Recorder, after_power_loss
from tests.crash.test_kills import old_or_new, whole_again
from tests.crash.worlds import Place, Tree
from tests.faults import temporary_files

STATES_OF_A_ROW = 6
State = tuple[bool, int, Tree]


def recorded(row: Row, expected: Known, place: Place) -> Iterator[State]:
    """Return what a disk may show at any time of one operation; of some that are thousands of large trees."""
    with place.home(expected.start) as home:
        recorder = Recorder(home)
        recorder.record(lambda: row.call(home))
    return after_power_loss(recorder, row.id)


def judge(row: Row, expected: Known, place: Place, state: State) -> None:
    """Acknowledged: everything is there. Before: old or new. Always: readers read it, and the operation works again."""
    done, number, tree = state
    with place.home(tree) as home:
        if done and not row.owes:
            assert worlds.picture(tree) == expected.new, number
        old_or_new(expected, home, number)
        for path in temporary_files(home):  # a lock's text is not synced, so nobody knows of these: doctor finds them
            path.unlink()
        row.again(home, RUNS[1])
        whole_again(home, [expected.new, expected.twice], number)


@pytest.mark.parametrize("row", OPERATIONS_UNDER_TEST, ids=lambda row: row.id)
@pytest.mark.parametrize("lane", LANES)
def test_power_is_lost_after_any_call(row: Row, lane: str, place: Place) -> None:
    expected = known(row)
    states = recorded(row, expected, place)
    number = 0
    for state in states if lane == SOAK else sample(list(states), STATES_OF_A_ROW, row.id):
        judge(row, expected, place, state)
        number += 1
    counted(lane, "states", row.id, number)


def without_fsync_of_the_file(source: str) -> str:
    return source.replace("os.fsync(descriptor)", "pass")


def without_fsync_of_the_folder(source: str) -> str:
    return source.replace("os.fsync(folder)", "pass")


def rename_before_fsync(source: str) -> str:
    rename = "        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)\n"
    write = "            _write_all(descriptor, data)\n"
    return source.replace(rename, "").replace(write, f"{write}    {rename}")


MUTANTS = (without_fsync_of_the_file, without_fsync_of_the_folder, rename_before_fsync)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_a_wrong_write_path_is_seen(
    mutant: Callable[[str], str], place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = next(row for row in OPERATIONS_UNDER_TEST if row.name == "task.claim")
    expected = known(row)
    source = inspect.getsource(atomic.replace)
    assert mutant(source) != source
    names = dict(vars(atomic))
    exec(compile(mutant(source), "mutant", "exec"), names)
    monkeypatch.setattr(atomic, "replace", names["replace"])
    bad = 0
    for state in recorded(row, expected, place):
        try:
            judge(row, expected, place, state)
        except (AssertionError, Pro0Error):
            bad += 1
    assert bad > 0
    counted("test", "mutants", mutant.__name__, 1)
