"""The task, as it is stored (behaviour 2.12)."""

from enum import StrEnum
from typing import Annotated

import msgspec

from pro0.model.message import Notice
from pro0.model.stored import AgentId, Count, Document, Moment, Stored, Tag, TaskId, written

TITLE = 200
"""Characters of a title that is taken from a description."""


class Status(StrEnum):
    """The stored status of a task."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    DONE = "done"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def words(self) -> str:
        """Return the status in words, such as `in progress`."""
        return self.replace("_", " ")


SETTLED = frozenset({Status.COMPLETED, Status.FAILED, Status.CANCELLED})


class Kind(StrEnum):
    """A task to do, or an epic that only groups."""

    TASK = "task"
    EPIC = "epic"


class Gate(StrEnum):
    """A gate declared before the work (`requires`)."""

    APPROVAL = "approval"
    REVIEW = "review"
    CONTENT = "content"


class Awaiting(StrEnum):
    """The kinds of answers that a task can await from a human."""

    WORK = "work"
    APPROVAL = "approval"
    INPUT = "input"
    REVIEW = "review"
    CONTENT = "content"
    ESCALATION = "escalation"
    CHECKPOINT = "checkpoint"


class Verdict(StrEnum):
    """A human's answer to a task that waits: an argument, never stored."""

    APPROVED = "approved"
    REJECTED = "rejected"


class Policy(StrEnum):
    """The way of working that applies to a task and its subtasks."""

    POOL = "pool"
    SUPERVISED = "supervised"
    DISPATCH = "dispatch"


class Claim(Stored, frozen=True):
    """The right of one session, or a human, to work on a task; `epoch` counts the claims of that task.

    The clock stops while the task is done and waits for its subtasks: `worked` holds the seconds before that stop.
    `since` is when work resumed; None means that work goes on since `claimed_at`.
    """

    agent_id: AgentId
    incarnation: Tag
    epoch: Count
    claimed_at: Moment
    worked: float = 0.0
    since: Moment | None = None


class Wait(Stored, frozen=True):
    """Why, since when and by whom a task waits for a human."""

    kind: Awaiting
    since: Moment
    by: str
    reason: str = ""

    @property
    def words(self) -> str:
        """The kind, with the reason when there is one."""
        return f"{self.kind}: {self.reason}" if self.reason else str(self.kind)


class StartWish(Stored, frozen=True):
    """A person's wish for a session of a task; `agent` is its program, None for the usual one."""

    by: str
    at: Moment
    agent: str | None = None


class Entry(Stored, frozen=True):
    """One act in a task's history, with the text that came with it.

    `kind` is what the act made the task wait for, what a person's act answered, or what a cancel ended; `asked` is the
    question.
    """

    at: Moment
    actor: str
    act: str
    from_: Status | None = None
    to: Status | None = None
    text: str = ""
    incarnation: str | None = None
    kind: Awaiting | None = None
    asked: str = ""


