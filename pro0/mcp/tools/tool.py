"""A tool: one function that translates a call into an operation; its schemas come from its signature."""

import re
from collections.abc import Callable
from inspect import getdoc
from typing import Annotated

import msgspec

from pro0.mcp.tool_context import ToolContext
from pro0.model.caller import Who
from pro0.ops.context import OPERATIONS

Function = Callable[..., msgspec.Struct]
LEADS = frozenset({Who.LEAD_AGENT, Who.OUTSIDE})
"""The lead agent, and an agent outside any team, which is told to make a team first."""
TEAMMATES = frozenset({Who.MEMBER})
EVERYBODY = LEADS | TEAMMATES
MAIL = "mail"
"""The key of a result that says how many messages the caller has not read."""

TaskId = Annotated[str, msgspec.Meta(description="The task's id, such as task-7.")]
OwnTask = Annotated[
    str | None, msgspec.Meta(description="The id of a task you claimed; not needed if it is your only one.")
]


class Tool(msgspec.Struct, frozen=True):
    """One row of the table of tools.

    `waits` is true when a call may take longer than a change of the store, `ends` when it ends or removes something.
    """

    name: str
    operation: str
    callers: frozenset[Who]
    function: Function
    waits: bool = False
    ends: bool = False
    if_lost: Callable[[ToolContext], object] | None = None
    """The action for when the client never reads the result."""
    same_as: str = ""
    """The first name of the same tool, for one that has two."""

    @property
    def about(self) -> str:
        """Return its description for agents. A tool with two names says so, since agents are shown both."""
        about = self.worded(" ".join((getdoc(self.function) or "").split()))
        return f"{about} The same tool as {self.same_as}." if self.same_as else about

    def worded(self, text: str) -> str:
        """Return a text in the words of the tool's family; an id such as task-7 is the same in both."""
        return re.sub(r"\btask(?!-)", "ticket", text) if self.name.startswith("ticket_") else text

    def hints(self) -> dict[str, bool]:
        """Return its annotations: a client may show them to a person, or ask less often before such a call."""
        changes = OPERATIONS[self.operation].changes
        return {"destructiveHint": self.ends} if changes else {"readOnlyHint": True}

    def spelled(self, arguments: dict[str, object]) -> dict[str, object]:
        """Return the arguments of a call under the function's own parameter names."""
        return {name.replace("ticket_", "task_"): value for name, value in arguments.items()}


TOOLS: dict[str, Tool] = {}
"""Every tool, by name. The modules of tools fill it; `pro0.mcp.tools.table` imports all of them."""


def tool(
    operation: str,
    callers: frozenset[Who],
    *,
    names: tuple[str, ...] = (),
    waits: bool = False,
    ends: bool = False,
    if_lost: Callable[[ToolContext], object] | None = None,
) -> Callable[[Function], Function]:
    """Enter a function into the table, by its own name or `names`; `operation` must be in `OPERATIONS`."""
    if operation not in OPERATIONS:
        raise KeyError(operation)

    def enter(function: Function) -> Function:
        for name in names or (function.__name__,):
            same_as = "" if name == function.__name__ else function.__name__
            TOOLS[name] = Tool(name, operation, callers, function, waits, ends, if_lost, same_as)
        return function

    return enter


def both(verb: str) -> tuple[str, str]:
    """Return the names of a tool in both families (behaviour 2.23)."""
    return f"task_{verb}", f"ticket_{verb}"
