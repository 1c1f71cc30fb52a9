"""Hooking: run the lead's hooks in the background, for idle teammates and for changes."""

import os
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from pro0 import config
from pro0.engine.background.backlog import Backlog
from pro0.engine.log import Log, reason
from pro0.errors import Pro0Error
from pro0.model.home import HookEvent
from pro0.model.runtime import Runtime, SeatState
from pro0.ops import trust
from pro0.ops.tasks import hooks
from pro0.ops.tasks.hook_runs import Runs
from pro0.rules.lead.plan import MEMORY
from pro0.store.paths import TRUSTED
from pro0.store.teams import TeamStore

MOST = 200
"""Changes waiting for a slow hook. Further ones are dropped and logged."""
LAST_WORDS = 5.0
"""Seconds for hooks after the team has stopped, and for those that are ended."""
PAUSE = 0.05
Change = tuple[HookEvent, str, dict[str, object]]
Version = tuple[int, int, int]
T = TypeVar("T")


class LastGood(Generic[T]):
    """A value from the settings, read again after each change of their files. A failed read keeps the last good one."""

    def __init__(self, home: Path, project: Path, value: T, failed: Callable[[str], None]) -> None:
        self._files = (home / config.USER_FILE, project / config.PROJECT_FILE, home / TRUSTED)
        self.value = value
        self._failed = failed
        self._stamp: list[Version] | None = None
        self._why = ""

    def look(self, read: Callable[[], T]) -> T:
        """Return the value in force; report the reason for a failed read once."""
        stamp = [version(path) for path in self._files]
        if stamp == self._stamp:
            return self.value
        try:
            self.value = read()
        except Exception as error:  # noqa: BLE001 - anybody may write a project's file: nothing in it ends a round
            if (why := reason(error)) != self._why:
                self._failed(why)
            self._why = why  # no new stamp: a good file may have been out of reach only for this look
        else:
            self._stamp, self._why = stamp, ""
        return self.value


class InForce(NamedTuple):
    """The hooks of the settings and their time limit, kept so that hooks run even while settings cannot be read."""

    commands: hooks.Commands = {}
    limit: int = 0
    """Seconds."""


