"""Values that hold for every team of a home: roles, events of hooks, consent, paired devices, proofs of agents."""

from enum import StrEnum
from typing import Annotated

import msgspec

from pro0.model.stored import AgentId, Argument, Count, Document, Moment, Stored, Tag, written

Hash = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$(?!\n)")]
Port = Annotated[int, msgspec.Meta(ge=0, le=65535)]


class Role(Stored, frozen=True):
    """A role of tasks and members; without an `agent` its sessions run the usual one."""

    id: AgentId
    name: str
    prompt: str = written("")
    agent: str = ""
    model: str = ""
    argv: tuple[Argument, ...] = ()
    """The program of the agent `command`."""


class Roles(Document, frozen=True, kw_only=True):
    """roles.json: all roles of a home; without the file, the home has pro0's preset roles."""

    roles: tuple[Role, ...] = ()


class HookEvent(StrEnum):
    """The events that run hooks; a hook of the first three can refuse."""

    TASK_CREATED = "TaskCreated"
    TASK_COMPLETED = "TaskCompleted"
    TEAMMATE_IDLE = "TeammateIdle"
    MEMBER_CHANGED = "MemberChanged"
    TEAM_CHANGED = "TeamChanged"
    HUMAN_NEEDED = "HumanNeeded"


class Consent(Document, frozen=True, kw_only=True):
    """trusted.json: projects and layouts, by path, with the digest of what the person agreed to."""

    projects: dict[str, str] = {}


class Rights(StrEnum):
    """The rights of a paired browser; each includes all rights of the one before it."""

    LOOK = "look"
    """Read."""
    ANSWER = "answer"
    """Give verdicts, answer what needs the person, and write messages and comments."""
    ALL = "all"
    """Whatever the person may do."""


class Device(Stored, frozen=True):
    """One paired browser; it proves its identity with a cookie and a secret of its page, both together."""

    id: Tag
    name: str
    rights: Rights
    cookie: Hash
    secret: Hash
    paired_at: Moment


class PairingCode(Stored, frozen=True):
    """A code that pairs one device, once, until it expires."""

    hash: Hash
    rights: Rights
    until: Moment


class Devices(Document, frozen=True, kw_only=True):
    """web/devices.json: the paired devices, the open codes, and the port that pages of this home know."""

    port: Port = 0
    devices: tuple[Device, ...] = ()
    codes: tuple[PairingCode, ...] = ()
    wrong: Count = 0
    """Wrong codes since the last right one."""
    locked_until: Moment | None = None


class ProofCheck(StrEnum):
    """The checks of an agent program, in order."""

    READY = "ready"
    """It starts, takes its first prompt, and is seen to be idle."""
    IDLE_MAIL = "idle-mail"
    """Mail that comes while it is idle is read once."""
    WORKING = "working"
    """Its work is seen."""
    WORKING_MAIL = "working-mail"
    """Mail that comes while it works is read once."""
    DRAFT = "draft"
    """What somebody types in its input is seen."""
    DRAFT_MAIL = "draft-mail"
    """Mail beside a draft leaves the draft alone, and is read once."""
    PERMISSION = "permission"
    """A question for its person is seen."""
    PERMISSION_MAIL = "permission-mail"
    """Mail that comes while it asks answers nothing, and is read once afterwards."""
    CHANNEL = "channel"
    """Its own channel has carried every line about mail."""
    ANSWER = "answer"
    """A permission is given and refused from elsewhere."""
    USAGE = "usage"
    """Its tokens are counted as its model said them."""
    RESUME = "resume"
    """After a kill it goes on in the same conversation."""
    END = "end"
    """It leaves when it is asked to, and nothing of it runs on."""


class AgentAct(StrEnum):
    """What pro0 does with an agent only as long as the checks behind it hold."""

    TYPING = "typing"
    """Type a line into its pane, or a key that stops its turn."""
    STATES = "states"
    """Say more of its state than that its process runs."""
    CHANNEL = "channel"
    """Hand mail over by its own channel."""
    ANSWERS = "answers"
    """Let its requests for permission be answered from elsewhere."""


class CheckResult(Stored, frozen=True):
    """The result of one check; `why` is empty when it held."""

    check: ProofCheck
    held: bool
    why: str = ""


class Proof(Stored, frozen=True):
    """The proofs of one version of an agent program, and the acts that are switched off for it."""

    agent: AgentId
    version: str
    at: Moment
    results: tuple[CheckResult, ...] = ()
    off: tuple[AgentAct, ...] = ()


class Proofs(Document, frozen=True, kw_only=True):
    """proofs.json: the newest proof of each version of an agent program on this machine."""

    proofs: tuple[Proof, ...] = ()
