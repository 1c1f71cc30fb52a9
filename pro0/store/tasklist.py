"""tasks.json with its older history and its archive; those are written first, then the list with their counts."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pro0.model import ids
from pro0.model.stored import SCHEMA_VERSION
from pro0.model.task import Entry, HistorySegment, Task, TaskList, TaskSegment
from pro0.rules.tasks import archive
from pro0.rules.tasks.archive import HISTORY_COUNT
from pro0.store.files import File, encode, newer
from pro0.store.paths import ARCHIVE, HISTORY, TASKS, number_of, segment

if TYPE_CHECKING:
    from pro0.store.places.place import DocumentPlace, OpenPlace


class TaskFile(File[TaskList]):
    """The task list of one team; each save moves old entries and tasks out of it."""

    def __init__(self, place: "Path | DocumentPlace") -> None:
        super().__init__(place, TASKS, TaskList, filled=archive.numbered)

    def archived(self, tasks: TaskList) -> Iterator[Task]:
        """Yield each archived task once, the latest moved first."""
        ids_seen = {task.id for task in tasks.tasks}.union(tasks.recalled)
        for number in range(tasks.sealed, 0, -1):
            for task in reversed(self._segment(number).read().tasks):
                if task.id not in ids_seen:
                    ids_seen.add(task.id)
                    yield task

    def look_up(self, tasks: TaskList, task_ids: Collection[str]) -> list[Task]:
        """Return the wanted tasks in the archive."""
        matches: list[Task] = []
        for task in self.archived(tasks) if task_ids else ():
            if task.id in task_ids:
                matches.append(task)
                if len(matches) == len(task_ids):
                    break
        return matches

    def segments(self, sealed: int = 0) -> list[File[TaskSegment]]:
        """Return the archive's files in order, plus the next one when `sealed` counts more."""
        newest = max(map(number_of, self.place.within(ARCHIVE).names()), default=0)
        return [self._segment(number) for number in range(1, max(min(sealed, newest + 1), newest) + 1)]

    def pages(self, task: Task) -> Iterator[File[HistorySegment]]:
        """Yield the files of a task's older history, oldest first."""
        return (self._page(task.id, start) for start in range(0, task.earlier, HISTORY_COUNT))

    def earlier(self, task: Task) -> list[Entry]:
        """Return the history entries already moved out of the list, oldest first."""
        remaining, entries = task.earlier, list[Entry]()
        for page in self.pages(task):
            entries += page.read().entries[: min(remaining, HISTORY_COUNT)]
            remaining -= HISTORY_COUNT
        return entries

    def write(self, place: "OpenPlace", value: TaskList) -> None:
        """Write the list, as part of the caller's change; old entries and tasks go into segments first."""
        # A list of a newer pro0 must not spill into segments: the write below refuses it.
        if value.schema_version <= SCHEMA_VERSION:
            value = self._kept_small(place, value)
        super().write(place, value)

    def _kept_small(self, place: "OpenPlace", value: TaskList) -> TaskList:
        if any(len(task.history) > HISTORY_COUNT for task in value.tasks):
            value = replace(value, tasks=tuple(self._spilled(place, task) for task in value.tasks))
        small, parts = archive.overflow(value)
        if parts:
            with place.within(ARCHIVE) as beside:
                beside.tidy()
                for number, tasks in enumerate(parts, value.sealed + 1):
                    beside.replace(segment(number), encode(TaskSegment(revision=1, tasks=tasks)))
        return small

    def _spilled(self, place: "OpenPlace", task: Task) -> Task:
        """Write a history's oldest entries to its segments; a segment with room is rewritten with its valid entries."""
        spilled, old = archive.spill(task)
        if not old:
            return task
        start = task.earlier - task.earlier % HISTORY_COUNT
        entries = (*self._begun(task, start), *old)
        with place.within(ids.task_id(task.id)) as task_place, task_place.within(HISTORY) as beside:
            if not task.earlier:
                task_place.sync()
            beside.tidy()
            for begin in range(0, len(entries), HISTORY_COUNT):
                page = HistorySegment(revision=1, entries=entries[begin : begin + HISTORY_COUNT])
                beside.replace(segment((start + begin) // HISTORY_COUNT + 1), encode(page))
        return spilled

    def _begun(self, task: Task, start: int) -> tuple[Entry, ...]:
        """Return the valid entries of a page before its rewriting; raises StoreError for a page of a newer pro0."""
        if task.earlier <= start:
            return ()
        file = self._page(task.id, start)
        page = file.read()
        if page.schema_version > SCHEMA_VERSION:
            raise newer(file.path, page.schema_version)
        return page.entries[: task.earlier - start]

    def _page(self, task_id: str, start: int) -> File[HistorySegment]:
        place = self.place.within(ids.task_id(task_id)).within(HISTORY)
        return File(place, segment(start // HISTORY_COUNT + 1), HistorySegment)

    def _segment(self, number: int) -> File[TaskSegment]:
        return File(self.place.within(ARCHIVE), segment(number), TaskSegment, fault=archive.fault)
