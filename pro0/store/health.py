"""Look at the store and change nothing: locks, modes, left-over files, foreign entries."""

import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import msgspec
from filelock import lock_descriptor

from pro0 import looking, processes
from pro0.decoding import decode
from pro0.model import ids
from pro0.store import atomic
from pro0.store.files import translated
from pro0.store.lock import holder
from pro0.store.paths import ARCHIVES, ASIDE, LAUNCH, LEASE, LOCK, NEW, TRASH
from pro0.store.places.folder import unusable
from pro0.store.removal import archive, trees
from pro0.store.root import SESSIONS, TEAMS

STALE = 60.0
"""Seconds after which no live writer owns a temporary file or a launch file."""

_TEMPORARY = re.compile(re.escape(atomic.TEMPORARY) + r"[0-9a-f]{32}")
_OURS = re.compile(r".*\.(?:json|jsonl|lock|log|err)(?:" + re.escape(ASIDE) + r".*)?|" + re.escape(LOCK))
_UNFORESEEN = "Traceback (most recent call last)"
_MOST_WORDS = 16 * 1024 * 1024
_PID = re.compile(r'"?pid"?:? ?(\d+)')


class Held(NamedTuple):
    """A lock held by a process now."""

    path: Path
    by: str
    pid: int
    stopped: bool


class Loose(NamedTuple):
    """A file or folder with a wrong mode."""

    path: Path
    mode: int
    proper: int


def folders(home: Path, team: str | None = None) -> list[Path]:
    """Return pro0's folders in a home: those of all teams and of the archives, or those of one team."""
    tops = [home / "teams", home / "tasks", home / "mailboxes"]
    return [top / team for top in tops] if team else [*tops, home / ARCHIVES]


