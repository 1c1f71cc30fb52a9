"""A person begins another conversation in Gemini CLI (`/clear`), or goes on with an earlier one (`/resume`)."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0.agents import first_prompt, turn_end
from pro0.agents.adapter import Memory, SessionView
from pro0.agents.gemini import conversations
from pro0.agents.gemini import hooks as gemini_hooks
from pro0.agents.gemini.adapter import GEMINI
from pro0.model.runtime import State
from pro0.model.screen import Reading
from pro0.model.usage import Usage
from pro0.rules.screens.states import combine
from tests.agents import placed

FIRST = placed.GEMINI
OTHER = "44444444-2222-4222-8222-222222222242"
RECORDED = placed.recording("gemini.jsonl")
HEADER, CONTEXT, *_ = RECORDED.splitlines(keepends=True)
ONCE = Usage(input_tokens=200, output_tokens=14, cache_read_tokens=40, models=("gemini-2.5-pro",))
"""What the recording says was used."""


def chat_of(home: Path, session: str) -> Path:
    return home / f".gemini/tmp/shop/chats/session-2026-11-22T03-03-{session[:8]}.jsonl"


def written(home: Path, session: str, *lines: bytes) -> Path:
    """Write a transcript of that session."""
    header = HEADER.replace(FIRST.encode(), session.encode())
    return placed.written(chat_of(home, session), b"".join((header, *lines)))


def hooked(view: SessionView, event: str, transcript: Path, session: str = "") -> bytes:
    """Call the hook, as after `/clear` or before a turn."""
    said = {"hook_event_name": event, "session_id": session, "transcript_path": str(transcript), "prompt": "And now?"}
    folder = Path(view.folder)
    return gemini_hooks.answer(json.dumps(said).encode(), folder / "no mailbox", folder, "")


def cleared(home: Path) -> SessionView:
    """A session whose turn failed, with a first prompt that nobody has seen it take, and then `/clear`."""
    view = placed.gemini(home, RECORDED)
    placed.written(Path(view.folder, first_prompt.FILE), b"look at the shop")
    hooked(view, "BeforeAgent", chat_of(home, FIRST))
    hooked(view, "AfterAgent", chat_of(home, FIRST))
    assert hooked(view, "SessionStart", written(home, OTHER, CONTEXT), OTHER) == b""
    return view


def look(view: SessionView) -> Reading | None:
    assert GEMINI.look
    return GEMINI.look(view, Memory())


def used(view: SessionView, memory: Memory | None = None) -> Usage | None:
    assert GEMINI.usage
    return GEMINI.usage(view, memory or Memory())


def answered(*, by: bytes) -> tuple[bytes, ...]:
    """The turns of the recording without the failed one, with ids of their own."""
    lines = [line for line in RECORDED.splitlines(keepends=True) if b'"timestamp":"2026-11-22T03:03:5' in line[:90]]
    return tuple(line.replace(b'{"id":"', b'{"id":"' + by, 1) for line in lines)


def test_its_error_is_over_and_its_id_is_known(tmp_path: Path) -> None:
    """What it does there, only its title and its screen say."""
    view, idle = cleared(tmp_path), Reading(state=State.IDLE, source="title")
    before = Reading(state=State.ERROR, source="transcript", session=FIRST)
    reading = look(view)
    assert reading
    seen = combine(before, [reading, idle, replace(idle, source="screen")])
    assert seen
    assert (seen.state, seen.session) == (State.IDLE, OTHER)
    assert look(replace(view, session=OTHER)) is None


@pytest.mark.parametrize("prompt", [True, False])
def test_it_waits_for_nothing_there(prompt: bool, tmp_path: Path) -> None:
    """Neither for a first prompt nor for a conversation to load: it would be deaf for two minutes."""
    view = replace(cleared(tmp_path), started_at=datetime.now(UTC), session=OTHER)
    if not prompt:
        Path(view.folder, first_prompt.FILE).unlink()
    assert look(view) is None


def test_the_first_thing_after_a_resume_may_be_to_clear(tmp_path: Path) -> None:
    """No hook has told of the conversation before."""
    view = replace(placed.gemini(tmp_path, RECORDED), started_at=datetime.now(UTC))
    hooked(view, "SessionStart", written(tmp_path, OTHER, CONTEXT))
    assert look(replace(view, session=OTHER)) is None


def test_its_last_words_are_those_of_the_new_one(tmp_path: Path) -> None:
    view = cleared(tmp_path)
    turn_end.keep_words(b'{"prompt_response": "old"}', Path(view.folder))
    assert GEMINI.last_words
    assert GEMINI.last_words(view, Memory()) is None
    written(tmp_path, OTHER, CONTEXT, *answered(by=b"new-"))
    words = GEMINI.last_words(view, Memory())
    assert words
    assert words.id.startswith("new-")


def test_what_it_said_in_another_one_is_not_said_again(tmp_path: Path) -> None:
    """The hook at a turn's end has kept it."""
    view = placed.gemini(tmp_path, RECORDED)
    hooked(view, "BeforeAgent", chat_of(tmp_path, FIRST))
    turn_end.keep_words(b'{"prompt_response": "old"}', Path(view.folder))
    hooked(view, "BeforeAgent", chat_of(tmp_path, FIRST))
    assert turn_end.kept_words(Path(view.folder)), "it is the same one"
    hooked(view, "SessionStart", written(tmp_path, OTHER, CONTEXT))
    assert turn_end.kept_words(Path(view.folder)) is None


