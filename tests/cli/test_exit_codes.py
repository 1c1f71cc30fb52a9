"""Each command ends with the codes of its row, and with no other (issue 18, must show 2).

`tests/exits.py` holds every call of every test against the rows. Here each command is called in the ways in which any
command may fail; a code that only its own work can bring is seen by the tests that `ELSEWHERE` names.
"""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from pro0.cli.commands import HIDDEN
from pro0.model.caller import Caller, Who
from pro0.model.need import AskedPermission
from pro0.ops import permissions
from pro0.ops.context import Context
from tests import exits
from tests.cli.conftest import Pro0, commands
from tests.conftest import Result
from tests.crash.lanes import a_few
from tools.exit_codes import DECLARED, own_exit_codes
from tools.meanings import FILE_EXITS, HOOK_EXITS, SETTINGS_EXITS

EVERY = {
    name: command
    for name, command in commands()
    if not command.hidden
    and name.removeprefix("pro0 ") not in HIDDEN
    and (not isinstance(command, click.Group) or command.invoke_without_command)
}
ELSEWHERE = {
    "pro0 team start": {4: "tests/cli/test_gates.py", 5: "tests/cli/test_doctor.py"},
    "pro0 team forget": {6: "tests/cli/test_archives.py"},
    "pro0 team wait": {1: "tests/cli/test_teams.py", 124: "tests/cli/test_teams.py"},
    "pro0 team cleanup": {7: "tests/cli/test_worktrees.py"},
    "pro0 team stop": {124: "below"},
    "pro0 member answer": {124: "below"},
    "pro0 member shutdown": {124: "below"},
    "pro0 role edit": {3: "tests/cli/test_roles.py"},
    "pro0 run": {1: "tests/scenarios/test_run.py"},
    "pro0 send": {124: "tests/cli/test_messages.py"},
    "pro0 inbox": {124: "tests/cli/test_messages.py"},
    "pro0 agent install-skill": {4: "tests/cli/test_skill.py"},
    "pro0 agent prove": {1: "tests/cli/test_prove.py", 6: "tests/cli/test_prove.py"},
    "pro0 agent explain": {1: "tests/cli/test_agent.py", 3: "tests/cli/test_agent.py"},
    "pro0 config": {2: "tests/cli/test_mistakes.py", 6: "tests/cli/test_context.py"},
    "pro0 doctor": {4: "tests/cli/test_doctor.py"},
    "pro0 uninstall": {5: "tests/cli/test_uninstall.py", 7: "tests/cli/test_uninstall.py"},
    "pro0 man": {6: "tests/cli/test_teams.py"},
    "pro0 demo": {1: "tests/scenarios/test_demo.py"},
}
"""Command → code → the tests that see it, for what only its own work can bring."""
ENDLESS = {"pro0 demo", "pro0 mcp", "pro0 agent prove"}
"""Commands that would do their work, whatever is wrong with a home."""
WORDS = {
    "pro0 team start": "x -l nosuch",
    "pro0 task assign": "1 w1",
    "pro0 role edit": "backend --prompt x",
    "pro0 role show": "backend",
    "pro0 config set": "bell true",
    "pro0 config unset": "bell",
    "pro0 config get": "bell",
    "pro0 rpc": "task.list",
    "pro0 team forget": "alpha",
    "pro0 agent explain": "claude --title x",
    "pro0 completion": "bash",
    "pro0 uninstall": "--show",
}
"""What a call needs, where a word for each argument is not enough."""
BROKEN = ("roles.json", "trusted.json", "pin.json", "proofs.json", "web/devices.json")


def words_of(name: str) -> list[str]:
    """Return a call of a command that can be done when nothing is wrong."""
    needed = [p for p in EVERY[name].params if isinstance(p, click.Argument) and p.required]
    usual = " ".join("1" if "task" in name or "worker" in name else "w1" for _ in needed)
    return [*name.split()[1:], *WORDS.get(name, usual).split()]


def elsewhere(name: str) -> list[str]:
    """Return a call for a team that is not there."""
    if any("--team" in parameter.opts for parameter in EVERY[name].params):
        return [*words_of(name), "-t", "nosuch"]
    about_a_team = any(parameter.name in ("team", "name") for parameter in EVERY[name].params)
    return [*name.split()[1:], "nosuch"] if about_a_team else [*words_of(name), "nosuch"]


