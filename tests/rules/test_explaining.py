"""What a reading of a screen rests on, as `pro0 member explain` shows it; and the note that goes with it."""

import pytest
from msgspec.structs import replace

from pro0.model.runtime import State
from pro0.model.screen import Reading, Screen
from pro0.rules.screens import words
from pro0.rules.screens.drawing import Frame
from pro0.rules.screens.screens import NOTE_LIMIT, Drawing, Evidence, Rule, TitleRule, explain

DRAWING = Drawing(
    frame=Frame(prompt=r"^> ?", foot="^foot", hints="^ask"),
    rules=(
        Rule(name="asks", state=State.WAITING, menu=(r"^Allow",), note=(r"^Allow (.*)\?$",)),
        Rule(name="typed", state=State.DRAFT, box=("typed",)),
        Rule(name="works", state=State.WORKING, box=("empty",), above=(r"^\* ",), over=r"^[-*] ", note=(r"^\* (.*)$",)),
        Rule(name="ready", state=State.IDLE, box=("empty",), foot=("^foot",)),
    ),
    titles=(TitleRule(name="busy", state=State.WORKING, title="^~"),),
)


def screen(state: State, rule: str = "", note: str = "") -> Reading:
    return Reading(state=state, source="screen", rule=rule, note=note)


SEEN: dict[str, tuple[tuple[str, ...], Evidence]] = {
    "a menu": (
        ("Allow make?", "❯ 1. Yes", "Enter to confirm"),
        Evidence(reading=screen(State.WAITING, "asks", "make"), place="menu", rows=("Allow make?", "❯ 1. Yes")),
    ),
    "a menu whose first words say nothing": (
        ("Allow ?", "Allow make?", "❯ 1. Yes", "Enter to confirm"),
        Evidence(reading=screen(State.WAITING, "asks", "make"), place="menu", rows=("Allow ?", "❯ 1. Yes")),
    ),
    "a draft": (
        ("said", "", "> words", "", "foot"),
        Evidence(reading=screen(State.DRAFT, "typed"), place="typed text", rows=("words",)),
    ),
    "work": (
        ("said", "", "* Building", "", ">", "", "foot"),
        Evidence(reading=screen(State.WORKING, "works", "Building"), place="empty input box", rows=("* Building",)),
    ),
    "work above what may stand between": (
        ("* Building", "", "- one", "", "- two", "", ">", "", "foot"),
        Evidence(reading=screen(State.WORKING, "works", "Building"), place="empty input box", rows=("* Building",)),
    ),
    "work that is further up": (
        ("* Building", "", "x", "", ">", "", "foot"),
        Evidence(reading=screen(State.IDLE, "ready"), place="empty input box", rows=("foot",)),
    ),
    "a hint": (
        ("said", "", "> ask me", "", "foot"),
        Evidence(reading=screen(State.IDLE, "ready"), place="empty input box", rows=("foot",)),
    ),
    "an input box without its foot": (
        ("said", "", ">", "", "x"),
        Evidence(reading=screen(State.UNKNOWN), place="empty input box"),
    ),
    "nothing that is known": (("said",), Evidence(reading=screen(State.UNKNOWN))),
}


@pytest.mark.parametrize("what", SEEN)
def test_what_a_screen_says_and_by_which_rows(what: str) -> None:
    rows, evidence = SEEN[what]
    assert explain(DRAWING, Screen(rows=rows)) == (evidence,)


def test_a_title_speaks_before_the_screen() -> None:
    titled = Evidence(reading=Reading(state=State.WORKING, source="title", rule="busy"), rows=("~ at it",))
    unknown = Evidence(reading=screen(State.UNKNOWN))
    assert explain(DRAWING, Screen(rows=("said",), title="~ at it")) == (titled, unknown)
    assert explain(DRAWING, Screen(title="~ at it")) == (titled,)
    assert explain(DRAWING, Screen(title="else")) == ()


@pytest.mark.parametrize(("length", "shown"), [(NOTE_LIMIT, "x" * NOTE_LIMIT), (NOTE_LIMIT + 1, "x" * 119 + "…")])
def test_a_long_note_is_cut(length: int, shown: str) -> None:
    [evidence] = explain(DRAWING, Screen(rows=(f"* {'x' * length}", "", ">", "", "foot")))
    assert evidence.reading.note == shown


@pytest.mark.parametrize(
    ("title", "state", "rule"),
    [
        ("~ busy", State.WORKING, "busy"),
        ("? " + "x" * 500, State.UNKNOWN, words.RULE),
        ("my project", None, ""),
        ("", None, ""),
    ],
)
def test_a_title_with_a_sign_that_no_rule_knows_is_an_unknown_word(title: str, state: State | None, rule: str) -> None:
    """A known sign is its rule's, and a title without a sign tells nothing."""
    found = explain(replace(DRAWING, sign=r"^[~?] "), Screen(rows=(), title=title))
    note = title[:NOTE_LIMIT] if state is State.UNKNOWN else ""
    told = [] if state is None else [Reading(state=state, source="title", rule=rule, note=note)]
    assert [evidence.reading for evidence in found] == told
    assert all(evidence.rows == (title,) for evidence in found)
