"""What agents were given, said and called, read from their transcripts: recorded, growing, huge, hostile."""

import errno
import json
import os
import random
import sqlite3
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from pro0.agents import adapter_named
from pro0.agents.adapter import SessionView
from pro0.agents.chats.reader import LETTERS, SHOWN, ChatReader, moment, part, parts, text, words
from pro0.agents.transcripts import FAR, ONCE
from pro0.model.screen import ChatEntry
from tests.agents import placed
from tests.agents.placed import recording
from tests.faults import fail_with, fault_at

FINE = 'fine "ünï"'
LIMITED = "exceeded retry limit, last status: 429 Too Many Requests"
CODEX = 'CALL read_inbox {}\nCALL exec_command {"cmd":"ls"}\nSAY fine "ünï"'
EXPECTED: dict[str, list[tuple[str, str, str]]] = {
    "claude": [
        ("prompt", "", 'CALL read_inbox {}\nCALL Bash {"command":"touch rec"}\nSAY fine'),
        ("said", "", "I call"),
        ("tool", "done", "mcp__pro0__read_inbox"),
        ("said", "", "I call"),
        ("tool", "done", "Bash: touch rec"),
        ("said", "", "fine"),
        ("prompt", "", "ERR 529"),
        ("said", "failed", "API Error"),
    ],
    "codex": [
        ("prompt", "", CODEX),
        ("tool", "done", "read_inbox"),
        ("tool", "done", "exec_command: ls"),
        ("said", "", FINE),
        ("prompt", "", "SLEEP 20"),
        ("prompt", "", "ERR 429"),
        ("said", "failed", LIMITED),
    ],
    "gemini": [
        ("prompt", "", f"CALL read_inbox {{}}\nSAY {FINE}"),
        ("tool", "done", "mcp_pro0_read_inbox"),
        ("said", "", FINE),
        ("prompt", "", "ERR 400"),
        ("said", "failed", "[API Error"),
    ],
    "opencode": [
        ("prompt", "", f"CALL read_inbox {{}}\nSAY {FINE}"),
        ("prompt", "", "ERR 400"),
        ("tool", "done", "pro0_read_inbox"),
        ("prompt", "", "ERR 401"),
        ("said", "failed", "scripted 401"),
    ],
    "pi": [
        ("prompt", "", f'CALL bash {{"command":"pro0 inbox"}}\nSAY {FINE}'),
        ("tool", "failed", "bash: pro0 inbox"),
        ("said", "", FINE),
        ("prompt", "", "ERR 400"),
        ("said", "failed", "400 scripted 400"),
    ],
}
"""Agent → kind, state and the beginning of the text of each entry of its recording, by time."""


def reader(agent: str, sight: SessionView, *, whole: bool = False) -> ChatReader:
    make = adapter_named(agent).chat
    assert make
    return make(sight, whole=whole)


def place(agent: str, home: Path) -> SessionView:
    if agent == "opencode":
        return placed.opencode(home, recording("opencode.sql"))
    lay, name = placed.PLACED[agent]
    return lay(home, recording(name))


def by_time(entries: list[ChatEntry]) -> list[ChatEntry]:
    return sorted(entries, key=lambda entry: str(entry.at))


@pytest.mark.parametrize("agent", EXPECTED)
def test_all_that_was_recorded_is_told_in_order(agent: str, tmp_path: Path) -> None:
    found = by_time(reader(agent, place(agent, tmp_path)).news())
    assert [(entry.kind, entry.state) for entry in found] == [(kind, state) for kind, state, _ in EXPECTED[agent]]
    for entry, (_, _, begin) in zip(found, EXPECTED[agent], strict=True):
        assert entry.text.startswith(begin)
        assert entry.at
    assert len({entry.id for entry in found}) == len(found)


@pytest.mark.parametrize("agent", EXPECTED)
def test_arguments_and_results_come_on_request(agent: str, tmp_path: Path) -> None:
    sight = place(agent, tmp_path)
    assert not [entry for entry in reader(agent, sight).news() if entry.arguments or entry.result]
    calls = [entry for entry in reader(agent, sight, whole=True).news() if entry.kind == "tool"]
    assert calls
    for call in calls:
        assert isinstance(json.loads(call.arguments), dict)
        assert call.result


