"""A supervised tree and a lead that opens sessions as the rules say."""

from msgspec.structs import replace

from pro0.model.caller import THE_LEAD, Caller, Who
from pro0.model.task import Draft, Policy, Task, TaskList
from pro0.rules.lead import supervised
from pro0.rules.tasks import changes
from pro0.rules.tasks.acts import Act, TaskPhase, phase
from pro0.rules.tasks.board import Board
from tests.rules.building import ask, at, make


def session(id: str) -> Caller:
    """The session that the lead opens for a task."""
    return Caller(Who.MEMBER, f"s{id.removeprefix('task-')}", f"inc-{id}")


class Tree:
    """A list with the supervised task-1, and a lead that opens sessions as the rules say."""

    def __init__(self, *children: Draft, **fields: object) -> None:
        root = [Draft(title="root", key="root", policy=Policy.SUPERVISED, **fields)]  # type: ignore[arg-type]
        self.tasks, _ = make(TaskList(), *root, *(replace(child, parent=child.parent or "root") for child in children))
        self.seconds = 0.0
        self.begin("task-1")

    def __getitem__(self, number: int) -> Task:
        return changes.find(self.tasks, f"task-{number}")

    def act(self, id: str, act: Act, caller: Caller, text: str = "", **more: object) -> Task:
        self.tasks, task = changes.act(self.tasks, id, ask(act, caller, text, at(self.seconds), **more))
        return task

    def begin(self, id: str) -> None:
        self.act(id, Act.START, THE_LEAD, holder=session(id))

    def complete(self, number: int, text: str = "") -> Task:
        id = f"task-{number}"
        return self.act(id, Act.COMPLETE, session(id), text)

    def fail(self, number: int, text: str = "broken") -> Task:
        id = f"task-{number}"
        return self.act(id, Act.FAIL, session(id), text)

    def turns(self) -> list[str]:
        return [task.id for task in supervised.to_start(Board(self.tasks.tasks))]

    def told(self, to: str) -> list[str]:
        return [notice.content for notice in self.tasks.outbox if notice.to == to]

    def phases(self) -> list[TaskPhase]:
        return [phase(task) for task in self.tasks.tasks]


def children(*priorities: int) -> list[Draft]:
    return [Draft(title=f"child {priority}", priority=priority, role="engineer") for priority in priorities]
