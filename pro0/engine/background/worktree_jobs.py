"""Make the worktrees of a team's seats in the background, one after the other."""

import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from pro0.engine.background.backlog import Backlog, marked
from pro0.engine.log import Log, reason
from pro0.errors import Pro0Error
from pro0.model.decision import WorkFolder
from pro0.model.team import Seat, TeamConfig
from pro0.ops.work import readying, travelling
from pro0.store.paths import worktree
from pro0.store.teams import TeamStore
from pro0.worktrees import Repository, branch_of

Key = tuple[str, int]
ENDING = 2 * (readying.POLL + readying.GRACE)
"""Seconds for set-ups to end when nobody wants them any more."""


class WorktreeJobs:
    """Prepares worktrees. It calls `woken` after each success or failure."""

    def __init__(self, team: TeamStore, log: Log, woken: Callable[[], None]) -> None:
        self._team = team
        self._log = log
        self._woken = woken
        self._asked: set[Key] = set()
        self._found: dict[Key, WorkFolder] = {}
        self._backlog = Backlog(self._prepare, self._failed)
        self._lock = threading.Lock()
        self._set_ups: set[threading.Thread] = set()
        self._over = False

    def begin(self, seat: Seat) -> None:
        """Prepare the worktree of a seat, once for each generation."""
        key = (seat.agent_id, seat.generation)
        if key in self._asked:
            return
        with marked(self._asked, key):
            if travelling.travels(seat):  # a thread each, so that no slow machine delays the others
                threading.Thread(target=self._send, args=(seat,), daemon=True).start()
            else:
                self._backlog.put(seat)
        self._log.write("prepare", seat=seat.agent_id)

    def found(self, seats: Iterable[Seat]) -> dict[Key, WorkFolder]:
        """Return the results of requested worktrees; forget those of removed seats."""
        current_keys = {(seat.agent_id, seat.generation) for seat in seats}
        self._asked &= current_keys
        for key in self._found.keys() - current_keys:
            del self._found[key]
        return dict(self._found)

    def finish(self) -> None:
        """Let no more set-ups begin, and wait for the running ones, which the team's stop ends."""
        with self._lock:
            self._over = True
            set_ups = [*self._set_ups]
        deadline = time.monotonic() + ENDING
        for set_up in set_ups:
            set_up.join(max(deadline - time.monotonic(), 0))

    def _prepare(self, seat: Seat) -> None:
        work_folder = self._make_worktree(seat)
        # Git makes one worktree at a time; the set-ups of members run in parallel.
        set_up = threading.Thread(target=self._make_ready, args=(seat, work_folder), daemon=True)
        with self._lock:
            if not self._over:
                set_up.start()
                self._set_ups.add(set_up)

    def _send(self, seat: Seat) -> None:
        try:
            work_folder = WorkFolder(branch=travelling.MemberCode(self._team, seat).send())
        except Exception as error:  # noqa: BLE001 - whoever waits for it hears of any failure
            hint = f"pro0 doctor --host {seat.host}"
            work_folder = _failure(f"its code cannot be sent to {seat.host}", error, hint)
        self._tell(seat, work_folder)

    def _make_ready(self, seat: Seat, work_folder: WorkFolder) -> None:
        try:
            readying.make_ready(self._team, seat, Path(work_folder.path))
        except Pro0Error as error:
            work_folder = WorkFolder(error=error.message, hint=error.hint or "", of_team=error.of_team)
        except Exception as error:  # noqa: BLE001 - whoever waits for it hears of any failure
            work_folder = _failure("its worktree cannot be made ready", error)
        self._tell(seat, work_folder)
        with self._lock:
            self._set_ups.discard(threading.current_thread())

    def _failed(self, seat: Seat, error: Exception) -> None:
        self._tell(seat, _failure("its worktree cannot be made", error))

    def _tell(self, seat: Seat, work_folder: WorkFolder) -> None:
        self._found[(seat.agent_id, seat.generation)] = work_folder
        self._woken()

    def _make_worktree(self, seat: Seat) -> WorkFolder:
        config = self._team.config.read()
        branch, place = _branch(config, seat), self._place(config, seat)
        tree = Repository(Path(config.project)).add(place, branch, adopt=True)
        return WorkFolder(path=str(tree.path), branch=tree.branch)

    def _place(self, config: TeamConfig, seat: Seat) -> Path:
        return worktree(self._team.paths.home, config.name, config.uid, seat.agent_id)


def _failure(what: str, error: Exception, hint: str = "") -> WorkFolder:
    why = error.strerror if isinstance(error, OSError) and error.strerror else reason(error)
    if isinstance(error, Pro0Error) and error.hint:
        return WorkFolder(error=f"{what}: {why}", hint=error.hint, of_team=error.of_team)
    return WorkFolder(error=f"{what}: {why}", hint=hint)


def _branch(config: TeamConfig, seat: Seat) -> str:
    """Return the branch of a worker's task, or the teammate's own branch."""
    return branch_of(seat.agent_id, seat.task) if seat.task else branch_of(config.name, seat.agent_id)
