"""Where everything is on disk: no name leads out of the home, and names are told from look-alikes."""

from functools import partial
from pathlib import Path

import pytest

from pro0.errors import BadInput
from pro0.store import paths
from pro0.store.paths import TeamPaths
from pro0.store.root import root
from tests.hostile.names import NAMES

HOME = Path("/h")


def test_where_everything_is() -> None:
    """S004-091"""
    team = TeamPaths(HOME, "alpha")
    assert (team.home, team.name) == (HOME, "alpha")
    assert {name: str(getattr(team, name)) for name in ("team", "tasks", "mailboxes", "sessions", "logs", "lease")} == {
        "team": "/h/teams/alpha",
        "tasks": "/h/tasks/alpha",
        "mailboxes": "/h/mailboxes/alpha",
        "sessions": "/h/teams/alpha/sessions",
        "logs": "/h/teams/alpha/logs",
        "lease": "/h/teams/alpha/lead.lock",
    }
    assert str(team.lead_errors) == "/h/teams/alpha/logs/lead.err"
    assert [str(team.mailbox(name)) for name in ("w1", "lead", "human")] == [
        f"/h/mailboxes/alpha/{name}" for name in ("w1", "lead", "human")
    ]
    assert str(team.task("task-7")) == str(team.task("7")) == "/h/tasks/alpha/task-7"
    assert (team.report("i-1"), team.launch("i-1"), team.hosted("i-1")) == (
        "i-1.json",
        "i-1.start.json",
        "i-1.host.json",
    )
    assert [str(team.log(name)) for name in ("w1", "lead")] == [
        "/h/teams/alpha/logs/w1.log",
        "/h/teams/alpha/logs/lead.log",
    ]
    assert str(team.run_log("w1")) == "/h/teams/alpha/logs/w1.run.jsonl"
    assert str(team.agent_folder("i-1")) == "/h/teams/alpha/sessions/i-1"


def test_worktrees_are_apart_from_the_teams() -> None:
    """A later team of the same name has another uid, so that it finds none of these."""
    assert str(paths.worktrees(HOME)) == "/h/worktrees"
    assert str(paths.web(HOME)) == "/h/web"
    assert str(paths.trees_of(HOME, "alpha", "0123456789")) == "/h/worktrees/alpha-01234567"
    assert str(paths.trees_of(HOME, "alpha", "")) == "/h/worktrees/alpha"
    assert str(paths.worktree(HOME, "alpha", "0123456789", "w1")) == "/h/worktrees/alpha-01234567/w1"


def test_what_runs_here_for_another_machine_has_places_of_its_own() -> None:
    """Its worktrees are beside those of teams of this home, which have other names."""
    assert str(paths.hosted(HOME, "i-1")) == "/h/hosted/i-1"
    code, tree = paths.guest(HOME, "alpha-0123/w1")
    assert (str(code), str(tree)) == ("/h/code/alpha-0123.git", "/h/worktrees/alpha-0123/w1")
    assert str(paths.guest(HOME, "alpha-0123/w1/x")[0]) == "/h/code/alpha-0123.git"


@pytest.mark.parametrize("environment", [{"PRO0_HOME": "/x/y"}, {"PRO0_HOME": ""}, {}])
def test_programs_without_pathlib_find_the_same_home(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/u")
    assert root(environment) == str(paths.home(environment))


@pytest.mark.parametrize("kind", NAMES)
def test_no_name_leads_out(kind: str) -> None:
    """Check 29: whatever makes a path is checked where the path is made."""
    team, name = TeamPaths(HOME, "alpha"), NAMES[kind]
    for place in (partial(TeamPaths, HOME), team.mailbox, team.task, team.log, team.run_log):
        with pytest.raises(BadInput):
            place(name)
    for file in (team.report, team.launch, team.hosted, team.agent_folder, partial(paths.hosted, HOME)):
        if not (name.isascii() and name.isalnum() and len(name) <= 64):
            with pytest.raises(BadInput):
                file(name)


def test_the_home_of_an_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/u")
    assert paths.home({"PRO0_HOME": "/x/y"}) == Path("/x/y")
    assert paths.home({}) == paths.home({"PRO0_HOME": ""}) == Path("/u/.pro0")
    assert paths.home({"PRO0_HOME": "here"}) == Path.cwd() / "here"


@pytest.mark.parametrize("mark", ["\n", "\t", "\x1b", "\u202e", "\udc80"])
def test_a_home_that_cannot_be_shown_is_none(mark: str) -> None:
    """Check 29"""
    with pytest.raises(BadInput) as refused:
        paths.home({"PRO0_HOME": f"/a{mark}b"})
    assert refused.value.message == f"{f'/a{mark}b'!r} cannot be the home of pro0"
    assert refused.value.hint == "choose a path without control characters"


@pytest.mark.parametrize("number", [1, 7, 999_999, 1_000_000, 999_999_999])
def test_a_segment_is_found_by_its_number(number: int) -> None:
    assert paths.number_of(paths.segment(number)) == number
    assert paths.rotation("events.jsonl", paths.rotated("events.jsonl", number)) == number


def test_names_of_segments_sort_like_their_numbers() -> None:
    assert paths.segment(3) == "000003.json"
    assert paths.rotated("events.jsonl", 3) == "events-000003.jsonl"
    assert paths.rotated("a.b.log", 3) == "a.b-000003.log"


ARABIC = "\u0661" * 6
NO_SEGMENTS = "1.json 000000.json 0000001.json 00000x.json 000001 000001.jsonl x000001.json .json messages.json"


@pytest.mark.parametrize("name", [*NO_SEGMENTS.split(), "1000000000.json", f"{ARABIC}.json", ""])
def test_what_only_looks_like_a_segment(name: str) -> None:
    assert paths.number_of(name) == 0


NO_LOGS = "events.jsonl events-1.jsonl events-000000.jsonl events-00000x.jsonl events-000001.json lead-000001.jsonl"


@pytest.mark.parametrize(
    "name", [*NO_LOGS.split(), "events-1000000000.jsonl", "events000001.jsonl", f"events-{ARABIC}.jsonl", "000001"]
)
def test_what_only_looks_like_a_full_log(name: str) -> None:
    assert paths.rotation("events.jsonl", name) == 0
