"""Looking for what a team left behind."""

import time

import msgspec

from pro0 import looking, processes
from pro0.cli.demo.scratch import Scratch
from pro0.ops.context import TEAM_UID
from pro0.sessions.tmux.socket import listening
from pro0.store.teams import TeamStore

PATIENCE = 30.0
"""Seconds within which the last process must be gone; a busy machine needs a moment."""


class Traces(msgspec.Struct, frozen=True):
    """The traces by which a team's processes are found, even after the team's removal."""

    uid: str
    sockets: frozenset[str]

    @classmethod
    def of(cls, team: TeamStore) -> "Traces":
        """Return the traces of a team that is still there."""
        handles = [state.handle for state in team.runtime.read().seats if state.handle]
        return cls(
            uid=team.config.read().uid,
            sockets=frozenset(handle.socket for handle in handles if handle.socket),
        )


def wait_until_gone(scratch: Scratch, traces: Traces) -> list[str]:
    """Wait until all traces are gone, for PATIENCE seconds at most; return those still left."""
    deadline = time.monotonic() + PATIENCE
    while (traces_left := traces_of(scratch, traces)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return traces_left


def traces_of(scratch: Scratch, traces: Traces) -> list[str]:
    """Return every present process, tmux server and file of the team."""
    alive = {*processes.tagged(TEAM_UID, [traces.uid])[traces.uid], *scratch.processes()}
    roots = (scratch.home / name for name in ("teams", "tasks", "mailboxes", "archive"))
    files = [str(path) for root in roots if looking.is_folder(root) for path in root.iterdir()]
    return [
        *(f"process {process.pid}" for process in alive),
        *(f"a tmux server at {socket}" for socket in traces.sockets if listening(socket)),
        *files,
    ]
