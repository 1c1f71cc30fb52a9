"""The removal of a whole home: pro0's files go, all other files stay."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from pro0 import looking
from pro0.store import atomic, health
from pro0.store.files import translate
from pro0.store.lock import locked
from pro0.store.paths import (
    ARCHIVES,
    ASIDE,
    CODE,
    HOSTS,
    LOCK,
    NEW,
    PIN,
    PROOFS,
    QUEUE,
    ROLES,
    TRASH,
    TRUSTED,
    WORKTREES,
)
from pro0.store.removal import trees

_OWN = frozenset({"teams", "tasks", "mailboxes", "web", "layouts", ARCHIVES, HOSTS, WORKTREES})
_OWN |= {CODE, ROLES, TRUSTED, PROOFS, PIN, LOCK, QUEUE}
_HALF = (NEW, TRASH, atomic.TEMPORARY)


def others(home: Path, settings: str) -> Iterator[Path]:
    """Yield the entries of a home that pro0 does not know; `settings` is the name of the settings file."""
    for path in trees.entries(home):
        if path.name.partition(ASIDE)[0] not in {*_OWN, settings} and not path.name.startswith(_HALF):
            yield path


def foreign(home: Path) -> Iterator[Path]:
    """Yield the files that another user owns in a home, except worktrees."""
    yield from health.foreign(*(path for path in trees.entries(home) if path.name != WORKTREES))


def remove(home: Path, settings: str, look: Callable[[], None] = lambda: None) -> bool:
    """Remove pro0's files from a home without teams, under its lock; return True when the home is gone.

    `look` is called first under the lock, and raises when something must stay: teams are made under the same lock.
    The caller has removed worktrees and the repositories of guests one by one before; a folder with the rest stays.
    """
    try:
        with locked(home, "uninstall"):
            look()
            spared = {*others(home, settings), home / LOCK}
            for path in trees.entries(home):
                if path.name in (WORKTREES, CODE):
                    with suppress(OSError):
                        path.rmdir()
                elif path not in spared:
                    trees.remove(path)
            trees.remove(home / LOCK)
            with suppress(OSError):
                home.rmdir()
    except OSError as error:
        translate(error, home)
    return not looking.exists(home)