class Hooking:
    """Runs the hooks of one team. It calls `woken` after each answer."""

    def __init__(self, team: TeamStore, log: Log, woken: Callable[[], None]) -> None:
        self._team = team
        self._log = log
        self._woken = woken
        self._answers: dict[str, str] = {}
        self._asked: dict[str, tuple[str, ...]] = {}
        """The newest questions about each session."""
        self._backlog = Backlog(self._tell, self._failed, MOST)
        self._over = ""
        self._running: set[object] = set()
        """The runs under way, in any thread."""
        self._why = ""
        """Why nothing could be run the last time."""
        home, project = team.paths.home, Path(team.config.read().project)
        self._in_force = LastGood(home, project, InForce(), lambda why: log.write("hooks", why=why))

    def events(self) -> frozenset[HookEvent]:
        """Return the events with hooks; while the settings cannot be read, the last ones known."""
        return frozenset(self._in_force.look(self._read).commands)

    def answers(self) -> dict[str, str]:
        """Return the answer to each finished question, "" for no objection."""
        return dict(self._answers)

    def ask(self, key: str, state: SeatState) -> None:
        """Ask the hooks if a member may be idle, once for each key."""
        keys = self._asked.get(state.incarnation, ())
        if key not in keys:
            threading.Thread(target=self._answer, args=(key, state), daemon=True).start()
            # A question is about the present end of a turn. Only the newest one is ever asked for again.
            self._asked[state.incarnation] = (*keys, key)[-MEMORY:]

    def keep(self, incarnations: Collection[str]) -> None:
        """Forget the questions about all other sessions, and the answers to forgotten questions."""
        self._asked = {name: keys for name, keys in self._asked.items() if name in incarnations}
        asked = {key for keys in self._asked.values() for key in keys}
        for key in set(self._answers) - asked:
            del self._answers[key]

    def tell(self, before: Runtime, after: Runtime) -> None:
        """Queue the changes of the team and its members for their hooks, in order."""
        for change in changes(before, after):
            if change[0] in self.events() and not self._queued(change):
                self._log.write("hook dropped", change=change[0])

    def _queued(self, change: Change) -> bool:
        try:
            return self._backlog.put(change)
        except RuntimeError:  # no thread starts; the round goes on
            return False

    def finish(self) -> None:
        """Let queued hooks run for `LAST_WORDS` seconds, then end them and all others."""
        timer = threading.Timer(LAST_WORDS, self._end)
        timer.start()
        self._backlog.finish()
        timer.cancel()
        self.end()

    def end(self) -> None:
        """End the running hooks and commands of the person, let none begin, and wait up to `LAST_WORDS` seconds."""
        self._end()
        deadline = time.monotonic() + LAST_WORDS
        while self._running and time.monotonic() < deadline:
            time.sleep(PAUSE)

    def _end(self) -> None:
        self._over = "the lead ends"

    def _read(self) -> InForce:
        home, project = self._team.paths.home, Path(self._team.config.read().project)
        limit = trust.settings(home, project, os.environ).hook_timeout_seconds
        return InForce(hooks.in_force(home, project), limit)

    def _tell(self, change: Change) -> None:
        if not self._over and self.run(*change) is None:  # perhaps the settings were emptied while it waited
            self._log.write("hook dropped", change=change[0])

    def _failed(self, change: Change, error: Exception) -> None:
        self._log.write("hook dropped", change=change[0], why=reason(error))

    def _answer(self, key: str, state: SeatState) -> None:
        try:
            refusal = self.run(HookEvent.TEAMMATE_IDLE, state.agent_id, {"state": state.state}, state.worktree)
            self._answers[key] = refusal or ""
        finally:
            self._answers.setdefault(key, "")
            self._woken()

    def run(self, event: HookEvent, agent_id: str, about: dict[str, object], cwd: str = "") -> str | None:
        """Run an event's hooks now; return a refusal's text, "" for none, None when no hook is set or could run."""
        in_force = self._in_force.value
        commands = in_force.commands.get(event)
        if not commands:
            return None
        with self.counted() as over:
            if over():  # the lead may be gone before it is started
                return ""
            try:
                runs = Runs(self._team, in_force.limit)
                place = cwd or self._team.config.read().project
            except (Pro0Error, OSError) as error:
                self._cannot(reason(error))
                return None
            self._why = ""
            try:
                return runs.ask(commands, event, agent_id, place, about, over)
            except (Pro0Error, OSError) as error:  # a hook ran, but its outcome cannot be recorded
                self._log.write("hooks", why=str(error))
                return ""

    def _cannot(self, why: str) -> None:
        """Log once why nothing can be run; it may be tried in each round."""
        if why != self._why:
            self._log.write("hooks", why=why)
        self._why = why

    @contextmanager
    def counted(self) -> Iterator[Callable[[], str]]:
        """Have the lead wait for a command when it ends; yield a function that says why the command must end, or ""."""
        run = object()
        self._running.add(run)
        try:
            yield lambda: self._over
        finally:
            self._running.discard(run)


def changes(before: Runtime, after: Runtime) -> Iterator[Change]:
    """Yield the differences of two records: the team's phase and member states."""
    earlier_states = {state.agent_id: state for state in before.seats}
    for state in after.seats:
        earlier = earlier_states.get(state.agent_id)
        same_session = earlier is not None and earlier.incarnation == state.incarnation
        if earlier is None or not same_session or earlier.state is not state.state:
            was = earlier.state if earlier else None
            yield HookEvent.MEMBER_CHANGED, state.agent_id, {"from": was, "to": state.state, "note": state.note}
    if before.phase is not after.phase:
        yield HookEvent.TEAM_CHANGED, "", {"from": before.phase, "to": after.phase}


def version(path: Path) -> Version:
    """Return a file's version, zeros for no file. The size tells apart two writes within one clock tick."""
    try:
        status = path.stat()
    except OSError:
        return 0, 0, 0
    return status.st_ino, status.st_mtime_ns, status.st_size
