"""Members' worktrees below the home: saved and removed; what is not merged, or cannot be saved, is kept and named."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from pro0.errors import Pro0Error
from pro0.ops.repair.evidence import entries
from pro0.store.paths import trees_of, worktrees
from pro0.store.teams import Store, TeamStore
from pro0.worktrees import Repository

Say = Callable[[str], None]


def clear(folder: Path, project: Path | None, say: Say) -> list[str]:
    """Save and remove the worktrees in a folder; return the branches that stay, and the worktrees that cannot go.

    They are those of a project's checkout, None for whichever repository they belong to.
    """
    kept = [left for path in entries(folder) if (left := _removed(path, project, say))]
    with suppress(OSError):
        folder.rmdir()
    return kept


def unmerged(team: TeamStore, project: Path) -> list[str]:
    """Return the branches that workers of a team have left and that hold what the project's checkout does not."""
    with suppress(Pro0Error):
        known = team.tasks.read()
        left = {task.branch for task in (*known.tasks, *team.tasks.archived(known)) if task.branch}
        return [branch for branch in Repository(project).unmerged() if branch in left] if left else []
    return []


def clear_unused(folder: Path, project: Path) -> None:
    """Remove those worktrees in a folder that hold nothing of their own (behaviour 3.14, cleanupOnExit)."""
    for path in entries(folder):
        with suppress(Pro0Error):  # cleanup says what is wrong with it
            Repository(project).remove_unused(path)
    with suppress(OSError):
        folder.rmdir()


def left_over(store: Store) -> Iterator[Path]:
    """Yield the folders that hold worktrees of teams that are not there; a team is there before its worktrees are."""
    folders, known = entries(worktrees(store.home)), set()
    for name in store.names():
        try:
            known.add(trees_of(store.home, name, store.team(name).config.read().uid))
        except Pro0Error:
            return  # any of them may be that team's
    yield from (folder for folder in folders if folder not in known)


def clear_left_over(store: Store, say: Say) -> None:
    """Save and remove the worktrees of teams that are not there."""
    for folder in list(left_over(store)):
        names = ", ".join(clear(folder, None, say))
        say(f"{folder} held worktrees of no team: removed them" + (f", kept {names}" if names else ""))


def _removed(path: Path, project: Path | None, say: Say) -> str:
    """Remove one worktree; return what is kept of it, empty for nothing."""
    with suppress(OSError):
        path.rmdir()  # nothing was ever in it
        return ""
    try:
        return Repository(project or Repository(path).all()[0].path).remove(
            path, f"{path.name}: what was not committed"
        )
    except Pro0Error as error:
        say(f"{path} stays: {error.message}")
        return str(path)
