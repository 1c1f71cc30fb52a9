"""What the adapters read from the files that the real programs wrote."""

import errno
import json
import re
import sqlite3
from contextlib import closing, suppress
from datetime import datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from pro0.agents import adapter_named
from pro0.agents.adapter import Memory, SessionView
from pro0.agents.claude.adapter import CLAUDE
from pro0.model.runtime import State
from pro0.model.usage import Usage
from pro0.ops.team import costs
from tests.agents import placed
from tests.agents.placed import recording
from tests.faults import count, fail_with, fault_at

TWICE = Usage(input_tokens=200, output_tokens=14, cache_read_tokens=40)
THRICE = Usage(input_tokens=300, output_tokens=21, cache_read_tokens=60)
SENT = {
    "claude": msgspec.structs.replace(THRICE, cache_write_tokens=15, models=("claude-opus-4-8",)),
    "codex": msgspec.structs.replace(THRICE, models=("fake-model",)),
    "gemini": msgspec.structs.replace(TWICE, models=("gemini-2.5-pro",)),
    "pi": msgspec.structs.replace(TWICE, models=("fake-model",)),
}
"""What the model server sent: 100 tokens in, 20 from the cache and 7 out per answer, for Claude 5 into the cache."""


@pytest.fixture(params=placed.PLACED)
def agent(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def laid_out(agent: str, home: Path) -> SessionView:
    place, name = placed.PLACED[agent]
    return place(home, recording(name))


def test_usage_is_what_was_sent(agent: str, tmp_path: Path) -> None:
    """Issue 4, must show 1: usage equals what the model server sent; repeated lines of one answer count once."""
    usage = adapter_named(agent).usage
    assert usage
    assert usage(laid_out(agent, tmp_path), Memory()) == SENT[agent]


CALLS = {"claude": 3, "codex": 3, "gemini": 2, "pi": 2}


def test_each_call_is_priced_by_itself_at_its_time(agent: str, tmp_path: Path) -> None:
    """Its price depends on its own model and size: a sum does not tell them."""
    priced = list[Usage]()

    def price(used: Usage, at: datetime, _: int) -> float:
        assert placed.EARLY < at < placed.LATER
        priced.append(used)
        return 1.0

    usage = adapter_named(agent).usage
    assert usage
    assert usage(laid_out(agent, tmp_path), Memory(price)) == msgspec.structs.replace(
        SENT[agent], list_usd=CALLS[agent]
    )
    assert {used.output_tokens for used in priced} <= {0, 1, 7}
    assert {used.models for used in priced} == {SENT[agent].models}


def test_what_claude_writes_to_a_cache_for_an_hour_costs_twice_its_input(tmp_path: Path) -> None:
    """Claude Code caches for an hour in most sessions, which costs 2 times the input; 5 minutes cost 1.25 times."""

    def cost(home: Path, for_an_hour: int) -> float:
        written = rb'"cache_creation_input_tokens":5,\1"ephemeral_1h_input_tokens":%d,' % for_an_hour
        pattern = rb'"cache_creation_input_tokens":5,([^}]*}[^}]*)"ephemeral_1h_input_tokens":0,'
        session_view = placed.claude(home, re.sub(pattern, written, recording("claude.jsonl")))
        usage = CLAUDE.usage and CLAUDE.usage(session_view, Memory(costs.of_call))
        assert usage
        assert usage.cache_write_tokens == SENT["claude"].cache_write_tokens
        return usage.list_usd or 0.0

    of_input = 5 / 1_000_000  # Claude Opus 4.8
    tokens = SENT["claude"].cache_write_tokens
    assert cost(tmp_path / "5", 5) - cost(tmp_path / "0", 0) == pytest.approx(tokens * of_input * (2 - 1.25))


def test_what_the_subagents_of_gemini_have_used_counts(tmp_path: Path) -> None:
    """Their transcripts are in a folder beside the session's, with the whole id as its name."""
    session_view = placed.gemini(tmp_path, recording("gemini.jsonl"))
    chats = tmp_path / ".gemini/tmp/shop/chats"
    header = {"sessionId": "generalist-1", "kind": "subagent"}
    tokens = {"input": 1000, "output": 5, "cached": 400, "thoughts": 2, "tool": 0, "total": 1007}
    answer = {"id": "s1", "timestamp": "2026-11-22T03:10:00.000Z", "type": "gemini", "model": "small", "tokens": tokens}
    data = b"".join(json.dumps(line).encode() + b"\n" for line in (header, answer))
    placed.written(chats / placed.GEMINI / "generalist-1.jsonl", data)
    placed.written(chats / placed.GEMINI.replace("2", "3") / "generalist-2.jsonl", data.replace(b"s1", b"s2"))
    usage, memory = adapter_named("gemini").usage, Memory()
    assert usage
    of_subagent = Usage(input_tokens=600, output_tokens=7, cache_read_tokens=400, models=("small",))
    assert usage(session_view, memory) == usage(session_view, memory) == SENT["gemini"] + of_subagent


@pytest.mark.parametrize("settings", [False, True])
def test_pi_keeps_its_transcripts_where_a_person_wants_them(settings: bool, tmp_path: Path) -> None:
    """In a folder from a variable or from pi's settings pi makes no folders for the projects; a fork lies there too."""
    kept, fork = tmp_path / "kept", "01a20136-8a77-71c6-befa-d017a3a0c330"
    path = placed.written(kept / f"2026-11-22T03-04-41-336Z_{placed.PI}.jsonl", recording("pi.jsonl"))
    state = json.loads(recording("pi-state.json")) | {"file": str(path) if settings else ""}
    placed.written(tmp_path / "session/state.json", json.dumps(state).encode())
    variable = "" if settings else str(kept)
    session_view = placed.session_view(tmp_path, placed.PI, PI_CODING_AGENT_SESSION_DIR=variable)
    pi = adapter_named("pi")
    assert pi.usage
    assert pi.began
    assert pi.last_words
    assert pi.usage(session_view, Memory()) == SENT["pi"]
    assert pi.began(session_view)
    assert not pi.began(msgspec.structs.replace(session_view, session=fork))
    assert pi.last_words(session_view, Memory())
    placed.written(kept / f"2026-11-22T04-04-41-336Z_{fork}.jsonl", recording("pi.jsonl"))
    assert pi.began(msgspec.structs.replace(session_view, session=fork))


NULLS = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_creation_input_tokens": "cache_write_tokens",
    "cache_read_input_tokens": "cache_read_tokens",
}
"""Anthropic's names of counts that may be null, as of a model without a cache, and ours."""


