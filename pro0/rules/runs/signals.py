"""Signals at the end of an agent's final message: `<promise>KIND: context</promise>` (behaviour 2.22).

A tag counts when it is complete, its kind is known, and the agent says it rather than talks about it. It does not count
in code, in the middle of a sentence, after a word like "emit", or in a repeated part of the prompt.
"""

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum

import msgspec

from pro0.model.task import Awaiting


class Tag(StrEnum):
    """The signals of an agent; BLOCKED is an old word for INPUT_NEEDED."""

    COMPLETE = "COMPLETE"
    EJECT = "EJECT"
    APPROVAL_NEEDED = "APPROVAL_NEEDED"
    INPUT_NEEDED = "INPUT_NEEDED"
    REVIEW_REQUESTED = "REVIEW_REQUESTED"
    CONTENT_REVIEW = "CONTENT_REVIEW"
    ESCALATE = "ESCALATE"
    CHECKPOINT = "CHECKPOINT"
    BLOCKED = "BLOCKED"


HANDS_OFF: Mapping[Tag, Awaiting] = {
    Tag.EJECT: Awaiting.WORK,
    Tag.APPROVAL_NEEDED: Awaiting.APPROVAL,
    Tag.INPUT_NEEDED: Awaiting.INPUT,
    Tag.REVIEW_REQUESTED: Awaiting.REVIEW,
    Tag.CONTENT_REVIEW: Awaiting.CONTENT,
    Tag.ESCALATE: Awaiting.ESCALATION,
    Tag.CHECKPOINT: Awaiting.CHECKPOINT,
    Tag.BLOCKED: Awaiting.INPUT,
}
"""The kind of wait that follows each signal except COMPLETE."""


class Signal(msgspec.Struct, frozen=True):
    """A signal, the text that came with it, and a warning for people about its reading."""

    kind: Tag
    context: str = ""
    warning: str = ""

    @property
    def awaiting(self) -> Awaiting | None:
        """Return the task's kind of wait from now on; None when the task is complete."""
        return HANDS_OFF.get(self.kind)


def read(message: str, prompt: str) -> Signal | None:
    """Return the signal in an agent's final message, or None; `prompt` is the agent's prompt.

    The last of several counts. A hand-off counts before COMPLETE, with a warning.
    """
    hidden = [*_code(message), *_echo(message, prompt)]
    signals = list(_signals(message, hidden))
    if not signals:
        return None
    kinds = dict.fromkeys(signal.kind for signal in signals)
    chosen = next((signal for signal in reversed(signals) if signal.awaiting), signals[-1])
    if len(kinds) == 1:
        return chosen
    warning = f"the agent signalled {' and '.join(kinds)}; {chosen.kind} counts"
    return msgspec.structs.replace(chosen, warning=warning)


_TAG = re.compile(r"<promise>([A-Z_]+)(?::((?:(?!<promise>).)*?))?</promise>", re.DOTALL)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_TICKS = re.compile(r"`+")
_WORDS = r"emit\w*|output\w*|print\w*|say\w*|writ\w*|us(?:e|ing)|send\w*|signal\w*|tag|with|like|as|a|the|or|and"


def without(message: str) -> str:
    """Return a message without its tags."""
    return _TAG.sub("", message).strip()


_MARKS = " \t\r*_"
"""White space, and the marks of emphasis."""
_LABEL = re.compile(r"\w+:")
_TALKS_ABOUT = re.compile(rf"(?:[>\"'(]|\b(?:{_WORDS}))[ \t:]*$", re.IGNORECASE)

Span = tuple[int, int]
"""The start and the end of a part of a text."""


def _signals(text: str, hidden: list[Span]) -> Iterator[Signal]:
    for match in _TAG.finditer(text):
        if match[1] not in tuple(Tag) or any(start <= match.start() < end for start, end in hidden):
            continue
        before = _TAG.sub("", text[: match.start()].rpartition("\n")[2]).strip(_MARKS)
        after = _TAG.sub("", text[match.end() :].partition("\n")[0]).strip(f"{_MARKS}.!")
        talked_about = _TALKS_ABOUT.search(before) and not _LABEL.fullmatch(before)
        if not (before and after) and not talked_about:
            yield Signal(Tag(match[1]), (match[2] or "").strip())


def _code(text: str) -> Iterator[Span]:
    """Yield the spans of code: fenced blocks and backticks; an unclosed fence hides all the rest."""
    fence = ""
    for start, line in _lines(text):
        mark = _FENCE.match(line)
        if fence:
            yield start, start + len(line)
            closes = mark is not None and mark[1].startswith(fence) and not line.strip().strip(fence[0])
            fence = "" if closes else fence
        elif mark:
            fence = mark[1]
        else:
            yield from _inline(start, line)


def _inline(start: int, line: str) -> Iterator[Span]:
    """Yield the spans between two runs of backticks of the same length."""
    opened: re.Match[str] | None = None
    for ticks in _TICKS.finditer(line):
        if opened is None:
            opened = ticks
        elif opened[0] == ticks[0]:
            yield start + opened.start(), start + ticks.end()
            opened = None


def _echo(message: str, prompt: str) -> Iterator[Span]:
    """Yield the lines that repeat the prompt.

    The prompt asks for a bare tag, so a line with one is an answer. It repeats the prompt only next to another repeated
    line.
    """
    prompt_lines = {line.strip() for line in prompt.splitlines() if line.strip()}
    lines = list(_lines(message))
    echoed = [line.strip() in prompt_lines for _, line in lines]
    sure = [repeats and not _TAG.fullmatch(line.strip()) for repeats, (_, line) in zip(echoed, lines, strict=True)]
    for at, (start, line) in enumerate(lines):
        beside = any(sure[near] for near in (at - 1, at + 1) if 0 <= near < len(lines))
        if sure[at] or (echoed[at] and beside):
            yield start, start + len(line)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield each line with its start."""
    start = 0
    for line in text.split("\n"):
        yield start, line
        start += len(line) + 1
