"""The answers of tools. They are small, since a model reads all of them: only the requested item has its long texts."""

from collections.abc import Callable, Iterable
from datetime import datetime

import msgspec
from msgspec.structs import replace

from pro0.model.message import MessageType
from pro0.model.need import Need, NeedKind
from pro0.model.runtime import Phase, State
from pro0.model.task import Task
from pro0.ops.mail.messages import Letter
from pro0.ops.team.status import MemberStatus
from pro0.rules.tasks import answers
from pro0.rules.tasks.board import Board, why_not_ready


class ToolAnswer(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """An answer. A field that is left out has its default."""


class TaskLine(ToolAnswer, frozen=True, kw_only=True):
    """A task in one line; `note` says that it is ready, or why not, or how it ended."""

    id: str
    title: str
    status: str
    priority: int
    assignee: str | None = None
    parent: str | None = None
    note: str = ""


class TaskPage(ToolAnswer, frozen=True, kw_only=True):
    """The first tasks of a list; `left_out` is the number of further ones."""

    tasks: list[TaskLine]
    left_out: int = 0


class TaskDetail(TaskLine, frozen=True, kw_only=True):
    """Everything that work on a task needs; `answers` are a person's, from before the present claim."""

    description: str = ""
    acceptance: str = ""
    labels: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()
    subtasks: list[str] = []
    run: str | None = None
    claimed_by: str | None = None
    awaiting: str = ""
    result: str | None = None
    created_by: str = ""
    answers: list[str] = []


class WorkerLine(ToolAnswer, frozen=True, kw_only=True):
    """A delegated task in one line; `place` is its place in line, `branch` its unmerged branch."""

    task: str
    title: str
    stage: str
    worker: str | None = None
    place: int = 0
    branch: str | None = None
    note: str = ""


class WorkersView(ToolAnswer, frozen=True, kw_only=True):
    """Delegated tasks."""

    workers: list[WorkerLine]


class RoleView(ToolAnswer, frozen=True, kw_only=True):
    """One role, without its prompt, which is only for a session with that role."""

    id: str
    name: str
    agent: str = ""


class RolesView(ToolAnswer, frozen=True, kw_only=True):
    """All roles."""

    roles: list[RoleView]


class Said(ToolAnswer, frozen=True, kw_only=True):
    """One remark on a task; `act` is the act that it came with, if any."""

    at: datetime
    author: str
    text: str
    act: str | None = None
    author_task: str | None = None
    author_role: str = ""


class CommentsView(ToolAnswer, frozen=True, kw_only=True):
    """What was said about a task, oldest first; `left_out` older remarks are not here."""

    task_id: str
    comments: list[Said]
    left_out: int = 0


class MessageView(ToolAnswer, frozen=True, kw_only=True):
    """A message with its proven sender. `again` is true when an earlier session got it too."""

    id: str
    sender: str = msgspec.field(name="from")
    type: MessageType
    content: str
    timestamp: datetime
    in_reply_to: str | None = None
    again: bool = False


class InboxView(ToolAnswer, frozen=True, kw_only=True):
    """The messages that were unread."""

    messages: list[MessageView]


class Sent(ToolAnswer, frozen=True, kw_only=True):
    """The members whose mailboxes got a message."""

    sent_to: list[str]
    waits: str = ""
    """Why the recipient may read it late, when the sender should know that."""


class MemberView(ToolAnswer, frozen=True, kw_only=True):
    """A member as others see it."""

    name: str
    agent_id: str
    agent: str
    state: State
    category: str = ""
    task: str | None = None
    unread: int = 0
    since: datetime | None = None
    note: str = ""
    plan: str = ""


class Members(ToolAnswer, frozen=True, kw_only=True):
    """The members of a team."""

    team: str
    members: list[MemberView]


class NeedView(ToolAnswer, frozen=True, kw_only=True):
    """One thing that needs the person; its `id` changes only when the need does."""

    id: str
    kind: NeedKind
    subject: str
    what: str
    since: datetime | None = None
    command: str


class Needs(ToolAnswer, frozen=True, kw_only=True):
    """What needs the person now, the most urgent first."""

    team: str
    needs: list[NeedView]


class TeamView(ToolAnswer, frozen=True, kw_only=True):
    """A team: its project, where it is shown and for what reason, and whether it runs."""

    name: str
    project: str
    mode: str
    phase: Phase


class Answered(ToolAnswer, frozen=True, kw_only=True):
    """What was done, and what is to be done next."""

    answered: str


def task_line(board: Board, task: Task, status: Callable[[Task], str] | None = None) -> TaskLine:
    """Return a task in one line, with its status in the words of `status`, else as it is stored."""
    why = why_not_ready(board, task)
    status_text = f"is {task.status.words}"
    return TaskLine(
        id=task.id,
        title=task.title,
        status=status(task) if status else task.status.value,
        priority=task.priority,
        assignee=task.assignee,
        parent=task.parent,
        note="ready" if why is None else task.closed_reason if why == status_text else why,
    )


def task_page(board: Board, tasks: list[Task], limit: int, status: Callable[[Task], str] | None = None) -> TaskPage:
    """Return the first tasks of a list."""
    lines = [task_line(board, task, status) for task in tasks[:limit]]
    return TaskPage(tasks=lines, left_out=max(0, len(tasks) - limit))


def task_detail(board: Board, task: Task, status: Callable[[Task], str] | None = None) -> TaskDetail:
    """Return everything that work on a task needs."""
    line = task_line(board, task, status)
    return TaskDetail(
        **{name: getattr(line, name) for name in line.__struct_fields__},
        description=task.more,
        acceptance=task.acceptance,
        labels=task.labels,
        dependencies=task.dependencies,
        subtasks=[child.id for child in board.children(task.id)],
        run=task.run,
        claimed_by=task.claim.agent_id if task.claim else None,
        awaiting=task.waits.words if task.waits else "",
        result=task.result,
        created_by=task.created_by,
        answers=[answers.line(remark) for remark in answers.unread_answers(task.history)],
    )


def inbox(letters: Iterable[Letter]) -> InboxView:
    """Return messages as they are given to an agent."""
    return InboxView(messages=[_message(letter) for letter in letters])


def need_view(need: Need) -> NeedView:
    """Return a need as an agent sees it."""
    return NeedView(
        id=need.id, kind=need.kind, subject=need.subject, what=need.what, since=need.since, command=need.command
    )


def member_view(member: MemberStatus, category: str, *, brief: bool = False) -> MemberView:
    """Return a member, `brief` without what only its lead needs."""
    view = MemberView(
        name=member.name,
        agent_id=member.agent_id,
        agent=member.agent,
        state=member.state,
        category=category,
        task=member.task,
    )
    return (
        view if brief else replace(view, unread=member.unread, since=member.since, note=member.note, plan=member.plan)
    )


def _message(letter: Letter) -> MessageView:
    message = letter.message
    return MessageView(
        id=message.id,
        sender=message.from_,
        type=message.type,
        content=message.content,
        timestamp=message.timestamp,
        in_reply_to=message.in_reply_to,
        again=letter.again,
    )
