"""What agents say last in a turn: from their transcripts, from the hook at a turn's end, or from the screen."""

import errno
import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0.agents import adapter_named, turn_end
from pro0.agents.adapter import Adapter, Memory, SessionView
from pro0.agents.screens.aider import AIDER_SCREENS
from pro0.agents.transcripts import WORDS, last_words
from pro0.engine.background import words
from pro0.model.decision import Seen
from pro0.model.runtime import State
from pro0.model.screen import LastWords, Reading, Screen
from tests.agents import placed
from tests.agents.placed import recording
from tests.faults import fail_with, fault_at

SAID = 'fine "ünï"'
LAST = {"claude": "fine", "codex": SAID, "gemini": SAID, "pi": SAID}
ANSWER = '{"role":"assistant","finish":"stop","modelID":"m","time":{"created":1795316763900,"completed":1795316763950}}'


def said(agent: str, session_view: SessionView, memory: Memory | None = None) -> LastWords | None:
    """The last words that the adapter reads."""
    read = adapter_named(agent).last_words
    assert read
    return read(session_view, memory or Memory())


@pytest.mark.parametrize("agent", placed.PLACED)
def test_they_are_what_the_model_said_last(agent: str, tmp_path: Path) -> None:
    place, name = placed.PLACED[agent]
    found = said(agent, place(tmp_path, recording(name)))
    assert found
    assert (found.text, found.over) == (LAST[agent], True)


@pytest.mark.parametrize("agent", placed.PLACED)
def test_they_are_read_again_only_when_there_are_more(agent: str, tmp_path: Path) -> None:
    """Every cut of a file that grows tells nothing, or the very words of a turn."""
    place, name = placed.PLACED[agent]
    whole, memory, texts = recording(name), Memory(), set()
    for end in [*range(0, len(whole), 997), len(whole)]:
        if found := said(agent, place(tmp_path, whole[:end]), memory):
            texts.add((found.text, found.id))
    assert {text for text, _ in texts} == {LAST[agent]}
    assert len(texts) == 1


@pytest.mark.parametrize("agent", placed.PLACED)
def test_those_that_cannot_be_read_now_are_read_at_the_next_look(agent: str, tmp_path: Path) -> None:
    """The file does not change any more: the turn is over."""
    place, name = placed.PLACED[agent]
    session_view, memory = place(tmp_path, recording(name)), Memory()
    with fault_at(None, fail_with(errno.EMFILE), ("open",)), pytest.raises(OSError):
        said(agent, session_view, memory)
    found = said(agent, session_view, memory)
    assert found
    assert found.text == LAST[agent]


def test_while_they_cannot_be_read_the_last_known_ones_count(tmp_path: Path) -> None:
    known = LastWords(text="of before", id="u1", source="transcript")
    before = Seen(state=State.WORKING, since=placed.EARLY, source="session file", words=known)
    session_view = placed.claude(tmp_path, recording("claude.jsonl"))
    with fault_at(None, fail_with(errno.EIO), ("open",)):
        assert chosen(State.IDLE, session_view, before=before) == known


@pytest.mark.parametrize("agent", placed.PLACED)
def test_those_of_an_earlier_session_are_not_said_again(agent: str, tmp_path: Path) -> None:
    place, name = placed.PLACED[agent]
    later = replace(place(tmp_path, recording(name)), started_at=placed.EARLY + timedelta(hours=1))
    assert said(agent, later) is None


def test_opencode_keeps_them_in_its_database(tmp_path: Path) -> None:
    session_view, memory = placed.opencode(tmp_path, recording("opencode.sql")), Memory()
    assert said("opencode", session_view, memory) is None, "its turns failed, or go on"
    part, path = json.dumps({"type": "text", "text": SAID}), tmp_path / ".local/share/opencode/opencode.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute(
            "insert into message values ('msg_z', ?, 1795316763900, 1795316763950, ?)", (session_view.session, ANSWER)
        )
        for id, data in (("prt_1", '{"type":"step-start"}'), ("prt_2", part)):
            database.execute("insert into part values (?, 'msg_z', ?, 1, 1, ?)", (id, session_view.session, data))
        database.commit()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("begin exclusive")
        with pytest.raises(OSError, match="locked"):
            said("opencode", session_view, memory)
    found = said("opencode", session_view, memory)
    assert found
    assert (found.text, found.id) == (SAID, "msg_z")


def test_of_a_claude_that_does_not_say_why_an_answer_ended_only_its_state_tells(tmp_path: Path) -> None:
    line = {"type": "assistant", "uuid": "u1", "message": {"content": [{"type": "text", "text": "fine"}]}}
    session_view = placed.claude(tmp_path, json.dumps(line).encode() + b"\n")
    found = said("claude", session_view)
    assert found == LastWords(text="fine", id="u1", source="transcript", over=False)
    assert chosen(State.WORKING, session_view) is None
    assert chosen(State.IDLE, session_view) == found


