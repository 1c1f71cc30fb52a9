"""Roles, from the command line: S000-066 to S000-075, S000-084 to S000-087, AC-59."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pro0.ops.context import Context
from pro0.ops.tasks import tasks
from pro0.ops.tasks.drafts import SeatDraft
from pro0.ops.team import members
from tests.cli.conftest import Pro0, become
from tests.conftest import Result

PRESETS = ["project-manager", "engineer", "designer", "reviewer"]


def names(pro0: Pro0) -> list[str]:
    return pro0("role", "list", "-o", "name").out.split()


def test_roles_are_brought_along_and_may_be_changed_outside_any_team(pro0: Pro0) -> None:
    """S000-070 to S000-075: they belong to the home, not to a team."""
    assert names(pro0) == PRESETS
    assert pro0("role", "edit", "Engineer", "--prompt", "You write Rust.", "--agent", "codex").code == 0
    shown = json.loads(pro0("role", "show", "ENGINEER", "--json").out)
    assert (shown["id"], shown["prompt"], shown["agent"]) == ("engineer", "You write Rust.", "codex")
    assert pro0("role", "remove", "designer").code == 0
    assert names(pro0) == ["project-manager", "engineer", "reviewer"]
    assert "You write Rust." in pro0("role", "show", "engineer").out


def test_a_role_of_ones_own(pro0: Pro0) -> None:
    """S000-085, S000-086: the prompt from stdin too; a program is what the agent `command` runs."""
    added = pro0("role", "add", "Tech Writer", "--prompt", "-", "--model", "large", stdin="You write.\n")
    assert (added.code, added.out) == (0, "tech-writer added: Tech Writer\n")
    assert pro0("role", "add", "tech WRITER").code == 4
    assert pro0("role", "add", "linter", "--", "./lint", "--all").code == 0
    assert json.loads(pro0("role", "show", "linter", "--json").out)["argv"] == ["./lint", "--all"]
    edited = json.loads(pro0("role", "edit", "linter", "--agent", "shell", "--name", "Lint", "--json").out)
    assert (edited["agent"], edited["argv"], edited["name"]) == ("shell", [], "Lint")
    assert "Tech Writer" in pro0("role", "list").out


@pytest.mark.parametrize("name", ["Reviewer", "reviewer", "project manager", "PROJECT-MANAGER"])
def test_no_role_takes_the_name_or_the_id_of_another(pro0: Pro0, name: str) -> None:
    """Commands that name the other one would change or remove this one."""
    refused = pro0("role", "edit", "engineer", "--name", name)
    assert (refused.code, "already" in refused.err) == (4, True)
    assert pro0("role", "edit", "engineer", "--name", "ENGINEER").code == 0
    assert pro0("role", "add", name).code == 4
    assert json.loads(pro0("role", "show", name, "--json").out)["id"] != "engineer"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("role", "show", "nobody"), 3),
        (("role", "edit", "nobody", "--prompt", "x"), 3),
        (("role", "remove", "nobody"), 3),
        (("role", "edit", "engineer"), 2),
        (("role", "add", "bad name!"), 2),
        (("role", "add", "x", "--agent", "No Agent"), 2),
        (("role", "add", "x", "--agent", "nope"), 2),
        (("role", "edit", "engineer", "--agent", "nope"), 2),
        (("role", "add", "x", "--agent", "command"), 2),
        (("role", "add", "x", "--agent", "claude", "--", "program"), 2),
        (("role", "edit", "engineer", "--name", "two\nlines"), 2),
        (("task", "create", "t", "--role", "nobody"), 3),
        (("task", "update", "1", "--role", "nobody"), 3),
    ],
)
def test_what_is_wrong_changes_nothing(arguments: tuple[str, ...], code: int, pro0: Pro0, team: Context) -> None:
    """AC-59: a task with an unknown role is refused, and names those there are."""
    pro0("task", "create", "one")
    before = tasks.list_tasks(team)
    assert pro0(*arguments).code == code
    assert tasks.list_tasks(team) == before
    assert names(pro0) == PRESETS


def test_the_agent_of_a_role_is_a_known_one(pro0: Pro0, home: Path) -> None:
    refused = pro0("role", "add", "tester", "--agent", "zz9")
    assert refused.err.startswith("pro0: there is no agent 'zz9'\nhint: one of claude, ")
    home.mkdir(mode=0o700, exist_ok=True)
    (home / "config.yaml").write_text("agents: {zz9: {argv: [sleep, '1']}}\n")
    assert pro0("role", "add", "tester", "--agent", "zz9").code == 0


def test_a_member_with_a_role_runs_the_agent_of_that_role(cli: Callable[..., Result], project: Path) -> None:
    """Unless another one is named; a role that names none leaves it at a shell."""
    assert cli("role", "add", "sleeper", "--prompt", "x", "--", "sleep", "600").code == 0
    assert cli("team", "start", "alpha", "-m", "w1=shell", "--mode", "headless", "--detach").code == 0
    for words in (["a"], ["b", "--agent", "shell"], ["c", "--", "sleep", "500"]):
        assert cli("member", "spawn", words[0], "--role", "sleeper", *words[1:]).code == 0
    assert cli("member", "spawn", "d", "--role", "engineer").code == 0
    shown = {one["agentId"]: one["agent"] for one in json.loads(cli("member", "list", "--json").out)}
    assert shown == {"w1": "shell", "a": "command", "b": "shell", "c": "command", "d": "shell"}
    assert json.loads(cli("member", "show", "a", "--json").out)["argv"] == ["sleep", "600"]
    assert cli("team", "stop", "--force").code == 0


def test_a_bad_name_is_called_that_of_a_role(pro0: Pro0) -> None:
    assert pro0("role", "add", "a/b").err.startswith("pro0: 'a/b' cannot be a role name\nhint: ")
    assert pro0("role", "add", "é").err.startswith("pro0: 'é' cannot be a role name\nhint: ")


def test_a_role_that_somebody_has_stays(pro0: Pro0, team: Context) -> None:
    """AC-59: an open task, or a member; settled ones keep its name only."""
    assert json.loads(pro0("task", "create", "t", "--role", "Engineer", "--json").out)["role"] == "engineer"
    refused = pro0("role", "remove", "engineer")
    assert (refused.code, "task-1 (alpha)" in refused.err) == (4, True)
    tasks.cancel(team, "1")
    assert pro0("role", "remove", "engineer").code == 0
    members.spawn(team, [SeatDraft(name="eve", role="reviewer")], 10)
    refused = pro0("role", "remove", "reviewer")
    assert (refused.code, "eve (alpha)" in refused.err) == (4, True)


def test_only_a_person_changes_roles(pro0: Pro0, team: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rulings 2.3: agents look at them."""
    become(monkeypatch, team, "w1")
    assert names(pro0) == PRESETS
    for arguments in (("add", "x"), ("edit", "engineer", "--prompt", "x"), ("remove", "engineer")):
        assert pro0("role", *arguments).code == 4
    assert names(pro0) == PRESETS


def test_a_comment_names_whose_it_is(pro0: Pro0, team: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """S000-065, AC-53: the role of the session, never what it says."""
    pro0("task", "create", "t")
    become(monkeypatch, team, "w1")
    assert pro0("task", "comment", "1", "found it").code == 0
    [remark] = json.loads(pro0("task", "show", "1", "--json").out)["remarks"]
    assert (remark["author"], remark["task"], remark["role"]) == ("w1", None, "")
