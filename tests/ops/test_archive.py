"""History and settled tasks leave tasks.json and are there all the same (rulings 2, 3.5)."""

import shutil
from collections.abc import Callable
from datetime import timedelta
from errno import ENOSPC
from itertools import product
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0.errors import NotFound, Refused, StoreError
from pro0.model.task import SETTLED, Archived, Changes, Draft, Entry, Gate, Kind, Status, Task
from pro0.ops.context import nobody
from pro0.ops.tasks import tasks
from pro0.ops.team.progress import WorkState, progress
from pro0.ops.team.status import status
from pro0.rules.tasks.archive import HISTORY_COUNT, SETTLED_COUNT
from pro0.store.teams import Store, TeamStore
from tests.crash.lanes import a_few
from tests.faults import (
    DONE,
    FAILED,
    KILLED,
    MUTATING,
    Fault,
    contents,
    fail_with,
    kill_after,
    kill_before,
    points,
    temporary_files,
)
from tests.teams import NOW, human, make_team, member
from tests.traffic import Traffic, traffic

BATCH = 500


def settled(team: TeamStore, number: int, size: int = 100) -> None:
    """Let that many tasks have been completed, as so many acts would have left them."""
    while number > 0:
        with team.tasks.change("a test") as change:
            first = change.value.next_id
            ids = range(first, first + min(BATCH, number))
            new = (
                Task(
                    id=f"task-{id}",
                    title=f"Task number {id:06}",
                    description="x" * size,
                    status=Status.COMPLETED,
                    created_at=NOW,
                    updated_at=NOW + timedelta(seconds=id),
                    history=(Entry(at=NOW, actor="w1", act="complete", text="done"),),
                )
                for id in ids
            )
            change.value = replace(change.value, tasks=(*change.value.tasks, *new), next_id=ids.stop)
        number -= BATCH


def make(team: TeamStore, title: str = "new", *blocked_by: str) -> str:
    return tasks.create(human(team), [Draft(title=title, blocked_by=blocked_by)])[0].id


def live(team: TeamStore) -> set[str]:
    return {task.id for task in team.tasks.read().tasks}


def everything(team: TeamStore) -> list[tuple[str, Status]]:
    return sorted((task.id, task.status) for task in tasks.list_tasks(human(team), archived=True))


@pytest.fixture
def team(home: Path) -> TeamStore:
    made = make_team(home, "w1")
    settled(made, 2 * SETTLED_COUNT)
    return made


def test_a_family_is_whole_wherever_its_tasks_are(home: Path) -> None:
    """The tree of an open epic shows its archived subtasks; the archive's own families stay there until asked for.

    One settled subtask stays beside an open epic, here task-6.
    """
    team = make_team(home, "w1")
    families = {
        "1": ("", True),
        "2": ("", False),
        "3": ("1", False),
        "4": ("2", False),
        "5": ("1", True),
        "6": ("1", False),
    }
    with team.tasks.change("a test") as change:
        made = (
            Task(
                id=f"task-{id}",
                title=id,
                type=Kind.EPIC if id == "1" else Kind.TASK,
                started_at=NOW if id == "6" else None,
                parent=f"task-{above}" if above else None,
                status=Status.PENDING if is_open else Status.COMPLETED,
                updated_at=NOW - timedelta(days=1),
            )
            for id, (above, is_open) in families.items()
        )
        change.value = replace(change.value, tasks=tuple(made), next_id=7)
    settled(team, SETTLED_COUNT)
    assert live(team).isdisjoint({"task-2", "task-3", "task-4"})
    assert {"task-1", "task-5", "task-6"} < live(team)
    whole = tasks.family(human(team))
    assert [task.id for task in whole.children("task-1")] == ["task-3", "task-5", "task-6"]
    assert "task-2" not in whole.tasks
    assert list(tasks.family(human(team), "2").tasks) == ["task-2", "task-4"]
    assert not tasks.family(human(team), "9999").tasks


def test_older_settled_tasks_are_in_the_archive_and_nowhere_else(team: TeamStore) -> None:
    listed = team.tasks.read()
    assert len(listed.tasks) <= SETTLED_COUNT
    assert len(listed.tasks) + listed.archived.completed == 2 * SETTLED_COUNT
    assert len(everything(team)) == len(set(everything(team))) == 2 * SETTLED_COUNT
    old = tasks.list_tasks(human(team), live=False, archived=True)
    assert live(team).isdisjoint(task.id for task in old)
    assert len(old) == listed.archived.completed
    assert status(human(team)).tasks["completed"] == 2 * SETTLED_COUNT
    assert progress(human(team)).outcome is WorkState.ALL_DONE


