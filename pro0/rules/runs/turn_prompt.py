"""The prompt for one task of `pro0 run`, for one turn without a human reader (behaviour 2.21)."""

from collections.abc import Sequence

from pro0.model.ids import HUMAN
from pro0.model.task import Task
from pro0.rules.runs.signals import HANDS_OFF, Tag
from pro0.rules.tasks import answers
from pro0.rules.tasks.answers import Remark

SHOWN = 20
"""Number of newest remarks of each kind in the prompt."""
FEEDBACK = "## Human Feedback"


SIGNALS = {
    Tag.COMPLETE: ("", "the task is done, all of it"),
    Tag.APPROVAL_NEEDED: ("reason", "the work is done, and of a kind that a person should approve"),
    Tag.INPUT_NEEDED: ("question", "you need an answer or a decision that only a person can give"),
    Tag.REVIEW_REQUESTED: ("URL of the pull request", "you have made a pull request that should be reviewed"),
    Tag.CONTENT_REVIEW: ("what to look at", "you have made texts, a user interface or a design for a person to judge"),
    Tag.ESCALATE: (
        "what you found, and the options",
        "you found something unexpected: a danger, a bigger scope",
    ),
    Tag.CHECKPOINT: (
        "what is done, what comes next",
        "a phase is complete and should be verified before the next",
    ),
    Tag.EJECT: ("why", "you cannot do it: a person has to, with credentials or access that you do not have"),
}
"""The signals offered to an agent, each with its context and its use; BLOCKED is understood but not offered."""


def prompt(task: Task, epic: Task | None, remarks: Sequence[Remark], number: int, previous_end: str) -> str:
    """Return the prompt; `number` counts the agent's turns on this task, `previous_end` is the end of the last turn."""
    parts = [
        "You do one task of a shared task list, in one turn: nobody watches or answers while you work.",
        _about(task, epic),
        _section(FEEDBACK, _answers(remarks)),
        _section("## Notes", _notes(remarks)),
        _turn_count(number, previous_end),
        _ENDING.format(rows="\n".join(map(_row, SIGNALS))),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _about(task: Task, epic: Task | None) -> str:
    above = f"It is part of {epic.id}: {epic.title}" if epic else ""
    details = [
        f"# {task.id}: {task.title}",
        above,
        task.more.strip(),
        _section("## Acceptance", task.acceptance.strip()),
        _section("## Command", f"The task names a command: {task.run}" if task.run else ""),
    ]
    return "\n\n".join(part for part in details if part)


def _answers(remarks: Sequence[Remark]) -> str:
    """Return the remarks of people, apart from all other remarks."""
    feedback = [remark for remark in remarks if answers.is_feedback(remark)][-SHOWN:]
    if not feedback:
        return ""
    lines = "\n".join(_line(remark) for remark in feedback)
    return f"A person has answered. Address all of it before you go on.\n\n{lines}"


def _notes(remarks: Sequence[Remark]) -> str:
    return "\n".join(_line(remark) for remark in [remark for remark in remarks if _is_a_note(remark)][-SHOWN:])


def _is_a_note(remark: Remark) -> bool:
    return remark.author != HUMAN and (answers.is_note(remark) or answers.is_work(remark))


def _line(remark: Remark) -> str:
    text = answers.line(remark).strip().replace("\n", "\n  ")
    return f"- {answers.heading(remark)}, {remark.at:%Y-%m-%d %H:%M}: {text}"


def _turn_count(number: int, previous_end: str) -> str:
    return f"This is turn {number} on this task. {previous_end}" if number > 1 else ""


def _section(heading: str, text: str) -> str:
    return f"{heading}\n\n{text}" if text else ""


def _row(kind: Tag) -> str:
    context, when = SIGNALS[kind]
    tag = f"<promise>{kind}: {context}</promise>" if context else f"<promise>{kind}</promise>"
    waits = HANDS_OFF.get(kind)
    return f"- `{tag}`: {when}" + (f" (it then waits for {waits})" if waits else "")


_ENDING = f"""## How to end

End your last message with exactly one signal, on a line of its own, not in a code block:

{{rows}}

After any signal but the first, the task goes to a person and you are given another one; it may come back to you, with
what the person said under "{FEEDBACK.removeprefix("## ")}". Be specific in what you write after the colon. Do not guess
what only a person can know: ask. When in doubt whether a person should agree, ask for approval. If a person has put a
gate on the task, do nothing about it: signal that the task is complete."""
