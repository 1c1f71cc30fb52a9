"""Tasks, callers and moments for tests of the rules."""

from datetime import UTC, datetime, timedelta
from itertools import count

from msgspec.structs import replace

from pro0.model.caller import THE_HUMAN, THE_LEAD, Caller, Who
from pro0.model.task import Awaiting, Changes, Claim, Draft, Status, Task, TaskList, Wait
from pro0.rules.tasks import changes, editing, making
from pro0.rules.tasks.acts import Act, Request, TaskPhase

T0 = datetime(2026, 1, 1, tzinfo=UTC)
W1 = Caller(Who.MEMBER, "w1", "inc-w1")
W1_LATER = Caller(Who.MEMBER, "w1", "inc-w1-later")
W2 = Caller(Who.MEMBER, "w2", "inc-w2")
LEAD_AGENT = Caller(Who.LEAD_AGENT, "lead", "inc-lead")
OUTSIDE = Caller(Who.OUTSIDE, "outside", "outside")
CALLERS = {
    Who.HUMAN: THE_HUMAN,
    Who.LEAD: THE_LEAD,
    Who.LEAD_AGENT: LEAD_AGENT,
    Who.MEMBER: W1,
    Who.OUTSIDE: OUTSIDE,
}


def at(seconds: float) -> datetime:
    """A moment so many seconds after T0."""
    return T0 + timedelta(seconds=seconds)


def ask(act: Act, caller: Caller = W1, text: str = "", now: datetime = T0, **more: object) -> Request:
    """One act, with what is not named left as it usually is."""
    return replace(Request(act=act, caller=caller, now=now, text=text), **more)


def claimed(task: Task, by: Caller = W1, epoch: int = 1) -> Task:
    """The task in the hands of somebody."""
    claim = Claim(agent_id=by.agent_id, incarnation=by.incarnation, epoch=epoch, claimed_at=T0)
    return replace(
        task,
        status=Status.IN_PROGRESS,
        assignee=by.agent_id,
        claim=claim,
        epoch=epoch,
        claimed_at=T0,
        started_at=T0,
    )


def standing(phase: TaskPhase, holder: Caller = W1, id: str = "task-1") -> Task:
    """A task in that phase, as acts would have left it; WORKING is claimed by `holder`."""
    task = Task(id=id, title="t", created_at=T0, created_by="human", updated_at=T0)
    held = claimed(task, holder)
    free = replace(held, claim=None)
    wait = Wait(kind=Awaiting.REVIEW, since=T0, by="w1", reason="Work complete, requires review")
    return {
        TaskPhase.PENDING: task,
        TaskPhase.WORKING: held,
        TaskPhase.AWAITING: replace(free, awaiting=wait),
        TaskPhase.DONE: replace(free, status=Status.DONE, result="r"),
        TaskPhase.COMPLETED: replace(free, status=Status.COMPLETED, result="r", completed_at=T0),
        TaskPhase.FAILED: replace(free, status=Status.FAILED, closed_reason="broken"),
        TaskPhase.CANCELLED: replace(free, status=Status.CANCELLED, closed_reason="not needed"),
    }[phase]


def listed(*tasks: Task) -> TaskList:
    """A task list that holds these."""
    return TaskList(tasks=tasks, next_id=len(tasks) + 1)


def task(number: int, *depends_on: int, **fields: object) -> Task:
    """A pending task; its dependencies by number, and `parent` too."""
    parent = fields.pop("parent", None)
    made = Task(
        id=f"task-{number}",
        title=f"title {number}",
        created_at=T0,
        created_by="human",
        updated_at=T0,
        dependencies=tuple(f"task-{other}" for other in depends_on),
        parent=f"task-{parent}" if parent else None,
    )
    return replace(made, **fields)


def dead(how: str, now: datetime = T0) -> Request:
    """That a session is proved dead."""
    return ask(Act.DIED, THE_LEAD, how, now)


def make(tasks: TaskList, *drafts: Draft, caller: Caller = THE_HUMAN, **more: object) -> tuple[TaskList, list[Task]]:
    """The list with tasks made of these drafts; ids of notices count from n1."""
    return making.create(tasks, drafts, caller, T0, map("n{}".format, count(1)).__next__, **more)  # type: ignore[arg-type]


def update(tasks: TaskList, id: str, fields: Changes, caller: Caller = THE_HUMAN) -> Task:
    """The task with these fields changed."""
    changed, task = editing.update(tasks, id, fields, caller, at(7))
    assert changes.find(changed, id) is task
    return task
