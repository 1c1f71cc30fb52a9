"""`pro0 task`: the table of its commands, and the words of other ticket programs for them."""

from pro0.cli.lazy import LazyGroup

COMMANDS = {
    "create": ("pro0.cli.task.make:create", "Add a task, or all tasks of a file"),
    "list": ("pro0.cli.task.look:list_tasks", "List tasks"),
    "show": ("pro0.cli.task.look:show", "Show one task, what it waits for, and what was said about it"),
    "ready": ("pro0.cli.task.next:ready", "List the tasks that could be claimed now"),
    "blocked": ("pro0.cli.task.next:blocked", "List the tasks that wait for other tasks"),
    "next": ("pro0.cli.task.next:next_task", "Show the task that you would be offered next"),
    "tree": ("pro0.cli.task.look:tree", "Show tasks under their parents"),
    "query": ("pro0.cli.task.look:query", "Print every task as one line of JSON"),
    "watch": ("pro0.cli.task.watch:watch", "Show every task, then each change as it happens"),
    "start": ("pro0.cli.task.start:start", "Open a session of its own for a task, and for its subtasks"),
    "claim": ("pro0.cli.task.acts:claim", "Take a ready task"),
    "release": ("pro0.cli.task.acts:release", "Give a claimed task back"),
    "complete": ("pro0.cli.task.acts:complete", "Finish a claimed task with its result"),
    "fail": ("pro0.cli.task.acts:fail", "Mark a claimed task as failed"),
    "assign": ("pro0.cli.task.acts:assign", "Reserve a pending task for one member"),
    "comment": ("pro0.cli.task.acts:comment", "Add a remark to a task"),
    "update": ("pro0.cli.task.edit:update", "Change fields of a task"),
    "approve": ("pro0.cli.task.gates:approve", "Approve a task that waits for you"),
    "reject": ("pro0.cli.task.gates:reject", "Reject a task that waits for you"),
    "retry": ("pro0.cli.task.gates:retry", "Make a failed task pending again"),
    "continue": ("pro0.cli.task.gates:go_on", "Let the session that last worked on a task continue it"),
    "close": ("pro0.cli.task.gates:close", "Mark a failed or waiting task as complete"),
    "block": ("pro0.cli.task.edit:block", "Let a task wait for others"),
    "unblock": ("pro0.cli.task.edit:unblock", "Let a task no longer wait for others"),
    "cancel": ("pro0.cli.task.edit:cancel", "Cancel a task and its open subtasks"),
    "reopen": ("pro0.cli.task.edit:reopen", "Make a settled task pending again"),
    "import": ("pro0.cli.task.importing:import_tasks", "Make tasks from the tickets of other programs"),
    "delete": ("pro0.cli.task.edit:delete", "Remove a task for good"),
}

GROUPS = {
    "Make and see": ("create", "import", "list", "show", "tree", "query", "watch"),
    "Work on a task": ("next", "ready", "blocked", "start", "claim", "complete", "fail", "release"),
    "Answer what waits for you": ("approve", "reject", "continue", "retry", "close"),
    "Change": ("update", "assign", "comment", "block", "unblock", "cancel", "reopen", "delete"),
}
"""The commands as the help shows them."""

ALIASES = {
    "add": "create",
    "done": "complete",
    "note": "comment",
    "add-note": "comment",
    "get": "show",
    "ls": "list",
    "rm": "delete",
    "dep": "block",
    "undep": "unblock",
}

HELP = """The shared task list. A task is named by its id, task-7, or by its number, 7.

\b
Examples:
  pro0 task create "build it" --run make
  pro0 task list
  pro0 task claim 1 && pro0 task complete 1 "done"
"""

task = LazyGroup("task", COMMANDS, HELP, aliases=ALIASES, groups=GROUPS)
