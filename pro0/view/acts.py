"""The acts of a person on the board, as operations; each returns its outcome as text."""

from collections.abc import Callable
from pathlib import Path

from pro0.engine.opening.launch import ensure_lead
from pro0.errors import ErrorCode, Refused
from pro0.ops import verdicts
from pro0.ops.context import Context
from pro0.ops.mail import messages
from pro0.ops.tasks import gates
from pro0.ops.team import members


def on_board(home: Path, project: Callable[[], Path], act: str) -> None:
    """Refuse a verdict if it needs a PIN: keys typed into the view may go to a member."""
    if verdicts.has_pin(home):
        word = act.rpartition(".")[2]
        raise Refused(f"your verdicts ask for a PIN: leave with q, then pro0 task {word}", code=ErrorCode.NO_TERMINAL)
    verdicts.on_terminal(home, project, act)


def send(context: Context, to: str, text: str) -> str:
    """Send a message to one member."""
    return f"sent to {messages.send(context, to, text).to}"


def broadcast(context: Context, _to: str, text: str) -> str:
    """Send a message to every living member."""
    return f"sent to {', '.join(message.to for message in messages.broadcast(context, text)) or 'nobody'}"


def approve(context: Context, task: str, text: str) -> str:
    """Approve a waiting task."""
    return f"{task} approved: {gates.approve(context, task, text).status}"


def reject(context: Context, task: str, text: str) -> str:
    """Reject a waiting task."""
    return f"{task} rejected: {gates.reject(context, task, text).status}"


def shutdown(context: Context, name: str, text: str) -> str:
    """Ask a member to shut down, once the person has confirmed with y."""
    if text.strip().lower() not in ("y", "yes"):
        return f"{name} stays"
    seat = members.shutdown(context, name)
    ensure_lead(context.team)
    return f"{seat.agent_id} is asked to shut down"


ACTS: dict[str, Callable[[Context, str, str], str]] = {
    "send": send,
    "broadcast": broadcast,
    "approve": approve,
    "reject": reject,
    "shutdown": shutdown,
}
