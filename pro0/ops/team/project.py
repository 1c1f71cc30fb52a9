"""The project of a directory, read from git's own files without running git."""

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from pro0 import looking
from pro0.errors import BadInput, ErrorCode, Pro0Error, StoreError
from pro0.store.teams import Store

LIMIT = 16 * 1024
"""The longest part read of a git file naming a folder, in bytes."""


def root(folder: Path) -> Path:
    """Return the top of the git work tree around a folder, else the folder itself."""
    return next((place for place in (folder, *folder.parents) if looking.exists(place / ".git")), folder)


def common(folder: Path) -> Path | None:
    """Return the git directory shared by all work trees of the folder's repository, None outside git."""
    git = root(folder) / ".git"
    if looking.is_folder(git):
        return git
    try:
        pointer = _text(git).partition("gitdir:")[2].strip()
        git_dir = (git.parent / pointer).resolve()
        return (git_dir / _text(git_dir / "commondir").strip()).resolve()
    except (OSError, ValueError, RuntimeError):  # no such file; a NUL, or a ring of links, in a path
        return None


def _text(path: Path) -> str:
    """Return the beginning of a small file; git's own files name one folder. Raises OSError for a non-file."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise OSError(f"{path} is not a regular file")
        return os.fsdecode(stream.read(LIMIT))


def bound(store: Store, folder: Path) -> list[str]:
    """Return the teams of the nearest project around a folder, else of its repository's other work trees.

    A team with an unreadable config is skipped while another team matches. Otherwise its error is raised: it might be
    the right team.
    """
    projects, trouble = _projects(store)
    for place in (folder, *folder.parents):
        if teams := [name for name, project in projects.items() if project == place]:
            return teams
    shared = common(folder)
    teams = [
        name for name, project in projects.items() if shared and looking.exists(project) and common(project) == shared
    ]
    if not teams and trouble:
        raise trouble[0]
    return teams


def several(names: Iterable[str]) -> BadInput:
    """Return the error for a project with more than one team."""
    listed = ", ".join(sorted(names))
    return BadInput(
        f"this project has several teams: {listed}", code=ErrorCode.WHICH_TEAM, hint="choose one with -t NAME"
    )


def _projects(store: Store) -> tuple[dict[str, Path], list[Pro0Error]]:
    projects: dict[str, Path] = {}
    trouble: list[Pro0Error] = []
    for name in store.names():
        try:
            projects[name] = Path(store.team(name).config.read().project).resolve()
        except StoreError as error:
            trouble.append(error)
        except Pro0Error:
            continue
    return projects, trouble
