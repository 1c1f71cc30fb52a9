"""A team whose documents a PostgreSQL server keeps, through the program alone (issue 19)."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import Team
from tests.postgres import Postgres, postgres, require
from tests.teams import files


@pytest.fixture
def server() -> Iterator[Postgres]:
    require()
    with postgres() as running:
        yield running


def documents(home: Path) -> list[str]:
    """Return the documents in files that say what a team does, but for archives."""
    names = ("tasks.json", "messages.json", "config.json", "wanted.json", "runtime.json", "events.jsonl")
    return [name for name in files(home) if name.endswith(names) and not name.startswith("archive/")]


def test_a_whole_story(server: Postgres, team: Team) -> None:
    """From its start to its archive a team in a database is told and does what one in files does."""
    words = ["--detach", "--mode", "headless", "--store", server.url(), "-m", "w1=shell", "-m", "w2=shell"]
    team("team", "start", "alpha", *words)
    assert documents(team.home) == []
    pointer = json.loads((team.home / "teams" / "alpha" / "store.json").read_text())
    assert pointer["url"] == server.url(server.latest)
    for number in range(1, 6):
        after = ["--blocked-by", str(number - 1)] if number > 1 else []
        team("task", "create", f"number {number}", "--run", f"echo result {number}", *after)
    team("team", "wait", "--timeout", "100", seconds=300)
    tasks = team.tasks().values()
    assert {task["status"] for task in tasks} == {"completed"}
    assert [task["result"].strip() for _, task in sorted(team.tasks().items())] == [
        f"result {number}" for number in range(1, 6)
    ]
    team("task", "comment", "1", "well done")
    assert "well done" in team("task", "show", "1").out
    team("send", "w1", "hello")
    assert "hello" in team("inbox", "--sent").out
    team("task", "create", "think")
    assert "task-6" in team("needs").out
    team("task", "cancel", "6")
    assert "task.complete" in team("team", "logs").out
    assert "alpha" in team("doctor").out
    team("member", "shutdown", "w1")
    assert team.state("w1") == "shutdown"
    team("team", "stop")
    team("team", "cleanup", "alpha")
    [kept] = team.json("team", "list", "--archived")
    assert (kept["name"], kept["tasks"]["completed"]) == ("alpha", 5)
    shown = team("team", "show", "alpha", "--archived").out
    assert "number 5" in shown
    assert server.ask("select count(*) from pro0.documents") == [(0,)]
    assert server.ask("select count(*) from pro0.teams") == [(0,)]


def test_a_team_moves_there_and_back(server: Postgres, team: Team) -> None:
    """Its work goes on in the other place; a team that runs, and a place that is none, are refused."""
    url = server.url()
    team.start("headless", "w1")
    team("task", "create", "one", "--run", "echo done")
    team("team", "wait", "--timeout", "100", seconds=300)
    assert "pro0 team stop alpha" in team("store", "copy", "alpha", url, code=4).err
    team("team", "stop")
    assert "no store" in team("store", "copy", "alpha", "elsewhere", code=2).err
    team("store", "copy", "beta", url, code=3)
    said = team("store", "copy", "alpha", url)
    assert said.out == f"alpha is in {url} now\n"
    assert f"remove it: pro0 store copy alpha '{url}' --remove-source" in said.err
    assert [name for name in documents(team.home) if "/unused/" not in name] == []
    before = team("doctor").out
    team("team", "resume")
    team("task", "create", "two", "--run", "echo done")
    team("team", "wait", "--timeout", "100", seconds=300)
    team("team", "stop")
    assert team("store", "copy", "alpha", "files").out == "alpha is in files now\n"
    assert "unused" not in before + team("doctor").out
    assert {task["title"]: task["status"] for task in team.tasks().values()} == dict.fromkeys(
        ("one", "two"), "completed"
    )
    assert server.ask("select count(*) from pro0.teams") == [(1,)]
    team("team", "cleanup", "alpha")
    assert server.ask("select count(*) from pro0.teams") == [(0,)]


def test_a_copy_to_a_server_out_of_reach_is_said(team: Team, tmp_path: Path) -> None:
    team.start("headless")
    team("team", "stop")
    said = team("store", "copy", "alpha", f"postgresql:///db?host={tmp_path}", code=5)
    assert "cannot be reached" in said.err.splitlines()[0]
    assert "nothing was changed" in said.err
    assert team("store", "copy", "alpha", "files").out == "alpha is in files already\n"


def test_a_password_is_refused_with_the_place_for_it(team: Team) -> None:
    said = team("team", "start", "alpha", "--detach", "--store", "postgresql://me:secret@host/db", code=2)
    assert "secret" not in said.err
    assert ".pgpass" in said.err


def test_a_server_out_of_reach_is_said(team: Team, tmp_path: Path) -> None:
    said = team("team", "start", "alpha", "--detach", "--store", f"postgresql:///db?host={tmp_path}", code=5)
    assert "cannot be reached" in said.err
    team("team", "status", code=3)
