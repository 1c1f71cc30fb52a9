"""The checks of `pro0 doctor` on the store: the home, and every team in it."""

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from pro0 import processes
from pro0.cli.checks import Check, Verdict
from pro0.errors import Pro0Error
from pro0.model.ids import HUMAN, LEAD
from pro0.model.runtime import ENDED, Phase, Runtime
from pro0.model.team import Wanted, Wish
from pro0.ops.status import lead_status
from pro0.store.paths import NEW, TRASH
from pro0.store.teams import Store, TeamStore

NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "afpfs", "webdav", "9p", "fuse.sshfs", "ncpfs"})
"""File systems whose locks and renames are not to be trusted."""
_MOUNTS = Path("/proc/self/mounts")


def home(store: Store) -> Iterator[Check]:
    """Check owner, mode and file system of the home."""
    folder = store.home
    if not folder.exists():
        yield Check("home", Verdict.OK, f"{folder} is not there yet")
        return
    status = folder.stat()
    mode = stat.S_IMODE(status.st_mode)
    if status.st_uid != os.geteuid():
        yield Check("home", Verdict.FAIL, f"{folder} belongs to another user", "choose another PRO0_HOME")
    elif mode & 0o077:
        yield Check("home", Verdict.WARN, f"{folder} has mode {mode:04o}", f"chmod 700 {folder}")
    else:
        yield Check("home", Verdict.OK, f"{folder}, mode {mode:04o}")
    kind = _file_system(folder.resolve())
    if kind in NETWORK:
        mend = "choose a PRO0_HOME on a local disk: locks over a network are not to be trusted"
        yield Check("file system", Verdict.WARN, kind, mend)
    elif kind:
        yield Check("file system", Verdict.OK, kind)


def teams(store: Store) -> Iterator[Check]:
    """Check every team, and what half-made and half-removed ones have left."""
    for name in store.names():
        yield from _team(store.team(name))
    for entry in _entries(store.home / "teams"):
        if entry.name.startswith((TRASH, NEW)):
            mend = "the next `pro0 team start` finishes it, or: pro0 team cleanup with its name"
            yield Check("left over", Verdict.WARN, f"{entry} was not removed to the end", mend)
    known = set(store.names())
    for folder in (store.home / "tasks", store.home / "mailboxes"):
        for entry in _entries(folder):
            if entry.name not in known and not entry.name.startswith("."):
                mend = "look into it, then move it away; a team of that name cannot be made as long as it is there"
                yield Check("left over", Verdict.WARN, f"{entry} belongs to no team", mend)


def _team(team: TeamStore) -> Iterator[Check]:
    name = f"team {team.name}"
    faults = list(_unreadable(team))
    for fault in faults:
        mend = "it was left as it is; put a good copy in its place, or: pro0 team cleanup"
        yield Check(name, Verdict.FAIL, fault, f"{mend} {team.name} --force")
    if faults:
        return
    wanted, runtime = team.wanted.read(), team.runtime.read()
    troubles = [*_lead(team, wanted, runtime), *_sessions(team, runtime), *_dangling(team)]
    yield from (Check(name, Verdict.WARN, found, mend) for found, mend in troubles)
    if not troubles:
        live = sum(seat.state not in ENDED for seat in runtime.seats)
        yield Check(name, Verdict.OK, f"{runtime.phase}, {live} live sessions")


def _unreadable(team: TeamStore) -> Iterator[str]:
    """Yield why each file that cannot be read cannot."""
    addresses = [LEAD, HUMAN]
    for document in (team.config, team.wanted, team.runtime, team.tasks):
        try:
            value = document.read()
        except Pro0Error as error:
            yield error.message
            continue
        if isinstance(value, Wanted):
            addresses += [seat.agent_id for seat in value.seats]
    for address in addresses:
        try:
            box = team.mailbox(address)
            for _ in box.since(box.head.read(), 0):
                pass
        except Pro0Error as error:
            yield error.message
    yield from _unreadable_remarks(team)


def _unreadable_remarks(team: TeamStore) -> Iterator[str]:
    for folder in _entries(team.paths.tasks):
        if folder.is_dir() and folder.name.startswith("task-"):
            try:
                team.comments(folder.name).read()
            except Pro0Error as error:
                yield error.message


def _lead(team: TeamStore, wanted: Wanted, runtime: Runtime) -> Iterator[tuple[str, str]]:
    if lead_status(runtime).state == "running":
        return
    if wanted.wish is Wish.RUN:
        yield "its lead is gone", f"pro0 team resume -t {team.name}"
    elif runtime.phase is not Phase.STOPPED:
        yield "its lead went before it had stopped the team", f"pro0 team stop -t {team.name}"


def _sessions(team: TeamStore, runtime: Runtime) -> Iterator[tuple[str, str]]:
    for seat in runtime.seats:
        if seat.state not in ENDED and seat.guard and not processes.alive(seat.guard):
            found = f"the session of {seat.agent_id} is {seat.state}, but its process {seat.guard.pid} is gone"
            yield found, f"pro0 team resume -t {team.name}, then: pro0 member restart {seat.agent_id}"


def _dangling(team: TeamStore) -> Iterator[tuple[str, str]]:
    """Yield the dependencies on tasks that are gone: they block for ever (AC-18)."""
    tasks = team.tasks.read().tasks
    known = {task.id for task in tasks}
    for task in tasks:
        for id in task.dependencies:
            if id not in known:
                mend = f"pro0 task update {task.id} --drop-dependency {id} -t {team.name}"
                yield f"{task.id} is blocked by {id}, which is gone", mend


def _entries(folder: Path) -> Iterable[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else ()


def _file_system(folder: Path) -> str:
    """Return the type of the file system that holds a folder, empty when the system does not tell."""
    best, kind = "", ""
    for mount in _MOUNTS.read_text(errors="replace").splitlines() if _MOUNTS.exists() else ():
        _, place, found, *_ = mount.split(" ")
        place = place.replace("\\040", " ")
        inside = place == "/" or str(folder) == place or str(folder).startswith(f"{place}/")
        if inside and len(place) >= len(best):
            best, kind = place, found
    return kind