def test_all_of_them_count_once(tmp_path: Path) -> None:
    """Also for a lead that comes later, and when the first goes on (behaviour 3.18)."""
    view, memory = cleared(tmp_path), Memory()
    assert used(view, memory) == ONCE
    written(tmp_path, OTHER, CONTEXT, *answered(by=b"new-"))
    assert used(view, memory) == used(view) == used(replace(view, session=OTHER)) == ONCE + ONCE
    hooked(view, "BeforeAgent", chat_of(tmp_path, FIRST))
    assert used(view, memory) == used(view) == ONCE + ONCE
    reading = look(replace(view, session=OTHER))
    assert reading
    assert reading.session == FIRST


def test_the_chat_is_that_of_the_new_one(tmp_path: Path) -> None:
    view = cleared(tmp_path)
    assert GEMINI.chat
    chat = GEMINI.chat(view)
    assert chat.news() == []
    written(tmp_path, OTHER, CONTEXT, *answered(by=b"new-"))
    assert [entry.kind for entry in chat.news()] == ["prompt", "tool", "said"]


def test_without_hooks_nothing_is_guessed(tmp_path: Path) -> None:
    view = placed.gemini(tmp_path, RECORDED)
    written(tmp_path, OTHER, CONTEXT, *answered(by=b"new-"))
    reading = look(view)
    assert reading
    assert (reading.state, reading.session) == (State.ERROR, FIRST)
    assert used(view) == ONCE


@pytest.mark.parametrize(
    ("events", "known"),
    [
        ([("AfterTool", FIRST), ("AfterAgent", FIRST)], []),
        ([("BeforeAgent", FIRST)] * 2, [FIRST]),
        ([("BeforeAgent", FIRST), ("SessionStart", OTHER), ("BeforeAgent", OTHER)], [FIRST, OTHER]),
        ([("BeforeAgent", FIRST), ("BeforeAgent", OTHER), ("BeforeAgent", FIRST)], [FIRST, OTHER, FIRST]),
        ([("SessionStart", OTHER)], ["", OTHER]),
        ([("BeforeAgent", FIRST), ("BeforeAgent", "")], [FIRST]),
        ([("BeforeAgent", str(number)) for number in range(100)], [str(number) for number in range(36, 100)]),
    ],
)
def test_which_of_them_are_noted(events: Sequence[tuple[str, str]], known: Sequence[str], tmp_path: Path) -> None:
    """By the transcript alone: with another model the hooks are given another id, and the transcript goes on."""
    view = placed.session_view(tmp_path, FIRST)
    for event, session in events:
        transcript = written(tmp_path, session) if session else tmp_path / "nowhere"
        hooked(view, event, transcript, "55555555-2222-4222-8222-222222222242")
    assert [*conversations.known(view.folder)] == [*known]


@pytest.mark.parametrize("broken", [b"", b"{", b"{}", b"[7]", b"\xff"])
def test_notes_that_cannot_be_read_are_none(broken: bytes, tmp_path: Path) -> None:
    placed.written(tmp_path / conversations.FILE, broken)
    assert conversations.known(tmp_path) == ()
    assert conversations.known("") == ()
    assert not conversations.note(tmp_path, written(tmp_path, FIRST))
    assert conversations.known(tmp_path) == (FIRST,)
