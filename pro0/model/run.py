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
    """Who asked for it: the run ends when that process does."""
    epic: TaskId | None = None
    """What it is limited to; None for every epic."""
    auto: bool = False
    """Whether it waits for new work when there is none."""
    standalone: bool = False
    orphans: bool = False
    agent: str = "claude"
    definition: Definition | None = None
    """That of its agent, when the settings define it."""
    program: tuple[Argument, ...] = ()
    """What it starts for each turn when the agent is `command`."""
    max_iterations: Count = 10
    max_cost: Annotated[float, msgspec.Meta(ge=0, le=1e9)] = 10.0
    debounce: Seconds = 0.0
    """How long a task must have been left alone before it is taken up."""
    timeout: Seconds = 0.0
    """How long it waits for new work."""
    poll: Seconds = 2.0
    """The longest time between two looks."""


class RunEvent(Stored, frozen=True, kw_only=True):
    """One line of what a run tells: `event` is begin, turn, said, end, idle, note or over; `code` comes with over."""

    at: Moment
    incarnation: Tag
    event: str
    task: str | None = None
    text: str = ""
    number: Count = 0
    """Which turn on this task it is."""
    spent: float | None = 0.0
    """US dollars since the run began; None when no turn has told its cost."""
    unpriced: Count = 0
    """Turns whose cost nobody told."""
    code: int | None = None
