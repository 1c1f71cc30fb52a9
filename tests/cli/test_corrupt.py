"""Unreadable is never empty: exit 5, the file stays byte for byte, no traceback (AC-65)."""

from pathlib import Path

import pytest

from pro0.ops.context import Context
from tests.cli.conftest import Pro0, make, tree

BROKEN = {
    "empty": b"",
    "cut": b'{"schemaVersion": 1, "tasks": [',
    "no object": b"[]",
    "null": b"null",
    "bad UTF-8": b'{"schemaVersion":1,"\xff":1}',
    "deep": b"[" * 100_000,
    "NUL": b"\0" * 64,
}
READS_TASKS = ["team status", "team list", "team wait", "task list", "task show 1", "task ready", "task next"]
READS_TASKS += ["task tree", "member list", "member show w1", "member env w1 --task 1"]
CHANGES_TASKS = ["task create x", "task claim 1", "task complete 1", "task update 1 --title x", "task delete 1 --force"]


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("command", [*READS_TASKS, *CHANGES_TASKS])
def test_a_corrupt_task_list(command: str, text: bytes, pro0: Pro0, home: Path, team: Context) -> None:
    pro0("task", "create", "one")
    team.team.tasks.path.write_bytes(text)
    before = tree(home)
    for arguments in (command.split(), [*command.split(), "--json"]):
        called = pro0(*arguments)
        assert called.code == 5, called
        assert str(team.team.tasks.path) in called.err
        assert "Traceback" not in called.err
        assert "internal error" not in called.err
    assert tree(home) == before


@pytest.mark.parametrize("command", ["team status", "team list", "member list", "send w1 hello", "team pause"])
def test_a_corrupt_file_of_wishes(command: str, pro0: Pro0, home: Path, team: Context) -> None:
    team.team.wanted.path.write_bytes(b"{")
    before = tree(home)
    assert pro0(*command.split()).code == 5
    assert tree(home) == before


@pytest.mark.parametrize("command", ["inbox", "inbox --all", "send human hello", "team status"])
def test_a_corrupt_mailbox(command: str, pro0: Pro0, home: Path, team: Context) -> None:
    team.team.mailbox("human").head.path.write_bytes(b"{")
    before = tree(home)
    assert pro0(*command.split()).code == 5
    assert tree(home) == before


def test_a_newer_file_is_never_rewritten(pro0: Pro0, home: Path, team: Context) -> None:
    """rulings 3.5"""
    team.team.tasks.path.write_bytes(b'{"schemaVersion": 99, "revision": 1, "nextId": 1, "tasks": [], "outbox": []}')
    before = tree(home)
    called = pro0("task", "create", "x", "--json")
    assert called.code == 5
    assert '"code":"newer_schema"' in called.err
    assert tree(home) == before


def test_a_missing_file_is_corrupt_too(pro0: Pro0, team: Context) -> None:
    team.team.tasks.path.unlink()
    called = pro0("task", "list")
    assert called.code == 5
    assert "is missing" in called.err


def test_other_teams_work_beside_a_corrupt_one(pro0: Pro0, home: Path, team: Context, tmp_path: Path) -> None:
    make(home, "broken", tmp_path / "elsewhere").team.config.path.write_bytes(b"{")
    assert pro0("task", "list").code == 0
    listed = pro0("team", "list")
    assert listed.code == 5
    assert "alpha" in listed.out
    assert "broken" in listed.err


def test_the_only_team_that_could_be_meant_is_corrupt(pro0: Pro0, team: Context) -> None:
    team.team.config.path.write_bytes(b"{")
    assert pro0("task", "list").code == 5


def test_doctor_names_it_and_changes_nothing(pro0: Pro0, home: Path, team: Context) -> None:
    team.team.tasks.path.write_bytes(b"{")
    before = tree(home)
    called = pro0("doctor")
    assert called.code == 1
    assert str(team.team.tasks.path) in called.out
    assert tree(home) == before
