"""What lies beside tasks.json is mended too, and a lost tasks.json finds its archive again (rulings 3.5)."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from pro0.errors import StoreError
from pro0.model.ids import task_number
from pro0.model.task import Changes, Entry, Task
from pro0.ops.repair import document
from pro0.ops.repair.document import RepairWork
from pro0.ops.repair.repair import repair
from pro0.ops.tasks import tasks
from pro0.rules.repair import soundness
from pro0.store.files import File
from pro0.store.teams import TeamStore
from tests.ops.test_archive import everything, make, settled
from tests.teams import NOW, human, make_team

pytestmark = pytest.mark.usefixtures("small")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pro0.rules.tasks.archive.SETTLED_COUNT", 30)
    monkeypatch.setattr("pro0.rules.tasks.archive.SEGMENT_COUNT", 10)


@pytest.fixture
def team(home: Path) -> TeamStore:
    made = make_team(home, "w1")
    settled(made, 100)
    tasks.reopen(human(made), "2")
    return made


def mend(team: TeamStore) -> list[str]:
    outcome = repair(human(team), str(team.paths.home))
    return [*outcome.done, *outcome.refused]


def test_a_sound_archive_needs_no_repair(team: TeamStore) -> None:
    before = everything(team)
    assert mend(team) == []
    assert everything(team) == before


@pytest.mark.parametrize("data", [b"", b"{", None])
def test_a_lost_list_is_made_again_with_its_archive(team: TeamStore, data: bytes | None) -> None:
    """What is archived is there, is not written over, and no number is given twice."""
    archived = {task.id for task in tasks.list_tasks(human(team), live=False, archived=True)}
    if data is None:
        team.tasks.path.unlink()
    else:
        team.tasks.path.write_bytes(data)
    assert mend(team)
    listed = team.tasks.read()
    assert {id for id, _ in everything(team)} >= archived
    assert listed.sealed == len(team.tasks.segments())
    assert task_number(make(team)) > max(map(task_number, archived))
    settled(team, 60)
    assert {id for id, _ in everything(team)} >= archived


@pytest.mark.parametrize("data", [b"", b"no json", None])
def test_a_broken_segment_is_moved_aside(team: TeamStore, data: bytes | None) -> None:
    path = team.tasks.segments()[1].path
    ids = {task.id for task in team.tasks.segments()[1].read().tasks}
    before = {id for id, _ in everything(team)}
    if data is None:
        path.unlink()
    else:
        path.write_bytes(data)
    with pytest.raises(StoreError):
        everything(team)
    assert mend(team)
    assert {id for id, _ in everything(team)} == before - ids
    assert team.tasks.read().archived.completed == len(before - ids) - len(team.tasks.read().tasks)
    assert mend(team) == []


def test_what_is_sealed_during_a_repair_stays_in_the_archive(team: TeamStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others change the list while the repair mends a segment, which has a lock of its own."""
    lost = {task.id for task in team.tasks.segments()[1].read().tasks}
    before = {id for id, _ in everything(team)} - lost
    team.tasks.segments()[1].path.write_bytes(b"{")

    def mended_slowly(work: RepairWork, file: File[Any], *rest: Any) -> None:
        document.mend(work, file, *rest)
        if file.path == team.tasks.segments()[1].path:
            settled(team, 60)

    monkeypatch.setattr("pro0.ops.repair.repair.mend", mended_slowly)
    sealed = team.tasks.read().sealed
    assert mend(team)
    listed = team.tasks.read()
    assert listed.sealed > sealed
    assert listed.archived.completed + len(listed.tasks) == len(everything(team)) == len(before) + 60


@pytest.mark.parametrize("data", [b"", None])
def test_a_broken_history_is_moved_aside(team: TeamStore, data: bytes | None) -> None:
    for number in range(120):
        tasks.update(human(team), "2", Changes(title=f"title {number}"))
    whole = tasks.history(human(team), "2")
    path = next(team.tasks.pages(tasks.show(human(team), "2"))).path
    if data is None:
        path.unlink()
    else:
        path.write_bytes(data)
    with pytest.raises(StoreError):
        tasks.history(human(team), "2")
    tasks.update(human(team), "2", Changes(title="not in the way"))
    assert mend(team)
    assert tasks.history(human(team), "2")[:-1] == whole[50:]


def test_what_is_over_may_name_what_is_archived(team: TeamStore) -> None:
    """An archived parent or dependency is not gone; one of an open task, which would be in the list, is."""
    over = Task(id="task-99", parent="task-1", dependencies=("task-3",), status=team.tasks.read().tasks[0].status)
    listed = replace(team.tasks.read(), tasks=(over,))
    assert list(soundness.tasks(listed, ())) == []
    entry = Entry(at=NOW, actor="human", act="repaired")
    assert soundness.mended(listed, (), entry) is listed
    missing = replace(listed, tasks=(Task(id="task-99", parent="task-1", dependencies=("task-3",)),))
    assert len(list(soundness.tasks(missing, ()))) == 2
    assert soundness.mended(missing, (), entry).tasks[0].parent is None
