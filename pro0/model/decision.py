"""The lead's decision: the snapshot it reads, and one value for each kind of action."""

from datetime import UTC, datetime, tzinfo

import msgspec

from pro0.model.message import Message, MessageType, Unread
from pro0.model.need import Need, PermissionRequest, Surface, Trouble
from pro0.model.runtime import Handle, Report, Runtime, SeatState, State
from pro0.model.screen import LastWords
from pro0.model.task import Comment, TaskList
from pro0.model.team import Seat, TeamConfig, Wanted


class WorkFolder(msgspec.Struct, frozen=True):
    """The worktree that was made ready for a seat, or why there is none."""

    path: str = ""
    branch: str = ""
    error: str = ""
    hint: str = ""
    of_team: bool = False  # the hint helps only while the team is there


class Prepare(msgspec.Struct, frozen=True):
    """Make the worktree of a seat ready, in the background."""

    seat: Seat


class Harvest(msgspec.Struct, frozen=True):
    """Save the work of a dead worker, remove its worktree, and report, in the background; `how` says how it ended."""

    agent_id: str
    incarnation: str
    task: str
    worktree: str = ""
    branch: str = ""
    how: str = ""


class LeadPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """The settings that the lead decides by, under their names in the table of settings."""

    max_workers: int = 10
    stuck_seconds: int = 300
    task_timeout_minutes: int = 30
    continue_after_limit: bool = True


class Workers(msgspec.Struct, frozen=True):
    """The lead's view of workers, besides their seats and sessions."""

    harvested: frozenset[str] = frozenset()
    """Incarnations with nothing left to save or to report."""
    comments: dict[str, tuple[Comment, ...]] = {}
    """The comments on their tasks, by task."""
    still: dict[str, float] = {}
    """For how many seconds each has shown nothing new and run nothing, by incarnation."""


class Seen(msgspec.Struct, frozen=True):
    """A state read from an agent or its screen, with its beginning and its source."""

    state: State
    since: datetime
    source: str
    rule: str = ""
    note: str = ""
    session: str = ""
    lost: bool = False  # its screen shows nothing known, even if another source tells its state
    words: LastWords | None = None
    """What the agent said last, in the newest turn that is over."""
    running: tuple[str, ...] = ()
    """The programs that it has left running, once its turn is over."""
    zone: tzinfo | None = UTC  # that of times of day in its note; None for an unknown one


class Nudged(msgspec.Struct, frozen=True):
    """A nudge that arrived: the newest message and the ready tasks that its line named."""

    mail: int = 0
    tasks: tuple[str, ...] = ()
    again: int = 0
    """How often the agent was told of that mail again, each time after a turn that left it unread."""
    at: datetime | None = None
    """When its hand-over began."""
    by: str = ""
    """What carried it: the agent's own channel, or keys."""


class Person(msgspec.Struct, frozen=True):
    """The person's side in the snapshot: unread mail, troubles, and whether the person's own agent has gone."""

    mail: tuple[Message, ...] = ()
    older: int = 0
    troubles: tuple[Trouble, ...] = ()
    requests: tuple[PermissionRequest, ...] | None = ()
    left_alone: bool = False
    announced: tuple[str, ...] = ()
    """The announcements that are recorded, by their keys."""
    past: tuple[PermissionRequest, ...] = ()
    """The requests that take no answer any more."""


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """All that `decide` may know: taken by `engine.observe`, without a lock."""

    now: datetime
    policy: LeadPolicy = LeadPolicy()
    moved: dict[datetime, datetime] = {}
    """Moments that were stamped before the clock jumped, as they would be stamped now."""
    config: TeamConfig
    wanted: Wanted
    runtime: Runtime
    machine: str = ""
    """The lead's machine, "" for the one that made the team; the lead acts only for the members on it."""
    has_duties: bool = True
    """Whether this lead has the duties for the whole team; of the leads on several machines one has them."""
    others: Runtime = Runtime()
    """What the leads of other machines have recorded."""
    tasks: TaskList | None
    """None while tasks.json cannot be read: only what needs the tasks waits."""
    reports: dict[str, Report]
    guards_alive: frozenset[str] = frozenset()
    """Incarnations whose guard process is alive."""
    leftovers: frozenset[str] = frozenset()
    """Incarnations without a guard, but with living processes that carry their tag."""
    elsewhere: frozenset[str] = frozenset()
    """Incarnations whose guard is gone here, while another machine has not said that its part is over."""
    unopened: dict[str, bool] = {}
    """Sessions to be opened again: they were just starting, or go on elsewhere; true when the launch file exists."""
    handles: dict[str, Handle] = {}
    """Where sessions without a recorded handle are shown, by incarnation."""
    unread: dict[str, Unread] = {}  # by agent id
    seen: dict[str, Seen] = {}
    """What the agents' own sources and screens say, by incarnation."""
    nudged: dict[str, Nudged] = {}
    """Nudges that arrived, by incarnation."""
    queued: dict[str, str] = {}
    """Why nudges wait, by incarnation; empty for one that arrived."""
    worktree_jobs: dict[tuple[str, int], WorkFolder] = {}
    """The worktrees that are ready, or cannot be made, by agent id and generation."""
    workers: Workers = Workers()
    hooked: bool = False
    """Whether hooks are asked before a member counts as idle."""
    answers: dict[str, str] = {}
    """The answer of the hooks to each question, by its key; "" when no hook objects."""
    spent: float | None = 0.0
    """US dollars that the team has cost, as far as that is known; 0 without a limit, None while it cannot be read."""
    person: Person | None = None
    """None while mail or troubles cannot be read: nothing is announced then."""
    surfaces: frozenset[Surface] = frozenset()
    """Where needs are announced."""
    announced: frozenset[str] = frozenset()
    """The announcements that this lead has made, by their keys."""
    protocol: frozenset[str] = frozenset()
    """Agent programs that answer shutdown requests."""
    line: frozenset[str] = frozenset()
    """Agent programs that are shown the fixed line about unread mail."""
    channels: frozenset[str] = frozenset()
    """Agent programs that take this line by a channel of their own."""


