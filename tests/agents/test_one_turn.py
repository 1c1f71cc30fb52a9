"""One turn without a terminal: how each agent is called, and what is read from the streams that they really printed."""

import re
from functools import reduce
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from pro0.agents import adapter_named
from pro0.agents.adapter import OneTurn, TurnOutput
from pro0.agents.first_prompt import FILE, IN_ARGV
from pro0.model.agent import AGENTS
from pro0.model.team import PermissionMode
from pro0.model.usage import Usage
from pro0.rules.runs import signals
from tests.agents.test_calls import BRIEF, ID, SECRET
from tests.agents.test_reading import NULLS

RECORDINGS = Path(__file__).parent / "recordings"
TURNING = tuple(name for name in sorted(AGENTS) if adapter_named(name).turn)
FAILED = tuple(agent for agent in TURNING if (RECORDINGS / f"turn-{agent}-failed.jsonl").exists())
TOKENS = Usage(input_tokens=2003, output_tokens=43, cache_read_tokens=603)
USED = {
    "claude": replace(TOKENS, cost_usd=0.0113915, models=("claude-opus-4-8[1m]",)),
    "codex": TOKENS,
    "gemini": replace(TOKENS, models=("scripted",)),
    "opencode": replace(TOKENS, input_tokens=2005, output_tokens=45, cache_read_tokens=605),
    "pi": replace(TOKENS, models=("scripted",)),
}
"""What the scripted provider has counted, which is what each agent says that it used."""


def turn_of(agent: str) -> OneTurn:
    found = adapter_named(agent).turn
    assert found
    return found


def heard(agent: str, data: bytes) -> TurnOutput:
    return reduce(turn_of(agent).read, data.split(b"\n"), TurnOutput())


def recorded(name: str) -> bytes:
    return (RECORDINGS / f"turn-{name}.jsonl").read_bytes()


@pytest.mark.parametrize("agent", TURNING)
def test_a_turn_of_each_is_recorded(agent: str) -> None:
    assert (RECORDINGS / f"turn-{agent}.jsonl").exists(), f"record a turn: tests/agents/recordings/turn-{agent}.jsonl"
    assert agent in USED, f"say in USED what the recorded turn of {agent} has used"


@pytest.mark.parametrize("name", NULLS)
def test_a_count_of_claude_that_is_null_is_none_and_loses_no_turn(name: str) -> None:
    null = re.sub(rb'"%b":\d+' % name.encode(), b'"%b":null' % name.encode(), recorded("claude"))
    said = heard("claude", null)
    assert said.message == "It is done.\n<promise>COMPLETE</promise>"
    assert said.usage == replace(USED["claude"], **{NULLS[name]: 0})


@pytest.mark.parametrize("agent", TURNING)
def test_the_last_message_and_what_was_used(agent: str) -> None:
    """S001: from its output stream, never from a screen; what a tool printed is none of it (AC-27)"""
    said = heard(agent, recorded(agent))
    assert said.message == "It is done.\n<promise>COMPLETE</promise>"
    assert (said.usage, said.failure) == (USED[agent], "")
    assert signals.read(said.message, "") == signals.Signal(signals.Tag.COMPLETE)


def test_what_is_known_as_one_sum_is_priced_like_the_model_used_most() -> None:
    """Gemini CLI asks a small model which one is to answer."""
    asked = b'"models":{"large":{"total_tokens":2000},"odd":7,"small":{"total_tokens":649}}'
    said = heard("gemini", re.sub(rb'"models":.*}}', lambda _: asked + b"}}", recorded("gemini")))
    assert said.usage == replace(USED["gemini"], models=("odd", "small", "large"))


def test_what_codex_writes_to_a_cache_is_counted_as_that() -> None:
    said = heard("codex", recorded("codex").replace(b'"cache_write_input_tokens":0', b'"cache_write_input_tokens":3'))
    assert said.usage == replace(USED["codex"], input_tokens=2000, cache_write_tokens=3)


@pytest.mark.parametrize("agent", TURNING)
def test_half_a_character_in_the_last_message_costs_neither_the_signal_nor_the_counts(agent: str) -> None:
    """A program in JavaScript writes the half of an emoji that it has cut as an escape."""
    said = heard(agent, recorded(agent).replace(b"It is done.", rb"It is done. \ud83d"))
    assert said.message == "It is done. \ufffd\n<promise>COMPLETE</promise>"
    assert (said.usage, said.failure) == (USED[agent], "")


@pytest.mark.parametrize("agent", FAILED)
def test_a_turn_that_failed_says_why(agent: str) -> None:
    """AC-32: pi exits with 0 then"""
    assert "scripted error 400" in heard(agent, recorded(f"{agent}-failed")).failure


def test_an_error_of_opencode_is_one_until_the_next_step() -> None:
    error = b'{"type":"error","error":{"name":"APIError","data":{"message":"no credit"}}}'
    assert "no credit" in heard("opencode", error).failure
    assert heard("opencode", error + b"\n" + recorded("opencode")).failure == ""


@pytest.mark.parametrize("agent", TURNING)
@given(data=st.binary())
def test_any_output_is_heard(agent: str, data: bytes) -> None:
    assert heard(agent, data) == TurnOutput()
    assert heard(agent, data.replace(b"\n", b" ") + b"\n" + recorded(agent)).usage == USED[agent]


@pytest.mark.parametrize("mode", PermissionMode)
@pytest.mark.parametrize("agent", TURNING)
def test_the_prompt_arrives_whole_and_no_secret_is_in_argv(agent: str, mode: PermissionMode) -> None:
    """rulings 3.6, 3.17"""
    call = turn_of(agent).call(replace(BRIEF, mode=mode, mailbox="", session=ID, prompt="Do 'it' $HOME."))
    assert call.argv[0] == adapter_named(agent).program
    assert call.files[FILE] == b"Do 'it' $HOME."
    given = any("Do 'it' $HOME." in word for word in call.argv)
    assert given is not turn_of(agent).reads_stdin
    assert SECRET not in " ".join(call.argv)
    long = turn_of(agent).call(replace(BRIEF, mode=mode, prompt="x" * (IN_ARGV + 1)))
    assert max(map(len, long.argv)) <= IN_ARGV
    assert len(long.files[FILE]) == IN_ARGV + 1


WORDS = {
    "claude": ("claude -p --output-format stream-json --verbose --session-id", "--permission-mode plan"),
    "codex": ("codex exec --json --skip-git-repo-check --sandbox read-only --config mcp_servers.pro0=", "-"),
    "gemini": ("gemini --output-format stream-json --session-id", "--approval-mode plan"),
    "opencode": ("opencode run --format json --agent plan --model m", ""),
    "pi": ("pi -p --mode json --extension", "--model m"),
}


@pytest.mark.parametrize("agent", WORDS)
def test_how_each_is_called(agent: str) -> None:
    seat = replace(BRIEF.seat, model="m")
    call = turn_of(agent).call(replace(BRIEF, seat=seat, session=ID, mode=PermissionMode.PLAN))
    words = " ".join(call.argv)
    first, later = WORDS[agent]
    assert words.startswith(first)
    assert later in words
    assert "--no-daemon" not in words
    assert "--prompt-interactive" not in words
