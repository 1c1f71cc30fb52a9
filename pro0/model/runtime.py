"""What the lead sees and does: runtime.json, session reports, the snapshot it decides about, and its actions."""

from datetime import datetime
from enum import StrEnum

import msgspec

from pro0.model.message import MessageType
from pro0.model.message import Unread as Unread
from pro0.model.process import Process as Process
from pro0.model.rate_limit import RateLimit as RateLimit
from pro0.model.state import ENDED as ENDED
from pro0.model.state import State as State
from pro0.model.stored import AgentId, Argument, Count, Document, Moment, Pid, Stored, Tag, TaskId
from pro0.model.task import TaskList
from pro0.model.team import Seat, TeamConfig, Wanted
from pro0.model.worker import Ground, Harvest, Prepare, Workers


class Exit(Stored, frozen=True):
    """How an agent ended: by itself with a code, by a signal, or never started (`error`)."""

    at: Moment
    code: int | None = None
    signal: int | None = None
    reason: str = ""


class Report(Document, frozen=True, kw_only=True):
    """sessions/{incarnation}.json: what a guard says of its session; only that guard writes it."""

    agent_id: AgentId
    incarnation: Tag
    guard: Process
    agent: Process | None = None
    state: State = State.STARTING
    since: Moment
    task: str | None = None
    note: str = ""
    exit: Exit | None = None


class Revival(Stored, frozen=True):
    """How a guard brings a lead back: what to start, and how long to see none before; absolute paths, seconds."""

    argv: tuple[str, ...]
    cwd: str
    lease: str
    environment: str
    variables: dict[str, str]
    errors: str
    patience: float = 5.0
    jitter: float = 1.5


class Terminal(Stored, frozen=True):
    """The terminal that a guard makes for its agent: where it is served, and with which screen model."""

    socket: str
    library: str
    columns: int = 160
    lines: int = 48
    scrollback: int = 10000


class Launch(Stored, frozen=True):
    """sessions/{incarnation}.start.json: what a guard is to start; it reads the file once and removes it."""

    agent_id: str
    incarnation: str
    team: str
    team_uid: str
    argv: tuple[str, ...]
    cwd: str
    env: dict[str, str]
    report: str
    first_state: State = State.STARTING
    grace: float = 10.0
    team_folder: str = ""
    look: float = 2.0
    gone: float = 5.0
    revival: Revival | None = None
    terminal: Terminal | None = None


class Handle(Stored, frozen=True):
    """Where a backend shows a session: for tmux the socket, the server's identity, the pane id and the pane's pid."""

    backend: str
    incarnation: Tag
    pid: Pid = 0
    socket: Argument = ""
    server_pid: Pid = 0
    server_start: str = ""
    pane: str = ""
    log: Argument = ""


class SeatState(Stored, frozen=True):
    """What is known of one member's session."""

    agent_id: AgentId
    generation: Count
    incarnation: Tag
    state: State
    since: Moment
    started_at: Moment
    task: str | None = None
    guard: Process | None = None
    agent: Process | None = None
    handle: Handle | None = None
    exit: Exit | None = None
    note: str = ""
    reported_at: Moment | None = None
    asked: str | None = None
    asked_at: Moment | None = None
    ending_since: Moment | None = None
    told: tuple[str, ...] = ()
    nudged: Count = 0
    nudged_at: Moment | None = None
    queued: str = ""
    """Why its one line about mail waits, empty when it does not."""
    offered: tuple[str, ...] = ()
    """Ready tasks that this session was told of."""
    source: str = ""
    """What says `state`, empty for the guard's report."""
    rule: str = ""
    session: str = ""
    """The agent's own id of its session, with which it can be resumed."""
    worktree: Argument = ""
    """The folder of its own worktree, empty when it works in the project's checkout."""
    branch: Argument = ""
    """The branch that this worktree was on when the session began."""
    heard: Count = 0
    """How many of the comments on its task were passed on."""
    warned_at: Moment | None = None
    """When it was last told that it may be stuck."""


class Failure(Stored, frozen=True):
    """A spawn that could not be done: at which step, and why; what it made has been undone."""

    agent_id: AgentId
    generation: Count
    at: Moment
    message: str
    hint: str = ""
    task: TaskId | None = None
    """The task that the session was to be for."""


class Phase(StrEnum):
    """What the lead is doing with the whole team."""

    RUNNING = "running"
    STOPPING = "stopping"
    STOPPED = "stopped"


class Refusal(Stored, frozen=True):
    """Why a request to end did not end everyone: who stayed, and the reason of each."""

    request_id: str
    stayed: dict[str, str] = {}