def test_an_archived_task_is_shown_and_commented(team: TeamStore) -> None:
    context = human(team)
    assert tasks.show(context, "1").title == "Task number 000001"
    tasks.comment(context, "1", "a late remark")
    assert [remark.text for remark in tasks.remarks(context, "1")] == ["done", "a late remark"]
    with pytest.raises(NotFound):
        tasks.show(context, "99999")
    with pytest.raises(Refused, match="is completed"):
        tasks.claim(member(team, "w1"), "1")
    with pytest.raises(Refused, match="is completed"):
        tasks.update(context, "1", Changes(title="t"))
    assert "task-1" not in live(team)


def test_a_new_task_may_wait_for_an_archived_one(team: TeamStore) -> None:
    """It counts as completed, as it was; and stays in the list as long as it is named."""
    id = make(team, "late", "1", "2")
    assert {"task-1", "task-2"} <= live(team)
    assert tasks.next_task(member(team, "w1")) == tasks.show(human(team), id)
    settled(team, SETTLED_COUNT)
    assert {"task-1", "task-2"} <= live(team)
    tasks.claim(member(team, "w1"), id)
    tasks.complete(member(team, "w1"), id)
    settled(team, SETTLED_COUNT)
    assert live(team).isdisjoint({"task-1", "task-2"})
    assert len(everything(team)) == 4 * SETTLED_COUNT + 1
    other = make(team)
    tasks.update(human(team), other, Changes(add_dependencies=("1",)))
    assert "task-1" in live(team)


def test_an_archived_task_that_nothing_waits_for_is_known_and_stays_in_the_archive(team: TeamStore) -> None:
    """behaviour 2.6: only an id that is no task is unknown"""
    id = make(team)
    tasks.update(human(team), id, Changes(drop_dependencies=("1",)))
    assert "task-1" not in live(team)
    with pytest.raises(NotFound, match="there is no task-99999"):
        tasks.update(human(team), id, Changes(drop_dependencies=("1", "99999")))


def test_a_dependency_on_a_failed_archived_task_blocks(home: Path) -> None:
    team = make_team(home, "w1")
    tasks.claim(member(team, "w1"), make(team, "bad"))
    tasks.fail(member(team, "w1"), "1", "broken")
    with team.tasks.change("a test") as change:
        change.value = replace(change.value, tasks=tuple(replace(t, updated_at=NOW) for t in change.value.tasks))
    settled(team, 2 * SETTLED_COUNT)
    assert team.tasks.read().archived.failed == 1
    told = status(human(team))
    assert told.tasks["failed"] == 1
    assert [need.what for need in told.attention] == ["1 archived task has failed"]
    assert progress(human(team)).outcome is WorkState.SOMETHING_FAILED
    id = make(team, "late", "1")
    with pytest.raises(Refused, match="task-1 is failed"):
        tasks.claim(member(team, "w1"), id)
    assert team.tasks.read().archived.failed == 0


def test_reopening_brings_a_task_back_with_what_it_names(home: Path) -> None:
    team = make_team(home, "w1")
    context = human(team)
    top = make(team, "top")
    base = make(team, "base")
    sub = tasks.create(context, [Draft(title="sub", parent=top, blocked_by=(base,))])[0].id
    for id in (base, sub, top):
        tasks.claim(context, id)
        tasks.complete(context, id)
    with team.tasks.change("a test") as change:
        change.value = replace(change.value, tasks=tuple(replace(t, updated_at=NOW) for t in change.value.tasks))
    settled(team, SETTLED_COUNT)
    assert live(team).isdisjoint({top, base, sub})
    with pytest.raises(Refused):
        tasks.reopen(member(team, "w1"), sub)
    assert live(team).isdisjoint({top, base, sub})
    assert tasks.reopen(context, sub, "not complete").status is Status.PENDING
    assert live(team) >= {top, base, sub}
    tasks.claim(member(team, "w1"), sub)
    assert [task.id for task in tasks.list_tasks(context, archived=True)].count(sub) == 1


def test_a_deleted_archived_task_does_not_come_back(team: TeamStore) -> None:
    tasks.delete(human(team), "1")
    with pytest.raises(NotFound):
        tasks.show(human(team), "1")
    with pytest.raises(NotFound):
        make(team, "late", "1")
    settled(team, SETTLED_COUNT)
    assert "task-1" not in dict(everything(team))
    assert int(make(team).removeprefix("task-")) == 3 * SETTLED_COUNT + 1


