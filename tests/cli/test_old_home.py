"""A home that version 0.1.0 wrote with its own commands: all of it is read, and its teams go on.

It stands in tests/homes: a team alpha with settled, failed, reserved and awaiting tasks, comments, mail and a role,
and a team beta with open work. A word between two @ is a place of the machine on which it is read.
"""

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pro0.store.files import encode
from tests.cli.conftest import Pro0
from tests.cli.test_corrupt import every, words_of
from tests.conftest import let_scripts
from tests.e2e.conftest import Cli
from tests.old_program import old_program
from tests.repositories import repository_in
from tools.schemas import STORED

WRITTEN = Path(__file__).parents[1] / "homes" / "version-0.1.0"


@pytest.fixture
def old_home(home: Path, project: Path) -> Path:
    """The home as its version left it, for this machine's places."""
    places = {"PRO0_HOME": home, "PROJECT": project, "HOME": project.parent, "PATH": os.environ["PATH"]}
    shutil.copytree(WRITTEN, home)
    for team in (home / "teams").iterdir():
        (team / "sessions").mkdir(exist_ok=True)  # git keeps no empty folder
    home.chmod(0o700)
    for path in home.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
        if path.is_file():
            text = path.read_text()
            for name, place in places.items():
                text = text.replace(f"@{name}@", str(place))
            path.write_text(text)
    return home


def stored(home: Path, *parts: str) -> Any:
    return json.loads(home.joinpath(*parts).read_text())


