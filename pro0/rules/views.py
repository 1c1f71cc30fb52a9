"""The ticket words for the status of a task (behaviour 2.23)."""

from pro0.model.task import Status, Task

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
