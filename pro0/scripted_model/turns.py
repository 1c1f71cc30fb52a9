"""The turns of a scripted model as data, and the functions that make them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event

from pro0.scripted_model.request import ModelRequest


@dataclass(frozen=True)
class TurnUsage:
    """The tokens of one answer; `fresh` and `cached` together are the input."""

    fresh: int = 0
    cached: int = 0
    output: int = 0

    def __add__(self, other: "TurnUsage") -> "TurnUsage":
        return TurnUsage(self.fresh + other.fresh, self.cached + other.cached, self.output + other.output)


@dataclass(frozen=True)
class ToolCall:
    """A tool call: `shell` and the tools of pro0 by their plain names, any other by the agent's own name for it."""

    tool: str
    arguments: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class ModelTurn:
    """One answer of the model: text, tool calls, or an error; nothing is sent before `after` is set."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    status: int = 200
    retry_after: int | None = None
    after: Event | None = None


Script = Callable[[ModelRequest], ModelTurn]
"""A scripted model: a function from a request to a turn."""


def say(text: str, after: Event | None = None) -> ModelTurn:
    """Answer with text, which ends the agent's turn."""
    return ModelTurn(text=text, after=after)


def use(tool: str, /, **arguments: object) -> ModelTurn:
    """Call one tool."""
    return ModelTurn(calls=(ToolCall(tool, arguments),))


def shell(command: str, *, outside: bool = False, after: Event | None = None) -> ModelTurn:
    """Run a command with the agent's own shell tool; codex may be asked to run it outside of its sandbox."""
    return ModelTurn(calls=(ToolCall("shell", {"command": command, "outside": outside}),), after=after)


def fail(status: int, retry_after: int | None = None, why: str = "") -> ModelTurn:
    """Answer with an error of the API."""
    return ModelTurn(why, status=status, retry_after=retry_after)


def hang() -> ModelTurn:
    """Never answer."""
    return ModelTurn(after=Event())


def in_turn(*turns: ModelTurn, afterwards: str = "Nothing left to do.") -> Script:
    """Return a script that takes one turn for each request, in order, and then says that nothing is left."""
    left = list(turns)
    return lambda _: left.pop(0) if left else say(afterwards)