@pytest.mark.parametrize("name", NULLS)
def test_a_count_of_claude_that_is_null_is_none_and_loses_no_answer(name: str, tmp_path: Path) -> None:
    whole = recording("claude.jsonl")
    session_view = placed.claude(tmp_path, re.sub(rb'"%b":\d+' % name.encode(), b'"%b":null' % name.encode(), whole))
    assert CLAUDE.usage
    assert CLAUDE.last_words
    assert CLAUDE.usage(session_view, Memory()) == msgspec.structs.replace(SENT["claude"], **{NULLS[name]: 0})
    words = CLAUDE.last_words(session_view, Memory())
    assert words
    assert words.text == "fine"


def test_usage_of_a_file_that_grows_byte_by_byte(agent: str, tmp_path: Path) -> None:
    """A half-written last line is read when it is whole; nothing is counted twice."""
    place, name = placed.PLACED[agent]
    whole, memory, usage = recording(name), Memory(), adapter_named(agent).usage
    assert usage
    for end in [*range(0, len(whole), 97), len(whole)]:
        got = usage(place(tmp_path, whole[:end]), memory)
    assert got == SENT[agent]


def test_usage_of_an_earlier_session_is_not_counted_again(agent: str, tmp_path: Path) -> None:
    """A session that goes on in the same file counts from its own start."""
    session_view, usage = laid_out(agent, tmp_path), adapter_named(agent).usage
    later = msgspec.structs.replace(session_view, started_at=placed.EARLY + timedelta(hours=1))
    assert usage
    assert usage(later, Memory()) in (None, Usage())


def test_a_turn_that_failed_is_an_error(agent: str, tmp_path: Path) -> None:
    """Issue 4, 2: a finished turn after an API error is an error, and says which."""
    look = adapter_named(agent).look
    assert look
    reading = look(laid_out(agent, tmp_path), Memory())
    assert reading
    assert reading.state is State.ERROR
    assert any(word in reading.note for word in ("529", "429", "400"))
    assert reading.session == laid_out(agent, tmp_path).session


def test_a_session_can_go_on_when_it_has_begun(agent: str, tmp_path: Path) -> None:
    began = adapter_named(agent).began
    assert began
    assert not began(placed.session_view(tmp_path, laid_out(agent, tmp_path / "other").session))
    assert began(laid_out(agent, tmp_path))
    assert not began(placed.session_view(tmp_path, ""))
    assert not began(placed.session_view(tmp_path, "../../etc/passwd"))


