"""What a shell offers behind a word: the names that there are now, and no complaint in the middle of a line."""

from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from pro0.cli.call import program
from pro0.ops.context import Context
from tests.cli.conftest import Pro0, commands

NAMES = {"id", "epic", "others", "to", "assignee", "parent", "blocked_by", "role", "agent", "team", "layout_name"}
"""Parameters that name what is there; `name` does so but where something new is named."""
NEW = {"pro0 team start", "pro0 member spawn", "pro0 role add"}


def offered(line: str) -> list[str]:
    """Return what is offered for the last word of a line."""
    *words, start = line.split(" ")[1:]
    shell = ShellComplete(program, {}, "pro0", "_PRO0_COMPLETE")
    return [item.value for item in shell.get_completions(words, start)]


@pytest.fixture
def busy(pro0: Pro0, team: Context) -> Context:
    """The team alpha with two tasks, of which one waits for a person."""
    pro0("task", "create", "one")
    pro0("task", "create", "two", "--awaiting", "input")
    return team


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("pro0 task show ", ["task-2", "task-1"]),
        ("pro0 task show 1", ["1"]),
        ("pro0 task approve ", ["task-2"]),
        ("pro0 task create x --blocked-by task-1", ["task-1"]),
        ("pro0 task assign 1 ", ["w1", "w2"]),
        ("pro0 member peek w2", ["w2"]),
        ("pro0 send ", ["w1", "w2", "lead", "human"]),
        ("pro0 team stop ", ["alpha"]),
        ("pro0 member list -t a", ["alpha"]),
        ("pro0 member peek -t nope ", []),
        ("pro0 worker kill ", []),
        ("pro0 role show eng", ["engineer"]),
        ("pro0 member spawn x --agent co", ["codex", "command"]),
        ("pro0 team start x -l tr", ["trio"]),
        ("pro0 config set maxT", ["maxTeammates"]),
        ("pro0 config set permissionMode ", ["ask", "bypass", "edits", "plan"]),
        ("pro0 config set bell t", ["true"]),
        ("pro0 config set maxTeammates ", []),
        ("pro0 store copy al", ["alpha"]),
        ("pro0 store copy alpha ", ["files", "postgresql://"]),
    ],
)
def test_the_names_that_are_there_are_offered(line: str, words: list[str], busy: Context) -> None:
    assert sorted(offered(line)) == sorted(words)


def test_the_hosts_of_the_persons_ssh_are_offered(busy: Context, project: Path) -> None:
    """Issue 19, build 1: by their names alone; patterns are no hosts."""
    config = Path.home() / ".ssh" / "config"
    config.parent.mkdir()
    config.write_text("Host build1 build2\n  User b\nhost *.lan !x\nMatch host build3\n# Host build4\n")
    for line in ("pro0 member spawn x --host b", "pro0 doctor --host b"):
        assert offered(line) == ["build1", "build2"]
    other = project / "teams"
    other.write_text("Host big\n")
    (busy.team.paths.home / "config.yaml").write_text(f"ssh: ssh -F {other}\n")
    assert offered("pro0 member spawn x --host b") == ["big"]


def test_nothing_is_said_where_nothing_can_be_looked_up(
    busy: Context, capfd: pytest.CaptureFixture[str], project: Path
) -> None:
    capfd.readouterr()
    (project / ".pro0").mkdir()
    (project / ".pro0" / "config.yaml").write_text("{nonsense: [")
    busy.team.tasks.path.write_text("{broken")
    for line in ("pro0 task show ", "pro0 member spawn x --agent ", "pro0 member peek -t nope "):
        assert offered(line) == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", dict(commands()))
def test_every_name_that_is_asked_for_can_be_completed(name: str) -> None:
    for parameter in dict(commands())[name].params:
        plain = isinstance(parameter.type, click.types.StringParamType | click.types.FuncParamType)
        there = parameter.name in NAMES or (parameter.name in ("name", "names") and name not in NEW)
        if plain and there and name != "pro0 lead":
            assert parameter._custom_shell_complete, parameter.name
