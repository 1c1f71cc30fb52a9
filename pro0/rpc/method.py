"""A method: one function and its parameters; its schemas come from its signature."""

import re
from collections.abc import Callable
from inspect import getdoc

import msgspec

from pro0.model.caller import Who
from pro0.ops.catalog import OPERATIONS
from pro0.ops.signature import arguments_of

Function = Callable[..., object]


class Method(msgspec.Struct, frozen=True):
    """One row of the table of methods; its operation says who may call it."""

    name: str
    operation: str
    function: Function
    direct: bool = False
    """True when the function is the operation itself, which takes a context; else it takes a client."""
    waits: bool = False
    """True when it may take longer than a change of the store does."""
    by: frozenset[Who] | None = None
    """The callers allowed, when they are fewer than the operation allows."""

    @property
    def about(self) -> str:
        """Return its description, in the words of its family."""
        return self.worded(" ".join((getdoc(self.function) or "").split()))

    @property
    def parameters(self) -> dict[str, str]:
        """Return its parameters: the public name of each, and the function's own name for it."""
        names = arguments_of(self.function).__struct_fields__
        about_tasks = self.direct and self.operation.startswith("task.")
        return {self.worded("task_id" if about_tasks and name == "id" else name): name for name in names}

    def worded(self, text: str) -> str:
        """Return a text or a key in the words of the method's family; an id such as task-7 is the same in both."""
        if not self.name.startswith("ticket."):
            return text
        return re.sub(r"(?<![a-z])task(?!-\d)(?=s?\b|Id\b|_)", "ticket", text)


METHODS: dict[str, Method] = {}
"""Every method, by name; `pro0.rpc.table` has them all."""


def method(
    operation: str, *names: str, waits: bool = False, by: frozenset[Who] | None = None
) -> Callable[[Function], Function]:
    """Enter a function of a client into the table under these names; `operation` must be in `OPERATIONS`."""
    if operation not in OPERATIONS:
        raise KeyError(operation)

    def enter(function: Function) -> Function:
        for name in names:
            METHODS[name] = Method(name, operation, function, waits=waits, by=by)
        return function

    return enter


def both(verb: str) -> tuple[str, str]:
    """Return the names of a method in both families (behaviour 2.23)."""
    return f"task.{verb}", f"ticket.{verb}"
