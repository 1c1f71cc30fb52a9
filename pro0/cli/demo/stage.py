"""The stage of the demo's acts: the folder, the team, the view, and the facts for the checks at the end."""

import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pro0.cli.demo.follow import Look, TeamFollower
from pro0.cli.demo.repository import Commit
from pro0.cli.demo.scratch import Scratch
from pro0.cli.demo.view import DemoView
from pro0.cli.interrupts import Interruption
from pro0.errors import ErrorCode, Pro0Error, TimedOut
from pro0.model.runtime import SeatState
from pro0.model.task import Draft, Status
from pro0.ops.context import Context

Found = TypeVar("Found")

PAUSE = 0.1
"""Seconds between two looks."""
PATIENCE = 120.0
"""Seconds that one step may take, even on a busy machine."""


@dataclass
class Killing:
    """The killed member and the consequences. `at` is in seconds since the start; the other times are waits."""

    member: str
    task: str
    title: str
    incarnation: str
    at: float
    noticed_after: float | None = None
    retaken_by: str = ""
    back_after: float | None = None


@dataclass
class Facts:
    """The facts of the demo so far, for the checks at its end."""

    look: Look | None = None
    killing: Killing | None = None
    inbox: int = 0
    commits: list[Commit] = field(default_factory=list)
    released: bool = False
    printed: str = ""
    agreed: dict[str, bool] = field(default_factory=dict)
    ended: tuple[SeatState, ...] = ()
    left: list[str] | None = None
    broken: str = ""


@dataclass
class Performance:
    """One performance."""

    scratch: Scratch
    view: DemoView
    mode: str
    mode_reason: str
    plan: Sequence[Draft]
    interruption: Interruption
    attach: bool = False
    inside_tmux: bool = False
    facts: Facts = field(default_factory=Facts)
    team: Context | None = None
    follower: TeamFollower | None = None
    client: "subprocess.Popen[bytes] | None" = None

    @property
    def context(self) -> Context:
        """Return the context in which the person acts."""
        assert self.team is not None
        return self.team

    def meet(self, context: Context) -> None:
        """Follow this team from now on."""
        self.team = context
        self.follower = TeamFollower(context, self.view.tell)

    def look(self) -> Look:
        """Look at the team and show it; raises KeyboardInterrupt when the demo was interrupted."""
        assert self.follower is not None
        self.interruption.check()
        self.facts.look = look = self.follower.look()
        if self.client and self.client.poll() is not None:
            self.client = None
            self.view.release()
        self.view.show(look)
        return look

    def until(self, met: Callable[[Look], Found | None], aim: str, *, pause: float = PAUSE) -> Found:
        """Wait for a condition and return its first true value; raises TimedOut, or Pro0Error once a task failed."""
        deadline = time.monotonic() + PATIENCE
        while True:
            look = self.look()
            if result := met(look):
                return result
            _raise_failed(look)
            if time.monotonic() > deadline:
                raise TimedOut(f"after {PATIENCE:g} s still not: {aim}")
            time.sleep(pause)

    def pause(self, seconds: float) -> None:
        """Let people watch for a moment."""
        over = time.monotonic() + seconds
        while time.monotonic() < over:
            self.look()
            time.sleep(PAUSE)


def _raise_failed(look: Look) -> None:
    for task in look.tasks:
        if task.status is Status.FAILED:
            raise Pro0Error(f"{task.id}, {task.title}, failed: {task.closed_reason}", code=ErrorCode.TASK_FAILED)
