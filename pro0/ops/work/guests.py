"""The code of other machines' members here: a repository for each of their teams, with worktrees."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from pro0 import looking
from pro0.errors import Pro0Error
from pro0.ops.repair.evidence import entries
from pro0.store.files import exists
from pro0.store.paths import CODE, worktrees
from pro0.store.removal import trees
from pro0.worktrees.travels import Guest
from pro0.worktrees.work import work_in


def clear(home: Path, say: Callable[[str], None]) -> list[str]:
    """Remove the worktrees and repositories whose work is all home; return those that stay."""
    stays = list[str]()
    for repository in entries(home / CODE):
        folder = worktrees(home) / repository.stem
        for tree in entries(folder):
            if why := _reason_to_stay(repository, tree):
                say(f"{tree} stays: {why}")
                stays.append(str(tree))
        with suppress(OSError):
            folder.rmdir()
        if exists(folder):
            continue  # its worktrees need it
        if work := work_of(home, repository):
            say(f"{repository} stays: {work}")
            stays.append(str(repository))
        else:
            trees.remove(repository)
    return stays


def work_of(home: Path, repository: Path) -> str:
    """Return the reason to keep a repository besides its members' worktrees, "" for none; an error is a reason."""
    try:
        if not exists(repository / "HEAD"):
            return ""  # nothing was ever sent into it
        guest, trees_here = Guest(repository, repository), (worktrees(home) / repository.stem).resolve()
        elsewhere = [
            tree.path for tree in guest.all()[1:] if trees_here not in tree.path.parents and looking.exists(tree.path)
        ]
        if elsewhere:
            return f"it has the worktree {elsewhere[0]}"
        refs = guest.left()
    except Pro0Error as error:
        return error.message
    return f"it keeps {', '.join(refs)}, with commits that were not brought home" if refs else ""


def _reason_to_stay(repository: Path, tree: Path) -> str:
    """Remove a worktree whose work is all home; return the reason when it stays, else ""."""
    with suppress(OSError):
        tree.rmdir()  # an empty folder never held a worktree
        return ""
    if work := work_in(tree):
        return work
    try:
        Guest(repository, tree).leave("", "")
    except Pro0Error as error:  # also raised when the worktree is gone and the repository keeps something
        return error.message if looking.exists(tree) else ""
    return ""