def walk(*tops: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield everything at and below some folders, never through a link; entries vanishing meanwhile are skipped.

    The content of an agent's folder for a session belongs to the agent, and is left out.
    """
    for top in tops:
        with suppress(OSError):
            yield top, top.lstat()
        for base, inside, names in os.walk(top):
            for name in sorted(inside + names):
                with suppress(OSError):
                    yield Path(base, name), Path(base, name).lstat()
            if Path(base).name == SESSIONS and Path(base).parent.parent.name == TEAMS:
                inside.clear()


def is_ours(path: Path, status: os.stat_result) -> bool:
    """Return True for the kinds of entries pro0 makes: folders, documents, logs, locks."""
    if stat.S_ISDIR(status.st_mode):
        return True
    return stat.S_ISREG(status.st_mode) and bool(_OURS.fullmatch(path.name) or _TEMPORARY.fullmatch(path.name))


def loose(*tops: Path) -> Iterator[Loose]:
    """Yield our entries open to other users, or closed to their owner."""
    for path, status in walk(*tops):
        if is_ours(path, status) and status.st_uid == os.geteuid():
            mode = stat.S_IMODE(status.st_mode)
            proper = atomic.FOLDER_MODE if stat.S_ISDIR(status.st_mode) else atomic.FILE_MODE
            if mode & 0o077 or mode & proper != proper:
                yield Loose(path, mode, proper)


def foreign(*tops: Path) -> Iterator[Path]:
    """Yield the entries of another user."""
    for path, status in walk(*tops):
        if status.st_uid != os.geteuid():
            yield path


def linked(*tops: Path) -> Iterator[Path]:
    """Yield the links standing in place of folders."""
    for path, status in walk(*tops):
        if stat.S_ISLNK(status.st_mode) and looking.is_folder(path):
            yield path


def temporary(*tops: Path) -> Iterator[Path]:
    """Yield the temporary files of killed writers."""
    for path, status in walk(*tops):
        if stat.S_ISREG(status.st_mode) and _TEMPORARY.fullmatch(path.name) and _old(status):
            yield path


def launches(sessions: Path) -> Iterator[tuple[str, Path]]:
    """Yield the launch files no guard has read, each with its incarnation."""
    for path, status in walk(sessions):
        if stat.S_ISREG(status.st_mode) and path.name.endswith(LAUNCH) and _old(status):
            yield path.name.removesuffix(LAUNCH), path


def half_done(home: Path) -> Iterator[tuple[str, Path]]:
    """Yield the half-made and half-removed teams and archives, each with its team's name.

    Raises StoreError while a folder cannot be listed: unknown is never "none".
    """
    for path in _entries(home / "teams"):
        if path.name.startswith((TRASH, NEW)):
            yield path.name.removeprefix(TRASH).removeprefix(NEW).partition(".")[0], path
    with translated(home / ARCHIVES):
        yield from archive.half_done(home)


def ownerless(home: Path) -> Iterator[Path]:
    """Yield the folders of tasks and mailboxes without a team, not even a half-made or half-removed one.

    Raises StoreError while a folder cannot be listed: every team would seem to be gone.
    """
    teams = {path.name for path in _entries(home / "teams")} | {name for name, _ in half_done(home)}
    for top in (home / "tasks", home / "mailboxes"):
        yield from (path for path in _entries(top) if ids.NAME.fullmatch(path.name) and path.name not in teams)


def locks(home: Path, *tops: Path) -> Iterator[Path]:
    """Yield every lock file: the locks of changes and the lease."""
    yield home / LOCK
    yield from (path for path, _ in walk(*tops) if path.name in (LOCK, LEASE))


def odd_locks(home: Path, *tops: Path) -> Iterator[Path]:
    """Yield the locks no process can take, for they are no regular files."""
    for path in locks(home, *tops):
        with suppress(OSError):
            if not stat.S_ISREG(path.lstat().st_mode):
                yield path


def held(path: Path) -> Held | None:
    """Return a lock's holder, or None when it is free; a missing lock file is not made.

    Raises StoreError while the holder cannot be found out: unknown is never "nobody".
    """
    try:
        descriptor = _opened(path)
        if descriptor is None:
            return None
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode) or lock_descriptor(descriptor, blocking=False):
                return None
            by, since = holder(descriptor), os.fstat(descriptor).st_mtime
        finally:
            os.close(descriptor)
    except OSError as error:
        raise unusable(error, path) from error
    number = _PID.search(by)
    pid = int(number[1]) if number and len(number[1]) < 10 else 0
    return Held(path, _holder_text(by, since), pid, bool(pid) and processes.stopped(pid))


def _opened(path: Path) -> int | None:
    """Open a lock file, for reading alone if it must be; return None for a file that cannot be a held lock."""
    failure = OSError()
    for access in (os.O_RDWR, os.O_RDONLY):  # NFS locks no file that is open for reading alone
        try:
            return os.open(path, access | os.O_NOFOLLOW | os.O_NONBLOCK)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            failure = error
    if stat.S_ISREG(path.lstat().st_mode):
        raise failure
    return None


def _holder_text(by: str, since: float) -> str:
    """Return a lock's holder and its time: the locks of changes hold plain words, the lease holds JSON."""
    try:
        holder_line = decode(by.partition("\n")[0], dict[str, str | int | bool])
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(since))
        return f"pid {holder_line['pid']} ({holder_line['why']}, pro0 {holder_line['version']}, since {when})"
    except (msgspec.MsgspecError, KeyError, ValueError):
        return by


def crash(errors: Path) -> str:
    """Return how a lead crashed, from the file of its error output; "" when it did not."""
    text = ""
    with suppress(OSError), atomic.folder(errors.parent) as folder:
        text = atomic.read(folder, errors.name, _MOST_WORDS).decode(errors="replace")
    lines = text.splitlines()
    fatal = [line for line in lines if line.startswith("Fatal Python error: ")]
    return (fatal or lines)[-1] if fatal or _UNFORESEEN in text else ""


def flock_works(folder: Path) -> str:
    """Return the reason locks fail on this file system, or ""; the test locks the folder itself."""
    try:
        with _open(folder) as owner, _open(folder) as rival:
            if not lock_descriptor(owner, blocking=False):
                return ""  # somebody else runs this test now and holds the lock alone
            return "two holders have the same lock" if lock_descriptor(rival, blocking=False) else ""
    except OSError as error:
        return str(error.strerror)


@contextmanager
def _open(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def tighten(entry: Loose) -> None:
    """Give a file or folder its proper mode, unless it has become a link."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        descriptor = os.open(entry.path, flags)
    except PermissionError:  # its owner may not read it, so chmod by path
        if not looking.is_link(entry.path):
            entry.path.chmod(entry.proper)
        return
    try:
        os.fchmod(descriptor, entry.proper)
    finally:
        os.close(descriptor)


def _old(status: os.stat_result) -> bool:
    return time.time() - status.st_mtime > STALE


def _entries(folder: Path) -> list[Path]:
    with translated(folder):
        return trees.entries(folder)
