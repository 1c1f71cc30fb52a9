"""The board of a team: readiness of tasks, their order, and parents ready to settle."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime

from pro0.model.ids import task_number
from pro0.model.task import SETTLED, Kind, Policy, Status, Task
from pro0.rules.tasks.acts import Act
from pro0.rules.tasks.gates import at_gate

_START = datetime.min.replace(tzinfo=UTC)


class Board:
    """All tasks of a team, indexed by id and by parent."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        self.tasks: Mapping[str, Task] = {task.id: task for task in tasks}
        self._children: dict[str, list[Task]] | None = None
        self._policies: dict[str, Policy | None] = {}

    def __iter__(self) -> Iterator[Task]:
        return iter(self.tasks.values())

    def get(self, id: str | None) -> Task | None:
        """Return the task with this id, or None."""
        return self.tasks.get(id) if id else None

    def children(self, id: str) -> list[Task]:
        """Return the subtasks of a task."""
        if self._children is None:
            self._children = {}
            for task in self:
                if task.parent:
                    self._children.setdefault(task.parent, []).append(task)
        return self._children.get(id, [])

    def open_children(self, id: str) -> list[Task]:
        """Return the unsettled subtasks of a task."""
        return [task for task in self.children(id) if task.status not in SETTLED]

    def below(self, task: Task) -> list[Task]:
        """Return all subtasks below a task, at every depth. Each comes after its parent."""
        tasks = [task]
        ids = {task.id}
        for parent in tasks:
            fresh = [child for child in self.children(parent.id) if child.id not in ids]
            ids.update(child.id for child in fresh)
            tasks += fresh
        return tasks[1:]

    def ancestors(self, task: Task) -> Iterator[Task]:
        """Yield the parent of a task, then the parent's parent, and so on. A missing parent ends the line."""
        ids = {task.id}
        while task.parent and task.parent not in ids and (parent := self.get(task.parent)):
            ids.add(parent.id)
            yield parent
            task = parent

    def declared(self, task: Task) -> Policy | None:
        """Return the policy of a task, or of the nearest ancestor with a policy. None is the team's policy."""
        policy, passed = task.policy, list[str]()
        for ancestor in self.ancestors(task) if not policy else ():
            if ancestor.id in self._policies:  # each task of a deep tree would walk all the way up
                policy = self._policies[ancestor.id]
                break
            passed.append(ancestor.id)
            if policy := ancestor.policy:
                break
        self._policies.update(dict.fromkeys(passed, policy))
        return policy

    def supervisor(self, task: Task) -> Task | None:
        """Return the supervised parent of this task. Its session watches the task; epics between the two only group."""
        above = next((ancestor for ancestor in self.ancestors(task) if ancestor.type is not Kind.EPIC), None)
        return above if above and self.declared(above) is Policy.SUPERVISED else None

    def watched(self, id: str) -> list[Task]:
        """Return the tasks under the watch of this task's session: its subtasks and those of its epics."""
        tasks, groups, ids = list[Task](), [id], {id}
        for group in groups:
            epics = [child.id for child in self.children(group) if child.type is Kind.EPIC and child.id not in ids]
            ids.update(epics)
            groups += epics
            tasks += [child for child in self.children(group) if child.type is not Kind.EPIC]
        return tasks

    def awaited(self, task: Task) -> list[Task]:
        """Return the tasks that a task waits for: its subtasks, and under the supervised policy those of its epics."""
        if task.type is Kind.EPIC or self.declared(task) is not Policy.SUPERVISED:
            return self.children(task.id)
        return [*self.watched(task.id), *(child for child in self.children(task.id) if child.type is Kind.EPIC)]


def blockers(board: Board, task: Task) -> list[str]:
    """Return one phrase for each unmet dependency of a task (behaviour 2.5)."""
    return [_phrase(id, board.get(id)) for id in task.dependencies if not _completed(board.get(id))]


def hopeless(board: Board, task: Task) -> list[str]:
    """Return a phrase for each failed, cancelled or missing dependency, direct or not: none completes by itself."""
    reasons: dict[str, None] = {}
    visited, queue = {task.id}, [task]
    while queue:
        for id in queue.pop().dependencies:
            dependency = board.get(id)
            if dependency is None or dependency.status in (Status.FAILED, Status.CANCELLED):
                reasons[_phrase(id, dependency)] = None
            elif id not in visited and dependency.status is not Status.COMPLETED:
                visited.add(id)
                queue.append(dependency)
    return list(reasons)


def why_not_ready(board: Board, task: Task) -> str | None:
    """Return the reason against a claim of this task, as the rest of a sentence. None means ready."""
    for reason in (_itself, _its_dependencies, _its_ancestors, _its_supervisor):
        if why := reason(board, task):
            return why
    return None


def over_above(board: Board, task: Task) -> Task | None:
    """Return a pending task's supervised parent if it is over: the task gets no turn until the parent is reopened."""
    above = board.supervisor(task) if task.status is Status.PENDING else None
    return above if above and above.status in (Status.COMPLETED, Status.CANCELLED) else None


