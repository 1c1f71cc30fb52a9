"""The checks of `pro0 doctor` on the home: owner, modes, disk, locks, and leftovers without a team."""

import os
import shlex
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from pro0 import looking
from pro0.cli.doctor.checks import Check, Health
from pro0.errors import StoreError
from pro0.model.caller import Pin
from pro0.model.home import Consent, Devices, Proofs, Roles
from pro0.model.stored import Document
from pro0.ops.repair import repair_home
from pro0.ops.work import checkouts
from pro0.store import health
from pro0.store.files import File
from pro0.store.mending import MENDABLE, trouble
from pro0.store.paths import ASIDE, DEVICES, PIN, PROOFS, ROLES, TRUSTED, web
from pro0.store.places.folder import unusable
from pro0.store.removal import archive
from pro0.store.teams import Store

NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "afpfs", "webdav", "9p", "fuse.sshfs", "ncpfs"})
"""File systems with unreliable locks and renames."""
REPAIR = "pro0 doctor --repair"
DOCUMENTS: dict[str, type[Document]] = {ROLES: Roles, TRUSTED: Consent, PROOFS: Proofs, PIN: Pin}
LOW = 256 << 20
TOO_LOW = 4 << 20
"""Free bytes: the limit below which a person is warned, and the limit below which writing will fail."""
SHOWN = 3


def home(store: Store, team: str | None) -> Iterator[Check]:
    """Check the home; unless only one team is asked for, also look for leftovers without a team."""
    folder = store.home
    if team is None:
        yield from _homeless()
    if looking.is_gone(folder):
        yield Check("home", Health.OK, f"{folder} does not exist yet")
        return
    try:
        is_folder = looking.is_folder(folder)
    except OSError as error:
        trouble_here = unusable(error, folder)
        yield Check("home", Health.FAIL, trouble_here.message, trouble_here.hint or "choose another PRO0_HOME")
        return
    if not is_folder:
        yield Check("home", Health.FAIL, f"{folder} is not a folder", "choose another PRO0_HOME")
        return
    yield _owner(folder)
    yield from _documents(folder)
    yield from _disk(folder)
    tops = health.folders(folder, team)
    yield from _modes(folder, *tops)
    yield from _links(*tops)
    yield from _locks(folder, *tops)
    yield from _leftovers(store, tops, team)


def _homeless() -> Iterator[Check]:
    for place, guard, below in repair_home.homeless():
        agents = f", with pids {' '.join(str(process.pid) for process in below)} below it" if below else ""
        sentence = f"pid {guard.pid} guards a session of {place}, which is gone{agents}"
        yield Check("guards", Health.WARN, sentence, f"end it and all processes below it: kill {guard.pid}")


def _owner(folder: Path) -> Check:
    status = folder.stat()
    mode = stat.S_IMODE(status.st_mode)
    if status.st_uid != os.geteuid():
        return Check("home", Health.FAIL, f"{folder} belongs to another user", "choose another PRO0_HOME")
    if mode & 0o077:
        return Check(
            "home", Health.WARN, f"{folder} has mode {mode:04o}", f"chmod 700 {shlex.quote(str(folder))}, or: {REPAIR}"
        )
    return Check("home", Health.OK, f"{folder}, mode {mode:04o}")


def _documents(folder: Path) -> Iterator[Check]:
    """Report unusable documents of the home itself. They are never repaired, since no other file has their content."""
    kinds: dict[Path, type[Document]] = {folder / name: kind for name, kind in DOCUMENTS.items()}
    kinds[web(folder) / DEVICES] = Devices
    for path, kind in kinds.items():
        error = None if looking.is_gone(path) else trouble(File(path.parent, path.name, kind, absent=kind))
        if error:
            away = shlex.join(("mv", str(path), f"{path}{ASIDE}away"))
            mend = f"put a good copy in its place, or move it away: {away}"
            mend = mend if error.code in MENDABLE else error.hint or ""
            yield Check(path.name, Health.FAIL, error.message, mend)


def _disk(folder: Path) -> Iterator[Check]:
    kind = _file_system(folder.resolve())
    if kind in NETWORK:
        mend = "choose a PRO0_HOME on a local disk: locks over a network are not reliable"
        yield Check("file system", Health.WARN, kind, mend)
    elif os.statvfs(folder).f_flag & os.ST_RDONLY:
        mend = "nothing can be recorded: let it be written again, or choose another PRO0_HOME"
        yield Check("file system", Health.FAIL, f"{kind or 'it'} is mounted read-only", mend)
    elif kind:
        yield Check("file system", Health.OK, kind)
    if why := health.flock_works(folder):
        yield Check("flock", Health.FAIL, why, "choose a PRO0_HOME on a local disk")
    else:
        yield Check("flock", Health.OK, "one holder at a time")
    free = shutil.disk_usage(folder).free
    verdict = Health.FAIL if free < TOO_LOW else Health.WARN if free < LOW else Health.OK
    yield Check("space", verdict, f"{free >> 20} MiB free", "" if verdict is Health.OK else "free some space")