class Question(msgspec.Struct, frozen=True):
    """Ask the hooks, in the background, whether a member may be idle."""

    key: str
    state: SeatState


class Start(msgspec.Struct, frozen=True):
    """Start a session for a seat; `prepared` means that its launch file exists, and nothing shows the session yet."""

    seat: Seat
    incarnation: str
    prepared: bool = False
    work_folder: WorkFolder = WorkFolder()


class Ask(msgspec.Struct, frozen=True):
    """Put a shutdown request into a member's mailbox; `id` is the id of the message, the same at every try."""

    id: str
    agent_id: str
    content: str


class End(msgspec.Struct, frozen=True):
    """End a session: send TERM to its guard, which ends the tree; with `firm`, KILL everything left."""

    agent_id: str
    incarnation: str
    firm: bool = False


class Free(msgspec.Struct, frozen=True):
    """Give back the tasks of a dead session and its member; with `keep` they stay reserved for the member."""

    agent_id: str
    incarnation: str
    how: str
    keep: bool = False


class Tell(msgspec.Struct, frozen=True):
    """Deliver a notice; its id is fixed, so a second delivery changes nothing."""

    id: str
    to: str
    content: str
    type: MessageType = MessageType.NOTIFICATION


class Nudge(msgspec.Struct, frozen=True):
    """Hand one fixed line to an agent: about its unread mail, or about tasks that are ready for it."""

    agent_id: str
    incarnation: str
    line: str
    tells: Nudged
    urgent: bool = False
    """Whether the agent's turn is stopped for the line, if the agent can be stopped."""


class Withdraw(msgspec.Struct, frozen=True):
    """Withdraw a request to end, since these members stay."""

    request_id: str
    stay: tuple[str, ...] = ()


class Deliver(msgspec.Struct, frozen=True):
    """Deliver the notices still queued in tasks.json, or with `wishes` those in wanted.json."""

    wishes: bool = False


class Hire(msgspec.Struct, frozen=True):
    """Make a seat for one task, or renew its seat; the next round opens its session."""

    task_id: str
    agent_id: str


class Dismiss(msgspec.Struct, frozen=True):
    """Remove the seat of a task after its session has ended; files on disk stay."""

    agent_id: str
    generation: int


class Expire(msgspec.Struct, frozen=True):
    """Give up a task that took too long, unless the claim of this epoch has ended."""

    task_id: str
    epoch: int
    minutes: int


class Announce(msgspec.Struct, frozen=True):
    """Announce a need on one surface, in the background, once."""

    surface: Surface
    need: Need


class Finish(msgspec.Struct, frozen=True):
    """Remove what was made for running a stopped team, and end the lead."""


Action = (
    Prepare
    | Harvest
    | Question
    | Start
    | Ask
    | End
    | Free
    | Tell
    | Nudge
    | Withdraw
    | Deliver
    | Hire
    | Dismiss
    | Expire
    | Announce
    | Finish
)


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a round: the new records, the actions to take after them, and the latest time of the next round."""

    runtime: Runtime
    actions: tuple[Action, ...] = ()
    wake_at: datetime | None = None
    needs: tuple[Need, ...] = ()
    announced: tuple[str, ...] | None = None
    """The announcements to record; None leaves the record as it is."""
