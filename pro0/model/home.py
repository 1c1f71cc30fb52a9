"""Values that hold for every team of a home: roles, events of hooks, consent to files, and paired devices."""

from enum import StrEnum
from typing import Annotated

import msgspec

from pro0.model.stored import AgentId, Argument, Count, Document, Moment, Stored, Tag, written

Hash = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$(?!\n)")]
Port = Annotated[int, msgspec.Meta(ge=0, le=65535)]


class Role(Stored, frozen=True):
    """A role that tasks and members may have; without an `agent` it is whichever is usual."""

    id: AgentId
    name: str
    prompt: str = written("")
    agent: str = ""
    model: str = ""
    argv: tuple[Argument, ...] = ()
    """The program of the agent `command`."""


class Roles(Document, frozen=True, kw_only=True):
    """roles.json: all roles of a home; without the file there are those that pro0 brings along."""

    roles: tuple[Role, ...] = ()


class HookEvent(StrEnum):
    """When a hook runs; one of the first three can say no."""

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
    """What a paired browser may do; each holds all that the one before it holds."""

    LOOK = "look"
    """Read."""
    ANSWER = "answer"
    """Give verdicts, answer what needs the person, and write messages and comments."""
    ALL = "all"
    """Whatever the person may do."""


class Device(Stored, frozen=True):
    """One browser that was paired; it proves itself by a cookie and by a secret of its page, both."""

    id: Tag
    name: str
    rights: Rights
    cookie: Hash
    secret: Hash
    paired_at: Moment


class PairingCode(Stored, frozen=True):
    """One code that admits one device, once, until it is too old."""

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
