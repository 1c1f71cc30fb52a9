"""Processes that other machines run for sessions. Only a machine's own answer proves their end, never its silence."""

import json
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

from pro0 import ssh
from pro0.engine.background.backlog import marked
from pro0.engine.log import Log
from pro0.errors import EnvironmentMissing, ErrorCode, Pro0Error, Refused
from pro0.model.runtime import ENDED, Hosted, Runtime, SeatState
from pro0.store.teams import TeamStore

SLACK = 20.0
"""Seconds beyond the grace, for KILL and for the machine to be sure, which may take `link.remote.COMING_UP`."""
AGAIN = 2.0
"""Seconds between two tries."""
LATE = 5.0
"""Seconds beyond the grace for another machine to say that a session on it is over."""


def end(hosted: Hosted) -> None:
    """End what a machine runs for a session; raises EnvironmentMissing unless the machine says that it is over."""
    patience = hosted.grace + SLACK
    words = ("pro0", "hosted", "end", hosted.there, "--patience", f"{patience:g}")
    answer = ssh.run(hosted.ssh, hosted.host, words, patience + 2 * ssh.CONNECT)
    try:
        if answer.code == 0 and isinstance(json.loads(answer.out), dict):
            return
    except (ValueError, RecursionError):
        pass
    last_line = answer.errors.splitlines()[-1:] or ["it did not confirm that the session has ended"]
    raise EnvironmentMissing(f"{hosted.host}: {last_line[0]}", code=ErrorCode.UNREACHED)


class Attempts:
    """Runs steps one after the other even when some fail, and raises the first error at the end."""

    def __init__(self) -> None:
        self._first: Pro0Error | OSError | None = None

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Note an error instead of raising it."""
        try:
            yield
        except (Pro0Error, OSError) as error:
            self._first = self._first or error

    def require(self) -> None:
        """Raise the first error."""
        if self._first:
            raise self._first


def end_all(team: TeamStore) -> None:
    """End what machines still run for dead sessions.

    Raises the first error after all machines were asked: Refused for one that does not say that it is over.
    """
    attempts = Attempts()
    for incarnation in team.elsewhere():
        with attempts.going_on():
            if hosted := team.hosted(incarnation):
                _end_proven(team, hosted)
    attempts.require()


def _end_proven(team: TeamStore, hosted: Hosted) -> None:
    try:
        end(hosted)
    except EnvironmentMissing as error:
        raise unreached(hosted, error.message) from error
    team.drop_hosted(hosted.incarnation)


def unreached(hosted: Hosted, why: str = "") -> Refused:
    """Return the error for a session that may still run on a machine."""
    text = f"{hosted.agent_id} may still run on {hosted.host}" + (f": {why}" if why else "")
    hint = f"make {hosted.host} reachable again, or give {hosted.agent_id} up: pro0 member forget {hosted.agent_id}"
    return Refused(text, code=ErrorCode.LIVE_SESSIONS, hint=hint)


def has_not_begun(state: SeatState) -> bool:
    """Return True when a session has ended and, as far as is known, its machine never began it."""
    return state.exit is not None and state.exit.code in (ssh.NOT_BEGUN, ssh.LOST)


class HeldStarts:
    """Says once for each member that its start waits until another machine has ended its last session."""

    def __init__(self, team: TeamStore, show: Callable[[str], None]) -> None:
        self._team = team
        self._show = show
        self._said: set[str] = set()

    def look(self, runtime: Runtime, agents: Collection[str]) -> None:
        """Report the starts that wait; `agents` are members on other machines that have not started yet."""
        for hosted in self._team.all_hosted() if set(agents) - self._said else ():
            agent_id, state = hosted.agent_id, runtime.session(hosted.incarnation)
            if agent_id in agents and agent_id not in self._said and state and state.state in ENDED:
                self._said.add(agent_id)
                or_else = f"or: pro0 member forget {agent_id}"
                self._show(f"{agent_id} {hosted.keeps_back}, {or_else}")

    def error(self, agents: Collection[str]) -> EnvironmentMissing | None:
        """Return the error for the starts that still wait when the time is up, None when none was reported."""
        late = [hosted for hosted in self._team.all_hosted() if hosted.agent_id in self._said.intersection(agents)]
        if not late:
            return None
        text = "; ".join(f"{hosted.agent_id} {hosted.keeps_back}" for hosted in late)
        forget = f"pro0 member forget {late[0].agent_id} -t {self._team.name}"
        hint = f"reach {late[0].host} again, or give it up: {forget}"
        return EnvironmentMissing(text, code=ErrorCode.UNREACHED, hint=hint, of_team=True)


class OtherEnds:
    """Raises an error when only another machine keeps a team from stopping, instead of waiting for it."""

    def __init__(self, team: TeamStore) -> None:
        self._team = team
        self._since: float | None = None

    def look(self, runtime: Runtime) -> None:
        """Raise Refused when all sessions here have ended, but a machine did not say in time that its own have."""
        if any(state.state not in ENDED for state in runtime.seats) or not (hosted := self._team.all_hosted()):
            self._since = None
            return
        now = time.monotonic()
        self._since = self._since or now
        if now - self._since > hosted[0].grace + LATE:
            raise unreached(hosted[0])


class HostSweep:
    """Knows the sessions that may still run elsewhere. It calls `woken` after each try to end one."""

    def __init__(self, team: TeamStore, log: Log, woken: Callable[[], None]) -> None:
        self._team = team
        self._log = log
        self._woken = woken
        self._asking: set[str] = set()
        self._due: dict[str, float] = {}

    def look(self, runtime: Runtime, alive: Collection[str]) -> frozenset[str]:
        """Return the dead sessions that may still run elsewhere, and ask their machines to end them."""
        elsewhere = self._team.elsewhere()
        for incarnation in set(self._due).difference(elsewhere):
            del self._due[incarnation]
        incarnations = [incarnation for incarnation in elsewhere if incarnation not in alive]
        for incarnation in incarnations:
            state, now = runtime.session(incarnation), time.monotonic()
            is_over = state is None or state.state in ENDED
            if is_over and incarnation not in self._asking and self._due.get(incarnation, now) <= now:
                with marked(self._asking, incarnation):
                    threading.Thread(target=self._end, args=(incarnation,), daemon=True).start()
        return frozenset(incarnations)

    def _end(self, incarnation: str) -> None:
        try:
            if hosted := self._team.hosted(incarnation):
                end(hosted)
                self._team.drop_hosted(incarnation)
                self._log.write("ended there", agent=hosted.agent_id, host=hosted.host)
        except Pro0Error as error:
            if incarnation not in self._due:
                self._log.write("not ended there", incarnation=incarnation, why=error.message)
        finally:
            self._due[incarnation] = time.monotonic() + AGAIN
            self._asking.discard(incarnation)
            self._woken()
