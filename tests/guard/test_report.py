"""What a guard's report says, in the guard's own writer: whole, numbered, private, and of nobody else's words."""

import errno
import json
import os
import time
from pathlib import Path

import pytest

from pro0.guard import report, text
from pro0.guard.launch import Launch
from pro0.processes import table
from tests.faults import MUTATING, fail_with, fault_at
from tests.guard.test_last_words import FULL
from tests.guard.test_launch_values import WHOLE


def made(folder: Path) -> report.ReportFile:
    return report.ReportFile(Launch(WHOLE | {"report": str(folder / "inc-1.json")}), table.entry(os.getpid()))


def read(folder: Path) -> dict[str, object]:
    found = json.loads((folder / "inc-1.json").read_text())
    assert isinstance(found, dict)
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "sessions"
    found.mkdir()
    return found


def test_the_first_words(folder: Path) -> None:
    before = text.now()
    made(folder).write()
    said = read(folder)
    me = table.entry(os.getpid())
    assert me
    assert before <= str(said.pop("since")) <= text.now()
    assert said == {
        "schemaVersion": report.SCHEMA_VERSION,
        "revision": 1,
        "agentId": "ann",
        "incarnation": "inc-1",
        "guard": {"pid": me.pid, "start": me.start, "bootId": me.boot_id},
        "agent": None,
        "state": "starting",
        "task": None,
        "note": "",
        "exit": None,
    }


def test_each_change_has_a_number_and_only_another_state_another_time(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = iter(range(1_700_000_000, 1_700_001_000))
    monkeypatch.setattr(time, "time", lambda: float(next(moments)))
    one = made(folder)
    one.write()
    first = read(folder)["since"]
    one.started(table.entry(os.getpid()), "starting")
    assert [read(folder)[name] for name in ("revision", "state", "since")] == [2, "starting", first]
    assert read(folder)["agent"] == read(folder)["guard"]
    one.merge([b'{"state": "idle", "task": "task-1", "note": "n"}'])
    second = read(folder)["since"]
    assert [read(folder)[name] for name in ("revision", "state", "task", "note")] == [3, "idle", "task-1", "n"]
    assert second != first
    one.merge([b'{"state": "idle"}', b'{"task": "task-1"}', b"{}"])
    assert (read(folder)["revision"], read(folder)["since"]) == (3, second), "nothing has changed"
    one.merge([b'{"note": ""}', b'{"task": null}'])
    assert [read(folder)[name] for name in ("revision", "state", "task", "note", "since")] == [
        4,
        "idle",
        None,
        "",
        second,
    ]
    one.remark("more")
    one.ended("crashed", 3, None, "", "what it said")
    said = read(folder)
    ended = said["exit"]
    assert isinstance(ended, dict)
    assert (said["revision"], said["state"], said["note"]) == (5, "crashed", "more")
    assert {**ended, "at": ""} == {"at": "", "code": 3, "signal": None, "reason": "", "output": "what it said"}
    one.ended("shutdown", None, 15, "ended: asked to")
    ended = read(folder)["exit"]
    assert isinstance(ended, dict)
    assert {**ended, "at": ""} == {"at": "", "code": None, "signal": 15, "reason": "ended: asked to"}


@pytest.mark.parametrize(
    "word",
    [
        b"",
        b"no JSON",
        b"\xff",
        b"[]",
        b'"idle"',
        b"1",
        b'{"state": "crashed"}',
        b'{"state": "exited"}',
        b'{"state": 1}',
        b'{"state": null}',
        b'{"state": ["idle"]}',
        b'{"state": "idle", "task": 1}',
        b'{"state": "idle", "note": 1}',
        b'{"state": "idle", "note": null}',
        b'{"state": "idle", "note": "\\ud800"}',
        b'{"state": "idle", "state": "working"}',
        b'{"exit": {"code": 0}, "agentId": "other", "guard": null}',
    ],
)
def test_what_an_agent_may_not_say_changes_nothing(folder: Path, word: bytes) -> None:
    one = made(folder)
    one.write()
    before = read(folder)
    one.merge([word])
    assert read(folder) == before


@pytest.mark.parametrize("state", sorted(report.TELLABLE - {"starting"}))
def test_what_it_may_say(folder: Path, state: str) -> None:
    one = made(folder)
    one.merge([b"{}", json.dumps({"state": state}).encode(), b"{}"])
    assert read(folder)["state"] == state


def test_only_last_words_wait_for_the_disk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    one = made(folder)
    one.write()
    assert synced == []
    one.write(durable=True)
    assert synced


@pytest.mark.parametrize("code", FULL, ids=errno.errorcode.get)
def test_what_did_not_fit_is_written_again(folder: Path, code: int) -> None:
    """Nobody says it twice: the agent that started, and a word that changes nothing now."""
    one, agent = made(folder), table.entry(os.getpid())
    one.write()
    with fault_at(None, fail_with(code), MUTATING):
        one.started(agent, "running")
    assert (read(folder)["state"], read(folder)["agent"]) == ("starting", None)
    one.write_owed()
    assert (read(folder)["state"], read(folder)["agent"]) == ("running", read(folder)["guard"])
    revision = read(folder)["revision"]
    one.write_owed()
    assert read(folder)["revision"] == revision, "nothing is owed any more"
    with fault_at(None, fail_with(code), MUTATING):
        one.merge([b'{"note": "n"}'])
    one.merge([b'{"note": "n"}'])
    assert read(folder)["note"] == "n"


def test_a_folder_that_goes_is_noticed_and_one_that_is_none_is_refused(folder: Path, tmp_path: Path) -> None:
    one = made(folder)
    folder.rmdir()
    one.write()
    assert one.gone
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "file").touch()
    for wrong in ("link", "file"):
        with pytest.raises(NotADirectoryError):
            made(tmp_path / wrong)


