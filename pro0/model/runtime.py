"""Sessions as they are: runtime.json, the guards' reports and launch files."""

from enum import StrEnum

from pro0.model.home import AgentAct
from pro0.model.message import Unread as Unread
from pro0.model.stored import AgentId, Argument, Count, Document, Folder, Moment, Pid, Stored, Tag, TaskId, written
from pro0.model.stored import Process as Process
from pro0.model.team import Seat


class RateLimit(Stored, frozen=True):
    """A provider's rate limit: no session of this agent starts, at least until a moment."""

    agent: str
    """An agent here, or AGENT@HOST on another machine."""
    since: Moment
    """When the first of the errors in a row began, and in `at` the last one that counted."""
    at: Moment
    until: Moment
    named: bool = False  # whether the error named its end; else it is a guess, longer each time
    times: Count = 1
    note: str = ""


class State(StrEnum):
    """The state of a member, one list everywhere."""

    STARTING = "starting"
    WORKING = "working"
    IDLE = "idle"
    RUNNING = "running"
    WAITING = "waiting"
    DIALOG = "dialog"
    DRAFT = "draft"
    ERROR = "error"
    UNKNOWN = "unknown"
    STOPPING = "stopping"
    UNRESPONSIVE = "unresponsive"
    UNREACHABLE = "unreachable"
    SHUTDOWN = "shutdown"
    EXITED = "exited"
    CRASHED = "crashed"


ENDED = frozenset({State.SHUTDOWN, State.EXITED, State.CRASHED})


class Exit(Stored, frozen=True):
    """How an agent ended: by itself with a code, by a signal, or never started (`error`)."""

    at: Moment
    code: int | None = None
    signal: int | None = None
    reason: str = ""
    output: str = ""
    """The last of what it printed, of one that crashed or left a pane that closed."""

    @property
    def from_within(self) -> bool:
        """Return True when its output may say why it ended: HUP, INT, KILL and TERM come from outside."""
        return bool(self.code) if self.signal is None else self.signal not in (1, 2, 9, 15)


class Report(Document, frozen=True, kw_only=True):
    """sessions/{incarnation}.json: a guard's report on its session; only that guard writes it."""

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
    """The terminal that a guard makes for its agent: its socket and its screen model."""

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


class Hosted(Document, frozen=True, kw_only=True):
    """sessions/{incarnation}.host.json: what another machine runs for a session, until it is proven over there."""

    agent_id: AgentId
    incarnation: Tag
    there: Tag
    """What names the session there: two sessions may be on one machine."""
    host: Argument
    ssh: Argument
    team: AgentId
    project: Folder
    argv: tuple[Argument, ...]
    first_state: State = State.STARTING
    grace: float = 10.0
    passes: tuple[str, ...] = ()
    """The variables of that machine that its agent gets besides those that all get."""
    code: str = ""
    """What names its worktree there, TEAM/MEMBER; empty when it begins in the home directory."""
    agent: str = ""
    conversation: str = ""
    prompt: str = ""
    """By these three the agent's own files there are known; the conversation is empty when they tell it."""
    earlier: str = ""
    """The conversation of the session before, empty for none."""
    earlier_argv: tuple[Argument, ...] = ()
    """How the agent goes on with that one, when the machine still has it."""


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


class TurnEnd(Stored, frozen=True):
    """How the last turn of a session ended, and what its agent said last."""

    at: Moment
    how: str
    """ended, failed or interrupted"""
    words: str = ""
    source: str = ""
    """What the words were read from: transcript, hook or screen."""
    id: str = ""
    """Names the turn in that source."""
    claims: tuple[TaskId, ...] = ()
    """The tasks that the agent held."""
    running: tuple[str, ...] = ()
    """The programs that it had left running."""


class SeatState(Stored, frozen=True):
    """The runtime record of one member's session."""

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
    retold: Count = 0
    """How often it was told again of the mail up to `nudged`, each time since a turn had ended without its reading."""
    nudged_by: str = ""
    """What carried its last line: hook, server, bridge or keys; empty while it had none."""
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
    """How many of the comments on its task were passed on, or were there before it began."""
    warned_at: Moment | None = None
    """When it was last told that it may be stuck."""
    turn: TurnEnd | None = None
    """The end of its last turn, None while it has had none that could be seen."""
    off: tuple[AgentAct, ...] = ()
    """What is switched off for the version of its agent."""


class Failure(Stored, frozen=True):
    """A failed start of a session: the step and the reason. All of its earlier steps are undone."""

    agent_id: AgentId
    generation: Count
    at: Moment
    message: str
    hint: str = ""
    task: TaskId | None = None
    """The task that the session was to be for."""


class Phase(StrEnum):
    """The phase of the whole team."""

    RUNNING = "running"
    STOPPING = "stopping"
    STOPPED = "stopped"


class Refusal(Stored, frozen=True):
    """Why a request to end did not end everyone: who stayed, and the reason of each."""

    request_id: str
    stayed: dict[str, str] = {}


class Runtime(Document, frozen=True, kw_only=True, omit_defaults=True):
    """runtime.json: written only by the holder of the lead's lease."""

    lead: Process | None = written(None)
    lead_version: str = written("")
    lead_since: Moment | None = written(None)
    lead_machine: str = ""
    """The host name of the lead's machine; empty for a team in files."""
    joined: str = ""
    """The id under which the machine that records it has joined; empty for the one that made the team."""
    revived: tuple[Moment, ...] = written(())
    phase: Phase = written(Phase.RUNNING)
    seats: tuple[SeatState, ...] = written(())
    failures: tuple[Failure, ...] = written(())
    refusals: tuple[Refusal, ...] = written(())
    told: tuple[str, ...] = written(())
    """What the lead address was told of the whole team, lately."""
    server: Handle | None = written(None)
    limits: tuple[RateLimit, ...] = written(())
    """The last limit of each agent's provider, over or not."""
    waits: tuple[str, ...] = written(())
    """Of version 0.1.0, read and kept as it is."""

    def session(self, incarnation: str | None) -> SeatState | None:
        """Return the session of that incarnation, None when it is no longer, or not yet, known."""
        return next((state for state in self.seats if state.incarnation == incarnation), None)

    def failed(self, seat: Seat) -> bool:
        """Return True when the session that a seat asks for could not be started."""
        return any((f.agent_id, f.generation) == (seat.agent_id, seat.generation) for f in self.failures)