def is_blocked(board: Board, task: Task) -> bool:
    """Return True for a pending task with an unmet dependency. That dependency may never be completed."""
    return task.status is Status.PENDING and bool(blockers(board, task))


def claimable(board: Board, agent_id: str) -> list[Task]:
    """Return the ready tasks on offer to this agent: its reservations first, then in the order of `next`.

    Supervised and dispatched tasks, and tasks with a wish for a start, get sessions of their own. A reserved
    task without such a wish is offered to its agent all the same.
    """
    free = [task for task in board if _in_the_pool(board, task, agent_id) and why_not_ready(board, task) is None]
    return sorted(free, key=lambda task: (task.assignee != agent_id, next_order(task)))


def next_order(task: Task) -> tuple[bool, int, datetime, int]:
    """Return the sort key of `next`: started tasks, then priority, creation, id (behaviour 2.10)."""
    return task.started_at is None, task.priority, task.created_at or _START, task_number(task.id)


def list_order(task: Task) -> tuple[bool, float, int]:
    """Return the sort key of `list`: pending by priority, then the others, newest change first (behaviour 2.10)."""
    pending = task.status is Status.PENDING
    rank = float(task.priority) if pending else -(task.updated_at or _START).timestamp()
    return not pending, rank, task_number(task.id)


def settling(board: Board, moved: Collection[str | None] = ()) -> list[Task]:
    """Return the parents without open subtasks that settle by themselves. Supervised parents do not (behaviour 2.4).

    `moved` names the parents whose subtasks have just changed.
    """
    return [task for task in board if _may_settle(board, task, moved) and not board.open_children(task.id)]


def _may_settle(board: Board, task: Task, moved: Collection[str | None]) -> bool:
    """Return True for a done parent or an epic with subtasks and no failed one: a person decides about failures."""
    if task.awaiting:
        return False
    if task.type is Kind.EPIC and task.status is Status.PENDING:
        below = board.children(task.id)
        if task.id not in moved and _is_kept_open(task, below):
            return False
        return bool(below) and not any(child.status is Status.FAILED for child in below)
    supervised = task.type is not Kind.EPIC and board.declared(task) is Policy.SUPERVISED
    return task.status is Status.DONE and not supervised


def _is_kept_open(epic: Task, below: Iterable[Task]) -> bool:
    """Return True for an epic that a person reopened or refused at its gate, until a subtask changes after that."""
    for entry in reversed(epic.history):
        refused = entry.act in (Act.REJECT, Act.CLEAR) and epic.requires and entry.asked == at_gate(epic.requires)
        if entry.act == Act.REOPEN or refused:
            return all(task.updated_at is None or task.updated_at <= entry.at for task in below)
    return False


def _completed(task: Task | None) -> bool:
    return task is not None and task.status is Status.COMPLETED


def _phrase(id: str, task: Task | None) -> str:
    return f"{id} is {task.status.words}" if task else f"{id} is gone"


def _in_the_pool(board: Board, task: Task, agent_id: str) -> bool:
    if task.status is not Status.PENDING or task.start or task.assignee not in (None, agent_id):
        return False
    return task.assignee == agent_id or board.declared(task) in (None, Policy.POOL)


def _itself(_board: Board, task: Task) -> str | None:
    if task.type is Kind.EPIC:
        return "is an epic, which only groups tasks"
    if task.waits:
        return f"is awaiting a human ({task.waits.words})"
    return None if task.status is Status.PENDING else f"is {task.status.words}"


def _its_dependencies(board: Board, task: Task) -> str | None:
    unmet = blockers(board, task)
    return f"is blocked: {', '.join(unmet)}" if unmet else None


def _stopped(task: Task) -> bool:
    return task.status is Status.FAILED or task.waits is not None


def _its_ancestors(board: Board, task: Task) -> str | None:
    stopped = next((parent for parent in board.ancestors(task) if _stopped(parent)), None)
    if stopped is None:
        return None
    return f"is held back: {stopped.id}, above it, is {_state(stopped)}"


def _its_supervisor(board: Board, task: Task) -> str | None:
    """Return the reason for a supervised task to wait: its parent is not ready for it, or a sibling has the turn."""
    above = board.supervisor(task)
    if above is None:
        return None
    if above.status is not Status.DONE or above.claim is None:
        session = ", without a session" if above.status is Status.DONE else ""
        return f"waits for its turn: {above.id}, above it, is {_state(above)}{session}"
    # One subtask of a parent is at work at a time, and a stopped one holds back its siblings.
    for sibling in board.watched(above.id):
        if sibling.id != task.id and _stopped(sibling):
            return f"is held back: {sibling.id}, beside it, is {_state(sibling)}"
        if sibling.id != task.id and sibling.status in (Status.IN_PROGRESS, Status.DONE):
            return f"waits for its turn: {sibling.id}, beside it, is {_state(sibling)}"
    return None


def _state(task: Task) -> str:
    return "awaiting a human" if task.waits else task.status.words
