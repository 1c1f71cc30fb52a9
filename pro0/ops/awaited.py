"""What a task waits for, as people are told it."""

from pro0.model.task import Wait
from pro0.rules.board import said
from pro0.rules.gates import at_gate


def awaited(wait: Wait) -> str:
    """Return what a task waits for, and why; of a gate that was declared before only its name."""
    return str(wait.kind) if wait.reason == at_gate(wait.kind) else said(wait)
