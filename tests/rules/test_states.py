"""One state out of many sources: a table of what counts, and laws that hold for any readings."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from pro0.model.runtime import ENDED, State
from pro0.model.screen import Reading
from pro0.rules.screens.states import ATTENTION, combine, difference

WORKING, IDLE, WAITING, DIALOG = State.WORKING, State.IDLE, State.WAITING, State.DIALOG
DRAFT, ERROR, UNKNOWN = State.DRAFT, State.ERROR, State.UNKNOWN


def said(text: str) -> Reading:
    """Return the reading that `title:idle` stands for."""
    source, _, state = text.partition(":")
    return Reading(state=State(state), source=source.replace("_", " "))


TABLE = [
    # what was known, what the sources say, what counts
    ("", "", ""),
    ("", "screen:unknown", "screen:unknown"),
    ("", "process:starting screen:unknown", "process:starting"),
    ("", "process:starting", "process:starting"),
    ("", "session_file:working screen:idle", "session_file:working"),
    ("", "session_file:idle title:working", "session_file:idle"),
    ("", "title:working screen:idle", "title:working"),
    ("", "http:unknown title:working", "title:working"),
    # what waits for a person beats everything, whoever sees it
    ("", "session_file:working screen:waiting", "screen:waiting"),
    ("", "session_file:waiting screen:working", "session_file:waiting"),
    ("", "title:waiting screen:dialog", "title:waiting"),
    ("", "title:idle screen:dialog", "screen:dialog"),
    ("", "session_file:idle screen:draft", "screen:draft"),
    ("", "session_file:working screen:draft", "screen:draft"),
    ("", "session_file:idle screen:draft title:waiting", "title:waiting"),
    # an event does not fire when a prompt is dismissed: what is drawn now says that it is over
    ("", "events:waiting screen:working", "screen:working"),
    ("", "events:waiting title:idle", "title:idle"),
    ("", "events:waiting screen:waiting", "events:waiting"),
    ("", "events:waiting screen:unknown", "events:waiting"),
    ("", "events:waiting", "events:waiting"),
    # a title that says ready does not know of dialogs
    ("", "title:idle", "title:idle"),
    ("", "title:idle screen:idle", "title:idle"),
    ("", "title:idle screen:unknown", "screen:unknown"),
    ("screen:dialog", "title:idle screen:unknown", "screen:dialog"),
    ("", "session_file:idle screen:unknown", "session_file:idle"),
    # what works has begun
    ("", "transcript:starting title:idle screen:idle", "transcript:starting"),
    ("", "transcript:starting title:working screen:idle", "title:working"),
    ("", "transcript:starting title:idle screen:error", "screen:error"),
    # a finished turn is not a successful one
    ("", "session_file:idle screen:error", "screen:error"),
    ("", "session_file:working screen:error", "session_file:working"),
    ("", "http:error screen:idle", "http:error"),
    ("screen:error", "session_file:idle", "screen:error"),
    ("screen:error", "session_file:idle screen:unknown", "screen:error"),
    ("screen:error", "session_file:idle screen:idle", "session_file:idle"),
    ("screen:error", "session_file:working", "session_file:working"),
    # what is unknown overwrites nothing
    ("screen:waiting", "", "screen:waiting"),
    ("screen:waiting", "screen:unknown", "screen:waiting"),
    ("screen:working", "process:running screen:unknown", "screen:working"),
    # the process has the last word about the end, and an end stays an end
    ("", "process:crashed screen:idle session_file:working", "process:crashed"),
    ("screen:waiting", "process:exited screen:waiting", "process:exited"),
    ("process:exited", "screen:idle", "process:exited"),
    ("", "screen:idle title:exited", "screen:idle"),
]


@pytest.mark.parametrize(("previous", "sources", "counts"), TABLE)
def test_the_state_that_counts(previous: str, sources: str, counts: str) -> None:
    """Issue 4, build 2."""
    readings = [said(text) for text in sources.split()]
    expected = (said(counts).state, said(counts).source) if counts else None
    for order in permutations(readings):
        counted = combine(said(previous) if previous else None, order)
        assert (counted and (counted.state, counted.source)) == expected


OWN = ("events", "session file", "http", "transcript")
READING = st.builds(Reading, state=st.sampled_from(State), source=st.sampled_from((*OWN, "title", "screen", "process")))
READINGS = st.lists(READING, max_size=4, unique_by=lambda reading: reading.source)
PREVIOUS = st.none() | READING


@given(PREVIOUS, READINGS)
def test_only_what_was_read_counts(previous: Reading | None, readings: list[Reading]) -> None:
    counted = combine(previous, readings)
    trusted = [r for r in readings if r.source == "process" or r.state not in ENDED]
    told = [(r.state, r.source) for r in (*trusted, *([previous] if previous else []))]
    assert (counted is None and not told) or (counted and (counted.state, counted.source) in told)


@given(PREVIOUS, READINGS)
def test_an_end_is_told_by_the_process_alone(previous: Reading | None, readings: list[Reading]) -> None:
    counted = combine(previous, readings)
    ended = any(r.source == "process" and r.state in ENDED for r in readings)
    was = previous is not None and previous.state in ENDED
    assert bool(counted and counted.state in ENDED) is (ended or was)


@given(PREVIOUS, READINGS)
def test_what_a_screen_asks_of_a_person_is_never_overlooked(previous: Reading | None, readings: list[Reading]) -> None:
    """Checks 35 to 39: nothing may be typed into any of these."""
    counted = combine(previous, readings)
    over = any(r.state in ENDED for r in (*readings, *([previous] if previous else [])))
    if not over and any(r.source == "screen" and r.state in ATTENTION for r in readings):
        assert counted is not None
        assert counted.state in ATTENTION


@given(PREVIOUS, READINGS)
def test_what_is_unknown_changes_nothing(previous: Reading | None, readings: list[Reading]) -> None:
    """A screen without a sign, and a process that only lives."""
    silent = [r for r in readings if r.state is UNKNOWN and r.source in ("screen", "process")]
    lost = any(r.source == "screen" for r in silent) and not (previous and previous.state in ENDED)
    assert previous is None or combine(previous, silent) == replace(previous, lost=lost or previous.lost)
    alive = [r for r in silent if r.source == "process"]
    known = [r for r in readings if r not in silent]
    if combine(previous, known):
        assert combine(previous, [*known, *alive]) == combine(previous, known)


@given(PREVIOUS, READINGS, st.sampled_from((*OWN, "title")))
def test_beside_a_word_that_nobody_knows_nothing_can_be_typed(
    previous: Reading | None, readings: list[Reading], source: str
) -> None:
    """Whatever else is seen: a line is typed where a turn is over, and nowhere else."""
    strange = Reading(state=UNKNOWN, source=source)
    counted = combine(previous, [*(r for r in readings if r.source != source), strange])
    assert counted
    assert counted.state in (*ATTENTION, WORKING, UNKNOWN, *ENDED)


@given(PREVIOUS, READINGS)
def test_saying_it_again_says_the_same(previous: Reading | None, readings: list[Reading]) -> None:
    once = combine(previous, readings)
    assert combine(once, readings) == once


def test_what_one_source_leaves_out_another_adds() -> None:
    """The permission that the session file speaks of is named on the screen; a session once known stays known."""
    before = Reading(state=IDLE, source="session file", session="s-1")
    waiting = Reading(state=WAITING, source="session file")
    named = Reading(state=WAITING, source="screen", note="Bash command · make")
    assert combine(before, [named, waiting]) == Reading(
        state=WAITING, source="session file", note="Bash command · make", session="s-1"
    )


def test_a_draft_below_a_turn_that_goes_on_says_so() -> None:
    counted = combine(None, [said("title:working"), said("screen:draft")])
    assert counted == Reading(state=DRAFT, source="screen", note="while it works")


DIFFERENCES = [
    ("bridge:working screen:idle", "bridge:working screen:idle"),
    ("screen:waiting rollout:working", "rollout:working screen:waiting"),
    ("bridge:idle screen:idle", ""),
    ("bridge:working screen:unknown", ""),
    ("bridge:unknown screen:idle", ""),
    ("bridge:idle screen:draft", ""),
    ("title:working screen:idle", ""),
    ("bridge:working process:running", ""),
]


@pytest.mark.parametrize(("sources", "found"), DIFFERENCES)
def test_where_the_sources_contradict_each_other(sources: str, found: str) -> None:
    """Issue 17, build 2: a draft and a screen that nobody knows contradict nothing."""
    pair = difference([said(text) for text in sources.split()])
    assert " ".join(f"{reading.source}:{reading.state}" for reading in pair or ()) == found
