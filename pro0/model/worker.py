"""Worktrees and workers, as the lead decides about them."""

import msgspec

from pro0.model.task import Comment
from pro0.model.team import Seat


class Ground(msgspec.Struct, frozen=True):
    """The worktree that was made ready for a seat, or why there is none."""

    path: str = ""
    branch: str = ""
    error: str = ""
    hint: str = ""


class Prepare(msgspec.Struct, frozen=True):
    """Make the worktree of a seat ready, in the background."""

    seat: Seat


class Harvest(msgspec.Struct, frozen=True):
    """Save what a dead worker leaves, remove its worktree, and report, in the background; `how` says how it ended."""

    agent_id: str
    incarnation: str
    task: str
    worktree: str = ""
    branch: str = ""
    how: str = ""


class Workers(msgspec.Struct, frozen=True):
    """What the lead sees of workers, besides their seats and sessions."""

    limit: int = 10
    """How many there may be at once."""
    harvested: frozenset[str] = frozenset()
    """Incarnations of which nothing is left to save or to report."""
    comments: dict[str, tuple[Comment, ...]] = {}
    """What was remarked about their tasks, by task."""
    still: dict[str, float] = {}
    """For how many seconds each has shown nothing new and run nothing, by incarnation."""
    stuck_after: float = 300.0
    """Seconds of that until one counts as stuck."""
