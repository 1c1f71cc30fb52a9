"""Why is a task not ready, which one is next, and what settles by itself?"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime

from pro0.model.ids import task_number
from pro0.model.task import SETTLED, Kind, Status, Task

_START = datetime.min.replace(tzinfo=UTC)


class Board:
    """All tasks of a team, looked up by id and by parent."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        self.tasks: Mapping[str, Task] = {task.id: task for task in tasks}
        self._children: dict[str, list[Task]] | None = None

    def __iter__(self) -> Iterator[Task]:
        return iter(self.tasks.values())

    def get(self, id: str) -> Task | None:
        """Return the task with that id, or None."""
        return self.tasks.get(id)

    def children(self, id: str) -> list[Task]:
        """Return the subtasks of a task."""
        if self._children is None:
            self._children = {}
            for task in self:
                if task.parent:
                    self._children.setdefault(task.parent, []).append(task)
        return self._children.get(id, [])

    def open_children(self, id: str) -> list[Task]:
        """Return the subtasks that are not settled."""
        return [task for task in self.children(id) if task.status not in SETTLED]

    def below(self, task: Task) -> list[Task]:
        """Return the subtasks of a task, theirs, and so on; each after the task it belongs to."""
        found = [task]
        seen = {task.id}
        for parent in found:
            fresh = [child for child in self.children(parent.id) if child.id not in seen]
            seen.update(child.id for child in fresh)
            found += fresh
        return found[1:]

    def ancestors(self, task: Task) -> Iterator[Task]:
        """Yield parent, its parent, and so on; a parent that is gone ends the line."""
        seen = {task.id}
        while task.parent and task.parent not in seen and (parent := self.get(task.parent)):
            seen.add(parent.id)
            yield parent
            task = parent


def blockers(board: Board, task: Task) -> list[str]:
    """Return what keeps a task's dependencies from being met, one phrase each (rulings 2.5, S004-038)."""
    return [_phrase(id, board.get(id)) for id in task.dependencies if not _completed(board.get(id))]


def hopeless(board: Board, task: Task) -> list[str]:
    """Return the dependencies that will not be met by themselves: failed, cancelled, gone, or blocked by such a one."""
    found: dict[str, None] = {}
    seen, left = {task.id}, [task]
    while left:
        for id in left.pop().dependencies:
            other = board.get(id)
            if other is None or other.status in (Status.FAILED, Status.CANCELLED):
                found[_phrase(id, other)] = None
            elif id not in seen and other.status is not Status.COMPLETED:
                seen.add(id)
                left.append(other)
    return list(found)


def why_not_ready(board: Board, task: Task) -> str | None:
    """Return why a task cannot be claimed now, as the rest of a sentence, or None when it is ready."""
    for reason in (_itself, _its_dependencies, _its_ancestors):
        if why := reason(board, task):
            return why
    return None


def claimable(board: Board, agent_id: str) -> list[Task]:
    """Return the ready tasks that this agent may claim, its own reservations first, then in the order of `next`."""
    free = [task for task in board if task.assignee in (None, agent_id) and why_not_ready(board, task) is None]
    return sorted(free, key=lambda task: (task.assignee != agent_id, next_order(task)))


def next_order(task: Task) -> tuple[bool, int, datetime, int]:
    """Return the sort key of `next`: started before, then priority, creation, id (rulings 2.10)."""
    return task.started_at is None, task.priority, task.created_at or _START, task_number(task.id)


def list_order(task: Task) -> tuple[bool, float, int]:
    """Return the sort key of `list`: pending by priority, the others newest change first (rulings 2.10)."""
    pending = task.status is Status.PENDING
    rank = float(task.priority) if pending else -(task.updated_at or _START).timestamp()
    return not pending, rank, task_number(task.id)


def settling(board: Board) -> list[Task]:
    """Return the parents that are over since no subtask of theirs is open (rulings 2.4, pool)."""
    return [task for task in board if _may_settle(board, task) and not board.open_children(task.id)]


def _may_settle(board: Board, task: Task) -> bool:
    """A done parent may have lost its last subtask; an epic that never had one has yet to begin."""
    if task.awaiting:
        return False
    begun_epic = task.type is Kind.EPIC and task.status is Status.PENDING and bool(board.children(task.id))
    return task.status is Status.DONE or begun_epic


def _completed(task: Task | None) -> bool:
    return task is not None and task.status is Status.COMPLETED


def _phrase(id: str, task: Task | None) -> str:
    return f"{id} is {task.status.value.replace('_', ' ')}" if task else f"{id} is gone"


def _itself(_board: Board, task: Task) -> str | None:
    if task.type is Kind.EPIC:
        return "is an epic, which only groups tasks"
    if task.waits:
        return f"is awaiting a human ({task.waits.kind}: {task.waits.reason})"
    return None if task.status is Status.PENDING else f"is {task.status.value.replace('_', ' ')}"


def _its_dependencies(board: Board, task: Task) -> str | None:
    unmet = blockers(board, task)
    return f"is blocked: {', '.join(unmet)}" if unmet else None


def _stopped(task: Task) -> bool:
    return task.status is Status.FAILED or task.waits is not None


def _its_ancestors(board: Board, task: Task) -> str | None:
    stopped = next((parent for parent in board.ancestors(task) if _stopped(parent)), None)
    if stopped is None:
        return None
    state = "awaiting a human" if stopped.waits else "failed"
    return f"is held back: {stopped.id}, above it, is {state}"