def test_a_gate_is_not_deleted_without_a_verdict_from_the_archive_either(team: TeamStore) -> None:
    """5.3: a task that has moved there is as gated as it was in the list."""
    [gated] = tasks.create(human(team), [Draft(title="gated", requires=Gate.APPROVAL)])
    tasks.cancel(human(team), gated.id)
    with team.tasks.change("a test") as change:
        change.value = replace(change.value, tasks=tuple(replace(t, updated_at=NOW) for t in change.value.tasks))
    settled(team, SETTLED_COUNT)
    assert gated.id not in live(team)
    with pytest.raises(Refused, match="only a person"):
        tasks.delete(replace(human(team), vouch=nobody), gated.id)
    assert tasks.delete(human(team), gated.id).id == gated.id


def test_a_broken_segment_is_an_error_where_it_is_needed(team: TeamStore) -> None:
    path = team.paths.tasks / "archive" / "000001.json"
    path.write_bytes(b"")
    with pytest.raises(StoreError, match="corrupt"):
        tasks.show(human(team), "1")
    with pytest.raises(StoreError, match="corrupt"):
        make(team, "late", "1")
    assert path.read_bytes() == b""
    tasks.claim(member(team, "w1"), make(team))


def test_history_is_read_across(home: Path) -> None:
    """Rulings 2: tasks.json keeps the newest 50 entries; nothing is dropped, nothing comes twice."""
    team = make_team(home, "w1")
    context, id = human(team), make(team)
    for number in range(170):
        tasks.update(context, id, Changes(title=f"title {number}"))
        task = tasks.show(context, id)
        assert len(task.history) == min(number + 2, HISTORY_COUNT)
        assert task.earlier + len(task.history) == number + 2
    whole = tasks.history(context, id)
    assert [entry.act for entry in whole] == ["create"] + ["update"] * 170
    assert len({entry.at for entry in whole}) == 171
    assert len(tasks.remarks(context, id)) == 170
    folder = team.paths.task(id) / "history"
    assert sorted(path.name for path in folder.iterdir()) == ["000001.json", "000002.json", "000003.json"]


def test_a_history_longer_than_any_is_written_in_parts(home: Path) -> None:
    """As a store of an earlier version may have it."""
    team = make_team(home, "w1")
    id = make(team)
    entries = tuple(Entry(at=NOW, actor="w1", act="update", text=str(number)) for number in range(333))
    with team.tasks.change("a test") as change:
        change.value = replace(change.value, tasks=(replace(change.value.tasks[0], history=entries),))
    assert [entry.text for entry in tasks.history(human(team), id)] == [str(number) for number in range(333)]


def prepared(base: Path, spilled: int) -> TeamStore:
    """A team where one more update spills a history, and one more completion seals a segment."""
    team = make_team(base, "w1")
    make(team)
    entries = tuple(Entry(at=NOW, actor="w1", act="update", text=str(number)) for number in range(spilled))
    with team.tasks.change("a test") as change:
        change.value = replace(change.value, tasks=(replace(change.value.tasks[0], history=entries),))
    settled(team, 30)
    tasks.claim(member(team, "w1"), make(team, "last"))
    return team


def seen(team: TeamStore) -> object:
    texts = [entry.text for entry in tasks.history(human(team), "1")]
    return texts, everything(team), [tasks.show(human(team), id).status for id in ("1", "2", "32")]


SPILLS: dict[str, tuple[int, Callable[[TeamStore], object]]] = {
    "first spill": (50, lambda team: tasks.update(human(team), "1", Changes(title="other"))),
    "into a segment": (75, lambda team: tasks.update(human(team), "1", Changes(title="other"))),
    "into two": (145, lambda team: tasks.update(human(team), "1", Changes(title="other"))),
    "seal": (1, lambda team: tasks.complete(member(team, "w1"), "32", "result")),
    "recall": (1, lambda team: tasks.reopen(human(team), "2")),
}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pro0.rules.tasks.archive.SETTLED_COUNT", 30)
    monkeypatch.setattr("pro0.rules.tasks.archive.SEGMENT_COUNT", 10)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(("what", "fault"), a_few(product(SPILLS, (kill_before, kill_after)), 3))
