"""A member's branch at home, while nobody has written down which one it is: before its first session."""

import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0.ops.context import Context
from pro0.ops.work import travelling
from pro0.ops.work.travelling import MemberCode
from pro0.worktrees.travels import Travelling
from tests.cli.conftest import make, seat
from tests.repositories import commit, git

FIRST = "teams/alpha/bob"
SSH = '#!/bin/sh\nfor last; do :; done\nPATH="{bin}:$PATH" PRO0_HOME="{home}" exec sh -c "$last"\n'


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of the other machine, which is this one."""
    script, home = tmp_path / "ssh", tmp_path / "there"
    script.write_text(SSH.format(bin=Path(sys.executable).parent, home=home))
    script.chmod(0o755)
    monkeypatch.setenv("PRO0_SSH", str(script))
    return home


@pytest.fixture
def context(home: Path, project: Path) -> Context:
    """A team with a member on another machine."""
    context = make(home, "alpha", project)
    seat(context, "bob")
    with context.team.wanted.change("test") as wanted:
        seats = tuple(replace(one, host="build1", worktree=True) for one in wanted.value.seats)
        wanted.value = replace(wanted.value, seats=seats)
    return context


def code(context: Context) -> MemberCode:
    return MemberCode(context.team, context.team.wanted.read().seats[0])


def tree(there: Path) -> Path:
    [found] = there.glob("worktrees/*/bob")
    return found


def test_a_branch_that_a_killed_lead_has_not_sent_keeps_nobody(context: Context, project: Path, there: Path) -> None:
    """behaviour 3.32: it holds nothing, so the team can be looked at and removed."""
    Travelling(project).begin(FIRST)
    assert code(context).bring() == git(project, "rev-parse", "HEAD")
    assert not travelling.clear(context.team, print, save=True, force=False)
    assert git(project, "branch", "--list", "teams/*") == ""
    assert not list((there / "code").glob("*"))


def test_a_lead_that_goes_on_begins_at_the_present_commit(context: Context, project: Path, there: Path) -> None:
    """behaviour 3.32: what a killed one has begun, and not sent, is of yesterday."""
    Travelling(project).begin(FIRST)
    now = commit(project, "later", "1\n")
    branch = code(context).send()
    assert git(tree(there), "rev-parse", "HEAD") == now == git(project, "rev-parse", branch)


@pytest.fixture
def formers(project: Path) -> str:
    """The work of a former team of the same name, which its cleanup has named and kept."""
    git(project, "switch", "-q", "-c", FIRST)
    work = commit(project, "old", "work\n")
    git(project, "switch", "-q", "main")
    return work


def test_a_former_teams_branch_is_not_sent(context: Context, project: Path, there: Path, formers: str) -> None:
    """behaviour 3.32: a worktree begins at the checkout's commit, on the next free name."""
    assert code(context).send() == f"{FIRST}-2"
    assert git(tree(there), "rev-parse", "HEAD") == git(project, "rev-parse", "main")
    assert git(project, "rev-parse", FIRST) == formers


def test_a_restart_goes_on_with_the_branch_of_the_session_before(
    context: Context, project: Path, there: Path, formers: str
) -> None:
    """behaviour 3.32: until the new session has begun, nothing is written down of it."""
    branch = Travelling(project).begin(FIRST)
    with context.team.runtime.change("test") as runtime:
        runtime.value = replace(runtime.value, seats=tuple(replace(one, branch=branch) for one in runtime.value.seats))
    with context.team.wanted.change("test") as wanted:
        wanted.value = replace(wanted.value, seats=tuple(replace(one, generation=2) for one in wanted.value.seats))
    assert code(context).send() == branch
    assert git(project, "rev-parse", FIRST) == formers


def test_a_former_teams_branch_is_nothing_that_must_come_home(
    context: Context, project: Path, formers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """behaviour 3.32: nothing was ever sent, so no machine is asked."""
    monkeypatch.setenv("PRO0_SSH", "false")
    assert not travelling.clear(context.team, print, save=True, force=False)
    assert git(project, "rev-parse", FIRST) == formers


def test_a_former_teams_branch_stays_where_a_killed_lead_made_another(
    context: Context, project: Path, there: Path, formers: str
) -> None:
    """behaviour 3.32: the name that its cleanup told leads to its work."""
    member = code(context)
    member.branch = Travelling(project).begin(FIRST)
    assert member.send() == f"{FIRST}-2"
    travelling.clear(context.team, print, save=True, force=False)
    assert git(project, "rev-parse", FIRST) == formers
