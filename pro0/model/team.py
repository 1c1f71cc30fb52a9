"""The team: its members (config.json), and the wishes about it (wanted.json)."""

from enum import StrEnum
from typing import Annotated, Literal

import msgspec

from pro0.model.agent import Definition
from pro0.model.message import Notice
from pro0.model.stored import AgentId, Argument, Count, Document, Folder, Moment, Process, Stored, Tag, TaskId, written

PLAN_LIMIT = 64 * 1024
"""Bytes of a plan: it is kept in wanted.json."""

Verdict = Literal["", "approved", "rejected"]
Approver = Literal["human", "lead"]
"""Who gives the verdict: the person alone, or the lead agent too."""


class PlanGate(Stored, frozen=True):
    """The stages of a plan: required, handed in, then approved or rejected; a rejected member hands in another one."""

    id: str = ""
    """The id of the newest plan, made of its text and its session; empty before the first one."""
    text: str = ""
    incarnation: Tag | Literal[""] = ""
    """The session that has handed it in."""
    at: Moment | None = None
    verdict: Verdict = ""
    by: str = ""
    feedback: str = ""
    """What was wrong with it, for one that was rejected."""
    decided_at: Moment | None = None
    generation: Count = 0
    """The generation of the session that begins with the approval, 0 before it."""

    @property
    def approved(self) -> bool:
        """Return True when the member may go on."""
        return self.verdict == "approved"

    @property
    def stage(self) -> str:
        """Return the stage in a word or two."""
        return self.verdict or ("handed in" if self.id else "required")


Uid = Annotated[str, msgspec.Meta(pattern=r"^([A-Za-z0-9][A-Za-z0-9-]{0,63})?$(?!\n)")]
Variable = Annotated[str, msgspec.Meta(pattern=r"^[^=\x00]+$(?!\n)")]
WindowName = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,47}$(?!\n)")]
WindowLayout = Literal["tiled", "even-horizontal", "even-vertical", "main-horizontal", "main-vertical"]
WINDOW_LAYOUTS: tuple[WindowLayout, ...] = (
    "tiled",
    "even-horizontal",
    "even-vertical",
    "main-horizontal",
    "main-vertical",
)
Digest = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$(?!\n)")]
Seconds = Annotated[float, msgspec.Meta(ge=0, le=86400)]


class PermissionMode(StrEnum):
    """The acts that an agent may do without asking: none, edit files, only read and plan, or all."""

    ASK = "ask"
    EDITS = "edits"
    PLAN = "plan"
    BYPASS = "bypass"


class Member(Stored, frozen=True):
    """A seat as config.json lists it, with the keys of the documented schema."""

    name: str
    agent_id: AgentId
    category: str = written("")
    session_id: str = written("")
    spawned_at: Moment | None = written(None)
    agent: str = ""


class Window(Stored, frozen=True):
    """A window that members are shown in by name, and how tmux lays its panes out."""

    name: WindowName
    layout: WindowLayout = "tiled"


class TeamConfig(Document, frozen=True, kw_only=True):
    """config.json: written only by the holder of the lead's lease."""

    name: AgentId
    lead_agent_id: str = "lead"
    created_at: Moment
    members: tuple[Member, ...] = ()
    uid: Uid = ""
    project: Folder = ""
    mode: str = "headless"
    mode_reason: str = ""
    inside_tmux: Argument = ""
    iterm2_session: Argument = ""
    sockets: Argument = ""
    permission_mode: PermissionMode = PermissionMode.ASK
    plan_approval: Approver = "human"
    """Who gives the verdict on members' plans: the person alone, or the lead agent too."""
    windows: tuple[Window, ...] = ()
    layout: WindowLayout = "tiled"
    """The layout of windows without their own."""
    panes_per_window: Count = 0
    """The most members in one window, 0 for as many as fit."""
    worktrees: bool = False
    """Whether teammates get git worktrees of their own, unless their spawn says otherwise."""

    @property
    def display(self) -> "Display":
        """Return where its members are shown."""
        return Display(**{name: getattr(self, name) for name in Display.__struct_fields__})


FirstPort = Annotated[int, msgspec.Meta(ge=1, le=65535)]


class PortRanges(Document, frozen=True, kw_only=True):
    """ports.json: the first port of each member's range; a cleanup of the team frees the ranges."""

    ranges: dict[AgentId, FirstPort] = {}


class Environment(Document, frozen=True, kw_only=True):
    """environment.json: the environment of the team's start; every lead and member gets the same."""

    variables: dict[Variable, Argument] = {}
    reserved: dict[Variable, Argument] = {}
    """The variables that only agents get whose definition names them."""


class Wish(StrEnum):
    """The wish about the whole team."""

    RUN = "run"
    STOP = "stop"