def tried(name: str, pro0: Pro0, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Result]:
    """Call a command in the ways in which any may fail, the gentle ones first."""
    yield pro0(*name.split()[1:], "--no-such-option")
    if name in ENDLESS:
        return
    yield pro0(*elsewhere(name))
    with monkeypatch.context() as session:  # one that is over
        session.setenv("PRO0_TEAM", "alpha")
        session.setenv("PRO0_AGENT_ID", "w1")
        session.setenv("PRO0_INCARNATION", "00000000-0000-4000-8000-000000000000")
        yield pro0(*words_of(name))
    for path in [*home.rglob("*.json"), *(home / place for place in BROKEN)]:
        path.parent.mkdir(exist_ok=True, mode=0o700)
        path.write_text("{")
    if name != "pro0 web":  # which would begin
        yield pro0(*words_of(name))
    shutil.move(home, home.with_name("moved"))
    home.write_text("")
    yield pro0(*words_of(name))


@pytest.mark.parametrize("name", a_few(EVERY, 8))
def test_each_code_is_seen(name: str, pro0: Pro0, team: Context, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = list(tried(name, pro0, home, monkeypatch))
    assert not [called.err for called in calls if "Traceback" in called.err or "internal error" in called.err]
    if exits.RECORD:
        return
    seen = {called.code for called in calls} | set(ELSEWHERE.get(name, {}))
    assert DECLARED[name] - seen - {0} == set()


@pytest.mark.parametrize("words", ["team stop", "member shutdown w1", "member answer {} allow"])
def test_what_does_not_come_in_time_is_124(
    words: str, pro0: Pro0, team: Context, scripts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No lead is there, and nobody takes what is asked for."""
    monkeypatch.setattr("pro0.engine.opening.launch.ensure_lead", lambda _team: "")
    monkeypatch.setattr("pro0.engine.outcomes._Request.stands", lambda _: False)
    monkeypatch.setattr("pro0.ops.permissions.PATIENCE", 0)
    session = team.team.runtime.read().seats[0].incarnation
    asked = AskedPermission(key="k", tool="Bash", input="{}")
    request = permissions.ask(Context(team.team, Caller(Who.MEMBER, "w1", session)), asked)
    assert pro0(*words.format(request.id).split()).code == 124


@pytest.mark.parametrize("words", ["team start x -l", "task create -f"])
def test_a_file_that_is_wrong_and_one_that_is_not_there_end_as_the_manual_says(
    words: str, pro0: Pro0, team: Context, tmp_path: Path
) -> None:
    """`FILE_EXITS` is EXIT STATUS of pro0-layout(5) and of pro0-tasks(5)."""
    (tmp_path / "wrong.yaml").write_text("wrong: 1\n")
    codes = [pro0(*words.split(), str(tmp_path / name)).code for name in ("wrong.yaml", "missing.yaml")]
    assert codes == list(map(int, FILE_EXITS))


def test_settings_that_are_wrong_end_as_the_manual_says(pro0: Pro0, home: Path) -> None:
    home.mkdir(exist_ok=True, mode=0o700)
    (home / "config.yaml").write_text("maxTeammates: two\n")
    assert [pro0("config").code] == list(map(int, SETTINGS_EXITS))


@pytest.mark.parametrize(("exits_with", "code"), [("0", 0), ("2", 4), ("126, 127", 4), ("any other", 0)])
def test_exits_of_a_hook_mean_what_the_manual_says(
    exits_with: str, code: int, pro0: Pro0, team: Context, home: Path
) -> None:
    """`HOOK_EXITS` is EXIT STATUS of pro0-hooks(7)."""
    assert list(HOOK_EXITS) == ["0", "2", "126, 127", "any other"]
    for number in exits_with.replace("any other", "1, 3").split(", "):
        (home / "config.yaml").write_text(f"hooks: {{TaskCreated: 'exit {number}'}}\n")
        assert pro0("task", "create", "build").code == code, number


def test_every_command_has_a_row_and_each_code_that_its_help_names() -> None:
    assert set(DECLARED) == set(EVERY)
    for name, command in EVERY.items():
        named = {int(number) for number in re.findall(r"\bexit (\d+)", own_exit_codes(command), re.IGNORECASE)}
        assert named <= DECLARED[name], name


def test_a_code_that_no_row_has_is_noticed() -> None:
    assert exits.command_of(["task", "ls", "--json"]) == "pro0 task list"
    with pytest.raises(pytest.fail.Exception, match="`pro0 task list` ended with 7"):
        exits.hold(["task", "ls", "--json"], 7)