def test_killed_at_every_call(tmp_path: Path, what: str, fault: Fault) -> None:
    """Old or new, nothing lost or twice between the parts; and the next one works."""
    spilled, act = SPILLS[what]
    base = tmp_path / "base"
    begin(prepared(base, spilled), what)
    worlds: list[TeamStore] = []
    prepare = copies(base, tmp_path, worlds, act)
    old = seen(Store(base).team("alpha"))
    prepare()()
    new = seen(worlds[-1])
    assert old != new
    for point in points(prepare, fault, MUTATING):
        assert point.ended == KILLED, point
        assert seen(worlds[-1]) in (old, new), point
        if seen(worlds[-1]) == old:
            act(worlds[-1])
        assert seen(worlds[-1]) == new, point
        again(worlds[-1])
        shutil.rmtree(worlds[-1].paths.home)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("what", a_few(SPILLS, 2))
def test_failing_at_every_call(tmp_path: Path, what: str) -> None:
    """An error changes no file that counts and leaves no temporary file."""
    spilled, act = SPILLS[what]
    base = tmp_path / "base"
    begin(prepared(base, spilled), what)
    worlds: list[TeamStore] = []
    prepare = copies(base, tmp_path, worlds, act)
    old = seen(Store(base).team("alpha"))
    file = contents(base)["tasks/alpha/tasks.json"]
    for point in points(prepare, fail_with(ENOSPC), MUTATING):
        assert point.ended in (FAILED, DONE), point
        if point.ended == FAILED and worlds[-1].tasks.path.read_bytes() == file:
            assert seen(worlds[-1]) == old, point
        assert temporary_files(worlds[-1].paths.home) == [] or point.call.name == "unlink", point
        again(worlds[-1])
        shutil.rmtree(worlds[-1].paths.home)


def begin(team: TeamStore, what: str) -> None:
    """Let the archive be there already, where it is to be read."""
    if what == "recall":
        settled(team, 1)
        assert "task-2" not in live(team)


def copies(
    base: Path, tmp_path: Path, worlds: list[TeamStore], act: Callable[[TeamStore], object]
) -> Callable[[], Callable[[], object]]:
    def prepare() -> Callable[[], object]:
        home = tmp_path / f"w{len(worlds)}"
        shutil.copytree(base, home)
        worlds.append(team := Store(home).team("alpha"))
        return lambda: act(team)

    return prepare


def again(team: TeamStore) -> None:
    """One more spill and one more seal: they work, and leave nothing behind."""
    before = everything(team)
    texts = [entry.text for entry in tasks.history(human(team), "1")]
    more = tuple(Entry(at=NOW, actor="w1", act="update", text="more") for _ in range(51))
    with team.tasks.change("a test") as change:
        longer = (replace(t, history=(*t.history, *more)) if t.id == "task-1" else t for t in change.value.tasks)
        change.value = replace(change.value, tasks=tuple(longer))
    settled(team, 30)
    assert [entry.text for entry in tasks.history(human(team), "1")][: len(texts)] == texts
    assert len(tasks.history(human(team), "1")) == len(texts) + 51
    assert set(before) <= set(everything(team))
    assert len(everything(team)) == len(before) + 30
    assert temporary_files(team.paths.tasks) == []


COSTS: dict[str, Callable[[TeamStore, str], object]] = {
    "create": lambda team, _: make(team),
    "claim": lambda team, id: tasks.claim(member(team, "w1"), id),
    "complete": lambda team, id: tasks.complete(member(team, "w1"), id, "result"),
    "list": lambda team, _: tasks.list_tasks(human(team)),
    "show": lambda team, id: tasks.show(human(team), id),
    "status": lambda team, _: status(human(team)),
}


def costs(home: Path, number: int) -> dict[str, Traffic]:
    team = make_team(home / str(number), "w1")
    settled(team, number)
    id = make(team)
    assert sum(task.status in SETTLED for task in team.tasks.read().tasks) <= SETTLED_COUNT
    return {what: traffic(lambda cost=cost: cost(team, id)) for what, cost in COSTS.items()}  # type: ignore[misc]


def test_the_cost_does_not_grow_with_what_is_over(home: Path) -> None:
    """Bytes read and written per operation at 1,000, 5,000 and 20,000 settled tasks."""
    least = costs(home, SETTLED_COUNT)
    for number in (5_000, 20_000):
        for what, found in costs(home, number).items():
            assert found.read <= least[what].read * 1.02, (what, number)
            assert found.written <= least[what].written * 1.02, (what, number)
    with_archive = Store(home / "20000").team("alpha").tasks.read()
    assert with_archive.archived == Archived(completed=with_archive.archived.completed)
    assert with_archive.sealed == pytest.approx(38, abs=2)
