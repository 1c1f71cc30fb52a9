"""`pro0 worker`: the table of its commands."""

from pro0.cli.lazy import LazyGroup

COMMANDS = {
    "list": ("pro0.cli.worker_look:list_workers", "List delegated tasks with who works on them"),
    "show": ("pro0.cli.worker_look:show", "Show one worker, what it left, and whether that can be merged"),
    "logs": ("pro0.cli.worker_look:logs", "Print the last lines that a worker showed"),
    "kill": ("pro0.cli.worker_acts:kill", "End a worker and its whole process tree; its task has failed"),
    "merge": ("pro0.cli.worker_acts:merge", "Merge what workers left into the project's checkout"),
}

HELP = """Workers: disposable members, one for each task that was delegated.

A worker is named by its name, t7, or by its task, task-7 or 7.

\b
Examples:
  pro0 delegate "fix the flaky test"
  pro0 worker list
  pro0 worker merge t1
"""

worker = LazyGroup("worker", COMMANDS, HELP)
