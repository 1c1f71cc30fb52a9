"""Worktrees of teammates: made before the session opens, used again, saved and removed at cleanup (S002-053 to 059)."""

import os
import signal
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0.engine.cleanup import cleanup
from pro0.errors import EnvironmentMissing, Kept
from pro0.model.task import Draft, Status
from pro0.ops.team import members
from pro0.ops.team.members import SeatDraft
from pro0.ops.work import checkouts
from pro0.store.paths import worktrees
from tests.engine.crew import PATIENCE, Crew, kill
from tests.repositories import commit, git, repository_in
from tests.waiting import wait_until


@pytest.fixture
def apart(alpha: Crew) -> Crew:
    """A team in a repository, whose members get worktrees."""
    repository_in(alpha.project)
    with alpha.team.config.change("a test") as change:
        change.value = replace(change.value, worktrees=True)
    return alpha


def tree(crew: Crew, name: str) -> Path:
    return Path(crew.state(name).worktree)


def test_each_member_works_in_a_worktree_of_its_own(apart: Crew) -> None:
    """AC-92: on a branch of its own, from HEAD; what one writes no other sees."""
    apart.lead()
    apart.spawn("w1", "w2")
    ids = apart.give(*(Draft(title="t", run="pwd > where", assignee=name) for name in ("w1", "w2")))
    apart.settled(*ids)
    for name in ("w1", "w2"):
        assert (tree(apart, name) / "where").read_text().strip() == str(tree(apart, name))
        assert git(tree(apart, name), "rev-parse", "--abbrev-ref", "HEAD") == f"teams/alpha/{name}"
        assert apart.state(name).branch == f"teams/alpha/{name}"
    assert not (apart.project / "where").exists()


def test_who_is_to_share_the_checkout_shares_it(apart: Crew) -> None:
    apart.lead()
    apart.spawn(SeatDraft(name="w1", worktree=False))
    [id] = apart.give(Draft(title="t", run="pwd > where"))
    apart.settled(id)
    assert (apart.project / "where").read_text().strip() == str(apart.project)
    assert not worktrees(apart.store.home).exists()


def test_a_new_session_goes_on_in_the_same_worktree(apart: Crew) -> None:
    apart.lead()
    apart.spawn("w1")
    before = apart.state("w1")
    (tree(apart, "w1") / "unsaved").write_text("mine\n")
    apart.shut_down("w1")
    members.restart(apart.context, "w1")
    wait_until(lambda: apart.state("w1").incarnation != before.incarnation, PATIENCE, "w1 is up again")
    assert apart.state("w1").worktree == before.worktree
    assert (tree(apart, "w1") / "unsaved").read_text() == "mine\n"


def test_without_a_repository_it_is_said_and_undone(alpha: Crew) -> None:
    alpha.lead()
    with pytest.raises(EnvironmentMissing, match="is not in a git repository"):
        alpha.spawn(SeatDraft(name="w1", worktree=True))
    wait_until(lambda: not alpha.team.wanted.read().seats, PATIENCE, "the seat is taken back")


def test_a_lead_that_dies_meanwhile_harms_nothing(apart: Crew) -> None:
    """must show 5: killed while worktrees are made, at ten moments; the next lead has all sessions up, each once."""
    for turn in range(10):
        lead = apart.lead()
        members.spawn(apart.context, [SeatDraft(name=f"w{turn}")], 20)
        wait_until(lambda: "prepare" in apart.log(), PATIENCE, "it has begun")
        os.kill(lead.pid, signal.SIGKILL)
        lead.wait()
    apart.lead()
    names = [f"w{turn}" for turn in range(10)]
    wait_until(lambda: set(apart.pids()) == set(names), PATIENCE, "all are up")
    assert {git(tree(apart, name), "rev-parse", "--abbrev-ref", "HEAD") for name in names} == {
        f"teams/alpha/{name}" for name in names
    }
    assert len(git(apart.project, "worktree", "list").splitlines()) == 11


def test_cleanup_saves_and_keeps_what_is_not_merged(apart: Crew) -> None:
    """rulings 3.10: dirty files are committed first, an unmerged branch stays and is named, exit 7; AC-85"""
    apart.lead()
    apart.spawn("w1", "w2", "w3")
    made = commit(tree(apart, "w1"), "a", "1\n")
    (tree(apart, "w2") / "b").write_text("2\n")
    apart.stop()
    with pytest.raises(Kept, match=r"teams/alpha/w1, teams/alpha/w2$") as kept:
        cleanup(apart.store, "alpha", force=False, show=apart.shown.append)
    assert kept.value.exit_code == 7
    assert not apart.team.exists()
    assert not any(worktrees(apart.store.home).iterdir())
    assert git(apart.project, "rev-parse", "teams/alpha/w1") == made
    assert git(apart.project, "show", "teams/alpha/w2:b") == "2"
    assert git(apart.project, "branch", "--list", "teams/*", "--format=%(refname:short)").split() == [
        "teams/alpha/w1",
        "teams/alpha/w2",
    ]


