"""Signals in an agent's final message (rulings 2, Signals; AC-25 to AC-28; S001-057 to S001-072)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pro0.model.task import Awaiting
from pro0.rules.runs.signals import HANDS_OFF, Signal, Tag, read

NINE = [
    ("COMPLETE", None),
    ("EJECT", Awaiting.WORK),
    ("APPROVAL_NEEDED", Awaiting.APPROVAL),
    ("INPUT_NEEDED", Awaiting.INPUT),
    ("REVIEW_REQUESTED", Awaiting.REVIEW),
    ("CONTENT_REVIEW", Awaiting.CONTENT),
    ("ESCALATE", Awaiting.ESCALATION),
    ("CHECKPOINT", Awaiting.CHECKPOINT),
    ("BLOCKED", Awaiting.INPUT),
]
PROMPT = """Do the task, then end your last message with one of these:
<promise>COMPLETE</promise> when all of it is done
<promise>EJECT: reason</promise>
<promise>INPUT_NEEDED: question</promise>
Say nothing after it."""


@pytest.mark.parametrize(("word", "awaiting"), NINE)
def test_the_nine(word: str, awaiting: Awaiting | None) -> None:
    """AC-25."""
    signal = read(f"All is said.\n\n<promise>{word}: because of x</promise>\n", PROMPT)
    assert signal == Signal(Tag(word), "because of x")
    assert signal.awaiting is awaiting
    bare = read(f"<promise>{word}</promise>", PROMPT)
    assert bare == Signal(Tag(word))


def test_there_are_no_others() -> None:
    assert {word for word, _ in NINE} == set(Tag)
    assert set(HANDS_OFF) == set(Tag) - {Tag.COMPLETE}


NOTHING = {
    "empty": "",
    "no tag": "I am done. COMPLETE",
    "unknown": "<promise>FINISHED</promise>",
    "wrong case": "<promise>complete</promise>",
    "wrong case of the tag": "<PROMISE>COMPLETE</PROMISE>",
    "never closed": "<promise>COMPLETE",
    "closed only": "COMPLETE</promise>",
    "no word": "<promise></promise>",
    "a blank before it": "<promise> COMPLETE</promise>",
    "in a sentence": "I emit <promise>COMPLETE</promise> when I am done.",
    "after the word emit": "When all tests pass I will emit <promise>COMPLETE</promise>.",
    "in prose": "To hand off, emit <promise>…",
    "in quotes": 'It ends with "<promise>COMPLETE</promise>"',
    "in a quotation": "> <promise>COMPLETE</promise>",
    "in a fence": "```\n<promise>COMPLETE</promise>\n```",
    "in a fence after many lines": "```\n" + "x\n" * 99 + "<promise>COMPLETE</promise>\n```",
    "in a fence with a language": "```text\n<promise>EJECT: x</promise>\n```\nThat is what I would say.",
    "in a fence of tildes": "~~~\n<promise>COMPLETE</promise>\n~~~",
    "in a fence that is not closed": "```\n<promise>COMPLETE</promise>\n",
    "in the middle of words": "It ends <promise>COMPLETE</promise> there",
    "in a fence whose end has a tail": "```\nx\n``` y\n<promise>COMPLETE</promise>",
    "in a longer fence": "````\n```\n<promise>COMPLETE</promise>\n```\n````",
    "in backticks": "`<promise>COMPLETE</promise>`",
    "in backticks after others": "run `make` first, then `<promise>COMPLETE</promise>`",
    "in double backticks around one": "``a ` <promise>COMPLETE</promise>``",
    "in backticks that end within it": "`<promise>EJECT: no` key</promise>",
    "in double backticks": "``<promise>COMPLETE</promise>``",
}


@pytest.mark.parametrize("message", NOTHING.values(), ids=NOTHING)
def test_what_is_no_signal(message: str) -> None:
    """AC-25, AC-27, S001-072."""
    assert read(message, PROMPT) is None


SOMETHING = {
    "after a sentence": ("All tests pass. <promise>COMPLETE</promise>", Signal(Tag.COMPLETE)),
    "after words": ("All tests pass <promise>COMPLETE</promise>", Signal(Tag.COMPLETE)),
    "after a label": ("Signal: <promise>COMPLETE</promise>", Signal(Tag.COMPLETE)),
    "emphasized": ("**<promise>COMPLETE</promise>**", Signal(Tag.COMPLETE)),
    "with a full stop": ("<promise>COMPLETE</promise>.", Signal(Tag.COMPLETE)),
    "before words": ("<promise>COMPLETE</promise>\nThank you.", Signal(Tag.COMPLETE)),
    "no blank after the colon": ("<promise>EJECT:no key</promise>", Signal(Tag.EJECT, "no key")),
    "blanks around": ("<promise>EJECT:   no key  </promise>", Signal(Tag.EJECT, "no key")),
    "nothing after the colon": ("<promise>EJECT: </promise>", Signal(Tag.EJECT)),
    "colons in it": ("<promise>REVIEW_REQUESTED: https://x/y:1</promise>", Signal(Tag.REVIEW_REQUESTED, "https://x/y:1")),
    "several lines": (
        "<promise>INPUT_NEEDED: which?\n\n1. red\n2. blue\n</promise>",
        Signal(Tag.INPUT_NEEDED, "which?\n\n1. red\n2. blue"),
    ),
    "the last of two alike": ("<promise>EJECT: a</promise>\n<promise>EJECT: b</promise>", Signal(Tag.EJECT, "b")),
    "after one that is not closed": ("<promise>EJECT: a\n<promise>COMPLETE</promise>", Signal(Tag.COMPLETE)),
    "after code": ("```\n<promise>EJECT: x</promise>\n```\n<promise>COMPLETE</promise>", Signal(Tag.COMPLETE)),
    "code in it": (
        "<promise>INPUT_NEEDED: is `KEY` this?\n```\nKEY=1\n```\n</promise>",
        Signal(Tag.INPUT_NEEDED, "is `KEY` this?\n```\nKEY=1\n```"),
    ),
    "between two of its kind": (
        "<promise>EJECT: a</promise><promise>EJECT: b</promise><promise>EJECT: c</promise>", Signal(Tag.EJECT, "c")
    ),
    "right after code": ("`x`<promise>COMPLETE</promise>", Signal(Tag.COMPLETE)),
    "before a mark": ("<promise>COMPLETE</promise> !", Signal(Tag.COMPLETE)),
    "after a fence with a tail": ("```\nx\n``` y\n```\n<promise>COMPLETE</promise>", Signal(Tag.COMPLETE)),
    "windows lines": ("done\r\n<promise>COMPLETE</promise>\r\n", Signal(Tag.COMPLETE)),
}  # fmt: skip


@pytest.mark.parametrize(("message", "signal"), SOMETHING.values(), ids=SOMETHING)
def test_what_is_one(message: str, signal: Signal) -> None:
    """AC-26: trimmed, whole over several lines."""
    assert read(message, PROMPT) == signal


@pytest.mark.parametrize("word", sorted(HANDS_OFF))
@pytest.mark.parametrize("first", [True, False])
def test_a_hand_off_wins_over_completion_and_says_so(word: Tag, first: bool) -> None:
    """AC-28, S001-147."""
    tags = [f"<promise>{word}: wait</promise>", "<promise>COMPLETE</promise>"]
    signal = read("\n".join(tags if first else reversed(tags)), PROMPT)
    assert signal
    assert (signal.kind, signal.context) == (word, "wait")
    both = f"{word} and COMPLETE" if first else f"COMPLETE and {word}"
    assert signal.warning == f"the agent signalled {both}; {word} counts"


def test_of_two_hand_offs_the_last_counts() -> None:
    signal = read("<promise>EJECT: a</promise> <promise>INPUT_NEEDED: b</promise>", PROMPT)
    assert signal
    assert (signal.kind, bool(signal.warning)) == (Tag.INPUT_NEEDED, True)


def test_an_echo_of_the_prompt_is_no_signal() -> None:
    """AC-27: whole, in part, and with the real one behind it."""
    assert read(PROMPT, PROMPT) is None
    assert read("\n".join(PROMPT.splitlines()[1:3]), PROMPT) is None
    assert read(f"{PROMPT}\n\nIt is done.\n<promise>COMPLETE</promise>", PROMPT) == Signal(Tag.COMPLETE)
    assert read("<promise>EJECT: reason</promise>", PROMPT) == Signal(Tag.EJECT, "reason")


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("It says", "there", False),
        ("Done.", "", True),
        ("", "Thank you", True),
        ("**", "Thank you**", True),
        ("**", "**", True),
        ("_so_", "_!_", True),
        ("\t*x*", ". ! \r", True),
        ("a", "b.", False),
        ("X", "<promise>FINISHED</promise>", True),
        ("<promise>FINISHED</promise>", "X", True),
    ],
)
def test_a_tag_in_the_middle_of_words_is_talked_about(before: str, after: str, said: bool) -> None:
    """Marks of emphasis, stops and other tags are no words; what stands in other lines does not matter."""
    signal = read(f"one line\n{before} <promise>CHECKPOINT: z</promise> {after}\nanother", PROMPT)
    assert (signal is not None and signal.context == "z") is said


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    signal = read(text, text)
    assert signal is None or signal.kind in Tag


@given(st.sampled_from(Tag), st.text(st.characters(codec="utf-8", exclude_characters="<")))
def test_a_context_is_kept_whole(kind: Tag, context: str) -> None:
    signal = read(f"Said.\n<promise>{kind}: {context}</promise>", PROMPT)
    assert signal == Signal(kind, context.strip())


@given(st.text(), st.text(alphabet="abc .\n"))
def test_what_is_fenced_never_counts(before: str, inside: str) -> None:
    quiet = before.replace("promise", "").replace("`", "").replace("~", "")
    assert read(f"{quiet}\n```\n{inside}\n<promise>COMPLETE</promise>\n```\nend", PROMPT) is None
