"""Recorded screens that are changed as terminals, versions and transcripts change them are still read right."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from pro0.model.agent import DRAWN
from pro0.model.runtime import State
from pro0.model.screen import Screen
from pro0.rules.screens.states import ATTENTION
from tests.recorded import QUIET, Recording, drawn, recordings

# What covers the middle of a screen is not one that scrolls, and has no end that must not be cut.
LIVING = [r for r in recordings() if r.state != "ended" and drawn(r.agent, r.plain).rule != "overlay"]
ASKING = [recording for recording in LIVING if recording.state in (State.WAITING, State.DIALOG)]
RECORDED = st.sampled_from(LIVING)
ASKED = st.sampled_from(ASKING)
MANY = settings(max_examples=150, deadline=None)

WORDS = """Do you want to proceed?
❯ 1. Yes
  2. No, and tell Claude what to do differently (esc)
Esc to cancel · Tab to amend
Would you like to run the following command?
› 1. Yes, proceed (y)
  3. No, and tell Codex what to do differently (esc)
Press enter to confirm or esc to cancel
△ Permission required
  Allow once   Allow always   Reject
● 1. Allow once
Do you trust the files in this folder?
Run shell command? (Y)es/(N)o/(D)on't ask again [Yes]:
✶ Hatching… (12s · esc to interrupt)
• Working (2s • esc to interrupt)
⠼ Thinking... (esc to cancel, 1s)
■■■⬝⬝⬝⬝⬝  esc interrupt
■ unexpected status 529
● API Error: Repeated 529 Overloaded errors
Error: 529 scripted error 529
Waiting for openai/model
> a prompt that was sent
────────────────────────────────────────
❯ a draft that was quoted
Pane is dead (signal 9)""".splitlines()
QUOTED = st.lists(st.sampled_from([*WORDS, ""]), min_size=1, max_size=30)
MARGIN = {"aider": "", "opencode": "     ", "pi": " ", "gemini": "  ", "qwen": "    ", "copilot": "   "}
"""How far right an agent writes what its model says."""


def below(printed: list[str], screen: Screen) -> Screen:
    """Return the screen with rows above that it had before."""
    cursor = screen.cursor and (screen.cursor[0], screen.cursor[1] + len(printed))
    styled = (*printed, *screen.styled) if screen.styled else ()
    return replace(screen, rows=(*printed, *screen.rows), styled=styled, cursor=cursor)


def each(screen: Screen, change: Callable[[str], str]) -> Screen:
    """Return the screen with every row changed, as one without styles."""
    return Screen(rows=tuple(map(change, screen.rows)))


@MANY
@given(RECORDED, QUOTED, st.booleans())
def test_what_is_quoted_above_changes_nothing(recording: Recording, quoted: list[str], plain: bool) -> None:
    """Every word of every state, in what the agent's work printed: whole prompts, borders and spinners.

    Which question a menu belongs to may be mistaken where no border parts them; that it is one never is.
    """
    margin = MARGIN.get(recording.agent, "  ")
    screen = below([f"{margin}{row}" for row in quoted] + [""], recording.plain if plain else recording.screen)
    state = drawn(recording.agent, screen).state
    assert state == recording.state or {state, recording.state} == {State.WAITING, State.DIALOG}


@pytest.mark.parametrize("other", LIVING, ids=lambda recording: recording.name)
def test_another_screen_above_changes_nothing(other: Recording) -> None:
    """The whole of another screen of the same agent has scrolled up, drawn as it was; nothing of it counts."""
    for recording in LIVING:
        if recording.agent == other.agent and recording.state not in (State.WAITING, State.DIALOG):
            rows = [row for row in other.plain.rows if row.strip()]
            assert drawn(recording.agent, below([*rows, ""], recording.plain)).state == recording.state, recording.name


@pytest.mark.parametrize("recording", ASKING, ids=lambda recording: recording.name)
def test_what_asks_a_person_is_seen_below_any_other_screen(recording: Recording) -> None:
    for other in LIVING:
        if recording.agent == other.agent:
            rows = [row for row in other.plain.rows if row.strip()]
            assert drawn(recording.agent, below([*rows, ""], recording.plain)).state in ATTENTION, other.name


@MANY
@given(RECORDED, st.integers(0, 5), st.integers(0, 20))
def test_empty_rows_around_change_nothing(recording: Recording, above: int, after: int) -> None:
    screen = below([""] * above, recording.screen)
    screen = replace(screen, rows=(*screen.rows, *[""] * after), styled=(*screen.styled, *[""] * after))
    assert drawn(recording.agent, screen).state == recording.state


@MANY
@given(RECORDED, st.integers(8, 300))
def test_the_width_of_borders_changes_nothing(recording: Recording, width: int) -> None:
    """A border is as wide as the terminal, or as the box."""
    screen = each(recording.plain, lambda row: re.sub(r"─{20,}", "─" * width, row))
    assert drawn(recording.agent, screen).state == recording.state


@MANY
@given(ASKED, st.integers(0, 60))
def test_rows_that_are_cut_at_the_top_do_not_make_a_question_quiet(recording: Recording, cut: int) -> None:
    rows = recording.plain.rows
    while rows and not rows[-1].strip():
        rows = rows[:-1]
    assert drawn(recording.agent, Screen(rows=rows[min(cut, len(rows) - 1) :])).state not in QUIET


@MANY
@given(ASKED, st.integers(40, 139))
def test_rows_that_are_cut_at_the_right_do_not_make_a_question_quiet(recording: Recording, width: int) -> None:
    assert drawn(recording.agent, each(recording.plain, lambda row: row[:width])).state not in QUIET


@MANY
@given(ASKED, st.data())
def test_a_row_that_says_something_else_does_not_make_a_question_quiet(
    recording: Recording, data: st.DataObject
) -> None:
    """Another version words its question, its options or the row below them otherwise."""
    rows = list(recording.plain.rows)
    filled = [i for i, row in enumerate(rows) if row.strip()][-14:]
    changed = data.draw(st.sampled_from(filled))
    rows[changed] = re.sub(r"[A-Za-z]+", "Wort", rows[changed])
    assert drawn(recording.agent, Screen(rows=tuple(rows))).state not in QUIET


@MANY
@given(ASKED, st.integers(1, 8))
def test_a_question_that_is_half_drawn_is_not_quiet(recording: Recording, missing: int) -> None:
    """The terminal is captured while the agent draws its menu from the top."""
    rows = recording.plain.rows
    while rows and not rows[-1].strip():
        rows = rows[:-1]
    assert drawn(recording.agent, Screen(rows=rows[:-missing])).state not in (State.IDLE, State.WORKING)


@pytest.mark.parametrize("agent", DRAWN)
def test_another_footer_keeps_an_empty_box_from_being_anything_dangerous(agent: str) -> None:
    """A new version's foot makes a state unknown at worst; it never makes a draft or a menu quiet."""
    for recording in (r for r in LIVING if r.agent == agent):
        rows = list(recording.plain.rows)
        last = max(i for i, row in enumerate(rows) if row.strip())
        rows[last] = "  something that no version says"
        state = drawn(agent, Screen(rows=tuple(rows))).state
        assert recording.state not in ATTENTION or state not in QUIET, recording.name


NOISE = st.lists(st.text("abc ABC.,:;()[]{}#$%'\"/\\0123456789-_=+│┃─é✓\t", max_size=90), max_size=40)


@MANY
@given(st.sampled_from(sorted(DRAWN)), NOISE)
def test_noise_is_unknown(agent: str, rows: list[str]) -> None:
    """The output of some program, in which no agent has drawn anything."""
    assert drawn(agent, Screen(rows=("$ make", *rows))).state is State.UNKNOWN
