"""Names that are no names: exit 2, and nothing is written (check 29 of the reliability study, S004-068, AC-66)."""

from pathlib import Path

import pytest

from pro0.ops.context import Context
from tests.cli.conftest import Pro0, tree

BAD = ["", ".", "..", "../x", "a/b", "a\\b", "a\nb", "\x1b[31m", "#(touch x)", "#{pid}", "a:b", "a.b", "a;b", "$(id)"]
BAD += ["`id`", "'", '"', "%s", "*", "~", "x" * 49, "Foo", "cafe\u0301", "\u0430lpha", "a\u200bb", "\u202eabc"]
BAD += ["a.", "a ", "config.json", ".lock", "team name"]
RESERVED = ["all", "human", "lead"]
FREER = {"Foo", "team name", "a "}
"""Display names may hold capitals and spaces (S004-100)."""


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("command", ["start", "status", "cleanup"])
def test_a_bad_team_name_is_refused_with_nothing_written(command: str, name: str, pro0: Pro0, home: Path) -> None:
    called = pro0("team", command, "--", name)
    assert called.code == 2, called
    assert "cannot be a team name" in called.err
    assert not home.exists()


@pytest.mark.parametrize("name", [*[name for name in BAD if name not in FREER], *RESERVED])
def test_a_bad_member_name_is_refused_with_nothing_written(name: str, pro0: Pro0, home: Path, team: Context) -> None:
    before = tree(home)
    assert pro0("member", "spawn", "-t", "alpha", "--", name).code == 2
    assert tree(home) == before


@pytest.mark.parametrize("name", [*[name for name in BAD if name not in FREER], *RESERVED])
def test_a_team_with_a_bad_member_is_not_begun(name: str, pro0: Pro0, home: Path) -> None:
    assert pro0("team", "start", "alpha", "--detach", "--mode", "headless", f"-m{name}=shell").code == 2
    assert not home.exists()


@pytest.mark.parametrize("name", ["-rf", "-x"])
def test_what_looks_like_an_option_is_one(name: str, pro0: Pro0, home: Path) -> None:
    assert pro0("team", "start", name).code == 2
    assert not home.exists()


@pytest.mark.parametrize("id", ["0", "-1", "task-", "task-0", "7x", "", "../1", "1e3", "٣", "1" * 30])
def test_what_is_no_task_id_is_refused(id: str, pro0: Pro0, home: Path, team: Context) -> None:
    before = tree(home)
    assert pro0("task", "claim", "--", id).code == 2
    assert tree(home) == before


BEGUN_BADLY = [
    pytest.param(("-m", "w1"), id="no agent"),
    pytest.param(("-m", "w1=nobody"), id="an agent that does not exist"),
    pytest.param(("-m", "w1=command"), id="a command member needs a program"),
    pytest.param(("-m", "w1=shell", "-m", "W1=shell"), id="AC-67 two that differ only in case"),
    pytest.param(("-m", "a b=shell", "-m", "a-b=shell"), id="two of one agent id"),
    pytest.param(tuple(f"-mw{n}=shell" for n in range(11)), id="AC-67 S004-070 the eleventh"),
    pytest.param(("--lead", "shell"), id="a shell cannot lead"),
    pytest.param(("--lead", "nobody"), id="no such lead agent"),
    pytest.param(("do it", "--lead", "none"), id="S004-010 nobody takes a prompt"),
    pytest.param(("--task", "two\nlines"), id="a title is one line"),
    pytest.param(("--task", ""), id="no title"),
    pytest.param(("--mode", "screen"), id="no such mode"),
]


@pytest.mark.parametrize("arguments", BEGUN_BADLY)
def test_what_is_wrong_with_a_start_is_found_before_anything_is_made(
    arguments: tuple[str, ...], pro0: Pro0, home: Path
) -> None:
    called = pro0("team", "start", "alpha", *arguments)
    assert called.code == 2, called
    assert not home.exists()


def test_iterm2_elsewhere_says_what_is_missing(pro0: Pro0, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S004-058: nothing falls back in silence (rulings 3.13)."""
    monkeypatch.delenv("ITERM_SESSION_ID", raising=False)
    called = pro0("team", "start", "alpha", "--mode", "iterm2")
    assert called.code == 6
    assert "is not a session of iTerm2" in called.err
    assert not home.exists()


def test_without_tmux_its_mode_says_so(pro0: Pro0, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """AC-78"""
    monkeypatch.setenv("PATH", "/nowhere")
    called = pro0("team", "start", "alpha", "--mode", "tmux")
    assert called.code == 6
    assert "tmux is not installed" in called.err
    assert not home.exists()


def test_teams_that_are_turned_off_are_refused(pro0: Pro0, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """AC-77 S004-105 S004-110"""
    monkeypatch.setenv("PRO0_EXPERIMENTAL_AGENT_TEAMS", "0")
    called = pro0("team", "start", "alpha", "-m", "w1=shell")
    assert called.code == 4
    assert "turned off" in called.err
    assert not home.exists()


def test_a_bad_setting_names_its_key(pro0: Pro0, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """AC-77"""
    monkeypatch.setenv("PRO0_MAX_TEAMMATES", "many")
    called = pro0("team", "start", "alpha")
    assert called.code == 2
    assert "maxTeammates" in called.err
    assert not home.exists()


@pytest.mark.parametrize("command", [("resume",), ("restart", "w1"), ("spawn", "w9")], ids=" ".join)
def test_nothing_starts_while_teams_are_off(
    command: tuple[str, ...], pro0: Pro0, home: Path, team: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AC-77"""
    monkeypatch.setenv("PRO0_EXPERIMENTAL_AGENT_TEAMS", "0")
    before = tree(home)
    assert pro0("team" if command == ("resume",) else "member", *command).code == 4
    assert tree(home) == before