@pytest.mark.parametrize("agent", placed.PLACED)
def test_one_that_grows_is_told_once(agent: str, tmp_path: Path) -> None:
    """However it is cut: each entry with its id, a call again with its result, nothing twice."""
    lay, name = placed.PLACED[agent]
    data = recording(name)
    whole = {entry.id: entry for entry in reader(agent, lay(tmp_path / "whole", data)).news()}
    chance = random.Random(agent)
    ends = [0, *sorted(chance.sample(range(len(data)), 25)), len(data)]
    sight = lay(tmp_path / "grown", b"")
    growing = reader(agent, sight)
    [path] = [one for one in (tmp_path / "grown").rglob("*.jsonl") if one.is_file()]
    known: dict[str, ChatEntry] = {}
    for begin, end in pairwise(ends):
        with path.open("ab") as file:
            file.write(data[begin:end])
        for entry in growing.news():
            assert known.get(entry.id) != entry
            known[entry.id] = entry
    # Gemini is found by the id in its first line, which may come late; then a part was never whole.
    assert known == whole
    assert growing.news() == []


def test_a_transcript_out_of_reach_is_one_that_is_not_there(tmp_path: Path) -> None:
    """For as long: its sign comes back with it."""
    chat = reader("claude", place("claude", tmp_path))
    chat.news()
    before = chat.sign
    with fault_at(None, fail_with(errno.EACCES), ("stat",)):
        assert chat.sign is None
    assert chat.sign == before is not None


def test_a_transcript_that_nobody_can_look_for_goes_on_where_it_was(tmp_path: Path) -> None:
    place("gemini", tmp_path)
    sight, [path] = placed.session_view(tmp_path, placed.GEMINI), [*tmp_path.rglob("session-*.jsonl")]
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.rfind(b"ERR 400")])
    chat = reader("gemini", sight)
    with fault_at(None, fail_with(errno.EMFILE), ("scandir", "open")):
        assert reader("gemini", sight).news() == []
    before = chat.news()
    assert before
    path.write_bytes(whole)
    with fault_at(None, fail_with(errno.EMFILE), ("scandir",)):
        assert next(entry.text for entry in chat.news()) == "ERR 400"


def test_a_message_of_opencode_that_grows_is_told_again(tmp_path: Path) -> None:
    sight = place("opencode", tmp_path)
    chat = reader("opencode", sight)
    chat.news()
    before = chat.sign
    message = ("msg_z", sight.session, 1795316763900, 1795316763950, json.dumps({"role": "assistant"}))
    with closing(sqlite3.connect(tmp_path / ".local/share/opencode/opencode.db")) as database:
        database.execute("insert into message values (?, ?, ?, ?, ?)", message)
        for moment_of, said in ((1795316763960, "fi"), (1795316763970, "fine")):
            data = json.dumps({"type": "text", "text": said})
            row = ("prt_z", "msg_z", sight.session, 1795316763960, moment_of, data)
            database.execute("insert or replace into part values (?, ?, ?, ?, ?, ?)", row)
            database.commit()
            assert chat.sign != before
            assert [(entry.id, entry.kind, entry.text) for entry in chat.news()] == [("prt_z", "said", said)]
    assert chat.news() == []


