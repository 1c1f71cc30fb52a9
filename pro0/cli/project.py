"""Which project a directory belongs to, read from git's own files: no git is started for it."""

from collections.abc import Iterable
from pathlib import Path

from pro0.errors import BadInput, Pro0Error, StoreError
from pro0.store.teams import Store


def root(folder: Path) -> Path:
    """Return the top of the git work tree around a folder, else the folder itself."""
    return next((place for place in (folder, *folder.parents) if (place / ".git").exists()), folder)


def common(folder: Path) -> Path | None:
    """Return the git directory that all work trees of the folder's repository share, or None outside git."""
    git = root(folder) / ".git"
    if git.is_dir():
        return git
    try:
        pointer = git.read_text(errors="replace").partition("gitdir:")[2].strip()
        own = (git.parent / pointer).resolve()
        shared = (own / "commondir").read_text(errors="replace").strip()
        return (own / shared).resolve()
    except OSError:
        return None


def bound(store: Store, folder: Path) -> list[str]:
    """Return the teams of the nearest project around a folder, else those of its repository's other work trees.

    A team whose config cannot be read is passed over while another fits, else its error is raised: it might have been
    the one.
    """
    projects, trouble = _projects(store)
    for place in (folder, *folder.parents):
        if found := [name for name, project in projects.items() if project == place]:
            return found
    shared = common(folder)
    found = [name for name, project in projects.items() if shared and project.exists() and common(project) == shared]
    if not found and trouble:
        raise trouble[0]
    return found


def several(names: Iterable[str]) -> BadInput:
    """Return the error for a project with more than one team."""
    listed = ", ".join(sorted(names))
    return BadInput(f"this project has several teams: {listed}", code="which_team", hint="choose one with -t NAME")


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
