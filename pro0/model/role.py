"""Roles: what an agent is told to be, and which agent that is; the same in every team of a home."""

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
