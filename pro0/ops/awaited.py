"""What a task waits for, as people are told it."""

from pro0.model.task import Wait
from pro0.rules.board import said


def awaited(wait: Wait) -> str:
    """Return what a task waits for, and why; of a gate that was declared before only its name."""
    return str(wait.kind) if wait.reason == f"Work complete, requires {wait.kind}" else said(wait)
