"""The acts of a person on the board, as operations; each returns its outcome as text."""

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from pro0.agents import adapter_named
from pro0.engine.opening.launch import ensure_lead
from pro0.errors import ErrorCode, Refused
from pro0.model.need import Choice
from pro0.model.runtime import State
from pro0.model.task import Draft
from pro0.ops import permissions, verdicts
from pro0.ops.context import Context
from pro0.ops.mail import messages
from pro0.ops.tasks import gates, tasks
from pro0.ops.tasks.acting import settings_to_hire
from pro0.ops.tasks.drafts import SeatDraft, takeable, with_definitions
from pro0.ops.team import members, needs, plan_approval
from pro0.rules.text import title as checked_title
from pro0.view.reading import state_now

_COMMANDS = {"plan": "member {word}-plan", "permission": "member answer"}
"""The commands of verdicts that are not about a task."""


def on_board(home: Path, project: Callable[[], Path], act: str) -> None:
    """Refuse a verdict if it needs a PIN: keys typed into the view may go to a member."""
    if verdicts.has_pin(home):
        noun, _, word = act.rpartition(".")
        command = _COMMANDS.get(noun, "task {word}" if noun else "task update").format(word=word)
        raise Refused(f"your verdicts ask for a PIN: leave with q, then pro0 {command}", code=ErrorCode.NO_TERMINAL)
    verdicts.on_terminal(home, project, act)


def send(context: Context, to: str, text: str) -> str:
    """Send a message to one member."""
    return f"sent to {messages.send(context, to, text).to}"


def broadcast(context: Context, _to: str, text: str) -> str:
    """Send a message to every living member."""
    return f"sent to {', '.join(message.to for message in messages.broadcast(context, text)) or 'nobody'}"


def approve(context: Context, task: str, text: str) -> str:
    """Approve a waiting task. `task` holds its id and the digest of its state as the person saw it."""
    id, as_seen = _of(context, task)
    return f"{id} approved: {gates.approve(as_seen, id, text).status}"


def reject(context: Context, task: str, text: str) -> str:
    """Reject a waiting task. `task` holds its id and the digest of its state as the person saw it."""
    id, as_seen = _of(context, task)
    return f"{id} rejected: {gates.reject(as_seen, id, text).status}"


def _of(context: Context, task: str) -> tuple[str, Context]:
    """Return a task's id, and a context in which an act applies only to the state that the person saw."""
    id, _, digest = task.partition(" ")
    return id, replace(context, shown=digest)


def answer_plan(context: Context, plan: str, text: str) -> str:
    """Approve a plan, named by its member and its id, if the person has confirmed with y."""
    name, _, id = plan.partition(" ")
    if not _yes(text):
        return f"the plan of {name} still waits"
    seat = plan_approval.approve(context, name, about=id)
    ensure_lead(context.team)
    return f"the plan of {seat.agent_id} is approved"


def allow(context: Context, request: str, text: str) -> str:
    """Allow an agent's permission request, if the person has confirmed with y."""
    if not _yes(text):
        return "the request still waits"
    return _answered(context, request, Choice.ALLOW, "")


def deny(context: Context, request: str, text: str) -> str:
    """Refuse an agent's permission request; the agent reads the person's reason."""
    return _answered(context, request, Choice.DENY, text)


def _answered(context: Context, request: str, choice: Choice, text: str) -> str:
    ensure_lead(context.team)
    over = permissions.wait_until_taken(context, permissions.answer(context, request, choice, text))
    return f"{over.agent_id} has your answer: {choice}"


def reject_plan(context: Context, plan: str, text: str) -> str:
    """Ask a member for another plan than this one, named by its member and its id."""
    name, _, id = plan.partition(" ")
    return f"the plan of {plan_approval.reject(context, name, text, about=id).agent_id} is not approved"


def message(context: Context, _to: str, text: str) -> str:
    """Send a message to the member named at the start of the text: `@w1 go on`."""
    name, _, content = text.strip().lstrip("@").partition(" ")
    if not name or not content.strip():
        return "not sent: write @name and the text"
    return send(context, name, content.strip())


def create(context: Context, _target: str, text: str) -> str:
    """Make a task; `@name` in front assigns it."""
    name, _, rest = text.strip().partition(" ")
    assignee, title = (name[1:], rest) if name.startswith("@") else (None, text)
    (task,) = tasks.create(context, [Draft(title=checked_title(title), assignee=assignee)])
    return f"{task.id} is made{f', for {task.assignee}' if task.assignee else ''}"


def assign(context: Context, task: str, text: str) -> str:
    """Reserve a pending task for one member."""
    return f"{task} is reserved for {tasks.assign(context, task, text.strip().removeprefix('@')).assignee}"


def retry(context: Context, task: str, _text: str) -> str:
    """Have a failed task done again."""
    return f"{task} will be done again: {gates.retry(context, task).status.words}"


def reopen(context: Context, task: str, _text: str) -> str:
    """Make a finished task pending again."""
    return f"{task} is open again: {tasks.reopen(context, task).status.words}"


def restart(context: Context, name: str, _text: str) -> str:
    """Start a new session of a member that has ended."""
    seat = members.restart(context, name, definitions=settings_to_hire(context).agents)
    ensure_lead(context.team)
    return f"{seat.agent_id} will start again"


def spawn(context: Context, _target: str, text: str) -> str:
    """Ask for a new member, from the words for its name and its agent, by default `shell`."""
    name, _, agent = text.strip().partition(" ")
    settings = settings_to_hire(context)
    (draft,) = with_definitions([SeatDraft(name=name, agent=agent.strip() or "shell")], settings.agents)
    takeable(draft)
    (seat,) = members.spawn(context, [draft], settings.max_teammates)
    ensure_lead(context.team)
    return f"{seat.agent_id} ({seat.agent}) will start"


def seen(context: Context, trouble: str, _text: str) -> str:
    """Drop a trouble, such as a failed hook, which the person has read."""
    return f"seen: {needs.mark_seen(context, trouble).subject}"


def shutdown(context: Context, name: str, text: str) -> str:
    """Ask a member to shut down, if the person has confirmed with y."""
    if not _yes(text):
        return f"{name} is not asked to shut down"
    seat = members.shutdown(context, name)
    ensure_lead(context.team)
    return f"{seat.agent_id} is asked to shut down"


def interrupting(context: Context, name: str, agent: str, *, confirmed: bool) -> bytes:
    """Return the key that interrupts a member's turn, or its program if `confirmed`.

    Raises Refused in any other state: the key would end an idle shell, for example.
    """
    state = state_now(context, name)
    if state is not State.WORKING and not (state is State.RUNNING and confirmed):
        raise Refused(f"{name} is {state}: there is no turn to interrupt" if state else f"{name} is not there")
    return b"\x1b" if adapter_named(agent).interrupt else b"\x03"


def _yes(text: str) -> bool:
    return text.strip().lower() in ("y", "yes")


ACTS: dict[str, Callable[[Context, str, str], str]] = {
    "send": send,
    "broadcast": broadcast,
    "message": message,
    "approve": approve,
    "reject": reject,
    "approve-plan": answer_plan,
    "reject-plan": reject_plan,
    "allow": allow,
    "deny": deny,
    "create": create,
    "assign": assign,
    "retry": retry,
    "reopen": reopen,
    "restart": restart,
    "spawn": spawn,
    "seen": seen,
    "shutdown": shutdown,
}