def test_cleanup_names_the_branch_that_a_member_has_left(apart: Crew) -> None:
    """behaviour 3.10: a member may have gone on elsewhere, or wait in the middle of a rebase."""
    apart.lead()
    apart.spawn("w1")
    made = commit(tree(apart, "w1"), "a", "1\n")
    git(tree(apart, "w1"), "switch", "-q", "--detach", "main")
    apart.stop()
    with pytest.raises(Kept, match=r"kept: teams/alpha/w1$"):
        cleanup(apart.store, "alpha", force=False, show=apart.shown.append)
    assert git(apart.project, "rev-parse", "teams/alpha/w1") == made


def test_a_stop_takes_unused_worktrees_away_and_no_other(apart: Crew) -> None:
    """rulings 3.14, cleanupOnExit"""
    apart.lead()
    apart.spawn("w1", "w2")
    used, unused = tree(apart, "w1"), tree(apart, "w2")
    (used / "b").write_text("2\n")
    apart.stop()
    wait_until(lambda: not unused.exists(), PATIENCE, "the unused one goes")
    assert (used / "b").read_text() == "2\n"


def test_a_stop_leaves_a_branch_of_the_members_own_to_the_cleanup(apart: Crew) -> None:
    """behaviour 3.10: what is not merged is named, also when the worktree itself holds nothing more"""
    apart.lead()
    apart.spawn("w1")
    place = tree(apart, "w1")
    git(place, "switch", "-q", "-c", "mine")
    commit(place, "a", "1\n")
    git(place, "switch", "-q", "teams/alpha/w1")
    apart.stop()
    with pytest.raises(Kept, match=r"kept: mine$"):
        cleanup(apart.store, "alpha", force=False, show=apart.shown.append)


def test_a_branch_that_a_member_has_left_behind_goes_with_the_team(apart: Crew) -> None:
    """behaviour 3.10: an unmerged branch stays, a merged one does not"""
    apart.lead()
    apart.spawn("w1", "w2", "w3")
    git(tree(apart, "w1"), "switch", "-q", "-c", "mine")
    git(tree(apart, "w2"), "switch", "-q", "--detach")
    git(tree(apart, "w3"), "switch", "-q", "--detach")
    git(apart.project, "switch", "-q", "teams/alpha/w3")
    apart.stop()
    cleanup(apart.store, "alpha", force=False, show=apart.shown.append)
    left = git(apart.project, "branch", "--format=%(refname:short)").split()
    assert left == ["main", "mine", "teams/alpha/w3"], "a branch in use stays, and so does one that is not ours"


def test_worktrees_of_a_team_that_is_gone_are_found_and_saved(apart: Crew) -> None:
    apart.lead()
    apart.spawn("w1")
    place = tree(apart, "w1")
    (place / "b").write_text("2\n")
    apart.stop()
    assert not list(checkouts.left_over(apart.store))
    apart.store.discard("alpha", apart.config.uid)
    assert list(checkouts.left_over(apart.store)) == [place.parent]
    said: list[str] = []
    checkouts.clear_left_over(apart.store, said.append)
    assert said == [f"{place.parent} held worktrees of no team: removed them, kept teams/alpha/w1"]
    assert git(apart.project, "show", "teams/alpha/w1:b") == "2"
    assert not place.parent.exists()


def test_a_member_whose_worktree_is_gone_gets_it_again(apart: Crew) -> None:
    apart.lead()
    apart.spawn("w1")
    place, guard = tree(apart, "w1"), apart.report("w1").guard
    made = commit(place, "a", "1\n")
    kill(guard)
    wait_until(lambda: apart.state("w1").exit or "guard" in apart.state("w1").note, PATIENCE, "w1 is gone")
    git(apart.project, "worktree", "remove", "--force", str(place))
    apart.spawn("w1")
    assert apart.state("w1").branch == "teams/alpha/w1-2", "its first branch holds work"
    assert git(apart.project, "rev-parse", "teams/alpha/w1") == made
    [id] = apart.give(Draft(title="t", run="true"))
    assert apart.settled(id)[0].status is Status.COMPLETED
