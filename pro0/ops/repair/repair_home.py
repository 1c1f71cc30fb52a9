"""Repair a home: half-made and half-removed teams, leftovers of killed writers, sockets and processes."""

import os
import re
import stat
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from pro0 import looking, processes
from pro0.errors import ErrorCode, Refused
from pro0.model import ids
from pro0.model.caller import Caller, Who
from pro0.model.runtime import Phase, Process
from pro0.model.team import Wish
from pro0.ops import ownership
from pro0.ops.context import clock
from pro0.ops.identity import INCARNATION
from pro0.ops.repair.evidence import carriers, opened, readable
from pro0.processes import table
from pro0.processes.arguments import arguments
from pro0.sessions.tmux import socket as tmux_socket
from pro0.store import atomic, health
from pro0.store.files import translated
from pro0.store.lock import locked
from pro0.store.mending import move_aside
from pro0.store.paths import LEASE
from pro0.store.teams import Store, TeamStore

Say = Callable[[str], None]
_SERVER = re.compile(r"pro0-[0-9a-f]{8}")


def permit(caller: Caller) -> None:
    """Refuse everyone but a human: a repair may end processes and move files."""
    if caller.who is not Who.HUMAN:
        raise Refused(f"{caller.agent_id} may not repair the store: only a person may", code=ErrorCode.NOT_ALLOWED)


def tidy(store: Store, say: Say) -> None:
    """Repair the parts outside single teams: modes, locks, half-done teams, stray folders, temporary files."""
    with translated(store.home):
        _tidy(store, say)


def _tidy(store: Store, say: Say) -> None:
    home = store.home
    tops = health.folders(home)
    for lock in list(health.odd_locks(home, *tops)):
        if moved := move_aside(lock, clock()):
            say(f"{lock} was no regular file: moved it aside as {moved.name}")
    for path in (home, *tops):
        _tighten(path, say)
    swept = store.swept() if list(health.half_done(home)) else None
    for name in swept.names if swept else ():
        say(f"{name} was half made or half removed: removed the rest, or archived it")
    if list(health.ownerless(home)):
        with locked(home, "repair"):
            for path in list(health.ownerless(home)):
                _free(path, say)
    sweep_temporary(say, *tops)
    if swept:
        swept.require()


def sweep_temporary(say: Say, *tops: Path) -> None:
    """Remove the temporary files of killed writers."""
    for path in list(health.temporary(*tops)):
        path.unlink(missing_ok=True)
        say(f"{path} was left by a writer that was killed: removed it")


def left_over(store: Store, only: str | None = None) -> dict[str, list[Process]]:
    """Return the processes of stopped or removed teams, by team name; never the ancestors of this process.

    Raises StoreError when the answer is unknown.
    """
    spared = {os.getpid(), *(process.pid for process in processes.ancestors(os.getpid()))}
    leftovers: dict[str, list[Process]] = {}
    over: dict[tuple[str, str], bool] = {}
    for process, name, uid in carriers(store.home):
        if (name, uid) not in over:
            over[name, uid] = bool(ids.NAME.fullmatch(name)) and _is_over(store, name, uid)
        is_asked_for = over[name, uid] and process.pid not in spared and only in (None, name)
        if is_asked_for and ownership.was_started_in_a_session(process):
            leftovers.setdefault(name, []).append(process)
    return leftovers


def homeless() -> Iterator[tuple[Path, Process, list[Process]]]:
    """Yield each guard without a home, with the path of that home and the processes below the guard.

    No other check reports them: they keep their agents while the team's removal is uncertain. A guard is proven by its
    program and its argument; a variable proves nothing.
    """
    for pid in table.own_pids():
        called = arguments(pid)[-2:]
        home = ownership.home_of_guard(called) if len(called) == 2 else None
        guard = processes.identify(pid) if home and _is_gone(home, pid) else None
        if home and guard and arguments(pid)[-2:] == called:
            yield home, guard, processes.descendants(pid)


