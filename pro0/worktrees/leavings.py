"""The branches that members leave, according to git: documents may name another branch, or none any more."""

import re
from collections.abc import Collection, Sequence
from datetime import datetime
from pathlib import Path

from pro0 import looking
from pro0.errors import EnvironmentMissing
from pro0.git.commands import HEADS, PASSING, Git
from pro0.worktrees import aside
from pro0.worktrees.names import PREFIX, SAVED, is_anothers, sane, saved_from
from pro0.worktrees.repository import Repository


def of_a_session(repository: Repository, known_names: Sequence[str], tree: Path, since: datetime | None) -> list[str]:
    """Return the unmerged branches of an ended session, without those that are contained in another of them.

    `known_names` come from documents and from the removal, the most important first. Branches that were saved from its
    worktree `since` the session began come after them.
    """
    git, saved = Git(repository.checkout), f"{PREFIX}/{sane(tree.name)}/saved-"
    unmerged = {name for name in repository.unmerged(known_names) if name in known_names}
    if since:
        branches = {name for name in repository.unmerged(since=since) if name.startswith(saved)} - unmerged
        unmerged |= {name for name in branches if _is_from(git, name, tree)}
    ordered = [name for name in known_names if name in unmerged] + sorted(unmerged.difference(known_names))
    if len(ordered) < 2:
        return ordered
    tips = {git.run("rev-parse", f"{HEADS}{name}"): name for name in reversed(ordered)}
    newest = git.run("merge-base", "--independent", *tips).split()
    return sorted((tips[commit] for commit in newest), key=ordered.index)


def made_in(repository: Repository, worktree: Path) -> list[str]:
    """Return the branches whose newest commit was made in a worktree, by its own log, but no other member's branch."""
    commits = set[str]()
    if looking.is_file(worktree / ".git"):
        try:
            commits = aside.made_in(Git(worktree).private())
        except EnvironmentMissing as error:
            if error.message.endswith(PASSING):
                raise
    listed = Git(repository.checkout).run("for-each-ref", "--format=%(objectname) %(refname)", HEADS) if commits else ""
    parted = (line.partition(f" {HEADS}") for line in listed.splitlines())
    return [name for commit, _, name in parted if commit in commits and not is_anothers(name, worktree.name)]


def unmerged_made_in(repository: Repository, worktree: Path) -> list[str]:
    """Return the unmerged branches whose newest commit was made in a worktree, but no other member's branch."""
    made = made_in(repository, worktree)
    return [name for name in repository.unmerged(made) if name in made]


def of_a_team(
    repository: Repository, team: str, members: Collection[str], since: datetime | None = None
) -> tuple[str, ...]:
    """Return the unmerged branches named for a team's members, with a commit made `since` the team began."""
    names = set(map(sane, members))
    return tuple(branch for branch in repository.unmerged(since=since) if _is_named_for(branch, sane(team), names))


def _is_from(git: Git, branch: str, tree: Path) -> bool:
    """Return True for a branch saved from a worktree, or whose log names no worktree: git may have expired that."""
    _, text = git.attempt("reflog", "show", "--format=%gs", f"{HEADS}{branch}", "--")
    notes = [line for line in text.splitlines() if line.startswith(SAVED)]
    return not notes or saved_from(tree) in notes


def _is_named_for(branch: str, team: str, members: Collection[str]) -> bool:
    """Return True for a worker's branch or a saved one, `teams/MEMBER/…`, and a teammate's, `teams/TEAM/MEMBER`."""
    owner, _, name = branch.removeprefix(f"{PREFIX}/").partition("/")
    return owner in members or (owner == team and (name in members or re.sub(r"-\d+$", "", name) in members))
