"""tasks.json with what lies beside it: whatever is saved is kept small, and nothing is gone (rulings 2, 3.5)."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from pro0.errors import StoreError
from pro0.model.task import Entry, HistorySegment, Status, Task, TaskList, TaskSegment
from pro0.rules.tasks import archive
from pro0.store import tasklist
from pro0.store.files import File
from pro0.store.paths import segment
from pro0.store.places.promises import Documents
from pro0.store.tasklist import TaskFile
from tests.faults import count
from tests.store.raw import data_of, put
from tests.teams import NOW

pytestmark = pytest.mark.usefixtures("no_sync", "small")
PAGE, SETTLED, SEGMENT = 3, 4, 2
STRAY = f".tmp-{'0' * 32}"


@pytest.fixture(scope="module")
def small() -> Iterator[None]:
    """Pages of three entries, four settled tasks in the list, two tasks in a segment of the archive."""
    patched = pytest.MonkeyPatch()
    for module in (archive, tasklist):
        patched.setattr(module, "HISTORY_COUNT", PAGE)
    patched.setattr(archive, "SETTLED_COUNT", SETTLED)
    patched.setattr(archive, "SEGMENT_COUNT", SEGMENT)
    yield
    patched.undo()


@pytest.fixture
def file(documents: Documents) -> TaskFile:
    new = TaskFile(documents.tasks)
    new.create(TaskList())
    return new


def made(folder: Path) -> TaskFile:
    folder.mkdir()
    new = TaskFile(folder)
    new.create(TaskList())
    return new


def entries(first: int, number: int) -> tuple[Entry, ...]:
    return tuple(Entry(at=NOW, actor="w1", act="update", text=str(n)) for n in range(first, first + number))


def write(file: TaskFile, *tasks: Task, **fields: object) -> TaskList:
    with file.change("a test") as change:
        change.value = replace(change.value, tasks=tasks, **fields)
    return file.read()


def grow(file: TaskFile, number: int) -> Task:
    """Add entries to the one task."""
    before = file.read().tasks or (Task(id="task-7"),)
    known = before[0].earlier + len(before[0].history)
    history = (*before[0].history, *entries(known, number))
    return write(file, replace(before[0], history=history)).tasks[0]


def pages(file: TaskFile) -> dict[str, list[str]]:
    place = file.place.within("task-7").within("history")
    found = [File(place, name, HistorySegment) for name in sorted(place.names())]
    return {page.path.name: [entry.text for entry in page.read().entries] for page in found}


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(1, 8), max_size=8))
def test_the_whole_history_is_there_however_it_grew(tmp_path_factory: pytest.TempPathFactory, steps: list[int]) -> None:
    file = made(tmp_path_factory.mktemp("history") / "tasks")
    for step in steps:
        task = grow(file, step)
        whole = entries(0, task.earlier + len(task.history))
        assert (*file.earlier(task), *task.history) == whole
        assert len(task.history) == min(PAGE, len(whole))
        assert len(pages(file)) == -(-task.earlier // PAGE)
        assert [text for page in pages(file).values() for text in page] == [
            entry.text for entry in whole[: task.earlier]
        ]


def test_only_the_task_that_grew_gets_a_page(file: TaskFile) -> None:
    short = replace(Task(id="task-8"), history=entries(0, PAGE))
    saved = write(file, replace(Task(id="task-7"), history=entries(0, PAGE + 1)), short)
    assert saved.tasks[1] == short
    assert {*file.place.names()} - {".lock"} == {"task-7", "tasks.json"}


@pytest.mark.files
def test_the_first_page_is_in_a_folder_that_stays(file: TaskFile) -> None:
    """Who made the folder of the pages may have been killed before it was synced; once a page counts, it was."""
    (file.folder / "task-7" / "history").mkdir(parents=True)
    grow(file, PAGE)
    first = [call.name for call in count(lambda: grow(file, 1), ("rename", "fsync"))]
    later = [call.name for call in count(lambda: grow(file, 1), ("rename", "fsync"))]
    page_then_list = ["fsync", "rename", "fsync"] * 2
    assert (first, later) == (["fsync", *page_then_list], page_then_list)


def test_a_page_is_filled_then_another_begins(file: TaskFile) -> None:
    grow(file, PAGE)
    assert pages(file) == {}
    for number in range(1, 5):
        grow(file, 1)
        texts = [str(n) for n in range(number)]
        expected = {segment(1): texts[:3]} | ({segment(2): texts[3:]} if number > 3 else {})
        assert pages(file) == expected


def test_of_a_page_only_what_is_counted_counts(file: TaskFile) -> None:
    """A page is written before the list: whoever was killed in between left an entry too many, which comes again."""
    task = grow(file, PAGE + 1)
    page = next(file.pages(task))
    page.create(HistorySegment(entries=(*entries(0, 1), *entries(50, 2))))
    assert [entry.text for entry in file.earlier(task)] == ["0"]
    assert [entry.text for entry in file.earlier(grow(file, 1))] == ["0", "1"]
    task = grow(file, PAGE)
    last = list(file.pages(task))[-1]
    last.create(replace(last.read(), entries=(*last.read().entries, *entries(60, 1))))
    assert [entry.text for entry in file.earlier(task)] == ["0", "1", "2", "3", "4"]
    assert [entry.text for entry in file.earlier(grow(file, 1))] == ["0", "1", "2", "3", "4", "5"]
    assert next(file.pages(task)).read().revision == 1, "what is written anew is no later version of it"


def test_a_task_without_older_history_has_no_pages(file: TaskFile) -> None:
    assert list(file.pages(Task(id="task-7"))) == []
    assert file.earlier(Task(id="task-7")) == []


def test_a_lost_page_is_an_error_and_nothing_is_written(file: TaskFile) -> None:
    task = grow(file, PAGE + 1)
    put(next(file.pages(task)), b"{")
    before = data_of(file)
    with pytest.raises(StoreError, match="corrupt"):
        grow(file, 1)
    with pytest.raises(StoreError, match="corrupt"):
        file.earlier(task)
    assert data_of(file) == before


def test_a_page_of_a_newer_pro0_is_read_and_never_written(file: TaskFile) -> None:
    page = next(file.pages(grow(file, PAGE + 1)))
    put(page, data_of(page).replace(b'"schemaVersion": 1', b'"schemaVersion": 99'))
    before = data_of(page), data_of(file)
    assert [entry.text for entry in file.earlier(file.read().tasks[0])] == ["0"]
    with pytest.raises(StoreError, match="schemaVersion 99") as raised:
        grow(file, 1)
    assert raised.value.code == "newer_schema"
    assert (data_of(page), data_of(file)) == before


def over(number: int, **fields: object) -> Task:
    return replace(Task(id=f"task-{number}", status=Status.COMPLETED, created_at=NOW), **fields)


def segments(file: TaskFile) -> list[list[str]]:
    return [[task.id for task in one.read().tasks] for one in file.segments()]


def test_settled_tasks_move_in_parts(file: TaskFile) -> None:
    assert write(file, *map(over, range(1, 5)), next_id=9).sealed == 0
    assert segments(file) == []
    left = write(file, *map(over, range(1, 6)))
    assert (segments(file), left.sealed, [task.id for task in left.tasks]) == (
        [["task-1", "task-2"], ["task-3"]],
        2,
        ["task-4", "task-5"],
    )
    assert [one.read().revision for one in file.segments()] == [1, 1], "each is written once"
    assert [task.id for task in file.archived(left)] == ["task-3", "task-2", "task-1"]
    more = write(file, *left.tasks, *map(over, range(6, 9)))
    assert [task.id for task in file.archived(more)] == [f"task-{number}" for number in (6, 5, 4, 3, 2, 1)]
    assert more.sealed == 4


def test_the_newest_copy_counts_and_none_of_what_was_recalled(file: TaskFile) -> None:
    for number, names in enumerate([(1, 2), (2, 3)], 1):
        one = file.segments(number)[-1]
        one.place.make()
        copies = tuple(over(name, title=f"copy {number}") for name in names)
        one.create(TaskSegment(tasks=copies))
    listed = write(file, over(1), sealed=2, recalled=("task-3",))
    assert [(task.id, task.title) for task in file.archived(listed)] == [("task-2", "copy 2")]
    assert [task.title for task in file.look_up(listed, {"task-1", "task-2", "task-3"})] == ["copy 2"]
    assert list(file.archived(replace(listed, sealed=0))) == []


def test_only_as_much_is_read_as_is_looked_for(file: TaskFile) -> None:
    listed = write(file, *map(over, range(1, 9)), next_id=9)
    assert listed.sealed == 3
    put(file.segments()[0], b"{")
    assert [task.id for task in file.look_up(listed, {"task-5", "task-4"})] == ["task-5", "task-4"]
    assert file.look_up(listed, set()) == []
    with pytest.raises(StoreError, match="corrupt"):
        file.look_up(listed, {"task-1"})


def test_an_unsettled_task_in_the_archive_is_an_error(file: TaskFile) -> None:
    (first,) = file.segments(1)
    first.place.make()
    first.create(TaskSegment(tasks=(over(1), Task(id="task-2"))))
    with pytest.raises(StoreError, match="task-2 is pending, a status that no archived task has"):
        first.read()


def test_segments_that_are_there_and_that_should_be(file: TaskFile) -> None:
    def names(sealed: int = 0) -> list[str]:
        return [one.path.name for one in file.segments(sealed)]

    assert (names(), names(5)) == ([], [segment(1)])
    beside = file.place.within("archive")
    beside.make()
    for name in (segment(2), "other.json", "9.json"):
        with beside.open() as archive_place:
            archive_place.replace(name, b"")
    assert names() == names(1) == [segment(1), segment(2)]
    assert names(3) == names(900) == [segment(1), segment(2), segment(3)]


@pytest.mark.files
def test_what_a_killed_writer_left_goes_with_the_next_write(file: TaskFile) -> None:
    task = grow(file, PAGE + 1)
    left = write(file, task, *map(over, range(1, 6)))
    strays = [file.folder / "archive" / STRAY, file.folder / "task-7" / "history" / STRAY]
    for stray in strays:
        stray.touch()
    grow(file, 1)
    assert [stray.exists() for stray in strays] == [True, False]
    write(file, *left.tasks, *map(over, range(20, 26)))
    assert not strays[0].exists()


def test_a_list_of_another_program_is_read_and_numbered(tmp_path: Path) -> None:
    """Claude Code writes such a list itself: it has no revision and no number of the next task."""
    (tmp_path / "tasks.json").write_text('{"tasks": [{"id": "task-7", "title": "x"}]}')
    assert TaskFile(tmp_path).read().next_id == 8


def test_a_newer_list_is_left_alone_with_all_beside_it(file: TaskFile) -> None:
    newer = data_of(file).replace(b'"schemaVersion": 1', b'"schemaVersion": 9')
    put(file, newer)
    with pytest.raises(StoreError) as refused:
        write(file, *map(over, range(1, 9)), replace(over(9), history=entries(0, 9)))
    assert refused.value.code == "newer_schema"
    assert {*file.place.names()} - {".lock"} == {"tasks.json"}
    assert data_of(file) == newer
