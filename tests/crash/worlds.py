"""Small worlds for one operation each: made once, kept in memory, put back in a moment, and compared.

A world is the tree of one home as a dictionary. A picture of it is what people and programs see of its teams: every
document, with ids and revisions taken out, so that an operation done twice can be told from one that was lost.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from unittest.mock import patch

import msgspec
from msgspec.structs import replace

from pro0.ops import troubles
from pro0.ops.context import Context, lead_context
from pro0.ops.mail import messages
from pro0.ops.tasks import tasks
from pro0.ops.team import teams
from pro0.ops.team.progress import progress
from pro0.ops.team.status import status
from pro0.rules import mail
from pro0.rules.tasks import archive
from pro0.store import tasklist
from pro0.store.paths import ARCHIVES, NEW, TRASH
from pro0.store.teams import Store, TeamStore
from tests.faults import temporary_files
from tests.teams import NOW, human, member, settle_debts

Tree = dict[str, bytes | None]
"""The files below a home by path; None stands for a folder."""
Picture = dict[str, bytes]
HEAD = 4
"""Messages in a mailbox's head: so few, that sealing one is a small world too."""

HISTORY = 3
"""Entries of a task in the list; older ones are written to pages of their own."""

_VOLATILE = re.compile(rb'"revision": \d+|"[abcdw]-\d+(?=[":])|"hash": "\w+"')
_REVISION = re.compile(rb'"revision": (\d+)')


class Ids:
    """Ids that are the same in every run; each run has its own letter, since a repeated id means the same message."""

    def __init__(self, run: str) -> None:
        self._run = run
        self._last = 0

    def __call__(self) -> str:
        self._last += 1
        return f"{self._run}-{self._last}"


class World:
    """A home with at most the team alpha, in which an operation is done; `run` names who does it, for ids."""

    def __init__(self, home: Path, run: str = "a") -> None:
        self.home = home
        self.store = Store(home)
        self.team: TeamStore = self.store.team("alpha")
        self.ids = Ids(run)

    def human(self) -> Context:
        """The person."""
        return self._still(human(self.team))

    def member(self, name: str) -> Context:
        """The session of a member."""
        return self._still(member(self.team, name))

    def lead(self) -> Context:
        """The lead process."""
        return self._still(lead_context(self.team))

    def _still(self, context: Context) -> Context:
        return replace(context, now=lambda: NOW, new_id=self.ids)


@contextmanager
def small() -> Iterator[None]:
    """Small heads, a clock that stands, ids that repeat."""
    ids = Ids("w")
    with (
        patch.object(mail, "HEAD_COUNT", HEAD),
        patch.object(archive, "HISTORY_COUNT", HISTORY),
        patch.object(tasklist, "HISTORY_COUNT", HISTORY),
        patch.object(teams, "clock", lambda: NOW),
        patch.object(teams, "new_id", ids),
        patch.object(troubles, "new_id", ids),
    ):
        yield


def small_archive() -> AbstractContextManager[object]:
    """An archive that begins with the second settled task, two a segment; for who writes, where it is asked for."""
    return patch.multiple(archive, SETTLED_COUNT=1, SEGMENT_COUNT=2)


def tree(home: Path) -> Tree:
    """Return all that is below a home."""
    found: Tree = {}
    for folder, folders, names in os.walk(home):
        where = os.path.relpath(folder, home)
        found |= {os.path.normpath(os.path.join(where, name)): None for name in folders}
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                found[os.path.normpath(os.path.join(where, name))] = file.read()
    return found


@cache
def made(world: Callable[[Path], None]) -> Tree:
    """Return the tree of a world, made once a process."""
    with folder() as place, small():
        world(place / "home")
        return tree(place / "home")


def put(start: Tree, home: Path) -> None:
    """Let a home, which is not there, be as it was."""
    os.mkdir(home, 0o700)
    for name, data in start.items():
        path = f"{home}/{name}"
        if data is None:
            os.mkdir(path, 0o700)
            continue
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        if data:
            os.write(descriptor, data)
        os.close(descriptor)


class Place:
    """A folder in memory, if there is one, with a fresh home for each trial."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._last = 0

    @contextmanager
    def home(self, start: Tree) -> Iterator[Path]:
        """A home as `start` says, gone afterwards."""
        self._last += 1
        home = self._path / str(self._last)
        put(start, home)
        try:
            yield home
        finally:
            shutil.rmtree(home)


@contextmanager
def folder() -> Iterator[Path]:
    """A folder in memory when there is such a file system, else an ordinary one."""
    memory = Path("/dev/shm")
    usable = memory.is_dir() and os.access(memory, os.W_OK | os.X_OK)
    path = Path(tempfile.mkdtemp(prefix="pro0-", dir=memory if usable else None))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def picture(found: Tree) -> Picture:
    """Return what a tree shows of its teams: their documents, without ids and revisions."""
    return {name: plain(data) for name, data in documents(found).items()}


def plain(document: bytes) -> bytes:
    """Return a document without ids and revisions."""
    return _VOLATILE.sub(b"", document)


def documents(found: Tree) -> dict[str, bytes]:
    """Return the documents of the teams that are there, and of the archives; a team is there when it has a config."""
    shown = {}
    for name, data in found.items():
        parts, home = name.split("/"), ""
        if parts[0] == ARCHIVES and len(parts) > 2 and not parts[1].startswith("."):
            parts, home = parts[2:], f"{parts[0]}/{parts[1]}/"
        there = len(parts) > 2 and f"{home}teams/{parts[1]}/config.json" in found and not parts[1].startswith(".")
        if there and data is not None and name.endswith(".json") and not parts[-1].startswith("."):
            shown[name] = data
    return shown


def revision(data: bytes) -> int:
    """Return the revision of a document, 0 when it has none."""
    match = _REVISION.search(data)
    return int(match[1]) if match else 0


def read_everything(home: Path) -> None:
    """Read all that is there as people do; raises what a reader would."""
    store = Store(home)
    for name in store.names():
        team = store.team(name)
        if not team.exists():
            continue
        context = human(team)
        status(context), progress(context), tasks.ready(context), messages.history(context)
        team.config.read(), team.environment.read()
        for task in tasks.list_tasks(context):
            tasks.remarks(context, task.id)
        for seat in ("lead", "human", *(seat.agent_id for seat in team.wanted.read().seats)):
            box = team.mailbox(seat)
            seqs = [message.seq for message in box.since(box.head.read(), 0)]
            assert seqs == list(range(1, box.head.read().next_seq)), f"{seat} has a gap: {seqs}"
    for kept in store.archives():
        read_everything(kept.path)


def litter(home: Path) -> list[str]:
    """Return what no operation should leave: temporary files, teams half made or half removed, leftovers of those."""
    halves = [path for path in home.glob("*/*") if path.name.startswith((TRASH, NEW))]
    lost = [path for top in ("tasks", "mailboxes") for path in (home / top).glob("*") if not _has_team(home, path.name)]
    return [str(path.relative_to(home)) for path in (*temporary_files(home), *halves, *lost)]


def _has_team(home: Path, name: str) -> bool:
    return (home / "teams" / name).is_dir()


def recover(world: World) -> None:
    """Do what the next start, and the next turn of a lead, do anyway."""
    world.store.sweep()
    if world.team.exists():
        settle_debts(world.lead())


def readable(data: bytes) -> bool:
    """Return whether a document is whole."""
    try:
        return bool(msgspec.json.decode(data))
    except msgspec.DecodeError:
        return False
