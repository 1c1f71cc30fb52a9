"""Values that hold for every team of a home: roles, events of hooks, and a person's consent to files."""

from enum import StrEnum

from pro0.model.stored import AgentId, Argument, Document, Stored, written


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
