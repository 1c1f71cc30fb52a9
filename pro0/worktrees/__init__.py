"""Git worktrees for members: made, saved, merged, removed. Unmerged work is never lost."""

from pro0.worktrees.including import include
from pro0.worktrees.names import branch_of
from pro0.worktrees.repository import Repository

__all__ = ["Repository", "branch_of", "include"]
