"""When the fixed line may be put in, and whether it was taken: on a screen as an agent draws it (rulings 3.6)."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from pro0.agents.claude.screens import CLAUDE_SCREENS
from pro0.model.runtime import State
from pro0.model.screen import Reading, Screen
from pro0.rules.screens import nudges
from pro0.rules.words.prompts import ready_line, unread_line
from tests.recorded import drawn
from tests.rules.test_screens import RECORDED

LINE = unread_line(2)
EDGE = "─" * 40
STATES = tuple(State)


def box(typed: str) -> Screen:
    """An input box, and what is typed there, wrapped as a narrow pane wraps it."""
    pieces = [typed[i : i + 30] for i in range(0, len(typed), 30)] or [""]
    return Screen(rows=("● done", "", EDGE, f"❯ {pieces[0]}", *(f"  {piece}" for piece in pieces[1:]), EDGE, "  foot"))


MENU = next(recording.plain for recording in RECORDED if recording.name == "claude-permission-prompt")
SCREENS = {"empty": box(""), "the line": box(LINE), "its beginning": box(LINE[:12]), "a draft": box("rm -rf build"),
           "more than the line": box(f"{LINE} please"), "a menu": MENU, "nothing": None}  # fmt: skip


def read(state: State) -> Reading:
    return Reading(state=state, source="screen", rule="r")


@pytest.mark.parametrize(("name", "state"), list(product(SCREENS, STATES)))
def test_every_state_with_every_screen(name: str, state: State) -> None:
    """What belongs to a person is left alone: only an empty box gets a line, only the line itself gets its Enter."""
    over = state in (State.IDLE, State.ERROR)
    fits = over or state is State.DRAFT
    screen, reading = SCREENS[name], read(state)
    assert nudges.input_is_free(CLAUDE_SCREENS, reading, screen) is (over and name == "empty")
    assert nudges.holds_only(CLAUDE_SCREENS, reading, screen, LINE) is (fits and name == "the line")
    coming = ("empty", "its beginning", "the line")
    assert nudges.may_still_appear(CLAUDE_SCREENS, reading, screen, LINE) is (fits and name in coming)
    gone = screen is not None and name != "the line" and state is not State.DRAFT
    assert nudges.was_taken(CLAUDE_SCREENS, reading, screen, LINE) is gone


@pytest.mark.parametrize("name", SCREENS)
def test_nothing_is_done_without_a_reading(name: str) -> None:
    screen = SCREENS[name]
    assert nudges.input_is_free(CLAUDE_SCREENS, None, screen) is False
    for judge in (nudges.holds_only, nudges.may_still_appear, nudges.was_taken):
        assert judge(CLAUDE_SCREENS, None, screen, LINE) is False


@given(st.integers(1, 99), st.sampled_from([unread_line, ready_line]))
def test_a_line_of_an_earlier_lead_is_known_whatever_number_it_has(number: int, line: object) -> None:
    """It is nobody's draft: its agent is idle, and the Enter that it lacks may be sent."""
    text = line(number)  # type: ignore[operator]
    standing = box(text)
    assert "".join(nudges.left_over_line(CLAUDE_SCREENS, standing).split()) == "".join(text.split())
    own = nudges.ignoring_own_line(CLAUDE_SCREENS, read(State.DRAFT), standing)
    assert (own.state, own.source, own.rule) == (State.IDLE, "screen", "a line of pro0's own")


@pytest.mark.parametrize("name", ["empty", "its beginning", "a draft", "more than the line", "a menu", "nothing"])
def test_what_a_person_typed_is_no_line_of_pro0s(name: str) -> None:
    screen, draft = SCREENS[name], read(State.DRAFT)
    assert nudges.left_over_line(CLAUDE_SCREENS, screen) == ""
    assert screen is None or nudges.ignoring_own_line(CLAUDE_SCREENS, draft, screen) is draft


@pytest.mark.parametrize("state", [state for state in STATES if state is not State.DRAFT])
def test_only_a_draft_is_taken_for_a_line(state: State) -> None:
    reading = replace(read(state), note="n")
    assert nudges.ignoring_own_line(CLAUDE_SCREENS, reading, box(LINE)) is reading


UNSEEN = "\u200b\u200d\u2060\ufeff\u00ad\u200e\u2800\u3164\ufe0f"
BLANKS = "\u00a0\u2007\u202f\u3000"


@given(st.lists(st.tuples(st.integers(0, 60), st.sampled_from(UNSEEN)), min_size=1, max_size=8))
def test_what_nobody_sees_does_not_hide_a_line_of_pro0s(places: list[tuple[int, str]]) -> None:
    """An agent draws a zero-width space behind its input: the line stands alone there, and gets its Enter."""
    text = LINE
    for place, character in places:
        text = text[:place] + character + text[place:]
    screen = box(text)
    assert nudges.holds_only(CLAUDE_SCREENS, read(State.DRAFT), screen, LINE)
    assert nudges.may_still_appear(CLAUDE_SCREENS, read(State.IDLE), screen, LINE)
    assert "".join(nudges.left_over_line(CLAUDE_SCREENS, screen).split()) == "".join(LINE.split())
    assert nudges.ignoring_own_line(CLAUDE_SCREENS, read(State.DRAFT), screen).state is State.IDLE
    assert not nudges.was_taken(CLAUDE_SCREENS, read(State.IDLE), screen, LINE)


@given(st.text(UNSEEN + BLANKS, min_size=1, max_size=8))
def test_an_input_in_which_nothing_can_be_seen_is_empty(text: str) -> None:
    assert nudges.input_is_free(CLAUDE_SCREENS, read(State.IDLE), box(text))
    assert drawn("claude", box(text)).state is State.IDLE


@given(st.text(UNSEEN + BLANKS, max_size=8), st.sampled_from(["y", "rm -rf build", f"{LINE} please", LINE[:-1]]))
def test_a_draft_stays_a_persons_whatever_cannot_be_seen_in_it(text: str, draft: str) -> None:
    screen = box(draft + text)
    assert drawn("claude", screen).state is State.DRAFT
    assert nudges.left_over_line(CLAUDE_SCREENS, screen) == ""
    assert not nudges.input_is_free(CLAUDE_SCREENS, read(State.IDLE), screen)
    assert not nudges.holds_only(CLAUDE_SCREENS, read(State.DRAFT), screen, LINE)


def test_two_lines_tell_the_same_whatever_their_numbers() -> None:
    assert nudges.tells_the_same(unread_line(1), unread_line(7))
    assert nudges.tells_the_same(ready_line(1), ready_line(7))
    assert not nudges.tells_the_same(unread_line(1), ready_line(1))