def test_of_a_huge_transcript_only_the_end_is_read(tmp_path: Path) -> None:
    """100 MB, which are not there but for their end; and a burst between two looks."""
    sight = placed.claude(tmp_path, b"")
    [path] = tmp_path.rglob("*.jsonl")

    def lines(begin: int, end: int) -> bytes:
        return b"".join(json.dumps(said(str(number), "x" * 100)).encode() + b"\n" for number in range(begin, end))

    os.truncate(path, 100 << 20)
    with path.open("ab") as file:
        file.write(b"\n" + lines(0, 1000))
    chat = reader("claude", sight)
    found = chat.news()
    assert [entry.id for entry in found] == [str(number) for number in range(1000)]
    with path.open("ab") as file:
        file.write(lines(1000, 1000 + 3 * FAR // 200))
    found = chat.news()
    assert found[-1].id == str(999 + 3 * FAR // 200)
    assert len(found) < FAR // 200 + SHOWN
    assert chat.news() == []
    assert len(reader("claude", sight, whole=True).news()) <= ONCE // 200


def test_long_texts_are_cut_unless_whole(tmp_path: Path) -> None:
    sight = placed.claude(tmp_path, json.dumps(said("u", "x" * 3 * LETTERS)).encode() + b"\n")
    [entry] = reader("claude", sight).news()
    [whole] = reader("claude", sight, whole=True).news()
    assert (len(entry.text), len(whole.text)) == (LETTERS + 1, 3 * LETTERS)


def said(id: str, words_of: str) -> dict[str, Any]:
    content = [{"type": "text", "text": words_of}]
    return {"type": "assistant", "uuid": id, "timestamp": "2026-11-22T03:04:41Z", "message": {"content": content}}


@pytest.mark.parametrize("agent", placed.PLACED)
def test_lines_of_any_shape_are_passed_over(agent: str, tmp_path: Path) -> None:
    """Each value of a recording replaced by one of another kind: nothing is raised, and texts stay texts."""
    lay, name = placed.PLACED[agent]
    chance = random.Random(name)
    recorded = [json.loads(line) for line in recording(name).splitlines()]
    for number in range(60):
        broken = [wrong(line, chance) for line in recorded]
        data = b"\n".join(json.dumps(line).encode() for line in broken) + b"\n\xff\n[]\n{}\n"
        for whole in (False, True):
            for entry in reader(agent, lay(tmp_path / str(number), data), whole=whole).news():
                assert isinstance(entry.text, str)
                assert isinstance(entry.id, str)


NESTED = {
    "claude": '{"type":"user","uuid":"d","message":{"content":%s}}',
    "codex": '{"type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":%s}}',
    "gemini": '{"type":"user","id":"d","content":%s}',
    "pi": '{"id":"d","message":{"role":"user","content":%s}}',
}


@pytest.mark.parametrize("depth", [300, 800, 5000])
@pytest.mark.parametrize("agent", NESTED)
def test_a_line_that_is_nested_too_deeply_costs_no_other(agent: str, depth: int, tmp_path: Path) -> None:
    """What was read with it would not be read again."""
    lay, name = placed.PLACED[agent]
    nested = (NESTED[agent] % ("[" * depth + "]" * depth)).encode() + b"\n"
    known = reader(agent, lay(tmp_path / "before", recording(name))).news()
    found = reader(agent, lay(tmp_path / "after", recording(name) + nested + recording(name))).news()
    assert [entry for entry in found if entry in known] == known


def test_a_call_whose_arguments_are_nested_too_deeply_is_told(tmp_path: Path) -> None:
    payload = {"type": "function_call", "call_id": "c", "name": "run", "arguments": "[" * 5000 + "]" * 5000}
    line = {"type": "response_item", "timestamp": "2026-11-22T03:04:41Z", "payload": payload}
    [entry] = reader("codex", placed.codex(tmp_path, json.dumps(line).encode() + b"\n")).news()
    assert entry.text.startswith('run: "[[[')


@pytest.mark.parametrize("agent", placed.PLACED)
def test_half_a_character_costs_nothing_but_itself(agent: str, tmp_path: Path) -> None:
    """An agent cuts the output of a tool anywhere; else its call would run for ever on the page."""
    lay, name = placed.PLACED[agent]
    lines = [json.dumps(halved(json.loads(line))) for line in recording(name).splitlines()]
    data = "\n".join([*lines, ""]).encode()
    assert rb"\ud83d" in data
    whole = by_time(reader(agent, lay(tmp_path / "whole", recording(name))).news())
    found = by_time(reader(agent, lay(tmp_path / "halved", data)).news())
    assert [(entry.id, entry.kind, entry.state) for entry in found] == [
        (entry.id, entry.kind, entry.state) for entry in whole
    ]
    assert any("\ufffd" in entry.text for entry in found)


def halved(value: Any) -> Any:
    """Return a line whose texts of several words end with half a character."""
    if isinstance(value, dict):
        return {key: halved(each) for key, each in value.items()}
    if isinstance(value, list):
        return [halved(each) for each in value]
    return f"{value}\ud83d" if isinstance(value, str) and " " in value else value


def wrong(value: Any, chance: random.Random) -> Any:
    if chance.random() < 0.05:
        return chance.choice([None, 7, -1.5, True, "", "\ud800x", [], {}, [[]], {"text": {}}, "2026-13-45T99:00:00"])
    if isinstance(value, dict):
        return {key: wrong(each, chance) for key, each in value.items()}
    return [wrong(each, chance) for each in value] if isinstance(value, list) else value


ODD: list[object] = [None, 7, "x", [], {}, {"a": 7}, {"a": {"b": []}}, {"a": "no time"}, {"a": "2026-01-02T03:04:05"}]


@pytest.mark.parametrize("value", ODD, ids=repr)
def test_looking_into_odd_values_tells_nothing(value: object) -> None:
    assert moment(value, "a") is None
    assert text(value, "a", "b") == ""
    assert parts(value, "a", "b") == []
    assert part(value, "b") is None
    assert words({"text": value}) == (value if isinstance(value, str) else "")
