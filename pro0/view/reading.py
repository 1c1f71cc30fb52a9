"""The full text of one item of the board: a task with all its comments, a message, or what somebody changed."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime

from pro0 import diffs
from pro0.engine.places import last_shown
from pro0.errors import NotFound
from pro0.model.need import Need, NeedKind
from pro0.model.runtime import State
from pro0.model.task import Kind, Task
from pro0.ops import permissions
from pro0.ops.context import Context
from pro0.ops.tasks import tasks
from pro0.ops.team import members
from pro0.ops.work import diffs as work
from pro0.rules import patch
from pro0.rules.tasks import answers
from pro0.rules.tasks.gates import wait_in_words
from pro0.rules.text import visible
from pro0.rules.words import prompts
from pro0.view.drawing import plain, wrapped
from pro0.view.news import News

LAST = 200
"""The number of last lines read from an ended member."""
LINES = 20_000
"""The most rows of a patch that the view keeps."""


def whole(context: Context, news: News, id: str) -> str:
    """Return the whole text of a message, a need, or a task with its comments; raises NotFound for any other id."""
    for letter in news.letters:
        message = letter.message
        if message.id == id:
            return f"{said_by(message.from_, message.to)}, {_at(message.timestamp)}\n\n{message.content}"
    if need := next((candidate for candidate in news.needs if candidate.id == id), None):
        since = f", since {_at(need.since)}" if need.since else ""
        detail = _detail(context, need)
        return f"{need.what}{since}\n\n{need.command}" + (f"\n\n{detail}" if detail else "")
    task = tasks.show(context, id)
    remarks = [
        f"{_at(remark.at)} {remark.author}{f' ({remark.act})' if remark.act else ''}\n{answers.line(remark)}"
        for remark in tasks.remarks(context, id)
    ]
    return "\n\n".join([_head(task), *_paragraphs(task), *remarks])


def changes(context: Context, name: str, columns: int) -> list[str]:
    """Return the changes of a member, or of the session of a task, as rows of a patch."""
    rows: list[str] = []
    for change in diffs.patch(work.find(context, name).fork):
        text = patch.as_text(change)
        rows += [patch.coloured(row, like=text) for row in wrapped(text, columns)]
        if len(rows) > LINES:
            return [*rows[:LINES], f"… and more: pro0 diff {name}"]
    return rows or [f"{name} has changed nothing that is not merged"]


def ending(context: Context, news: News, name: str) -> str:
    """Return a member's state, the reason for it, its last words, and the last lines of its screen."""
    member = news.member(name)
    if member is None:
        raise NotFound(f"there is no member {name}")
    since = f", since {_at(member.since)}" if member.since else ""
    rows = [plain(row).rstrip() for row in last_screen(context, name, LAST)]
    screen = "\n".join(rows).strip("\n") or f"{name} has shown nothing"
    last_words = visible(prompts.last_words(member.turn).strip()) if member.turn else ""
    return "\n\n".join(filter(None, (f"{name} is {member.state}{since}", member.note, last_words, screen)))


def last_screen(context: Context, name: str, lines: int) -> list[str]:
    """Return the last rows of a member's screen, even after its end."""
    roster = members.members(context)
    state = roster.state(roster.find(name).agent_id)
    text = last_shown(context.team, state, lines) if state else None
    return [] if text is None else visible(text).rstrip("\n").split("\n")


def state_now(context: Context, name: str) -> State | None:
    """Return a member's state as recorded now, None when none is recorded."""
    record = members.members(context).state(name)
    return record.state if record else None


def said_by(sender: str, to: str) -> str:
    """Return sender and recipient of a message. The lead's messages to its own address need no arrow."""
    return sender if sender == to else f"{sender} → {to}"


def _detail(context: Context, need: Need) -> str:
    """Return the whole subject of a verdict, or else the reason of a need."""
    if need.kind is NeedKind.PERMISSION and need.request:
        return permissions.show(context, need.request).input
    if need.kind is NeedKind.PLAN:
        gate = members.members(context).find(need.member).gate
        return gate.text if gate and gate.id == need.request else f"{need.member} has handed in another plan since"
    return need.why


def _head(task: Task) -> str:
    waits = f", awaiting {wait_in_words(task.waits)}" if task.waits else ""
    assignee = f", {task.assignee}" if task.assignee else ""
    return f"{task.id}: {task.title}\n{task.status.words}{assignee}{waits}"


def _paragraphs(task: Task) -> Iterator[str]:
    titled = (("acceptance", task.acceptance), ("run", task.run), ("result", task.result))
    if task.more:
        yield task.more
    for name, text in titled:
        if text:
            yield f"{name}\n{text}"
    yield _facts(task)


def _facts(task: Task) -> str:
    facts = (
        ("type", task.type if task.type is Kind.EPIC else ""),
        ("priority", str(task.priority)),
        ("labels", ", ".join(task.labels)),
        ("parent", task.parent),
        ("blocked by", ", ".join(task.dependencies)),
        ("role", task.role),
        ("requires", task.requires),
        ("policy", task.policy),
        ("timeout", f"{task.timeout:g} s" if task.timeout else ""),
    )
    return "\n".join(f"{name}: {value}" for name, value in facts if value)


def _at(moment: datetime) -> str:
    return moment.astimezone().strftime("%Y-%m-%d %H:%M:%S")


READS: Mapping[str, Callable[[Context, News, str, int], list[str]]] = {
    "read": lambda context, news, id, columns: wrapped(whole(context, news, id), columns),
    "diff": lambda context, _news, id, columns: changes(context, id, columns),
    "words": lambda context, news, id, columns: wrapped(ending(context, news, id), columns),
}
"""By act: the function that returns the text for a line of the board, in rows of at most so many columns."""