@pytest.mark.parametrize(
    ("event", "text"),
    [
        ({"hook_event_name": "Stop", "last_assistant_message": " fine\n"}, "fine"),
        ({"hook_event_name": "AfterAgent", "prompt_response": "fine"}, "fine"),
        ({"hook_event_name": "Stop"}, None),
        (["no event"], None),
        ({"last_assistant_message": 7}, None),
    ],
)
def test_the_hook_keeps_them(event: object, text: str | None, tmp_path: Path) -> None:
    turn_end.keep_words(json.dumps(event).encode(), tmp_path)
    found = turn_end.kept_words(tmp_path)
    assert (found and found.text) == text
    assert found is None or found.source == "hook"


def test_a_transcript_counts_before_the_hook_and_the_hook_before_the_screen(tmp_path: Path) -> None:
    empty = placed.claude(tmp_path, b"")
    assert chosen(State.IDLE, empty) is None, "the screen of an agent with a transcript has more on it than words"
    turn_end.keep_words(b'{"last_assistant_message": "from the hook"}', Path(empty.folder))
    of_hook = chosen(State.IDLE, empty)
    of_transcript = chosen(State.IDLE, placed.claude(tmp_path, recording("claude.jsonl")))
    assert of_hook
    assert of_transcript
    assert (of_hook.text, of_transcript.text) == ("from the hook", "fine")


def test_the_hooks_words_of_a_conversation_before_are_not_those_of_the_next(tmp_path: Path) -> None:
    """`/clear` begins a conversation in which nothing was said: what is known last stays."""
    empty = placed.claude(tmp_path, b"")
    for session, text in ((empty.session, "of this one"), ("another", None)):
        turn_end.keep_words(
            json.dumps({"session_id": session, "last_assistant_message": text or "of before"}).encode(),
            Path(empty.folder),
        )
        found = chosen(State.IDLE, empty)
        assert (found and found.text) == text
    known = LastWords(text="of before", id="u1", source="transcript")
    before = Seen(state=State.IDLE, since=placed.EARLY, source="session file", words=known)
    assert chosen(State.IDLE, empty, before=before) == known


def test_the_words_of_a_conversation_that_is_opened_again_are_not_said_again(tmp_path: Path) -> None:
    """`/resume`: it ended a turn before the one that ended last, which was in another; what it says then counts."""

    def line(id: str, at: datetime) -> bytes:
        message = {"content": [{"type": "text", "text": id}], "stop_reason": "end_turn"}
        said = {"type": "assistant", "uuid": id, "timestamp": at.isoformat(), "message": message}
        return json.dumps(said).encode() + b"\n"

    now, memory = datetime.now(UTC), Memory()
    old, new = line("old", now - timedelta(minutes=1)), line("new", now + timedelta(minutes=1))
    opened = placed.claude(tmp_path, old)
    assert said("claude", opened, memory)
    turn_end.keep_words(b'{"session_id": "another", "last_assistant_message": "meanwhile"}', Path(opened.folder))
    assert said("claude", opened, memory) is None
    ended = json.dumps({"session_id": opened.session, "last_assistant_message": "in this one again"}).encode()
    turn_end.keep_words(ended, Path(opened.folder))
    assert said("claude", opened, memory) is None, "the hook is faster than the transcript"
    assert (kept := chosen(State.IDLE, opened))
    assert kept.text == "in this one again"
    found = said("claude", placed.claude(tmp_path, old + new), memory)
    assert found
    assert found.id == "new"


def test_without_either_they_are_the_end_of_the_screen_when_the_turn_ends(tmp_path: Path) -> None:
    rows = ("architect> look at the parser", "I looked: 3 bugs.", "", "Shall I mend them?", "architect> ")
    aider = replace(adapter_named("command"), screens=AIDER_SCREENS)
    session_view, screen = placed.session_view(tmp_path, "s"), Screen(rows=rows, cursor=(11, 4))
    before = Seen(state=State.WORKING, since=placed.EARLY, source="screen")
    found = chosen(State.IDLE, session_view, aider, before, screen)
    assert found
    assert (found.text, found.source) == ("I looked: 3 bugs.\nShall I mend them?", "screen")
    after = Seen(state=State.IDLE, since=placed.EARLY, source="screen", words=found)
    moved = Screen(rows=("12:01", "architect> "), cursor=(11, 1))
    assert chosen(State.IDLE, session_view, aider, after, moved) == found, "a clock that ticks is no word"


def test_of_long_ones_the_end_counts() -> None:
    found = last_words("x" * 10_000 + " done", "1")
    assert found
    assert len(found.text) == WORDS + 2
    assert found.text.endswith(" done")


def chosen(
    state: State,
    session_view: SessionView,
    adapter: Adapter | None = None,
    before: Seen | None = None,
    screen: Screen | None = None,
) -> LastWords | None:
    """What counts in that state."""
    reading = Reading(state=state, source="events")
    return words.last_words(adapter or adapter_named("claude"), session_view, Memory(), reading, before, screen)
