"""`pro0 task`: the table of its commands, and the words of the source documents for them."""

from pro0.cli.lazy import LazyGroup

COMMANDS = {
    "create": ("pro0.cli.task_make:create", "Add a task, or all tasks of a file"),
    "list": ("pro0.cli.task_look:list_tasks", "List tasks"),
    "show": ("pro0.cli.task_look:show", "Show one task, what it waits for, and what was said about it"),
    "ready": ("pro0.cli.task_look:ready", "List the tasks that could be claimed now"),
    "next": ("pro0.cli.task_look:next_task", "Show the task that you would be offered next"),
    "tree": ("pro0.cli.task_look:tree", "Show tasks under their parents"),
    "claim": ("pro0.cli.task_acts:claim", "Take a ready task"),
    "release": ("pro0.cli.task_acts:release", "Give a claimed task back"),
    "complete": ("pro0.cli.task_acts:complete", "Finish a claimed task with its result"),
    "fail": ("pro0.cli.task_acts:fail", "Give a claimed task up as failed"),
    "assign": ("pro0.cli.task_acts:assign", "Reserve a pending task for one member"),
    "comment": ("pro0.cli.task_acts:comment", "Add a remark to a task"),
    "update": ("pro0.cli.task_edit:update", "Change fields of a task"),
    "cancel": ("pro0.cli.task_edit:cancel", "Cancel a task and its open subtasks"),
    "reopen": ("pro0.cli.task_edit:reopen", "Make a settled task pending again"),
    "delete": ("pro0.cli.task_edit:delete", "Remove a task for good"),
}

ALIASES = {"add": "create", "done": "complete", "note": "comment", "get": "show", "rm": "delete"}

HELP = """The shared task list. A task is named by its id, task-7, or by its number, 7.

\b
Examples:
  pro0 task create "build it" --run make
  pro0 task list
  pro0 task claim 1 && pro0 task complete 1 "done"
"""

task = LazyGroup("task", COMMANDS, HELP, aliases=ALIASES)
