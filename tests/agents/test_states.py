"""Which state the adapters read, as tables."""

import errno
import json
import os
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from pro0.agents import first_prompt
from pro0.agents.adapter import Memory
from pro0.agents.claude.adapter import CLAUDE
from pro0.agents.codex.adapter import CODEX
from pro0.agents.gemini.adapter import GEMINI
from pro0.agents.pi.adapter import PI
from pro0.model.runtime import State
from pro0.model.screen import Reading
from tests.agents import placed
from tests.agents.placed import recording
from tests.faults import fail_with, fault_at

S = State


def session_file(**changes: object) -> bytes:
    fields: dict[str, object] = json.loads(recording("claude-idle.json"))
    return json.dumps({key: value for key, value in {**fields, **changes}.items() if value is not None}).encode()


@pytest.mark.parametrize(
    ("status", "waiting_for", "state"),
    [
        ("busy", None, S.WORKING),
        ("idle", None, S.IDLE),
        ("waiting", "permission prompt", S.WAITING),
        ("waiting", "sandbox request", S.WAITING),
        ("waiting", "input needed", S.WAITING),
        ("waiting", "dialog open", S.DIALOG),
        (None, None, S.STARTING),
        ("waiting", "something new", S.WAITING),
        ("waiting", None, S.WAITING),
        ("busy", "something new", S.WORKING),
        ("idle", "something new", S.UNKNOWN),
        ("something new", None, S.UNKNOWN),
        (7, None, S.UNKNOWN),
    ],
)
def test_claude_says_what_it_does(tmp_path: Path, status: object, waiting_for: str | None, state: State | None) -> None:
    """Half a word that is known counts: who waits waits for a person, whatever for."""
    session_view = placed.claude(tmp_path, b"", session_file(status=status, waitingFor=waiting_for))
    assert read(CLAUDE.look, session_view) is state


def test_claude_follows_its_session(tmp_path: Path) -> None:
    """The id changes with /clear; the one that Claude Code names counts."""
    session_view = placed.claude(tmp_path, b"", session_file(sessionId="33333333-3333-4333-8333-333333333333"))
    assert CLAUDE.look
    reading = CLAUDE.look(session_view, Memory())
    assert reading
    assert reading.session == "33333333-3333-4333-8333-333333333333"


@pytest.mark.parametrize(
    ("start", "state"),
    [
        (placed.START, S.WAITING),
        ("1", None),
        (None, S.WAITING),
        ("Sun Nov 22 03:04:38 2026", S.WAITING),
        (int(placed.START), S.WAITING),
        (1, None),
    ],
)
def test_the_file_of_a_killed_claude_is_not_that_of_a_later_process(
    tmp_path: Path, start: object, state: State | None
) -> None:
    """Its pid comes again when a machine has begun anew; a start in other words than the kernel's proves nothing."""
    session_view = placed.claude(tmp_path, b"", session_file(status="waiting", procStart=start))
    assert read(CLAUDE.look, session_view) is state


def test_claude_looks_where_its_configuration_is(tmp_path: Path) -> None:
    placed.claude(tmp_path, recording("claude.jsonl"))
    (tmp_path / ".claude").rename(tmp_path / "elsewhere")
    session_view = placed.session_view(tmp_path, placed.CLAUDE, CLAUDE_CONFIG_DIR=str(tmp_path / "elsewhere"))
    assert read(CLAUDE.look, session_view) is S.ERROR


LINES = recording("claude.jsonl").splitlines(keepends=True)
BEGINS = b"".join(LINES[:3])
"""What Claude writes into a transcript before it takes its first prompt."""
BEGUN = b"".join(line for line in LINES if b'"type":"user"' in line)


@pytest.mark.parametrize(
    ("file", "asked", "ago", "written", "state"),
    [
        pytest.param("idle", True, 30, None, S.STARTING, id="the prompt in argv is not taken yet"),
        pytest.param("idle", True, 30, BEGINS, S.STARTING, id="it is not taken yet, and the transcript has begun"),
        pytest.param("", True, 30, None, S.STARTING, id="not even a session file is there"),
        pytest.param("idle", False, 30, None, S.IDLE, id="there was no prompt"),
        pytest.param("", False, 30, None, None, id="nothing says anything"),
        pytest.param("idle", True, 30, BEGUN, S.IDLE, id="it has begun"),
        pytest.param("busy", True, 30, None, S.WORKING, id="it begins"),
        pytest.param("idle", True, 600, None, S.IDLE, id="it takes none"),
    ],
)
def test_claude_is_idle_only_after_its_first_prompt(
    tmp_path: Path, file: str, asked: bool, ago: int, written: bytes | None, state: State | None
) -> None:
    """However slow it is: an empty input is drawn, and said to be idle, before the prompt in argv is taken."""
    session_view = placed.claude(tmp_path, written or b"", session_file(status=file))
    session_view = replace(
        session_view, folder=str(tmp_path / placed.CLAUDE), started_at=datetime.now(UTC) - timedelta(seconds=ago)
    )
    if written is None:
        next(tmp_path.glob(".claude/projects/*/*.jsonl")).unlink()
    if not file:
        next(tmp_path.glob(".claude/sessions/*.json")).unlink()
    if asked:
        placed.written(Path(session_view.folder, "prompt.md"), b"Do it.")
    assert read(CLAUDE.look, session_view) is state


