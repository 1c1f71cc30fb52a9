"""No file of an agent, however broken, makes a look or a count raise."""

import random
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from pro0.agents import adapter_named
from pro0.agents.adapter import Memory, SessionView
from tests.agents import placed
from tests.agents.placed import recording

ZONELESS = b'\n{"type":"assistant","timestamp":"2026-12-01T00:00:00","message":{"role":"assistant"},"payload":{}}\n'
ODD = (
    *(b"null", b"[]", b"{}", b"-1e999", b'"', b"\xff", b"{" * 200, b"\x00", b"1" * 400, b'{"type":1}', b"\n\n"),
    ZONELESS,
)


@st.composite
def damaged(draw: st.DrawFn, whole: bytes) -> bytes:
    """A recording that was cut, mixed up or written over."""
    data = bytearray(whole[: draw(st.integers(0, len(whole)))])
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(data)))
        data[at : at + draw(st.integers(0, 40))] = draw(st.sampled_from(ODD) | st.binary(max_size=20))
    if draw(st.booleans()):
        lines = data.split(b"\n")
        random.Random(draw(st.integers(0, 99))).shuffle(lines)
        data = bytearray(b"\n".join(lines))
    return bytes(data)


def asked_everything(agent: str, session_view: SessionView) -> None:
    adapter = adapter_named(agent)
    assert adapter.look
    assert adapter.usage
    assert adapter.began
    assert adapter.last_words
    memory = Memory()
    for _ in range(2):
        adapter.look(session_view, memory)
        adapter.usage(session_view, memory)
        adapter.last_words(session_view, memory)
    adapter.began(session_view)


@pytest.mark.parametrize("agent", placed.PLACED)
@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_damaged_transcripts(agent: str, data: st.DataObject) -> None:
    place, name = placed.PLACED[agent]
    with tempfile.TemporaryDirectory() as home:
        asked_everything(agent, place(Path(home), data.draw(damaged(recording(name)))))


@pytest.mark.parametrize(("agent", "name"), [("claude", "claude-waiting.json"), ("pi", "pi-state.json")])
@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_damaged_state_files(agent: str, name: str, data: st.DataObject) -> None:
    place = {"claude": placed.claude, "pi": placed.pi}[agent]
    with tempfile.TemporaryDirectory() as home:
        asked_everything(agent, place(Path(home), b"", data.draw(damaged(recording(name)))))


@given(data=st.data())
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_damaged_database(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as home:
        session_view = placed.opencode(Path(home), recording("opencode.sql"))
        path = Path(home, ".local/share/opencode/opencode.db")
        path.write_bytes(data.draw(damaged(path.read_bytes())))
        asked_everything("opencode", session_view)


@pytest.mark.parametrize("agent", placed.PLACED)
def test_moments_without_a_zone(agent: str, tmp_path: Path) -> None:
    """Nobody can say whether they were before the session's start: those lines count as broken."""
    place, name = placed.PLACED[agent]
    session_view = place(tmp_path, re.sub(rb'("timestamp":"[^"]*)Z"', rb'\1"', recording(name)))
    asked_everything(agent, session_view)
    usage = adapter_named(agent).usage
    assert usage
    assert usage(session_view, Memory()) is None


@pytest.mark.parametrize("time", ["ffffffff-ffff", "e677d21f-dbff"], ids=["after the last year", "in the last moment"])
def test_an_id_of_codex_from_a_year_that_no_clock_has(time: str, tmp_path: Path) -> None:
    id = f"{time}-7fff-8fff-ffffffffffff"
    session_view = placed.codex(tmp_path, recording("codex.jsonl"))
    placed.written(tmp_path / ".codex/sessions/2026/11/22" / f"rollout-2026-11-22T03-04-38-{id}.jsonl", b"{}\n")
    placed.written(tmp_path / "session/prompt.md", placed.ASKED["codex"].encode())
    for session in ("", id):
        asked_everything("codex", replace(session_view, session=session))


@pytest.mark.parametrize("agent", placed.PLACED)
def test_a_folder_in_place_of_the_file(agent: str, tmp_path: Path) -> None:
    place, name = placed.PLACED[agent]
    session_view = place(tmp_path, recording(name))
    for path in [*tmp_path.rglob("*.json"), *tmp_path.rglob("*.jsonl")]:
        path.unlink()
        path.mkdir()
    asked_everything(agent, session_view)
