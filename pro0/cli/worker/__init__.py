"""`pro0 worker`: the table of its commands."""

from pro0.cli.lazy import LazyGroup

COMMANDS = {
    "list": (
        "pro0.cli.worker.look:list_workers",
        "List delegated tasks: at work, in line, and those that left something",
    ),
    "show": (
        "pro0.cli.worker.look:show",
        "Show one worker: how far it is, what it left, and what a merge of that would do",
    ),
    "logs": ("pro0.cli.worker.look:logs", "Print the last lines that a worker showed"),
    "kill": ("pro0.cli.worker.acts:kill", "End workers: TERM, ten seconds, KILL, the whole process tree"),
    "merge": ("pro0.cli.worker.acts:merge", "Merge what workers left into the project's checkout"),
}

HELP = """Workers: disposable members, one for each task that was delegated.

A worker is named by its name, t7, or by its task, task-7 or 7.

\b
Examples:
  pro0 delegate "fix the flaky test"
  pro0 worker list
  pro0 worker merge t1
"""

worker = LazyGroup("worker", COMMANDS, HELP, aliases={"ls": "list"})
