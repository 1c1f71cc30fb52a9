"""Codex after `/new`, `/clear`, `/fork` or `/resume`: which of the conversations in one process counts."""

import json
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from pro0.agents.adapter import Memory, SessionView
from pro0.agents.codex import server
from pro0.agents.codex.adapter import CODEX
from pro0.model.runtime import State
from pro0.model.usage import Usage
from tests.agents import placed
from tests.agents.codex_program import Server
from tests.waiting import STUCK

FIRST, NEXT = placed.CODEX, "01a20140-0000-7000-8000-000000000001"
"""The second was created ten minutes after the first."""
TURNED, TURNED_LATER = 1795316727, 1795317600
"""When the newest turn of the first began, in seconds; and a moment after the second was created."""
IDLE, WORKS = {"type": "idle"}, {"type": "active", "activeFlags": []}
LINE = "You have 1 unread message: run `pro0 inbox`"


@pytest.fixture
def view(tmp_path: Path) -> SessionView:
    """A session whose first conversation has had its turns."""
    return placed.codex(tmp_path, rollout("task_started", "task_complete"))


@pytest.fixture
def served(view: SessionView, short_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """The session's server, which has the first conversation loaded."""
    for limit in ("PATIENCE", "LOOK"):
        monkeypatch.setattr(server, limit, STUCK)
    monkeypatch.setattr(server, "PAUSE", 0.0)
    real = short_folder / f"{os.urandom(4).hex()}.sock"
    Path(view.folder, server.SOCKET).symlink_to(real)
    for name, data in server.settings(view.folder, (), ("codex",)).items():
        Path(view.folder, name).write_bytes(data)
    served = Server()
    served.threads = {FIRST: {"preview": "hello", "recencyAt": TURNED}}
    with served.serving(str(real)):
        yield served


def rollout(*events: str, day: str = "2026-11-22T04:00", words: str = "", **sums: int) -> bytes:
    """Return a rollout with these events, the sums of tokens by the events after which they come."""
    lines: list[dict[str, Any]] = []
    for number, event in enumerate(events):
        at = f"{day}:{number:02d}Z"
        lines.append({"type": "event_msg", "payload": {"type": event, "last_agent_message": words or None}})
        if event in sums:
            total = {"total_token_usage": {"input_tokens": sums[event], "output_tokens": 1}}
            lines.append({"type": "event_msg", "payload": {"type": "token_count", "info": total}})
        lines = [{"timestamp": at} | line for line in lines]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def begun(home: Path, id: str, data: bytes) -> Path:
    """Lay out the rollout of another conversation."""
    return placed.written(home / ".codex/sessions/2026/11/22" / f"rollout-2026-11-22T03-15-01-{id}.jsonl", data)


def seen(view: SessionView, memory: Memory) -> tuple[State, str] | None:
    assert CODEX.look
    reading = CODEX.look(view, memory)
    return (reading.state, reading.session) if reading else None


def test_a_new_conversation_counts_from_its_first_turn(view: SessionView, served: Server, tmp_path: Path) -> None:
    """It was seen before that; its state, its last words and its id are known, which a resume needs."""
    memory = Memory()
    assert seen(view, memory) == (State.IDLE, FIRST)
    served.threads[NEXT] = {"preview": "", "recencyAt": TURNED_LATER}
    assert seen(view, memory) == (State.IDLE, FIRST), "what has no rollout cannot be resumed"
    path = begun(tmp_path, NEXT, rollout("task_started"))
    served.threads[NEXT] = {"preview": "again", "recencyAt": TURNED_LATER}
    assert seen(view, memory) == (State.WORKING, NEXT)
    path.write_bytes(rollout("task_started", "task_complete", words="done"))
    assert seen(view, memory) == (State.IDLE, NEXT)
    assert CODEX.last_words
    words = CODEX.last_words(view, memory)
    assert words
    assert words.text == "done"
    served.threads = {}
    assert seen(replace(view, session=NEXT), Memory()) == (State.IDLE, NEXT), "a lead that is new goes on with it"


@pytest.mark.parametrize(
    ("next_one", "expected"),
    [
        pytest.param({"status": WORKS}, NEXT, id="at work, seen for the first time"),
        pytest.param({"status": WORKS, "threadSource": "user"}, NEXT, id="begun by a person"),
        pytest.param({"status": IDLE}, FIRST, id="another member's, opened here"),
        pytest.param({"status": WORKS, "parentThreadId": FIRST}, FIRST, id="a subagent's"),
        pytest.param({"status": WORKS, "source": {"subAgent": "review"}}, FIRST, id="a review"),
        pytest.param({"status": WORKS, "threadSource": "subagent"}, FIRST, id="a subagent's without its parent"),
        pytest.param({"status": WORKS, "ephemeral": True}, FIRST, id="a conversation beside it"),
    ],
)
def test_only_what_a_person_goes_on_with_here_counts(
    next_one: dict[str, Any], expected: str, view: SessionView, served: Server, tmp_path: Path
) -> None:
    begun(tmp_path, NEXT, rollout("task_started"))
    served.threads[NEXT] = {"preview": "again", "recencyAt": TURNED_LATER, **next_one}
    assert seen(view, Memory()) == (State.WORKING if expected == NEXT else State.IDLE, expected)


def test_a_conversation_that_is_resumed_counts_from_its_next_turn(
    view: SessionView, served: Server, tmp_path: Path
) -> None:
    memory = Memory()
    begun(tmp_path, NEXT, rollout("task_started", "task_complete"))
    served.threads[NEXT] = {"preview": "again", "recencyAt": TURNED_LATER, "status": WORKS}
    assert seen(view, memory) == (State.IDLE, NEXT)
    served.threads[NEXT]["status"] = IDLE
    assert seen(replace(view, session=NEXT), memory) == (State.IDLE, NEXT)
    placed.codex(tmp_path, rollout("task_started", "task_complete", "task_started"))
    served.threads[FIRST]["recencyAt"] = TURNED_LATER + 60
    assert seen(replace(view, session=NEXT), memory) == (State.WORKING, FIRST)


@pytest.mark.parametrize(
    ("beside", "taken"),
    [
        pytest.param({"ephemeral": True}, True, id="a title"),
        pytest.param({"threadSource": "thread_title"}, True, id="a title that is kept"),
        pytest.param({"parentThreadId": FIRST, "source": {"subAgent": {}}}, True, id="a subagent"),
        pytest.param({"preview": ""}, False, id="a new conversation"),
        pytest.param({"preview": "hello", "recencyAt": TURNED_LATER}, False, id="one that has gone on"),
    ],
)
def test_a_line_goes_to_the_only_conversation_or_by_keys(
    beside: dict[str, Any], taken: bool, view: SessionView, served: Server
) -> None:
    """The server does not say which of several the person looks at, and keys always reach that."""
    served.threads[NEXT] = beside
    assert server.deliver(view, LINE) is taken
    assert served.told == ([FIRST] if taken else [])


def test_a_line_goes_to_the_conversation_that_is_left(view: SessionView, served: Server) -> None:
    """Codex unloads one that nobody looks at."""
    served.threads = {NEXT: {"preview": "again"}}
    assert server.deliver(view, LINE)
    assert served.told == [NEXT]


def test_a_permission_of_the_conversation_at_work_is_asked_for(view: SessionView, served: Server) -> None:
    served.asks = True
    later = {"preview": "hello", "recencyAt": TURNED_LATER, "status": IDLE}
    served.threads = {FIRST: {"preview": "again", "recencyAt": TURNED}, NEXT: later}
    asked = server.asked(view)
    assert asked
    assert [entry.tool for entry in asked] == ["command"]


def test_what_all_conversations_have_used_counts_once(view: SessionView, served: Server, tmp_path: Path) -> None:
    """A fork begins with the sum of the conversation that it was made of."""
    memory, usage = Memory(), CODEX.usage
    assert usage
    placed.codex(tmp_path, rollout("task_started", "task_complete", task_complete=100))
    meta = {"timestamp": "2026-11-22T04:00:00Z", "type": "session_meta", "payload": {"forked_from_id": FIRST}}
    forked = json.dumps(meta).encode() + b"\n" + rollout("task_started", "agent_message", task_started=100)
    path = begun(tmp_path, NEXT, forked)
    both = replace(view, session=NEXT, earlier=(FIRST,))
    assert usage(view, memory) == usage(both, memory) == Usage(input_tokens=100, output_tokens=1)
    path.write_bytes(forked + rollout("task_complete", task_complete=130))
    assert usage(both, memory) == usage(both, Memory()) == Usage(input_tokens=130, output_tokens=1)
    back = replace(view, session=FIRST, earlier=(NEXT,))
    assert usage(back, memory) == Usage(input_tokens=130, output_tokens=1)


def test_each_step_of_the_sums_is_one_call_of_the_model_at_that_time(view: SessionView, tmp_path: Path) -> None:
    """Sums are written again without a call, and begin anew where the file was replaced by an earlier state of it."""

    def line(second: int, payload: dict[str, Any], kind: str = "event_msg") -> bytes:
        return json.dumps({"timestamp": f"2026-11-22T04:00:{second:02d}Z", "type": kind, "payload": payload}).encode()

    def sums(second: int, tokens: int) -> bytes:
        total = {"total_token_usage": {"input_tokens": tokens, "cached_input_tokens": tokens // 2, "output_tokens": 1}}
        return line(second, {"type": "token_count", "info": total})

    priced = list[Usage]()

    def price(used: Usage, at: datetime, _: int) -> float:
        priced.append(used)
        return used.tokens * (1.0 if used.models == ("large",) else 0.1)

    large, small = (line(0, {"model": name}, "turn_context") for name in ("large", "small"))
    early = [large, sums(1, 100), sums(2, 100), sums(3, 300)]
    whole = [*early, small, sums(4, 300), sums(5, 340)]
    memory, usage = Memory(price), CODEX.usage
    assert usage
    expected = Usage(
        input_tokens=170, cache_read_tokens=170, output_tokens=1, list_usd=305.0, models=("large", "small")
    )
    for lines in (whole, early, whole):
        placed.codex(tmp_path, b"\n".join(lines) + b"\n")
        assert usage(view, memory) == expected
    assert [used.tokens for used in priced[:3]] == [101, 200, 40]


CHILD, GRANDCHILD = "01a20140-0000-7000-8000-00000000000c", "01a20140-0000-7000-8000-00000000000d"


def lines(*payloads: dict[str, Any]) -> bytes:
    """Return a rollout with these payloads; the key `line` of one is the type of its line."""
    whole = b""
    for second, payload in enumerate(payloads):
        kind = payload.get("line", "event_msg")
        line = {"timestamp": f"2026-11-22T04:00:{second:02d}Z", "type": kind, "payload": payload}
        whole += json.dumps(line).encode() + b"\n"
    return whole


def record(thread: str, response: str, tokens: int) -> dict[str, Any]:
    used = {"input_tokens": tokens, "cached_input_tokens": 10, "output_tokens": 2}
    return {"line": "token_usage_record", "thread_id": thread, "response_id": response, "usage": used}


@pytest.mark.parametrize(
    "started",
    [
        {"type": "item_completed", "item": {"type": "SubAgentActivity", "kind": "started", "agent_thread_id": CHILD}},
        {"type": "item_completed", "item": {"type": "CollabAgentToolCall", "receiver_thread_ids": [CHILD]}},
        {"type": "sub_agent_activity", "kind": "started", "agent_thread_id": CHILD},
        {"type": "collab_agent_spawn_end", "new_thread_id": CHILD},
    ],
)
def test_what_its_subagents_have_used_counts(view: SessionView, tmp_path: Path, started: dict[str, Any]) -> None:
    """Each subagent has a rollout of its own, and the sums of who started it do not hold what it used.

    A subagent that got the whole conversation begins with a copy of its sums; the records are those of its own calls.
    """
    sums = {"type": "token_count", "info": {"total_token_usage": {"input_tokens": 100, "output_tokens": 1}}}
    placed.codex(tmp_path, lines(sums, started))
    large, small = ({"line": "turn_context", "model": name} for name in ("large", "small"))
    back = {"type": "item_completed", "item": {"type": "SubAgentActivity", "agent_thread_id": FIRST}}
    further = {"type": "sub_agent_activity", "agent_thread_id": GRANDCHILD}
    copied: list[dict[str, Any]] = [large, sums, started, record(FIRST, "r1", 100)]
    child = lines(*copied, small, record(CHILD, "r2", 30), record(CHILD, "r2", 30), sums, back, further)
    begun(tmp_path, CHILD, child)
    begun(tmp_path, GRANDCHILD, lines(small, record(GRANDCHILD, "r3", 50)))
    memory, usage = Memory(), CODEX.usage
    assert usage
    expected = Usage(input_tokens=160, cache_read_tokens=20, output_tokens=5, models=("small",))
    assert usage(view, memory) == usage(view, memory) == expected
    assert usage(replace(view, started_at=datetime.fromisoformat("2026-11-22T05:00Z")), Memory()) is None


def test_a_subagent_without_a_rollout_is_not_looked_for_in_all_folders(view: SessionView, tmp_path: Path) -> None:
    placed.codex(tmp_path, lines({"type": "sub_agent_activity", "agent_thread_id": CHILD}))
    written = placed.written(tmp_path / f".codex/sessions/2020/01/01/rollout-2020-01-01T00-00-00-{CHILD}.jsonl", b"")
    written.write_bytes(lines(record(CHILD, "r", 30)))
    assert CODEX.usage
    assert CODEX.usage(view, Memory()) is None
