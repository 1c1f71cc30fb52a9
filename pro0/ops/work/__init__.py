"""The operations on work: runs, workers, sessions, and the worktrees and code of members."""