def _modes(folder: Path, *tops: Path) -> Iterator[Check]:
    loose = [f"{entry.path} has mode {entry.mode:04o}, not {entry.proper:04o}" for entry in health.loose(*tops)]
    yield from _listed("modes", loose, REPAIR, "others can read nothing")
    foreign = [f"{path} belongs to another user" for path in health.foreign(*tops)]
    if foreign:
        command = shlex.join(["chown", "-R", str(os.geteuid()), str(folder)])
        yield from _listed("owner", foreign, f"give it back: {command}", "", Health.FAIL)


def _links(*tops: Path) -> Iterator[Check]:
    for path in health.linked(*tops):
        mend = "replace it with the folder that it points to; links are not followed"
        yield Check("link", Health.FAIL, f"{path} is a symbolic link", mend)


def _locks(folder: Path, *tops: Path) -> Iterator[Check]:
    for path in health.odd_locks(folder, *tops):
        yield Check("locks", Health.FAIL, f"{path} is not a regular file, so nobody can lock it", REPAIR)
    held = [check for path in health.locks(folder, *tops) for check in told("locks", _held(path))]
    yield from held or [Check("locks", Health.OK, "nobody holds a lock")]


def _held(path: Path) -> Iterator[Check]:
    """Report the holder of a lock."""
    if (lock := health.held(path)) is None:
        return
    if lock.stopped:
        mend = f"let it go on: kill -CONT {lock.pid}, or end it: kill -KILL {lock.pid}"
        yield Check("locks", Health.WARN, f"{lock.path} is held by pid {lock.pid}, which is stopped: {lock.by}", mend)
    else:
        yield Check("locks", Health.OK, f"{lock.path} is held by {lock.by}")


def _leftovers(store: Store, tops: Iterable[Path], team: str | None) -> Iterator[Check]:
    for path in health.temporary(*tops):
        yield Check("left over", Health.WARN, f"{path} was left by a writer that was killed", REPAIR)
    if team is None:
        yield from told("left over", _of_no_team(store.home))
        yield from told("sockets", _sockets(store))
        yield from told("worktrees", _worktrees(store))
    yield from told("processes", _processes(store, team))


def told(name: str, checks: Iterable[Check]) -> Iterator[Check]:
    """Yield some checks; an error of the store becomes a failed check, so that it hides no other checks."""
    try:
        yield from checks
    except StoreError as error:
        yield Check(name, Health.FAIL, error.message, error.hint or "try again")


def _of_no_team(home: Path) -> Iterator[Check]:
    yield from (_half_done(name, path) for name, path in health.half_done(home))
    for path in health.ownerless(home):
        yield Check("left over", Health.WARN, f"{path} belongs to no team", f"{REPAIR} moves it aside")


def _sockets(store: Store) -> Iterator[Check]:
    for path in repair_home.left_sockets(store):
        yield Check("sockets", Health.WARN, f"{path} is the socket of a dead tmux server", REPAIR)


def _worktrees(store: Store) -> Iterator[Check]:
    mend = f"{REPAIR} saves them and keeps what is not merged"
    for path in checkouts.left_over(store):
        yield Check("worktrees", Health.WARN, f"{path} holds worktrees of a team that does not exist", mend)


def _processes(store: Store, team: str | None) -> Iterator[Check]:
    for name, leftovers in repair_home.left_over(store, team).items():
        pids = " ".join(str(process.pid) for process in leftovers)
        sentence = f"pids {pids} are left over from {name}, which is stopped or gone"
        yield Check("processes", Health.WARN, sentence, f"{REPAIR} --yes", team=name)


def _half_done(name: str, path: Path) -> Check:
    databases, mend = list[str](), REPAIR
    with suppress(StoreError):  # finishing it reports a damaged pointer
        databases = archive.databases(path)
    rows = f", with rows in {' and '.join(databases)}" if databases else ""
    if rows:
        mend += f"; if the database is gone for good: pro0 team cleanup {name} --force"
    return Check("left over", Health.WARN, f"{path} was only half made or half removed{rows}", mend)


def _listed(name: str, texts: list[str], mend: str, fine: str, verdict: Health = Health.WARN) -> Iterator[Check]:
    """Yield one row for each of the first few texts, or one row that all is well."""
    if not texts:
        yield Check(name, Health.OK, fine)
    for text in texts[:SHOWN]:
        yield Check(name, verdict, text, mend)
    if len(texts) > SHOWN:
        yield Check(name, verdict, f"and {len(texts) - SHOWN} more", mend)


def _file_system(folder: Path) -> str:
    """Return the type of a folder's file system, empty when it is unknown."""
    import psutil  # 9 ms that only the doctor needs

    mounted = {Path(part.mountpoint): part.fstype for part in psutil.disk_partitions(all=True)}  # the last mount counts
    return next((mounted[place] for place in (folder, *folder.parents) if place in mounted), "")
