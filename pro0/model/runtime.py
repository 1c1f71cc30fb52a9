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
    """When the first error of the series began; `at` is when the last one that counted began."""
    at: Moment
    until: Moment
    named: bool = False  # whether the error named its end; else it is a guess, longer each time
    times: Count = 1
    note: str = ""


class State(StrEnum):
    """The states of a member, the same everywhere."""

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
    """The end of its output, for an agent that crashed or whose pane has closed."""

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
    """How a guard restarts a lead: the command, and the time without a lead before; absolute paths, seconds."""

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
    """sessions/{incarnation}.host.json: the part of a session on another machine, until its end there is proven."""

    agent_id: AgentId
    incarnation: Tag
    there: Tag
    """The name of the session there: one machine may have several."""
    host: Argument
    ssh: Argument
    team: AgentId
    project: Folder
    argv: tuple[Argument, ...]
    first_state: State = State.STARTING
    grace: float = 10.0
    passes: tuple[str, ...] = ()
    """The variables of that machine that its agent gets besides the common ones."""
    code: str = ""
    """The name of its worktree there, TEAM/MEMBER; empty when it begins in the home directory."""
    agent: str = ""
    conversation: str = ""
    prompt: str = ""
    """`agent`, `conversation` and `prompt` identify the agent's own files there; those tell an empty conversation."""
    earlier: str = ""
    """The conversation of the previous session, empty for none."""
    earlier_argv: tuple[Argument, ...] = ()
    """The command line that resumes the earlier conversation, if the machine still has it."""
    again: bool = False
    """True once the team's machine has restarted since the session began: it is gone on with, and never begun anew."""

    @property
    def keeps_back(self) -> str:
        """Return what a member's next session waits for while this one may still run there."""
        return f"starts once {self.host} confirms that its last session has ended"


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
    """The id of the turn in that source."""
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
    """How often it was told again of the mail up to `nudged`, each time after a turn that left it unread."""
    nudged_by: str = ""
    """What carried its last line: hook, server, bridge or keys; empty before the first line."""
    queued: str = ""
    """Why its one line about mail waits, empty when it does not."""
    offered: tuple[str, ...] = ()
    """Ready tasks that this session was told of."""
    source: str = ""
    """The source of `state`, empty for the guard's report."""
    rule: str = ""
    session: str = ""
    """The agent's own id of its session, with which it can be resumed."""
    worktree: Argument = ""
    """The folder of its own worktree, empty when it works in the project's checkout."""
    branch: Argument = ""
    """The branch that this worktree was on when the session began."""
    heard: Count = 0
    """How many comments on its task were passed on already, or were made before it began."""
    warned_at: Moment | None = None
    """When the lead address was last told that it may be stuck."""
    turn: TurnEnd | None = None
    """The end of its last turn, None before the first end that was seen."""
    off: tuple[AgentAct, ...] = ()
    """The acts switched off for the version of its agent."""


class Failure(Stored, frozen=True):
    """A failed start of a session: the step and the reason. All of its earlier steps are undone."""

    agent_id: AgentId
    generation: Count
    at: Moment
    message: str
    hint: str = ""
    task: TaskId | None = None
    """The task that the session was to be for."""
    of_team: bool = False
    """True if the hint helps only while the team is there."""


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
    """The id under which the recording machine has joined; empty for the machine that made the team."""
    revived: tuple[Moment, ...] = written(())
    phase: Phase = written(Phase.RUNNING)
    seats: tuple[SeatState, ...] = written(())
    failures: tuple[Failure, ...] = written(())
    refusals: tuple[Refusal, ...] = written(())
    told: tuple[str, ...] = written(())
    """The keys of recent notices about the whole team."""
    server: Handle | None = written(None)
    limits: tuple[RateLimit, ...] = written(())
    """The last limit of each agent's provider, over or not."""
    waits: tuple[str, ...] = written(())
    """A field of version 0.1.0, read and kept as it is."""

    def session(self, incarnation: str | None) -> SeatState | None:
        """Return the session of that incarnation, None for one not yet, or no longer, known."""
        return next((state for state in self.seats if state.incarnation == incarnation), None)

    def failed(self, seat: Seat) -> bool:
        """Return True when the session that a seat asks for could not be started."""
        return any((f.agent_id, f.generation) == (seat.agent_id, seat.generation) for f in self.failures)
