"""Adding and removing a member's worktree, beside the time of git itself; in a small and in a larger project."""

import itertools
from collections.abc import Iterator
from pathlib import Path

from bench.figure import Figure, interleaved
from bench.scratch import run, world
from pro0.worktrees import Repository, branch_of

ROUNDS = 15
GOAL = 3.0
FILES = (10, 3000)


def figures() -> Iterator[Figure]:
    """Measure adding, and removing with one uncommitted file, at each size of a project."""
    with world() as folder:
        for count in FILES:
            project = _project(folder / f"project-{count}", count)
            ours, theirs = _Ours(project, folder), _Theirs(project, folder)
            add, floor = interleaved([ours.add, theirs.add], ROUNDS)
            yield Figure(f"worktree add, {count} files", add, "ms", GOAL, "x", floor, "git worktree add")
            remove, floor = interleaved([ours.remove, theirs.remove], ROUNDS)
            yield Figure(f"worktree save and remove, {count} files", remove, "ms", GOAL, "x", floor, "git's own")


class _Ours:
    """Worktrees as the lead makes them."""

    def __init__(self, project: Path, folder: Path) -> None:
        self._repository = Repository(project)
        self._place = folder / f"ours-{project.name}"
        self._numbers = itertools.count()
        self._all: list[Path] = []

    def add(self) -> None:
        """Add the next one, and leave a file in it."""
        number = next(self._numbers)
        tree = self._repository.add(self._place / f"w{number}", branch_of(f"w{number}", "task-1"))
        (tree.path / "unsaved").write_text("mine\n")
        self._all.append(tree.path)

    def remove(self) -> None:
        """Save and remove the last one made."""
        self._repository.remove(self._all.pop(), "saved")


class _Theirs:
    """The least work with git for the same result."""

    def __init__(self, project: Path, folder: Path) -> None:
        self._git = ("git", "-C", str(project))
        self._place = folder / f"theirs-{project.name}"
        self._numbers = itertools.count()
        self._all: list[Path] = []

    def add(self) -> None:
        """Add the next one, and leave a file in it."""
        number = next(self._numbers)
        path = self._place / f"w{number}"
        run(*self._git, "worktree", "add", "-q", "--no-track", "-b", f"theirs/{number}", path)
        (path / "unsaved").write_text("mine\n")
        self._all.append(path)

    def remove(self) -> None:
        """Commit and remove the last one made."""
        path = self._all.pop()
        run("git", "-C", path, "add", "-A")
        run("git", "-C", path, "commit", "-qm", "saved")
        run(*self._git, "worktree", "remove", path)


def _project(folder: Path, count: int) -> Path:
    folder.mkdir()
    for number in range(count):
        path = folder / f"d{number % 50}" / f"f{number}"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"line {number}\n" * 20)
    for words in (
        ("init", "-q", "-b", "main"),
        ("config", "user.name", "bench"),
        ("config", "user.email", "bench@localhost"),
        ("add", "-A"),
        ("commit", "-qm", "all"),
    ):
        run("git", "-C", folder, *words)
    return folder
