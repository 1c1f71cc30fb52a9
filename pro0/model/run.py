"""One run of the run engine (`pro0 run`): the person's request and the events of the run."""

from typing import Annotated

import msgspec

from pro0.model.agent import Definition
from pro0.model.stored import Argument, Count, Moment, Process, Stored, Tag, TaskId

RUNNER = "runner"
"""The agent, and the name of the first member, that runs tasks one after the other."""

Seconds = Annotated[float, msgspec.Meta(ge=0, le=31_536_000)]


class RunOptions(Stored, frozen=True, kw_only=True):
    """A person's options for a run; times in seconds, costs in US dollars, 0 for no limit."""

    client: Process | None = None
    """The process that asked for the run; the run ends with it."""
    epic: TaskId | None = None
    """The only epic of the run; None for every epic."""
    auto: bool = False
    """Whether it waits for new work when there is none."""
    standalone: bool = False
    orphans: bool = False
    agent: str = "claude"
    definition: Definition | None = None
    """The definition of its agent, if the settings define it."""
    program: tuple[Argument, ...] = ()
    """The command line for each turn of the agent `command`."""
    max_iterations: Count = 10
    max_cost: Annotated[float, msgspec.Meta(ge=0, le=1e9)] = 10.0
    debounce: Seconds = 0.0
    """How long a task must have stayed unchanged before the run takes it."""
    timeout: Seconds = 0.0
    """How long it waits for new work."""
    poll: Seconds = 2.0
    """The longest time between two looks."""


class RunEvent(Stored, frozen=True, kw_only=True):
    """One event of a run: `event` is begin, turn, said, end, idle, note or over; `code` comes with over."""

    at: Moment
    incarnation: Tag
    event: str
    task: str | None = None
    text: str = ""
    number: Count = 0
    """The number of the turn on this task."""
    spent: float | None = 0.0
    """US dollars since the run began; None when no turn has told its cost."""
    unpriced: Count = 0
    """The number of turns without a known cost."""
    code: int | None = None