def test_a_pipe_has_whole_lines_of_some_length() -> None:
    pipe = report.StatePipe()
    assert pipe.lines() == []
    os.write(pipe.agents_end, b"one\n\ntwo\nthr")
    assert pipe.lines() == [b"one", b"two"]
    os.write(pipe.agents_end, b"ee\n" + b"x" * report.LINE_LIMIT + b"\n" + b"y" * (report.LINE_LIMIT + 1) + b"\n")
    assert pipe.lines() == [b"three", b"x" * report.LINE_LIMIT]
    os.write(pipe.agents_end, b"z" * (report.LINE_LIMIT + 1))
    assert pipe.lines() == []
    os.write(pipe.agents_end, b"rest\nnext\n")
    [skipped, after] = pipe.lines()
    assert (skipped[:1], after) == (b"!", b"next"), "no JSON begins so"
    os.write(pipe.agents_end, b"w" * report.LINE_LIMIT)
    assert pipe.lines() == []
    os.write(pipe.agents_end, b"\n")
    assert pipe.lines() == [b"w" * report.LINE_LIMIT]
    pipe.handed_over()
    assert pipe.lines() == []
    assert not pipe.open
    with pytest.raises(OSError):
        os.fstat(pipe.fileno)


@pytest.mark.parametrize(
    ("moment", "shown"),
    [
        (1_700_000_001.9995, "2023-11-14T22:13:21.999Z"),
        (1_700_000_000.5, "2023-11-14T22:13:20.500Z"),
        (0.007, "1970-01-01T00:00:00.007Z"),
    ],
)
def test_a_moment_is_written_in_utc_to_the_millisecond(
    moment: float, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "time", lambda: moment)
    assert text.now() == shown


@pytest.mark.parametrize(
    ("bad", "why"),
    [("[" * 200_000, "too deep"), ("[] []", "more than one value"), ("", "not JSON"), ('{"a": 1, "a": 1}', "twice")],
)
def test_what_is_no_json_is_named(bad: str, why: str) -> None:
    with pytest.raises(ValueError, match=why) as raised:
        text.parse(bad)
    assert why == "twice" or str(raised.value) == why