class Task(Stored, frozen=True):
    """A unit of work; ready, blocked and depth are derived, never stored.

    `history` holds the newest entries, `earlier` says how many older ones are in the task's folder. `unagreed`: `run`
    is an agent's and no human has agreed to it. `session` held the last claim. `waits_for` are the subtasks that a done
    task waits for; `open_before` is how many were open when it was last completed. `escalations` counts those that a
    person approved without progress in between. `origin` names the source of an imported task.
    A worker for it runs `agent`, in a worktree unless it is `shared`.
    """

    id: TaskId
    title: str = ""
    description: str = written("")
    type: Kind = Kind.TASK
    acceptance: str = ""
    labels: tuple[str, ...] = ()
    run: str | None = None
    unagreed: bool = False
    timeout: float | None = None
    parent: TaskId | None = None
    dependencies: tuple[TaskId, ...] = written(())
    priority: Annotated[int, msgspec.Meta(ge=-(2**53), le=2**53)] = 2
    role: str | None = None
    status: Status = written(Status.PENDING)
    requires: Gate | None = None
    awaiting: Wait | None = None
    assignee: AgentId | None = None
    claim: Claim | None = None
    epoch: Count = 0
    session: Tag | None = None
    start: StartWish | None = None
    policy: Policy | None = None
    agent: str | None = None
    shared: bool = False
    waits_for: tuple[TaskId, ...] = ()
    open_before: Count | None = None
    result: str | None = None
    branch: str | None = None
    base_branch: str | None = None
    worktree: str | None = None
    iterations: int = 0
    review_cycles: int = 0
    escalations: Count = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    created_at: Moment | None = None
    created_by: str = ""
    updated_at: Moment | None = None
    started_at: Moment | None = None
    claimed_at: Moment | None = None
    completed_at: Moment | None = None
    closed_reason: str = ""
    origin: str | None = None
    history: tuple[Entry, ...] = ()
    earlier: Count = 0

    def __post_init__(self) -> None:
        """Let title and description stand for each other where one is missing: a program may know only one of them."""
        if not self.title and self.description:
            msgspec.structs.force_setattr(self, "title", self.description.strip().partition("\n")[0].strip()[:TITLE])
        elif not self.description:
            msgspec.structs.force_setattr(self, "description", self.title)

    @property
    def more(self) -> str:
        """Return the description where it says more than the title."""
        return "" if self.description == self.title else self.description

    @property
    def waits(self) -> Wait | None:
        """Return the task's wait for a human; a settled task waits for nothing."""
        return self.awaiting if self.status not in SETTLED else None


class Archived(Stored, frozen=True):
    """How many tasks of each settled status are in the archive."""

    completed: Count = 0
    failed: Count = 0
    cancelled: Count = 0


class TaskList(Document, frozen=True, kw_only=True):
    """tasks.json: the tasks of a team, and the undelivered notices about their changes (`outbox`).

    Older settled tasks are in `sealed` segments, and the newest copy of a task counts. No archived copy of a task in
    `recalled` counts: the live task is in `tasks`, or it was deleted.
    """

    next_id: Annotated[int, msgspec.Meta(ge=1, le=999_999_999)] = 1
    tasks: tuple[Task, ...] = ()
    outbox: tuple[Notice, ...] = ()
    sealed: Count = 0
    archived: Archived = Archived()
    recalled: tuple[TaskId, ...] = ()


class TaskSegment(Document, frozen=True, kw_only=True):
    """A part of the archive of settled tasks; never changed after tasks.json counts it."""

    tasks: tuple[Task, ...] = ()


class HistorySegment(Document, frozen=True, kw_only=True):
    """Older entries of one task's history; tasks.json says how many of them count (`earlier`)."""

    entries: tuple[Entry, ...] = ()


class Comment(Stored, frozen=True):
    """A remark on a task; `author_task` and `author_role` are those of the session that made it."""

    id: str
    at: Moment
    author: str
    text: str
    author_task: TaskId | None = None
    author_role: str = ""


class Comments(Document, frozen=True, kw_only=True):
    """comments.json of one task."""

    comments: tuple[Comment, ...] = ()


class Draft(Stored, frozen=True):
    """A task to be made; `key` is its name within one file, and `blocked_by` may hold keys and task ids."""

    title: str
    key: str | None = None
    description: str = ""
    type: Kind = Kind.TASK
    acceptance: str = ""
    labels: tuple[str, ...] = ()
    run: str | None = None
    timeout: float | None = None
    parent: str | None = None
    blocked_by: tuple[str, ...] = ()
    priority: int | None = None
    assignee: str | None = None
    role: str | None = None
    requires: Gate | None = None
    awaiting: Awaiting | None = None
    policy: Policy | None = None
    agent: str | None = None
    shared: bool = False


class Changes(Stored, frozen=True):
    """Fields of a task to change; None leaves a field as it is; an empty value, or 0, removes an optional field."""

    title: str | None = None
    description: str | None = None
    acceptance: str | None = None
    run: str | None = None
    timeout: float | None = None
    priority: int | None = None
    labels: tuple[str, ...] | None = None
    role: str | None = None
    requires: str | None = None
    add_dependencies: tuple[str, ...] = ()
    drop_dependencies: tuple[str, ...] = ()