LOOKS = ("open", "fstat", "stat", "scandir")
"""The calls that look at a transcript and at the folders above it."""


@pytest.mark.parametrize("code", [errno.EACCES, errno.EIO, errno.EMFILE, errno.ESTALE])
def test_one_look_that_fails_makes_no_conversation_one_that_never_began(agent: str, code: int, tmp_path: Path) -> None:
    """Its seat would begin a new one, and what was said would be forgotten without a word."""
    session_view, began = laid_out(agent, tmp_path), adapter_named(agent).began
    assert began
    for number in range(1, len(count(lambda: began(session_view), LOOKS)) + 1):
        with fault_at(number, fail_with(code), LOOKS), suppress(OSError):
            assert began(session_view)
    with fault_at(None, fail_with(code), LOOKS), pytest.raises(OSError):
        began(session_view)


def test_a_database_that_is_busy_makes_no_conversation_one_that_never_began(tmp_path: Path) -> None:
    session_view, began = placed.opencode(tmp_path, recording("opencode.sql")), adapter_named("opencode").began
    assert began
    path = tmp_path / ".local/share/opencode/opencode.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("begin exclusive")
        with pytest.raises(OSError, match="locked"):
            began(session_view)
    assert began(session_view)
    path.rename(path.with_name("away"))
    assert not began(session_view)


@pytest.mark.parametrize("code", [errno.EACCES, errno.EIO, errno.EMFILE])
def test_one_look_that_fails_shows_no_other_state(agent: str, code: int, tmp_path: Path) -> None:
    """A turn that a rate limit stopped would be idle for a moment, and what waits for its end would go on."""
    session_view, look = laid_out(agent, tmp_path), adapter_named(agent).look
    assert look
    usual = look(session_view, Memory())
    for number in range(1, len(count(lambda: look(session_view, Memory()), LOOKS)) + 1):
        with fault_at(number, fail_with(code), LOOKS), suppress(OSError):
            assert look(session_view, Memory()) in (usual, None)


def test_a_claude_that_was_told_nothing_has_no_conversation_to_resume(tmp_path: Path) -> None:
    """It begins a transcript before it takes its first prompt, and refuses to resume that."""
    lines = recording("claude.jsonl").splitlines(keepends=True)
    assert CLAUDE.began
    assert not CLAUDE.began(placed.claude(tmp_path, b"".join(lines[:3])))
    assert CLAUDE.began(placed.claude(tmp_path, b"".join(lines)))


CLEARED = [
    {"type": "user", "isMeta": True, "message": {"role": "user", "content": "<local-command-caveat>not a request"}},
    {"type": "user", "message": {"role": "user", "content": "<command-name>/clear</command-name>\n <command-args>"}},
    {"type": "system", "subtype": "local_command", "content": "<local-command-stdout></local-command-stdout>"},
]
"""What Claude Code 2.1.330 writes into the transcript that `/clear` begins."""


@pytest.mark.parametrize(
    ("line", "goes_on"),
    [
        ({"type": "user", "message": {"content": "<command-name>/model</command-name>"}}, False),
        ({"type": "user", "message": {"content": "<local-command-stdout>done</local-command-stdout>"}}, False),
        ({"type": "user", "message": {"content": "Please go on."}}, True),
        ({"type": "user", "message": {"content": [{"type": "text", "text": "Please go on."}]}}, True),
        ({"type": "assistant", "message": {"content": [{"type": "text", "text": "fine"}]}}, True),
    ],
)
def test_a_claude_goes_on_after_clear_when_something_was_said_since(
    tmp_path: Path, line: dict[str, object], goes_on: bool
) -> None:
    """Else it would be resumed without a prompt, and would know nothing of its team."""
    assert CLAUDE.began
    lines = [json.dumps(one).encode() + b"\n" for one in (*CLEARED, line)]
    assert not CLAUDE.began(placed.claude(tmp_path, b"".join(lines[:-1])))
    assert CLAUDE.began(placed.claude(tmp_path, b"".join(lines))) is goes_on


def test_nothing_is_known_of_an_agent_that_has_written_nothing(agent: str, tmp_path: Path) -> None:
    adapter, session_view = adapter_named(agent), placed.session_view(tmp_path, "22222222-2222-4222-8222-222222222222")
    assert adapter.look
    assert adapter.usage
    assert adapter.look(session_view, Memory()) is None
    assert adapter.usage(session_view, Memory()) is None
