"""The person's needs (behaviour 3.27), the picture they are read from, and the troubles not yet seen."""

from datetime import datetime
from enum import StrEnum

import msgspec

from pro0.model.message import Message
from pro0.model.runtime import Runtime
from pro0.model.stored import Document, Moment, Stored, Tag
from pro0.model.task import TaskList
from pro0.model.team import Wanted


class NeedKind(StrEnum):
    """Why the person is needed, in the order of urgency: first what makes an agent stand still."""

    OWN_AGENT = "own agent"
    PERMISSION = "permission"
    DIALOG = "dialog"
    QUESTION = "question"
    PLAN = "plan"
    GATE = "gate"
    REVIEW = "review"
    ESCALATION = "escalation"
    CRASH = "crash"
    NOT_STARTED = "not started"
    WORKTREE = "worktree"
    LOST = "lost"
    ERROR = "error"
    UNRESPONSIVE = "unresponsive"
    FAILED = "failed"
    STUCK = "stuck"
    STALLED = "stalled"
    UNTAKEN = "untaken"
    IDLE_CLAIM = "idle claim"
    COST = "cost"
    LIMIT = "limit"
    MAIL = "mail"
    HOOK = "hook"
    NOTICE = "notice"
    LOSSES = "losses"


class Need(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One thing that needs the person; its `id` changes only when the need changes."""

    id: str
    kind: NeedKind
    subject: str
    """The member, task, mailbox, hook or file that it is about."""
    what: str
    """The need in one sentence."""
    why: str = ""
    since: datetime | None = None
    command: str
    """The command that answers it."""
    member: str = ""
    """The member whom it keeps, where there is one."""
    awaiting: str = ""
    """What its task waits for, where it waits for the person."""
    look: str = ""
    """The command that shows more, where answering needs a look first."""


class Trouble(Stored, frozen=True):
    """A failed hook, notice or set-up, or a repair with losses; kept until it goes well again, or the person saw it."""

    id: Tag
    kind: NeedKind
    subject: str
    why: str
    at: Moment


class Troubles(Document, frozen=True, kw_only=True):
    """troubles.json: written by whoever meets a trouble, and by the person who has seen it."""

    troubles: tuple[Trouble, ...] = ()


class Announced(Document, frozen=True, kw_only=True):
    """announced.json: which needs were announced, and on which surface; written only by the lead."""

    keys: tuple[str, ...] = ()


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """All that the rule about needs may know."""

    now: datetime
    wanted: Wanted
    runtime: Runtime
    tasks: TaskList
    mail: tuple[Message, ...] = ()
    """The person's unread messages, the oldest first."""
    older: int = 0
    """How many more are unread in sealed parts of the mailboxes."""
    troubles: tuple[Trouble, ...] = ()
    spent: float = 0.0
    """US dollars that the team has cost; 0 without a limit."""
    left_alone: bool = False
    """True when the person's own agent led the running team and is gone."""