def test_claude_that_was_cleared_is_not_starting(tmp_path: Path) -> None:
    """`/clear` begins another session, without a transcript."""
    session_view = placed.claude(tmp_path, BEGUN, session_file(sessionId="33333333-3333-4333-8333-333333333333"))
    session_view = replace(session_view, folder=str(tmp_path / placed.CLAUDE), started_at=datetime.now(UTC))
    placed.written(Path(session_view.folder, "prompt.md"), b"Do it.")
    assert read(CLAUDE.look, session_view) is S.IDLE


def rollout(*events: str) -> bytes:
    now = datetime(2026, 11, 22, 4, tzinfo=UTC)
    times = [(now + timedelta(milliseconds=n)).isoformat() for n in range(len(events))]
    lines = [{"timestamp": t, "type": "event_msg", "payload": {"type": e}} for t, e in zip(times, events, strict=True)]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


@pytest.mark.parametrize(
    ("events", "state"),
    [
        (["task_started"], S.WORKING),
        (["task_started", "token_count", "agent_message"], S.WORKING),
        (["task_started", "task_complete"], S.IDLE),
        (["task_started", "turn_aborted"], S.IDLE),
        (["task_started", "task_complete", "thread_settings_applied", "task_started"], S.WORKING),
        (["task_started", *["token_count"] * 20_000], S.WORKING),
        (["turn_started"], S.WORKING),
        (["task_started", "something_new"], S.WORKING),
        (["task_started", "something_new", "task_complete"], S.IDLE),
        (["task_started", "task_complete", "something_new"], S.UNKNOWN),
        (["task_started", "task_complete", "something_new", "agent_message"], S.UNKNOWN),
        (["task_started", "task_complete", "something_new", "task_complete"], S.IDLE),
    ],
)
def test_codex_works_between_the_events_of_a_turn(tmp_path: Path, events: list[str], state: State) -> None:
    assert read(CODEX.look, placed.codex(tmp_path, rollout(*events))) is state


def test_codex_with_a_rollout_without_a_turn_tells_nothing(tmp_path: Path) -> None:
    """Only a turn that began too far back in a long rollout is at work without a word about it."""
    assert read(CODEX.look, placed.codex(tmp_path, rollout("token_count", "agent_message"))) is None


@pytest.mark.parametrize("code", [errno.EMFILE, errno.EIO, errno.EACCES])
def test_codex_whose_rollout_cannot_be_read_is_not_at_work(tmp_path: Path, code: int) -> None:
    """It is what it was, for all that is known."""
    for name, events in (("short", ()), ("long", ["token_count"] * 20_000)):
        session_view, memory = (
            placed.codex(tmp_path / name, rollout("task_started", "task_complete", *events)),
            Memory(),
        )
        assert CODEX.look
        before = CODEX.look(session_view, memory)
        with fault_at(None, fail_with(code), ("open",)), suppress(OSError):  # which leaves the last reading too
            assert CODEX.look(session_view, memory) is None
        assert CODEX.look(session_view, memory) == before


def test_codex_whose_rollout_is_moved_away_is_looked_for_anew(tmp_path: Path) -> None:
    session_view, memory = placed.codex(tmp_path, rollout("task_started", "task_complete")), Memory()
    assert CODEX.look
    assert CODEX.look(session_view, memory)
    [path] = tmp_path.rglob("rollout-*.jsonl")
    path.rename(tmp_path / path.name)
    assert CODEX.look(session_view, memory) is None
    placed.written(tmp_path / ".codex/sessions/2026/11/23" / path.name, rollout("task_started"))
    moved = CODEX.look(session_view, memory)
    assert moved
    assert moved.state is S.WORKING


def test_codex_that_was_killed_in_a_turn_is_not_at_work_afterwards(tmp_path: Path) -> None:
    """A session that goes on says nothing before its own first turn."""
    session_view = placed.codex(tmp_path, rollout("task_started"))
    later = msgspec.structs.replace(session_view, started_at=datetime(2026, 11, 22, 5, tzinfo=UTC))
    assert read(CODEX.look, later) is None


