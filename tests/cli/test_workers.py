"""Workers, by the program as a person calls it."""

import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import Result
from tests.repositories import git, repository_in
from tests.waiting import wait_until

Cli = Callable[..., Result]


@pytest.fixture
def project(cli: Cli, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A repository with a running team."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(repository_in(folder))
    assert cli("team", "start", "alpha", "--mode", "headless").code == 0
    yield folder
    assert cli("team", "cleanup", "alpha", "--force").code == 0


def test_work_is_delegated_looked_at_and_merged(project: Path, cli: Cli) -> None:
    """issue 6, build 4: from a shell, with three that conflict; at last it is said what is kept (rulings 3.10)"""
    run = "echo $PRO0_TASK_ID > README; git commit -qam work; echo done"
    asked = cli("delegate", "write it", "-n", "3", "--agent", "shell", "--run", run)
    assert asked.code == 0, asked
    assert asked.out.splitlines() == [f"task-{n} is delegated: write it" for n in (1, 2, 3)]
    assert cli("team", "wait", "--timeout", "120").code == 0
    cli("worker", "kill", "t1")
    listed = json.loads(cli("worker", "list", "--all", "--json").out)
    assert [(one["task"]["id"], one["stage"], one["agentId"]) for one in listed] == [
        ("task-1", "done", "t1"),
        ("task-2", "done", "t2"),
        ("task-3", "done", "t3"),
    ]
    assert "done" in cli("worker", "logs", "t1").out
    shown = until_harvested(cli, "t1")
    assert shown["merge"] == {"conflicts": []}
    until_harvested(cli, "t2")
    until_harvested(cli, "t3")
    merged = cli("worker", "merge", "--all")
    assert (merged.code, merged.out) == (4, "task-1 is merged\n")
    assert "README" in merged.err
    assert "merge them by hand: git merge BRANCH" in merged.err
    assert "hint: merge it by hand: git merge teams/t2/task-2" in cli("worker", "merge", "2").err
    assert (project / "README").read_text() == "task-1\n"
    assert "would conflict in README" in cli("worker", "show", "2").out
    left = ["teams/t2/task-2", "teams/t3/task-3"]
    assert git(project, "branch", "--list", "teams/*", "--format=%(refname:short)").split() == left
    assert cli("worker", "list", "-o", "name").out == "t2\nt3\n"
    assert "Worker t1 completed task-1" in cli("inbox").out
    git(project, "merge", "-q", "-X", "ours", "-m", "by hand", left[0])
    removed = cli("team", "cleanup", "alpha", "--force")
    assert (removed.code, f"not merged, so kept: {left[1]}" in removed.err) == (7, True)
    assert left[1] in git(project, "branch", "--list", "teams/*")


def test_what_was_killed_before_a_name_that_is_none_ends(project: Path, cli: Cli) -> None:
    """The lead ends it, so a new lead comes where there is none."""
    assert cli("delegate", "sleep", "--agent", "shell", "--run", "sleep 600").code == 0
    wait_until(lambda: '"working"' in cli("worker", "list", "--json").out, 60, "it works")
    lead = json.loads(cli("team", "status", "--json").out)["lead"]["pid"]
    os.kill(lead, signal.SIGKILL)
    killed = cli("worker", "kill", "t1", "t9")
    assert (killed.code, killed.out) == (3, "t1 is being ended\n")
    assert "there is no worker 't9'" in killed.err
    assert json.loads(cli("team", "status", "--json").out)["lead"]["pid"] != lead


def test_what_a_failed_worker_left_is_merged_only_by_name(project: Path, cli: Cli) -> None:
    """Half-done work must not come in with the rest."""
    cli("delegate", "half", "--agent", "shell", "--run", "echo half > half; exit 1")
    assert cli("team", "wait", "--timeout", "120").code == 1
    until_harvested(cli, "t1")
    merged = cli("worker", "merge", "--all")
    assert (merged.code, merged.out) == (0, "")
    said = "task-1 has failed, so teams/t1/task-1 is left out; if it is good: pro0 worker merge task-1\n"
    assert merged.err == said
    assert not (project / "half").exists()
    assert cli("worker", "merge", "task-1").code == 0
    assert (project / "half").exists()


def test_what_could_not_be_saved_is_named(project: Path, cli: Cli) -> None:
    """behaviour 2.20: a worktree that cannot be saved stays"""
    cli("delegate", "nest", "--agent", "shell", "--run", "git init -q inner")
    assert cli("team", "wait", "--timeout", "120").code == 0

    def look() -> str:
        shown = json.loads(cli("worker", "show", "t1", "--json").out)
        return "" if shown["state"] else shown["task"]["worktree"]

    tree = wait_until(look, 60, "it is over")
    merged = cli("worker", "merge", "--all")
    said = f"{tree} of task-1 could not be saved, and is left out; why: pro0 worker merge task-1\n"
    assert (merged.code, merged.out, merged.err) == (0, "", said)
    assert cli("worker", "merge", "t1").code == 4
    shutil.rmtree(f"{tree}/inner")


def test_what_an_earlier_worker_left_is_named_until_it_is_merged(project: Path, cli: Cli) -> None:
    """behaviour 3.10: also when the last worker has left nothing, or its branch is merged"""
    hint = "if it is good: git merge teams/t1/task-1\n"
    script = 'test -e "$GO" && exit; echo half > half; touch "$GO"; exit 1'.replace("$GO", str(project.parent / "go"))
    cli("delegate", "half", "--agent", "shell", "--run", script)
    assert cli("team", "wait", "--timeout", "120").code == 1
    until_harvested(cli, "t1")
    assert cli("task", "retry", "1").code == 0
    assert cli("team", "wait", "--timeout", "120").code == 0
    wait_until(lambda: "left before  teams/t1/task-1" in cli("worker", "show", "t1").out, 60, "it is harvested again")
    merged = cli("worker", "merge", "--all")
    said = f"an earlier worker of task-1 left teams/t1/task-1, which is left out; {hint}"
    assert (merged.code, merged.out, merged.err) == (0, "", said)
    named = cli("worker", "merge", "t1")
    assert (named.code, hint in named.err) == (3, True)
    assert "lead (left)\n    teams/t1/task-1\n" in cli("task", "show", "1").out
    git(project, "merge", "-q", "teams/t1/task-1")
    assert cli("worker", "merge", "--all").err == "no worker has left anything that is not merged\n"


def test_nothing_to_look_at(project: Path, cli: Cli) -> None:
    assert "pro0 delegate" in cli("worker", "list").err
    for act in ("show", "kill", "merge", "logs"):
        assert cli("worker", act, "t9").code == 3
    assert cli("worker", "merge").code == 2
    assert cli("delegate", "x", "--agent", "nobody").code == 2


def test_a_project_without_a_team_gets_one(
    cli: Cli, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """as for `pro0 run`; not for what cannot be done anyway"""
    folder = tmp_path / "My project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    ask = ("delegate", "write it", "--agent", "shell", "--run", "true")
    assert cli(*ask).code != 0, "no repository"
    repository_in(folder)
    assert cli("delegate", "x", "--agent", "nobody").code == 2
    assert cli("delegate", "x", "-t", "alpha").code == 3
    for text, run in (("", "true"), ("write it\n\udcff", "true"), ("write it", "\udcff")):
        assert cli("delegate", "write it", text, "--agent", "shell", "--run", run).code == 2
    assert json.loads(cli("team", "list", "--json").out) == []
    asked = cli(*ask)
    assert asked.code == 0, asked
    assert f"team my-project in {folder}, made for this" in asked.err
    assert cli(*ask).out == "task-2 is delegated: write it\n"
    assert cli("team", "wait", "--timeout", "120").code == 0
    assert cli("team", "cleanup", "my-project", "--force").code == 0


def until_harvested(cli: Cli, name: str) -> dict[str, object]:
    def look() -> dict[str, object] | None:
        shown: dict[str, object] = json.loads(cli("worker", "show", name, "--json").out)
        return shown if shown["merge"] else None

    found = wait_until(look, 60, f"{name} is harvested")
    assert found
    return found