def _is_gone(path: Path, pid: int) -> bool:
    """Return True when nothing is at the path, neither here nor in the root of that process."""
    return looking.is_gone(path) and looking.is_gone(f"/proc/{pid}/root{path}")


def end_left_over(store: Store, agreed: Mapping[str, Collection[Process]], grace: float, say: Say) -> None:
    """End these processes of teams, and later ones of the same sessions: TERM, `grace` seconds, KILL.

    A team that runs again keeps its processes.
    """
    for name, group in agreed.items():
        _end(store, name, group, grace, say)


def _end(store: Store, name: str, group: Collection[Process], grace: float, say: Say) -> None:
    sessions = {_session(process) for process in group} - {""}

    def still_there() -> list[Process]:
        leftovers = left_over(store, name).get(name, [])
        return [process for process in leftovers if process in group or _session(process) in sessions]

    if remaining := still_there():
        stubborn = processes.end(still_there, grace)
        stubborn_text = f"; {len(stubborn)} cannot be ended" if stubborn else ""
        say(f"{name}: ended {len(remaining)} processes of a team that is stopped or gone{stubborn_text}")


def _session(process: Process) -> str:
    return processes.variables(process, (INCARNATION,)).get(INCARNATION, "")


def left_sockets(store: Store) -> list[Path]:
    """Return sockets of dead tmux servers without a team; none while any team's uid is unknown."""
    living_sockets = set()
    for name in store.names():
        team = opened(store, name)
        config = readable(team.config) if team else None
        if config is None:
            return []
        living_sockets.add(tmux_socket.name_of(config.uid))
    return [path for path in _sockets() if path.name not in living_sockets and _is_left(path)]


def remove_sockets(store: Store, say: Say) -> None:
    """Remove the sockets of dead servers."""
    for path in left_sockets(store):
        tmux_socket.remove(str(path))
        say(f"{path} was the socket of a tmux server that is dead: removed it")


def stopped(team: TeamStore) -> bool:
    """Return True when a team was told to stop, has stopped, and has no lead; False for an unreadable team.

    Raises StoreError while nobody can see whether it has a lead.
    """
    runtime, desired = readable(team.runtime), readable(team.wanted)
    over = runtime is not None and desired is not None and runtime.phase is Phase.STOPPED and desired.wish is Wish.STOP
    return over and health.held(team.paths.team / LEASE) is None


def _is_over(store: Store, name: str, uid: str) -> bool:
    team = opened(store, name)
    if team is None:
        return False
    if not (os.path.lexists(team.paths.team) or team.exists()):  # which raises when the answer is unknown
        return True
    config = readable(team.config)
    return config is not None and (config.uid != uid or stopped(team))


def _sockets() -> list[Path]:
    with suppress(OSError):
        return sorted(path for path in tmux_socket.folder().iterdir() if _SERVER.fullmatch(path.name))
    return []


def _is_left(path: Path) -> bool:
    with suppress(OSError):
        status = path.lstat()
        ours = stat.S_ISSOCK(status.st_mode) and status.st_uid == os.geteuid()
        # A new socket does not listen yet.
        return ours and time.time() - status.st_mtime > health.STALE and not tmux_socket.listening(str(path))
    return False


def _tighten(path: Path, say: Say) -> None:
    with suppress(FileNotFoundError):
        mode = stat.S_IMODE(path.lstat().st_mode)
        if not looking.is_link(path) and (mode & 0o077 or mode & atomic.FOLDER_MODE != atomic.FOLDER_MODE):
            health.tighten(health.Loose(path, mode, atomic.FOLDER_MODE))
            say(f"{path} had mode {mode:04o}: now {atomic.FOLDER_MODE:04o}")


def _free(path: Path, say: Say) -> None:
    """Free the name of a folder without a team: remove an empty one, move any other aside."""
    with suppress(OSError):
        path.rmdir()
        say(f"{path} was empty and belongs to no team: removed it")
        return
    if moved := move_aside(path, clock()):
        say(f"{path} belongs to no team: moved it aside as {moved.name}")
