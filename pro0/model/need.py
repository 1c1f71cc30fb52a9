"""The person's needs (behaviour 3.27), what they are read from, and the agents' requests for permission (3.28)."""

from datetime import datetime
from enum import StrEnum
from typing import Literal

import msgspec

from pro0.model.message import Message
from pro0.model.runtime import Runtime
from pro0.model.stored import AgentId, Document, Moment, Process, Stored, Tag
from pro0.model.task import TaskList
from pro0.model.team import Wanted

Outcome = Literal["", "taken", "elsewhere", "ended"]
"""What became of a request: its agent took the answer, it was answered elsewhere, or the session has ended."""
REASON_LIMIT = 200
"""The most characters of a reason shown in a sentence; a look at the need shows the rest."""
INPUT_LIMIT = 256 * 1024
"""The most characters of an input that is shown; a request with a longer one is answered where the agent asks."""


class Choice(StrEnum):
    """An answer that an agent takes."""

    ALLOW = "allow"
    ALWAYS = "always"
    """For the rest of this session."""
    DENY = "deny"


class PermissionAnswer(Stored, frozen=True, kw_only=True):
    """The person's answer; the first one counts."""

    choice: Choice
    text: str = ""
    """What the agent is told with a refusal."""
    by: AgentId
    at: Moment


class PermissionRequest(Stored, frozen=True, kw_only=True):
    """One question of an agent: may this tool run with this input? Its id is a digest of all that it asks."""

    id: Tag
    agent_id: AgentId
    incarnation: Tag
    tool: str
    input: str
    """The whole input, as JSON where the agent gives JSON."""
    key: str
    """The agent's own name of the request."""
    choices: tuple[Choice, ...] = (Choice.ALLOW, Choice.DENY)
    at: Moment
    answer: PermissionAnswer | None = None
    outcome: Outcome = ""
    asker: Process | None = None
    """The process that waits for the answer; an agent ends it when the person answers in its pane."""
    machine: AgentId | Literal[""] = ""
    """The machine of that process, in a team that several share."""


class PermissionRequests(Document, frozen=True, kw_only=True):
    """permissions.json: the open requests, and the newest of those that are over."""

    requests: tuple[PermissionRequest, ...] = ()


class AskedPermission(msgspec.Struct, frozen=True, kw_only=True):
    """A request as an agent's own channel tells it."""

    key: str
    tool: str
    input: str
    choices: tuple[Choice, ...] = (Choice.ALLOW, Choice.DENY)
    asker: Process | None = None
    """The process that waits for the answer, None for an agent's own server."""


class NeedKind(StrEnum):
    """The kinds of needs, the most urgent first: those that stop an agent."""

    NO_LEAD = "no lead"
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
    UNREACHABLE = "unreachable"
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


class Surface(StrEnum):
    """Where the lead announces a need; board, bar and border show it besides."""

    BELL = "bell"
    HOOK = "hook"
    NOTIFY = "notify"


class Need(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One thing that needs the person; its `id` changes only when the need changes."""

    id: str
    kind: NeedKind
    subject: str
    """The member, task, mailbox, hook or file that it is about."""
    others: tuple[str, ...] = ()
    """The other tasks that `what` names, if nobody takes several for one reason."""
    what: str
    """The need in one sentence."""
    why: str = ""
    since: datetime | None = None
    command: str
    """The command that answers it."""
    member: str = ""
    """The member that the need holds up, if any."""
    awaiting: str = ""
    """The kind of answer that its task waits for, if the task waits for the person."""
    request: str = ""
    """The id of its plan, or of its request for permission if that can be answered from anywhere."""
    look: str = ""
    """The command that shows more, if a person should look before the answer."""

    @property
    def sentence(self) -> str:
        """The need with its reason in one line, unless `what` says that already."""
        what, why = (" ".join(text.split()) for text in (self.what, self.why))
        return f"{what}: {why if len(why) <= REASON_LIMIT else f'{why[:REASON_LIMIT]}…'}" if why not in what else what


class Trouble(Stored, frozen=True):
    """A failed hook, notice or set-up, or a repair with losses; kept until it goes well, or the person has seen it."""

    id: Tag
    kind: NeedKind
    subject: str
    why: str
    at: Moment


class Troubles(Document, frozen=True, kw_only=True):
    """troubles.json: written by whoever meets a trouble, and by the person who has seen it."""

    troubles: tuple[Trouble, ...] = ()


class Announced(Document, frozen=True, kw_only=True):
    """announced.json: the announced needs and their surfaces; only leads write it."""

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
    requests: tuple[PermissionRequest, ...] | None = ()
    """The requests for permission without an answer, None while their file is damaged."""
    past: tuple[PermissionRequest, ...] = ()
    """The kept requests that take no answer any more."""
    spent: float | None = 0.0
    """US dollars that the team has cost; 0 without a limit, None while it cannot be read."""
    unled: bool = False
    """True when the lead of a running team has died with all its sessions, so that nobody starts another."""
    suspended: int = 0
    """The pid of a lead that is stopped by a signal (SIGSTOP), 0 for none."""
    elsewhere: frozenset[str] = frozenset()
    """The incarnations of sessions whose part on another machine is not proven to be over."""
    left_alone: bool = False
    """True when the person's own agent led the running team and is gone."""
