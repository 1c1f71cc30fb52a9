"""A person's answers in words: the question, the verdict, and the next step of the work (behaviour 2.14).

An answer is told to the session that asked, by a message, and to any other session of the task in its first prompt, or
with its claim.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from pro0.model.ids import HUMAN
from pro0.model.task import Awaiting, Entry, Status, Task
from pro0.rules.tasks.acts import ANSWERS, GRANTS, Act

LONG = 500
"""Characters shown of a question."""

APPROVED: Mapping[Awaiting, str] = {
    Awaiting.INPUT: "go on as you think best",
    Awaiting.ESCALATION: "go on with it",
    Awaiting.CHECKPOINT: "go on with the next phase",
}
"""How the work goes on after an approval that hands the task back."""
REJECTED: Mapping[Awaiting, str] = {
    Awaiting.WORK: "do it without a person",
    Awaiting.APPROVAL: "change what they object to",
    Awaiting.REVIEW: "do what the review asks for",
    Awaiting.CONTENT: "revise it",
    Awaiting.CHECKPOINT: "redo this phase",
}
"""How the work goes on after a rejection that hands the task back."""
_ANSWERED = "go on as they say"
_ENDS: Mapping[Status, str] = {
    Status.COMPLETED: "the task is completed",
    Status.DONE: "your part is complete, its subtasks are not",
    Status.CANCELLED: "the task is cancelled, leave it",
}
_OTHERS: Mapping[str, str] = {
    Act.CLEAR: "handed the task back without a verdict",
    Act.CONTINUE: "lets you go on",
    Act.CLOSE: "closed the task as it is",
    Act.RETRY: "wants it tried again",
    Act.REOPEN: "reopened the task",
}
_DROPS = (Act.DIED, Act.RELEASE, Act.UNDO_START)
_ENDS_OF_WORK = (Act.COMPLETE, Act.HAND_OFF, Act.FAIL)
_WORK = (Act.HAND_OFF, Act.RELEASE, Act.FAIL, Act.DIED, Act.COMPLETE)


class Remark(msgspec.Struct, frozen=True):
    """One remark about a task: a comment, or the text of an act."""

    at: datetime
    author: str
    text: str
    act: str | None = None
    task: str | None = None
    """The one task of the author's session."""
    role: str = ""
    """The role of the author."""
    kind: Awaiting | None = None
    """What the act made the task wait for, or what a person's act answered."""
    asked: str = ""
    """The question that a person's act answered."""
    to: Status | None = None
    """The status that the act led to."""
    id: str = ""
    """The id of a comment; empty for the text of an act."""


def remark(entry: Entry) -> Remark:
    """Return an act of a task's history as a remark."""
    return Remark(entry.at, entry.actor, entry.text, entry.act, kind=entry.kind, asked=entry.asked, to=entry.to)


def is_answer(remark: Remark | Entry) -> bool:
    """Return True for an act of a person that answers a question or a failure, with a text or without."""
    return remark.act in tuple(ANSWERS) and (
        remark.act in (Act.APPROVE, Act.REJECT) or bool(remark.kind or remark.asked)
    )


def is_feedback(remark: Remark) -> bool:
    """Return True for a person's words to those who work on the task: a note or an act, but no change of a field."""
    return remark.author == HUMAN and (is_note(remark) or remark.act in tuple(Act))


def is_note(remark: Remark) -> bool:
    """Return True for a comment, or for an imported note in the history."""
    return remark.act in (None, "note")


def answer(remark: Remark, owner: str = "the") -> str:
    """Return an answer in one sentence, without its text: the verdict, the kind, the question, and what to do."""
    about = f"{owner} {remark.kind.upper()}" if remark.kind else ""
    about = f"{about} {_quoted(remark.asked)}".rstrip() if remark.kind else _quoted(remark.asked)
    if remark.act not in (Act.APPROVE, Act.REJECT):
        ended = "ended" if remark.act == Act.REOPEN else "failed"  # what is reopened may have been cancelled
        after = f"; it waited for {about}" if remark.kind else f"; it had {ended} with {about}" if about else ""
        gate = ", up to its gate" if (remark.act, remark.to) == (Act.CLOSE, Status.IN_PROGRESS) else ""
        return f"{_OTHERS.get(remark.act or '', 'answered')}{gate}{after}"
    return f"{'approved' if remark.act == Act.APPROVE else 'rejected'} {about or 'it'}: {_next(remark)}"


def message(task: Task) -> str:
    """Return the message about a task's newest answer, for the session that asked."""
    verdict = remark(task.history[-1])
    sentence = f"{task.id} ({task.title}): a person {answer(verdict, 'your')}."
    return f"{sentence}\n{verdict.text}" if verdict.text else sentence


def unread_answers(history: Sequence[Entry]) -> list[Remark]:
    """Return the person's answers not yet heard by the present holder of a task: those since work on it last ended.

    A dropped claim ends no work: its holder heard the answers, but nothing of them shows in the task.
    """
    entries = list(history)
    while entries and entries[-1].act not in tuple(GRANTS):
        entries.pop()
    unread: list[Remark] = []
    dropped = False
    for entry in reversed(entries[:-1]):
        if entry.act in _ENDS_OF_WORK or (entry.act in tuple(GRANTS) and not dropped):
            break
        if entry.act in _DROPS or entry.act in tuple(GRANTS):
            dropped = entry.act in _DROPS
        if entry.actor == HUMAN and is_answer(entry):
            unread.insert(0, remark(entry))
    return unread


def fitting(task: Task) -> str:
    """Return the person's possible acts on a waiting or failed task, empty for any other."""
    if task.status is Status.FAILED:
        return f"pro0 task retry {task.id}, or pro0 task continue or close {task.id}"
    wait = task.waits
    if wait is None:
        return ""
    if wait.kind is Awaiting.INPUT:
        return f'answer it: pro0 task approve {task.id} "ANSWER"'
    if wait.kind in APPROVED:
        return f"let it go on: pro0 task approve {task.id}, or pro0 task reject {task.id} WHY"
    commands = f"complete it: pro0 task approve {task.id}, or give it back: pro0 task reject {task.id} WHY"
    return f"{commands}, or pro0 task continue {task.id}" if task.session else commands


def is_work(remark: Remark) -> bool:
    """Return True for an act that tells how far the work on a task had come."""
    return remark.act in _WORK


def heading(remark: Remark) -> str:
    """Return the author of a remark, with the act and what it asked a person for."""
    act = remark.act.replace("_", " ") if remark.act else ""
    kind = f" ({remark.kind})" if act and remark.kind and remark.act not in tuple(ANSWERS) else ""
    return f"{remark.author}, {act}{kind}" if act else remark.author


def line(remark: Remark) -> str:
    """Return a remark as text; an answer begins with the verdict and what it answers."""
    if not is_answer(remark) or not (remark.kind or remark.asked):
        return remark.text
    return f"{answer(remark)}. They say: {remark.text}" if remark.text else answer(remark)


def _next(remark: Remark) -> str:
    if remark.to and remark.to in _ENDS:
        return _ENDS[remark.to]
    if remark.kind is None:
        return _ANSWERED
    if remark.act == Act.REJECT:
        return REJECTED.get(remark.kind, _ANSWERED)
    if remark.kind in APPROVED:
        return _ANSWERED if remark.kind is Awaiting.INPUT and remark.text else APPROVED[remark.kind]
    return "the gate that the task requires is next"


def _quoted(text: str) -> str:
    words = " ".join(text.split())
    return f'"{words if len(words) <= LONG else words[: LONG - 1] + "…"}"' if words else ""