class Answer(Stored, frozen=True):
    """A member's answer to one shutdown request."""

    request_id: str
    incarnation: Tag
    approve: bool
    at: Moment
    reason: str = ""


class ShutdownWish(Stored, frozen=True):
    """A request to end a member or the whole team; `timeout` in seconds; `force` ends those that do not answer."""

    id: str
    by: str
    at: Moment
    timeout: Seconds = 60.0
    force: bool = False
    reason: str = ""


class Seat(Stored, frozen=True):
    """The wish about one member; a higher `generation` than the running one asks for a new session."""

    agent_id: AgentId
    name: str
    agent: str
    generation: Count = 1
    role: str = ""
    task: TaskId | None = None
    """The only task of its sessions; None for a long-lived seat."""
    prompt: str = ""
    argv: tuple[Argument, ...] = ()
    nudge: bool = False
    window: WindowName | Literal[""] = ""
    """The window it is shown in, empty for wherever there is room."""
    model: str = ""
    effort: str = ""
    permission_mode: PermissionMode | None = None
    """None for the mode of the lead agent, or else of the team."""
    delegates: bool = False
    """Whether a lead agent leaves the work itself to others."""
    worktree: bool = False
    """Whether it works in a git worktree of its own."""
    disposable: bool = False
    """Whether it is a worker: a seat for one task and one session, harvested at its end."""
    fresh: bool = False
    """Whether its next session begins a new conversation, even if the earlier one could be resumed."""
    shutdown: ShutdownWish | None = None
    answer: Answer | None = None
    definition: Definition | None = None
    """The definition of its agent, if the settings define it."""
    gate: PlanGate | None = None
    """The plan that it must have approved before it changes anything, None when it need not."""
    host: Argument = ""
    """The machine that runs its agent, by its name for OpenSSH; empty for the machine that leads it."""
    machine: AgentId | Literal[""] = ""
    """The machine that leads it, in a team shared by several; empty for the machine that made the team."""
    unattended: bool = False
    """Whether nobody waits for its start: then the seat stays after a failed start, so that the person sees it."""

    @property
    def called_off(self) -> bool:
        """Return True when its member is to end and none may start; never for a task: its next one starts at once."""
        return self.shutdown is not None and self.task is None


def placed(agent: str, host: str) -> str:
    """Return an agent with its machine as AGENT@HOST, the form that `team start -m` takes."""
    return f"{agent}@{host}" if host else agent


class OutsideAgent(Stored, frozen=True):
    """A person's own agent as a team's leader: no session of pro0, known by the process that speaks for it."""

    incarnation: Tag
    process: Process
    since: Moment


class Grant(Stored, frozen=True):
    """A person's permission for a program to act as a member, as long as that member's present session lasts."""

    id: str
    agent_id: AgentId
    incarnation: Tag
    hash: Digest
    """The SHA-256 of its token, which is stored nowhere."""
    by: str
    at: Moment


class Wanted(Document, frozen=True, kw_only=True, omit_defaults=True):
    """wanted.json: what operations ask for; the lead makes it so."""

    wish: Wish = written(Wish.RUN)
    paused: bool = written(False)
    max_cost: Annotated[float, msgspec.Meta(ge=0, le=1e9)] = written(0.0)
    """US dollars that the team may cost, 0 for no limit."""
    outside: OutsideAgent | None = written(None)
    """Who leads the team from outside, or did so last."""
    stop: ShutdownWish | None = written(None)
    remove: bool = written(False)
    """Whether the team is to be removed once it has stopped."""
    seats: tuple[Seat, ...] = written(())
    grants: tuple[Grant, ...] = ()
    """Leave for programs to act as members from outside; a grant for an ended session has no effect."""
    outbox: tuple[Notice, ...] = written(())
    """The undelivered notices about its changes."""


class Display(Stored, frozen=True):
    """Where a machine shows its members of a team, as `TeamConfig` has it."""

    mode: str = "headless"
    mode_reason: str = ""
    inside_tmux: Argument = ""
    iterm2_session: Argument = ""
    sockets: Argument = ""


class Share(Display, frozen=True, kw_only=True):
    """A machine's own part of a team made on another machine; the rest is in the database."""

    machine: AgentId
    project: Folder
    joined: str = ""
    """The id under which it joined, as in its record; a later machine of the same name has another id."""


class StorePointer(Document, frozen=True, kw_only=True):
    """store.json: the database that keeps the documents of a team, without any password."""

    url: Argument
    """Empty for files."""
    uid: Tag
    """The uid of the team there: another team there may have the same name."""
    unused: Argument = ""
    """Another database whose documents do not count: from before a copy, or of an interrupted copy."""
    share: Share | None = None
    """None on the machine that made the team."""
