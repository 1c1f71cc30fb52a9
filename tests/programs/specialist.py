"""An agent for one task that follows a script, its task's description: a plan of subtasks, or a piece of work.

plan: makes the subtasks it names, completes, and reviews as often as it is asked. work: notes in the project's journal
that it begins and ends, and fails as long as the file it needs is missing.
"""

import json
import os
import sys
import time
from pathlib import Path

from pro0.model.task import Draft, Status, Task
from pro0.ops.context import TASK_ID, Context, caller_of
from pro0.ops.mail import messages
from pro0.ops.tasks import tasks
from pro0.store.paths import home
from pro0.store.teams import Store

OVER = (Status.COMPLETED, Status.CANCELLED)


def note(word: str, task: Task) -> None:
    """Write one line into the journal, whole."""
    journal = os.open(Path.cwd() / "journal", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(journal, f"{word} {task.title}\n".encode())
    os.close(journal)


def plan(context: Context, task: Task, script: dict[str, list[dict[str, object]]]) -> None:
    """Make the subtasks once; complete, whatever has come of them."""
    messages.inbox(context, acknowledge=True)
    if not tasks.board(context).children(task.id):
        tasks.comment(context, task.id, f"the plan of {task.title}")
        tasks.create(context, [_draft(task, one) for one in script["plan"]])
    tasks.complete(context, task.id, f"{task.title} is done")


def work(context: Context, task: Task, script: dict[str, str]) -> None:
    """Do the work, or fail."""
    needs = script["work"]
    if needs and not Path(needs).exists():
        tasks.fail(context, task.id, f"{needs} is missing")
        return
    note("begin", task)
    note("end", task)
    tasks.comment(context, task.parent or task.id, f"{task.title} was here")
    tasks.complete(context, task.id, "it works")


def main() -> int:
    """Work on the task of this session until that is over."""
    caller, team = caller_of(os.environ, home(os.environ))
    context = Context(Store(home(os.environ)).team(team or ""), caller)
    while (task := tasks.show(context, os.environ[TASK_ID])).status not in OVER:
        mine = task.claim is not None and task.claim.incarnation == caller.incarnation
        if mine and task.status is Status.IN_PROGRESS:
            script = json.loads(task.description)
            (plan if "plan" in script else work)(context, task, script)
        time.sleep(0.05)
    return 0


def _draft(task: Task, fields: dict[str, object]) -> Draft:
    priority = fields.get("priority")
    return Draft(
        title=str(fields["title"]),
        description=json.dumps(fields["script"]),
        parent=task.id,
        priority=priority if isinstance(priority, int) else None,
    )


if __name__ == "__main__":
    sys.exit(main())