@pytest.mark.parametrize(
    ("prompt", "minutes", "cwd", "found"),
    [
        pytest.param(placed.ASKED["codex"], 0, placed.PROJECT, True, id="its own"),
        pytest.param("Something else.", 0, placed.PROJECT, False, id="another member's"),
        pytest.param(placed.ASKED["codex"], 10, placed.PROJECT, False, id="an earlier one"),
        pytest.param(placed.ASKED["codex"], 0, "/ann/other", False, id="another project's"),
        pytest.param("", 0, placed.PROJECT, False, id="no prompt to know it by"),
    ],
)
def test_codex_is_known_by_its_first_prompt(tmp_path: Path, prompt: str, minutes: int, cwd: str, found: bool) -> None:
    session_view = placed.codex(tmp_path, recording("codex.jsonl"))
    placed.written(tmp_path / "session/prompt.md", prompt.encode())
    session_view = msgspec.structs.replace(
        session_view, session="", cwd=cwd, started_at=placed.EARLY + timedelta(minutes=minutes)
    )
    assert CODEX.look
    reading = CODEX.look(session_view, Memory())
    assert (reading.session if reading else "") == (placed.CODEX if found else "")


def test_codex_is_known_though_its_folder_has_two_names(tmp_path: Path) -> None:
    """It notes the one without links, as of a home directory that is on another disk."""
    session_view = placed.codex(tmp_path, recording("codex.jsonl").replace(b"/ann/shop", bytes(tmp_path / "real")))
    (tmp_path / "real").mkdir()
    (tmp_path / "named").symlink_to(tmp_path / "real")
    placed.written(tmp_path / "session/prompt.md", placed.ASKED["codex"].encode())
    named = msgspec.structs.replace(session_view, session="", cwd=str(tmp_path / "named"))
    assert CODEX.look
    reading = CODEX.look(named, Memory())
    assert reading
    assert reading.session == placed.CODEX


@pytest.mark.parametrize(
    ("says", "state", "note"),
    [
        ({"state": "idle", "turns": 1}, S.IDLE, ""),
        ({"state": "idle", "turns": 0}, S.STARTING, ""),
        ({"state": "working", "turns": 1}, S.WORKING, ""),
        ({"state": "waiting", "turns": 1, "note": "bash"}, S.WAITING, "bash"),
        ({"state": "idle", "turns": 1, "error": "429\n slow down"}, S.ERROR, "429 slow down"),
        ({"state": "something new"}, S.UNKNOWN, "something new"),
        ({}, S.UNKNOWN, ""),
    ],
)
def test_pi_is_what_its_bridge_says(tmp_path: Path, says: dict[str, object], state: State | None, note: str) -> None:
    session_view = placed.pi(tmp_path, b"", json.dumps(says).encode())
    placed.written(tmp_path / "session/prompt.md", b"Do it.")
    assert PI.look
    reading = PI.look(session_view, Memory())
    assert (reading and (reading.state, reading.note)) == (state and (state, note))


def test_gemini_that_has_not_taken_its_first_prompt_is_starting(tmp_path: Path) -> None:
    """Its title calls it ready by then, and a line that comes now would be answered before the prompt."""
    late = placed.gemini(tmp_path, b"")
    session_view = msgspec.structs.replace(late, started_at=datetime.now(UTC))
    assert read(GEMINI.look, session_view) is None
    placed.written(Path(session_view.folder) / first_prompt.FILE, b"look at the shop")
    assert read(GEMINI.look, session_view) is S.STARTING
    assert read(GEMINI.look, late) is None, "no session is called so for ever"
    asked = b'{"id":"1","timestamp":"2026-11-22T03:30:00Z","type":"user","content":"look at the shop"}\n'
    placed.gemini(tmp_path, recording("gemini.jsonl").split(b"\n")[0] + b"\n" + asked)
    assert read(GEMINI.look, session_view) is None


def test_gemini_that_has_not_loaded_its_conversation_is_starting(tmp_path: Path) -> None:
    """Its title calls it ready by then, and a turn that began now would be forgotten with the load."""
    late = placed.gemini(tmp_path, recording("gemini.jsonl"))
    [chat] = tmp_path.rglob("session-*.jsonl")
    session_view = msgspec.structs.replace(late, started_at=datetime.now(UTC))
    os.utime(chat, (1_700_000_000, 1_700_000_000))
    begun = recording("gemini.jsonl").split(b"\n")[1]
    header = {"sessionId": placed.GEMINI}
    placed.written(
        chat.with_name("session-2026-11-22T03-09-22222222.jsonl"), msgspec.json.encode(header) + b"\n" + begun
    )
    assert read(GEMINI.look, session_view) is S.STARTING
    early = msgspec.structs.replace(session_view, started_at=datetime.now(UTC) - first_prompt.TAKING)
    assert read(GEMINI.look, early) is None, "no session is called so for ever"
    os.utime(chat)
    assert read(GEMINI.look, session_view) is None


def test_gemini_that_was_asked_again_is_over_its_error(tmp_path: Path) -> None:
    asked = b'{"id":"x","timestamp":"2026-11-22T03:30:00.000Z","type":"user","content":[{"text":"again"}]}\n'
    assert read(GEMINI.look, placed.gemini(tmp_path, recording("gemini.jsonl") + asked)) is None


def read(look: object, session_view: object) -> State | None:
    assert callable(look)
    reading: Reading | None = look(session_view, Memory())
    return reading.state if reading else None
