"""Members' worktrees below the home: save and remove them; keep and name work that is unmerged or cannot be saved."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from shlex import quote

from pro0 import looking
from pro0.errors import Pro0Error
from pro0.git.commands import Git
from pro0.model.ids import HUMAN, LEAD
from pro0.model.task import Task
from pro0.ops.repair.evidence import entries, opened
from pro0.rules.lead import dispatch
from pro0.rules.words import leftovers
from pro0.store.paths import CODE, trees_of, worktrees
from pro0.store.teams import Store, TeamStore
from pro0.worktrees import Repository, leavings, stashes
from pro0.worktrees.work import work_in

Say = Callable[[str], None]


def clear(folder: Path, project: Path | None, say: Say, *, save: bool = True) -> list[str]:
    """Save and remove the worktrees in a folder; return the kept branches and the kept worktrees.

    The worktrees belong to the project's checkout; with None, each belongs to its own repository. Without `save`, a
    worktree that holds work stays as it is.
    """
    not_removed = [text for path in entries(folder) for text in _removed(path, project, say, save=save)]
    with suppress(OSError):
        folder.rmdir()
    return not_removed


def next_step(leftover: str) -> str:
    """Return a hint about a branch, or the path of a worktree, that was not removed."""
    if leftover.startswith("/"):
        return f"look: git -C {quote(leftover)} status; once git can work there: pro0 doctor --repair"
    return f"look: git log HEAD..{leftover}; merge it, or leave it"


def unmerged(team: TeamStore, project: Path) -> list[str]:
    """Return the branches of a team's workers and members with commits missing in the project's checkout.

    Documents name these branches, or git has them under the name of a member: a failure or a kill may come before a
    document is written, and a new session may have another branch. A branch in another team's documents is that team's.
    """
    named, others = _named(team), set[str]()
    with suppress(Pro0Error):
        repository = Repository(project)
        with suppress(Pro0Error):
            found = {*leavings.of_a_team(repository, team.name, _members(team), team.config.read().created_at)}
            for name in Store(team.paths.home).names() if found - named else ():
                neighbour = None if name == team.name else opened(Store(team.paths.home), name)
                others |= _named(neighbour) if neighbour else set()
            named |= found - others
        return [branch for branch in repository.unmerged(named) if branch in named]
    return []


def left_branches(team: TeamStore, project: Path) -> list[str]:
    """Remove the merged branches that a team's documents name, and return its unmerged ones.

    A member that has gone on to another branch has left its own one behind.
    """
    with suppress(Pro0Error):
        repository = Repository(project)
        for name in sorted(_named(team)):
            with suppress(Pro0Error):
                repository.drop(name)
    return unmerged(team, project)


def left_before(team: TeamStore, task: Task) -> set[str]:
    """Return the branches of a task's earlier workers, as its history names them."""
    history = [*task.history]
    with suppress(Pro0Error):  # a damaged page must not hide the newer entries
        history += team.tasks.earlier(task)
    return set(dispatch.earlier_branches(history))


def _named(team: TeamStore) -> set[str]:
    """Return the branches named in a team's documents; a damaged document counts as far as it can be read."""
    names = set[str]()
    with suppress(Pro0Error):
        names |= {state.branch for state in team.runtime.read().seats}
    with suppress(Pro0Error):
        listed = team.tasks.read()
        names |= {name for task in listed.tasks for name in (task.branch or "", *left_before(team, task))}
        for task in team.tasks.archived(listed):
            names |= {task.branch or "", *left_before(team, task)}
    return names - {""}


def _members(team: TeamStore) -> set[str]:
    """Return everybody who was ever a member."""
    members = set[str]()
    with suppress(Pro0Error):
        members |= {seat.agent_id for seat in team.wanted.read().seats}
    with suppress(Pro0Error):
        members |= {state.agent_id for state in team.runtime.read().seats}
    with suppress(Pro0Error):
        members |= {*team.mailbox_owners()}  # a worker's mailbox stays when its seat is gone
    return members - {LEAD, HUMAN}


def clear_unused(folder: Path, project: Path) -> None:
    """Remove the worktrees without content of their own in a folder (behaviour 3.14, cleanupOnExit).

    The log of a worktree names the branches that were made in it. So a cleanup can name those that are not merged.
    """
    with suppress(Pro0Error):  # cleanup reports the error
        for path in entries(folder):
            with suppress(Pro0Error):
                repository = Repository(project)
                if not leavings.unmerged_made_in(repository, path):
                    repository.remove_unused(path)
    with suppress(OSError):
        folder.rmdir()


def left_over(store: Store) -> Iterator[Path]:
    """Yield worktree folders without a team, here or on another machine; a team exists before its worktrees do."""
    folders = entries(worktrees(store.home))
    owned = {worktrees(store.home) / repository.stem for repository in entries(store.home / CODE)}
    for name in store.names():
        try:
            owned.add(trees_of(store.home, name, store.team(name).config.read().uid))
        except Pro0Error:
            return  # any folder may belong to the unreadable team
    yield from (folder for folder in folders if folder not in owned)


def clear_left_over(store: Store, say: Say) -> None:
    """Save and remove the worktrees without a team."""
    for folder in list(left_over(store)):
        names = ", ".join(clear(folder, None, say))
        say(f"{folder} held worktrees of no team: removed them" + (f", kept {names}" if names else ""))


def _removed(path: Path, project: Path | None, say: Say, *, save: bool) -> list[str]:
    """Remove one worktree; return its kept branches, or its path when it stays."""
    with suppress(OSError):
        path.rmdir()  # an empty folder never held a worktree
        return []
    if not save and (work := work_in(path)):
        say(f"{path} stays: {work}")
        return [str(path)]
    try:
        repository = Repository(project or Repository(path).all()[0].path)
        made, stashed = leavings.made_in(repository, path), stashes.left_by(Git(repository.checkout), path)
        branches = [repository.remove(path, f"{path.name}: what was not committed")]
        branches += [name for name in repository.unmerged(made) if name in made]
        for commit in stashed:
            say(leftovers.stash_kept(path.name, commit))
        if looking.exists(path):
            say(f"{path} cannot be deleted by pro0; its work is saved")
        if project is None:  # no team's documents name more of its branches
            branches += leavings.of_a_team(repository, path.parent.name.rpartition("-")[0], [path.name])
        return [*dict.fromkeys(filter(None, branches))]
    except Pro0Error as error:
        say(f"{path} stays: {error.message}")
        return [str(path)]