class Runtime(Document, frozen=True, kw_only=True):
    """runtime.json: written only by the holder of the lead's lease."""

    lead: Process | None = None
    lead_version: str = ""
    lead_since: Moment | None = None
    revived: tuple[Moment, ...] = ()
    phase: Phase = Phase.RUNNING
    seats: tuple[SeatState, ...] = ()
    failures: tuple[Failure, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    told: tuple[str, ...] = ()
    """What the lead address was told of the whole team, lately."""
    server: Handle | None = None
    limits: tuple[RateLimit, ...] = ()
    """The last limit of each agent's provider, over or not."""
    waits: tuple[str, ...] = ()
    """What waited for a human at the last look: task, kind and since when, with blanks between."""

    def failed(self, seat: Seat) -> bool:
        """Return whether the session that a seat asks for could not be started."""
        return any((f.agent_id, f.generation) == (seat.agent_id, seat.generation) for f in self.failures)


class Seen(msgspec.Struct, frozen=True):
    """A state that was read from an agent or its screen, since when, and what says so."""

    state: State
    since: datetime
    source: str
    rule: str = ""
    note: str = ""
    session: str = ""


class Nudged(msgspec.Struct, frozen=True):
    """A nudge that arrived: up to which message its line told of mail, and of which ready tasks."""

    mail: int = 0
    tasks: tuple[str, ...] = ()


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """All that `decide` may know: taken by `engine.observe`, without a lock."""

    now: datetime
    moved: dict[datetime, datetime] = {}
    """Moments that were stamped before the clock jumped, as they would be stamped now."""
    config: TeamConfig
    wanted: Wanted
    runtime: Runtime
    tasks: TaskList | None
    """None while tasks.json cannot be read: only what needs the tasks waits."""
    reports: dict[str, Report]
    guards_alive: frozenset[str] = frozenset()
    """Incarnations whose guard process is alive."""
    leftovers: frozenset[str] = frozenset()
    """Incarnations whose guard is gone while processes that carry their tag are alive."""
    unopened: dict[str, bool] = {}
    """Incarnations recorded as starting that no guard has; true when the launch file for it is there already."""
    handles: dict[str, Handle] = {}
    """Where sessions are shown of which that is not recorded, by incarnation."""
    unread: dict[str, Unread] = {}
    """By agent id."""
    seen: dict[str, Seen] = {}
    """What the agents' own sources and screens say, by incarnation."""
    nudged: dict[str, Nudged] = {}
    """Nudges that arrived, by incarnation."""
    queued: dict[str, str] = {}
    """Why nudges wait, by incarnation; empty for one that arrived."""
    grounds: dict[tuple[str, int], Ground] = {}
    """The worktrees that are ready, or cannot be made, by agent id and generation."""
    workers: Workers = Workers()
    hooked: bool = False
    """Whether hooks are asked before a member counts as idle."""
    answers: dict[str, str] = {}
    """What they said to each question, "" for nothing against it."""
    spent: float = 0.0
    """US dollars that the team has cost, as far as that is known; 0 without a limit."""
    task_minutes: int = 30
    """How long one claim under a supervised parent may be worked on."""
    protocol: frozenset[str] = frozenset()
    """Agent programs that answer shutdown requests."""
    line: frozenset[str] = frozenset()
    """Agent programs that are shown the fixed line about unread mail."""


class Question(msgspec.Struct, frozen=True):
    """Ask the hooks, in the background, whether a member may be idle."""

    key: str
    state: SeatState


class Start(msgspec.Struct, frozen=True):
    """Start a session for a seat; `prepared` when its launch file is there, and only its place is missing."""

    seat: Seat
    incarnation: str
    prepared: bool = False
    ground: Ground = Ground()


class Ask(msgspec.Struct, frozen=True):
    """Put a shutdown request into a member's mailbox; `id` is that message's, the same however often it is tried."""

    id: str
    agent_id: str
    content: str


class End(msgspec.Struct, frozen=True):
    """End a session: TERM to its guard, which ends the tree; KILL of everything that is left with `firm`."""

    agent_id: str
    incarnation: str
    firm: bool = False


class Free(msgspec.Struct, frozen=True):
    """Give the claims of a dead session back, and drop its member's reservations; with `keep` it keeps them all."""

    agent_id: str
    incarnation: str
    how: str
    keep: bool = False


class Tell(msgspec.Struct, frozen=True):
    """Deliver a notice; its id is fixed, so telling twice tells once."""

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
    """Whether its turn is stopped for it, where the agent can be stopped."""


class Withdraw(msgspec.Struct, frozen=True):
    """Take a wish to end back, since someone stays."""

    request_id: str


class Deliver(msgspec.Struct, frozen=True):
    """Deliver the notices that tasks.json still owes, or wanted.json (`wishes`)."""

    wishes: bool = False


class Hire(msgspec.Struct, frozen=True):
    """Make a seat for one task, or let its seat begin anew: the next look opens its session."""

    task_id: str
    agent_id: str


class Dismiss(msgspec.Struct, frozen=True):
    """Take the seat of a task away whose session is over; what it left on disk stays."""

    agent_id: str
    generation: int


class Expire(msgspec.Struct, frozen=True):
    """Give a task up, as long as this claim of it goes on, since it was worked on for too long."""

    task_id: str
    epoch: int
    minutes: int


class Finish(msgspec.Struct, frozen=True):
    """The team is stopped: remove what was made for running it, and end the lead."""


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
    | Finish
)


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What to record, then what to do, and when to look again at the latest."""

    runtime: Runtime
    actions: tuple[Action, ...] = ()
    wake_at: datetime | None = None
