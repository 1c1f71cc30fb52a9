"""`pro0 task import`, and `pro0 import`: from the folders of other programs (build 7; AC-07, AC-12, AC-13)."""

import errno
import json
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from pro0.ops.context import Context
from tests.cli.conftest import Pro0, become, tree

EPIC = {"id": "ep1", "title": "the epic", "type": "epic", "status": "open", "priority": 1}
PART = {"id": "pt1", "title": "a part", "status": "open", "parent": "ep1", "manual": True}
GATED = {"id": "gt1", "title": "gated", "status": "closed", "requires": "approval", "verdict": "approved"}
TICKET = "---\nid: pr-1\nstatus: open\ndeps: []\npriority: 0\n---\n# From Markdown\n"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A project in which both programs were used."""
    folder = tmp_path / "old"
    for name in (".tick/issues", ".tickets"):
        (folder / name).mkdir(parents=True)
    for one in (EPIC, PART, GATED):
        (folder / ".tick" / "issues" / f"{one['id']}.json").write_text(json.dumps(one))
    (folder / ".tickets" / "pr-1.md").write_text(TICKET)
    (folder / ".tick" / "config.json").write_text("{")
    return folder


def test_all_of_a_project_is_imported_once(pro0: Pro0, team: Context, old: Path) -> None:
    done = pro0("import", str(old))
    assert done.code == 0, done.err
    assert done.out.splitlines() == [
        "task-1 from tick:ep1 (pending): the epic",
        "task-2 from tick:gt1 (waits for a human: approval): gated",
        "task-3 from tick:pt1 (waits for a human: work): a part",
        "task-4 from ticket:pr-1 (pending): From Markdown",
    ]
    assert pro0("task", "next", "-o", "name").out == "task-4\n"
    assert pro0("task", "list", "--awaiting", "-o", "name").out.split() == ["task-3", "task-2"]
    assert "tick:ep1" in pro0("task", "show", "1").out
    before = tree(team.team.paths.tasks)
    again = pro0("task", "import", str(old))
    assert (again.code, again.out, again.err) == (0, "", "4 of 4 were imported before\n")
    assert tree(team.team.paths.tasks) == before
    (old / ".tickets" / "pr-2.md").write_text(TICKET.replace("pr-1", "pr-2").replace("deps: []", "deps: [pr-1]"))
    [new] = json.loads(pro0("task", "import", str(old), "--json").out)
    assert (new["id"], new["dependencies"], new["origin"]) == ("task-5", ["task-4"], "ticket:pr-2")


def test_the_notes_of_ticks_have_the_local_time(
    pro0: Pro0, team: Context, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program writes them without a zone, and its other times with one."""
    noted = EPIC | {"notes": "2026-01-01 10:30 - did it"}
    (old / ".tick" / "issues" / "ep1.json").write_text(json.dumps(noted))
    with monkeypatch.context() as there:
        there.setenv("TZ", "UTC-9")  # nine hours east of UTC, by POSIX
        time.tzset()
        done = pro0("import", str(old / ".tick" / "issues" / "ep1.json"))
    time.tzset()
    assert done.code == 0, done.err
    [task] = team.team.tasks.read().tasks
    assert task.history[-1].at == datetime(2026, 1, 1, 1, 30, tzinfo=UTC)


def test_a_folder_or_a_file_alone(pro0: Pro0, team: Context, old: Path) -> None:
    assert pro0("task", "import", str(old / ".tick"), "-o", "name").out.split() == ["task-1", "task-2", "task-3"]
    assert pro0("task", "import", str(old / ".tickets" / "pr-1.md"), "-o", "name").out == "task-4\n"
    assert pro0("task", "import", str(old / ".tickets")).err == "1 of 1 were imported before\n"


def test_bad_files_are_named_and_nothing_is_written(pro0: Pro0, team: Context, old: Path) -> None:
    """AC-07: exit 2"""
    issues = old / ".tick" / "issues"
    (issues / "bad.json").write_text('{"id": "bad", "title": "t", "status": "half"}')
    (issues / "twin.json").write_text(json.dumps(EPIC))
    (issues / "folder.json").mkdir()
    (issues / "large.json").write_bytes(b" " * (1024 * 1024 + 1))
    os.mkfifo(issues / "pipe.json")
    (old / ".tickets" / "empty.md").write_text("")
    before = tree(team.team.paths.tasks)
    done = pro0("import", str(old))
    assert done.code == 2
    for name in ("bad.json", "folder.json", "large.json", "pipe.json", "twin.json", "empty.md"):
        assert f"{name}: " in done.err
    assert "ep1.json" in done.err, "it says whose id the twin has"
    assert tree(team.team.paths.tasks) == before


def test_what_is_not_there(pro0: Pro0, team: Context, tmp_path: Path) -> None:
    assert pro0("import", str(tmp_path / "nowhere")).code == 3
    (tmp_path / "empty").mkdir()
    assert pro0("import", str(tmp_path / "empty")).code == 3
    (tmp_path / "x.txt").touch()
    assert pro0("import", str(tmp_path / "x.txt")).code == 2


def test_a_folder_without_permission_is_not_an_empty_one(
    pro0: Pro0, team: Context, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This user may be root, who reads everything."""

    def refused(real: Callable[..., object], folder: str | Path = ".") -> object:
        if str(folder).startswith(str(old)):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))
        return real(folder)

    for call in ("listdir", "scandir"):
        monkeypatch.setattr(os, call, partial(refused, getattr(os, call)))
    done = pro0("task", "import", str(old))
    assert (done.code, "cannot be read: Permission denied" in done.err) == (2, True), done


def test_only_a_person_imports(pro0: Pro0, team: Context, old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """rulings 2.3: tickets come with a state"""
    become(monkeypatch, team, "w1")
    done = pro0("import", str(old))
    assert (done.code, "only a person may" in done.err) == (4, True)
