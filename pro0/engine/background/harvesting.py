"""Harvesting: save and report the work of dead workers, in the background, one after the other."""

import threading
from collections.abc import Callable, Collection
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from msgspec.structs import replace

from pro0 import looking
from pro0.engine.background.backlog import Backlog, marked
from pro0.engine.log import Log, reason
from pro0.engine.places import backend_of, shown_at
from pro0.errors import EnvironmentMissing, Kept, Pro0Error, Refused, Unwritable
from pro0.git.commands import PASSING, Git
from pro0.model.decision import Harvest
from pro0.model.need import NeedKind
from pro0.ops import troubles
from pro0.ops.context import clock, lead_context
from pro0.ops.work import readying, workers
from pro0.ops.work.workers import WorkerResult
from pro0.store.teams import TeamStore
from pro0.worktrees import Repository, leavings, stashes

TAIL = 500
"""Characters of a worker's last output in the report."""
LINES = 20
AGAIN = 2.0
"""Seconds until a failed harvest is retried."""


class Harvester:
    """Harvests the workers of one team. It calls `woken` after each.

    `last_screen` returns the last known screen of a session, for backends without a screen after its end.
    """

    def __init__(self, team: TeamStore, log: Log, woken: Callable[[], None], last_screen: Callable[[str], str]) -> None:
        self._team = team
        self._log = log
        self._woken = woken
        self._last = last_screen
        self._backend = backend_of(team.config.read())
        self._asked: set[str] = set()
        self._done: set[str] = set()
        self._torn_down: set[str] = set()
        self._backlog = Backlog(self._harvest, self._failed)

    def begin(self, harvest: Harvest) -> None:
        """Harvest a dead worker's work, once for each incarnation."""
        if harvest.incarnation in self._asked:
            return
        with marked(self._asked, harvest.incarnation):
            self._backlog.put(harvest)

    def done(self) -> frozenset[str]:
        """Return the incarnations with all work saved and reported."""
        return frozenset(self._done)

    def keep(self, incarnations: Collection[str]) -> None:
        """Forget all other sessions."""
        for names in (self._asked, self._done, self._torn_down):
            names.difference_update(names.difference(incarnations))  # what another thread adds meanwhile stays

    def _harvest(self, harvest: Harvest) -> None:
        workers.record_result(lead_context(self._team), harvest, self._collect(harvest), self._tail(harvest))
        self._done.add(harvest.incarnation)
        self._woken()

    def _failed(self, harvest: Harvest, error: Exception) -> None:
        self._log.write("harvest", why=reason(error))
        try:
            threading.Timer(AGAIN, self._asked.discard, (harvest.incarnation,)).start()
        except RuntimeError:  # no thread starts: the next round tries again
            self._asked.discard(harvest.incarnation)
        self._woken()

    def _collect(self, harvest: Harvest) -> WorkerResult:
        """Save and remove a worktree. An unsavable one stays, and the result says so.

        A temporary failure, such as a lock, a full disk or too many open files, is raised.
        """
        if not harvest.worktree:
            return WorkerResult()
        is_first_try = harvest.incarnation not in self._torn_down
        if is_first_try and (why := readying.tear_down(self._team, harvest.agent_id, Path(harvest.worktree))):
            troubles.note(self._team, NeedKind.WORKTREE, harvest.agent_id, f"tear-down, {why}", clock())
        self._torn_down.add(harvest.incarnation)  # a later try does not run the person's command again
        project, message = Path(self._team.config.read().project), f"{harvest.task}: what was not committed"
        try:
            repository = Repository(project)
            made, stashed = leavings.made_in(repository, Path(harvest.worktree)), self._stashed(project, harvest)
            removed = repository.remove(Path(harvest.worktree), message)
        except (Kept, Refused, EnvironmentMissing, Unwritable) as error:
            if error.message.endswith(PASSING):
                raise
            left = f"{harvest.worktree} stays: {error.message}"
            return WorkerResult(harvest.branch, *_measured(project, harvest.branch), left=left)
        result = replace(self._result(repository, harvest, [harvest.branch, removed, *made]), stashes=stashed)
        if not looking.exists(harvest.worktree):
            return result
        return replace(result, remains=f"{harvest.worktree} cannot be deleted by pro0; its work is saved")

    def _result(self, repository: Repository, harvest: Harvest, names: list[str]) -> WorkerResult:
        """Return the branches with a worker's commits. Git still knows them when an earlier try was not recorded."""
        branch_names = [name for name in dict.fromkeys(names) if name]
        branches = leavings.of_a_session(repository, branch_names, Path(harvest.worktree), self._began(harvest))
        if not branches:
            return WorkerResult()
        return WorkerResult(branches[0], *repository.measure(branches[0]), also=tuple(branches[1:]))

    def _stashed(self, project: Path, harvest: Harvest) -> tuple[str, ...]:
        return stashes.left_by(Git(project), Path(harvest.worktree), harvest.branch, self._began(harvest))

    def _began(self, harvest: Harvest) -> datetime | None:
        state = self._team.runtime.read().session(harvest.incarnation)
        return state.started_at if state else None

    def _tail(self, harvest: Harvest) -> str:
        """Return the end of the worker's output, as far as it is still visible."""
        state = self._team.runtime.read().session(harvest.incarnation)
        handle = shown_at(self._team, state) if state else None
        screen = self._last(harvest.incarnation)
        with suppress(Pro0Error):
            screen = self._backend.peek(handle, LINES) if handle else screen
        return screen.strip()[-TAIL:]


def _measured(project: Path, branch: str) -> tuple[int, str]:
    """Return the commits of a branch whose worktree stays, as far as git can tell."""
    with suppress(Pro0Error):
        return Repository(project).measure(branch)
    return 0, ""