def test_every_command_works_on_it(old_home: Path, pro0: Pro0, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other on the same home, as a person would."""
    let_scripts(old_home)
    monkeypatch.setattr("pro0.cli.doctor.command.machine", lambda: iter(()))
    each_command_works(pro0)


def each_command_works(pro0: Pro0) -> None:
    for command in every():
        called = pro0(*words_of(command))
        assert called.code in (0, 1, 2, 3, 4, 6, 124), (command, called)
        assert "Traceback" not in called.err, (command, called)
        assert "internal error" not in called.err, (command, called)


def holds(shown: Any, written: Any) -> bool:
    """Return True when all that was written is shown; what has come since may stand beside it."""
    if isinstance(written, dict):
        return all(key in shown and holds(shown[key], value) for key, value in written.items())
    if isinstance(written, list):
        return len(shown) == len(written) and all(map(holds, shown, written))
    return bool(shown == written)


@pytest.mark.parametrize("team", ["alpha", "beta"])
def test_each_task_is_shown_as_it_was_written(team: str, old_home: Path, pro0: Pro0) -> None:
    for task in stored(old_home, "tasks", team, "tasks.json")["tasks"]:
        shown = json.loads(pro0("task", "show", task["id"], "-t", team, "--json").out)
        named = task | {"description": task["description"] or task["title"]}
        assert holds(shown, named), task["id"]


def test_each_letter_is_there(old_home: Path, pro0: Pro0) -> None:
    letters = json.loads(pro0("inbox", "--all", "-t", "alpha", "--json").out)
    written = [
        message
        for owner in ("human", "lead")
        for message in stored(old_home, "mailboxes", "alpha", owner, "messages.json")["messages"]
    ]
    assert written
    assert {letter["message"]["id"] for letter in letters} == {message["id"] for message in written}


DOCUMENTS = [
    (name, path)
    for name, (_, where) in STORED.items()
    for path in sorted(WRITTEN.glob(re.sub(r"\{[^}]*\}", "*", where)))
]


@pytest.mark.parametrize(("name", "path"), DOCUMENTS, ids=[str(path.relative_to(WRITTEN)) for _, path in DOCUMENTS])
def test_what_is_written_back_has_no_key_that_its_version_refuses(name: str, path: Path) -> None:
    """Members that 0.1.0 started go on below a newer lead: a new key is left out until it says something."""
    data = re.sub(rb"@[A-Z0-9_]+@", b"/", path.read_bytes())
    back = json.loads(encode(msgspec.json.decode(data, type=STORED[name][0])))
    assert keys(back) <= keys(json.loads(data))


def keys(value: Any, at: str = "") -> set[str]:
    """Return the path of each key below a value."""
    if isinstance(value, dict):
        return {f"{at}.{key}" for key in value} | {deep for key in value for deep in keys(value[key], f"{at}.{key}")}
    return {deep for item in value for deep in keys(item, at)} if isinstance(value, list) else set()


def test_doctor_finds_nothing_wrong_with_it(old_home: Path, pro0: Pro0, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pro0.cli.doctor.command.machine", lambda: iter(()))
    called = pro0("doctor", "--json")
    assert [row for row in json.loads(called.out)["checks"] if row["state"] == "fail"] == []


def test_its_team_goes_on(old_home: Path, project: Path, cli: Cli) -> None:
    """Resumed, its members read the mail that waited and do what is new; then it is stopped and removed."""
    try:
        assert cli("team", "resume", "alpha", cwd=project).code == 0
        made = cli("task", "create", "new", "--run", "echo new > new.txt", "-t", "alpha", "--json", cwd=project)
        new = json.loads(made.out)["id"]
        cli("team", "wait", "-t", "alpha", "--timeout", "60", cwd=project)
        shown = json.loads(cli("task", "show", new, "-t", "alpha", "--json", cwd=project).out)
        assert shown["status"] == "completed"
        assert (project / "new.txt").read_text() == "new\n"
        assert cli("team", "stop", "alpha", cwd=project).code == 0
    finally:
        removed = cli("team", "cleanup", "alpha", "--force", cwd=project)
    assert removed.code == 0
    assert not (old_home / "teams" / "alpha").exists()


DONE: list[tuple[int, tuple[str, ...]]] = [
    (0, ("team", "start", "alpha", "--detach", "--mode", "headless", "--lead", "none", "-m", "w1=shell")),
    (0, ("member", "spawn", "ben", "--agent", "command", "--worktree", "--", "sleep", "1000")),
    (0, ("task", "create", "made", "--run", "echo made > made", "--priority", "1", "--label", "area:x")),
    (0, ("task", "create", "fails", "--run", "exit 3")),
    (0, ("task", "create", "epic", "--type", "epic")),
    (0, ("task", "create", "part", "--parent", "3", "--requires", "content", "--blocked-by", "1")),
    (0, ("task", "create", "for ben", "--description", "all of it")),
    (0, ("task", "create", "asks", "--requires", "approval")),
    (0, ("task", "assign", "5", "ben")),
    (0, ("task", "update", "4", "--awaiting", "input")),
    (0, ("task", "comment", "5", "look here")),
    (0, ("broadcast", "to all")),
    (0, ("delegate", "hand over", "--agent", "shell", "--run", "echo did > did")),
    (0, ("config", "set", "maxTeammates", "4")),
    (0, ("run", "3", "--agent", "shell", "--headless")),
    (1, ("team", "wait", "--timeout", "60")),
    (0, ("task", "cancel", "6")),
    (0, ("team", "cost", "--limit", "20")),
    (0, ("team", "stop", "alpha")),
]
"""What the old program does, each with its exit code: a little of all that it can."""


@pytest.mark.soak
def test_every_command_works_on_a_home_that_it_has_just_written(
    home: Path, project: Path, tmp_path: Path, pro0: Pro0, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 13, must show 4: with a run, a worker, a worktree and a gate, which the home of tests/homes lacks."""
    old = old_program(tmp_path / "old")
    repository_in(project)
    try:
        for code, words in DONE:
            old(*words, cwd=project, codes=(code,))
    except BaseException:
        old("team", "cleanup", "alpha", "--force", cwd=project)
        raise
    checks_and_shows(home, pro0, monkeypatch)
    let_scripts(home)
    each_command_works(pro0)


def checks_and_shows(home: Path, pro0: Pro0, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pro0.cli.doctor.command.machine", lambda: iter(()))
    called = pro0("doctor", "--json")
    assert [row for row in json.loads(called.out)["checks"] if row["state"] == "fail"] == []
    for task in stored(home, "tasks", "alpha", "tasks.json")["tasks"]:
        shown = json.loads(pro0("task", "show", task["id"], "-t", "alpha", "--json").out)
        assert holds(shown, task | {"description": task["description"] or task["title"]}), task["id"]
