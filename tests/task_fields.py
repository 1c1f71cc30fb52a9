"""The fields of a task: what each is called at each entrance, which entrance lacks it and why, and a value of each."""

from datetime import UTC, datetime
from typing import Any

import msgspec

from pro0.model.task import Awaiting, Gate, Kind, Policy, Wait

NAMED = {"type": "kind", "add_dependencies": "add_dependency", "drop_dependencies": "drop_dependency"}
"""A field → the option, where both have names of their own."""
CALLED = {"blocked_by": "dependencies", "role": "role_id"}
"""A field → the parameter of the tool, where both have names of their own."""
IN_JSON_RPC = {**CALLED, "parent": "parent_id"}
"""A field → the parameter of the method, where both have names of their own."""
BESIDES = {"add_dependencies": "dependencies", "drop_dependencies": "dependencies", "blocked_by": "dependencies"}
"""A field of a draft or a change → the field of the task, where both have names of their own."""
FILES_ONLY = "names a task within one file of tasks"
DELEGATED = "pro0 delegate and its tool have it"
PERSONS = "a person's to set: it decides what an agent may do or complete"
NOT_MADE_BY: dict[str, dict[str, str]] = {
    "command": {"key": FILES_ONLY, "agent": DELEGATED, "shared": DELEGATED},
    "tool": {
        "key": FILES_ONLY,
        "agent": DELEGATED,
        "shared": DELEGATED,
        "type": "an agent groups tasks by subtasks",
        "timeout": "the limit of a command goes with the person's agreement to it",
        "awaiting": "ticket_request_review and task_request_review hand a task to a person",
        "policy": PERSONS,
    },
    "method": {"key": FILES_ONLY, "agent": DELEGATED, "shared": DELEGATED},
}
NOT_CHANGED_BY: dict[str, dict[str, str]] = {
    "command": {},
    "tool": {"run": PERSONS, "timeout": PERSONS, "role": PERSONS, "requires": PERSONS},
    "method": {},
}
NOT_CHANGED: dict[str, str] = {
    **dict.fromkeys(("key", "agent", "shared", "parent", "type", "policy"), "it says what kind of task is made"),
    "assignee": "`task assign` and its like change it",
    "awaiting": "`task update --awaiting` holds a task, as an act of its own",
    "blocked_by": "add_dependencies and drop_dependencies",
}
"""Fields of a draft that no change has."""
FORMLESS = {
    "task.create": {"type", "policy", "awaiting", "run", "timeout"},
    "task.update": {"requires", "run", "timeout"},
}
"""Parameters of a method that the page's form of a task does not give: a person gives them on the command line."""
SAMPLES: dict[str, object] = {
    "title": "other",
    "description": "t\n\nmore of it",
    "acceptance": "it is so",
    "type": Kind.EPIC,
    "labels": ("area:x",),
    "run": "make",
    "timeout": 5.0,
    "parent": "task-2",
    "dependencies": ("task-3",),
    "priority": 4,
    "assignee": "w1",
    "role": "reviewer",
    "requires": Gate.REVIEW,
    "awaiting": Wait(kind=Awaiting.INPUT, by="w1", since=datetime(2026, 1, 1, tzinfo=UTC)),
    "policy": Policy.DISPATCH,
}
"""A value of each field that somebody may set."""


def value_of(field: str) -> Any:
    """A value of a field, as JSON has it."""
    if field == "drop_dependencies":
        return ["task-2"]
    sample = SAMPLES[BESIDES.get(field, field)]
    return as_json(sample)


def as_json(value: Any) -> Any:
    """What stands for a value in JSON; for a wait its kind."""
    value = msgspec.to_builtins(value.kind if isinstance(value, Wait) else value)
    return [*value] if isinstance(value, tuple) else value
