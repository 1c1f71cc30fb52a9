"""A team that version 0.1.0 runs is taken over by a lead of the present one, and no session is lost."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Cli, Team, kill
from tests.old_program import Old, old_program
from tests.repositories import repository_in
from tests.waiting import wait_until


@pytest.fixture
def old(tmp_path: Path) -> Old:
    return old_program(tmp_path / "old")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (folder := tmp_path / "project").mkdir()
    return repository_in(folder)


@pytest.fixture
def team(cli: Cli, home: Path, project: Path) -> Iterator[Team]:
    """The team alpha, as the present program sees it."""
    team = Team(cli, project, home)
    yield team
    team.end()


def runtime(home: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((home / "teams" / "alpha" / "runtime.json").read_text())
    return document


def sessions(home: Path) -> dict[str, object]:
    """Return what each member's session is: its incarnation, its guard and its agent."""
    return {
        seat["agentId"]: [seat[key] for key in ("incarnation", "guard", "agent")] for seat in runtime(home)["seats"]
    }


def lead_of(home: Path) -> int:
    return int(runtime(home)["lead"]["pid"])


def another_leads(home: Path, lead: int) -> bool:
    return lead_of(home) != lead


SAMPLE = ("upgrade-tmux",)
WAYS = [
    pytest.param(way, mode, id=f"{way}-{mode}", marks=[] if f"{way}-{mode}" in SAMPLE else pytest.mark.soak)
    for way in ("resume", "upgrade")
    for mode in ("headless", "tmux", "in-process")
]


@pytest.mark.parametrize(("way", "mode"), WAYS)
def test_a_running_team_is_taken_over_without_a_session_lost(
    way: str, mode: str, old: Old, team: Team, home: Path, project: Path
) -> None:
    """Issue 13, must show 4: a new command starts the lead, or a guard does after an upgrade in place."""
    members = ("-m", "w1=shell", "-m", "w2=shell")
    old("team", "start", "alpha", "--detach", "--mode", mode, "--lead", "none", *members, cwd=project)
    old("task", "create", "begun", "--run", "while ! test -e go; do sleep 0.1; done; echo went > went", cwd=project)
    old("member", "spawn", "ben", "--agent", "command", "--", "sleep", "1000", cwd=project)
    old("send", "ben", "written before", cwd=project)
    holder = team.worker()
    before = sessions(home)
    if way == "upgrade":
        old.upgrade()
    while runtime(home)["leadVersion"] == "0.1.0":  # an old guard may be sooner than a command, and bring the old one
        kill(lead := lead_of(home))
        if way == "resume":
            team("team", "resume", "alpha")
        wait_until(partial(another_leads, home, lead), 60, "another lead has signed in")
    assert sessions(home) == before
    assert team.member(holder)["task"] == "task-1"
    team("task", "create", "new", "--run", "echo new > new")
    team("send", "ben", "written afterwards")
    (project / "go").touch()
    team("team", "wait", "--timeout", "250")
    assert {id: task["status"] for id, task in team.tasks().items()} == {"task-1": "completed", "task-2": "completed"}
    assert [(project / name).read_text() for name in ("went", "new")] == ["went\n", "new\n"]
    assert team.tasks()["task-1"]["assignee"] == holder
    assert sessions(home) == before
    letters = json.loads((home / "mailboxes" / "alpha" / "ben" / "messages.json").read_text())["messages"]
    assert [letter["content"] for letter in letters] == ["written before", "written afterwards"]
    team("team", "stop", "alpha")
    assert {member["state"] for member in team.json("team", "status")["members"]} == {"shutdown"}
