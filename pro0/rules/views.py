"""Views of a task for others: the ticket words for its status (behaviour 2.23), and a digest for verdicts."""

import msgspec

from pro0.model.task import Status, Task
from pro0.rules.text import digest

_WORDS = {
    Status.PENDING: "open",
    Status.IN_PROGRESS: "in_progress",
    Status.DONE: "done",
    Status.COMPLETED: "closed",
    Status.FAILED: "failed",
    Status.CANCELLED: "closed",
}


def ticket_status(task: Task) -> str:
    """Return the ticket word of a task: open, in_progress, needs_review, done, closed or failed."""
    return "needs_review" if task.waits else _WORDS[task.status]


def task_digest(task: Task) -> str:
    """Return a digest of all that a person judges in a task; a verdict can be bound to it."""
    words = (task.title, task.description, task.acceptance, task.run, task.result, task.closed_reason)
    state = (task.id, task.status, task.requires, task.waits, task.policy, task.role, task.assignee, task.epoch)
    place = (task.branch, task.base_branch, task.parent, task.dependencies, task.review_cycles, task.iterations)
    return digest(msgspec.json.encode((words, state, place)))[:32]
