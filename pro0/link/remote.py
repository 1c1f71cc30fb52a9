"""A session on the machine that has its agent: one folder, the guard that outlives connections, and how it ended."""

import json
import os
import signal
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

import msgspec

from pro0 import agents, looking, processes, resources
from pro0.agents import first_prompt
from pro0.decoding import decode
from pro0.engine.opening.environment import member_environment, of_agent, start_environment
from pro0.errors import EnvironmentMissing
from pro0.link.agent import view_there
from pro0.model.runtime import Launch, Report, State, Terminal
from pro0.model.stored import Process
from pro0.model.team import Environment
from pro0.ops.context import AGENT_ID, TEAM
from pro0.ops.identity import HOSTED, INCARNATION
from pro0.processes.ending import FIRM
from pro0.sessions.starting import started_for_others
from pro0.ssh import NOT_BEGUN
from pro0.store import atomic, paths
from pro0.store.files import delete, encode, exists, make_folder
from pro0.terminals.library import library

COMING_UP = 15.0
"""Seconds that a guard may take until it reports."""
KEPT = 30 * 86400.0
"""Seconds for which the end of a session is remembered."""
HALF_MADE = 3600.0
"""Seconds after which a half-made folder counts as abandoned."""
_PAUSE = 0.05
NEVER = "it never came up"
KILLED = "its guard there was killed"
LOST = "its files there are gone"
AWAY = "its files there are not mounted while it runs; mount its home there, or end it: pro0 member shutdown"


class Order(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The order from home to start a session, or to go on with one begun before (`again`)."""

    team: str
    agent_id: str
    argv: tuple[str, ...]
    first_state: State
    grace: float
    passes: tuple[str, ...]
    code: str
    agent: str
    conversation: str
    prompt: str
    earlier: str
    earlier_argv: tuple[str, ...]
    again: bool
    columns: int
    lines: int


class Remote:
    """One session here, named by its id on this machine; any number of processes may serve it."""

    def __init__(self, home: Path, there: str) -> None:
        self._home = home
        self._place = paths.hosted(home, there)
        self._there = there
        self._since = time.monotonic()
        self._told = False

    @property
    def folder(self) -> Path:
        """Return the session's folder, with the socket for commands."""
        return self._place

    @property
    def terminal(self) -> Path:
        """Return the path of the socket of the session's terminal."""
        return self._place / paths.HOSTED_TERMINAL

    def cwd(self, order: Order) -> str:
        """Return the directory in which the agent starts."""
        return str(paths.guest(self._home, order.code)[1] if order.code else Path.home())

    def begin(self, order: Order) -> None:
        """Start the session, or finish a start that was cut off; never start a session that has begun or ended before.

        Raises EnvironmentMissing when the session runs while its files are away, StoreError when they cannot be read.
        """
        if not exists(self._place) and not self._has_begun(order):
            _forget_old(self._place.parent)
            if order.earlier and self._has_earlier(order):
                self._make({paths.HOSTED_LAUNCH: encode(self._launched(order, order.earlier_argv))})
            else:
                prompt = {first_prompt.FILE: order.prompt.encode(errors="replace")} if order.prompt else {}
                self._make({paths.HOSTED_LAUNCH: encode(self._launched(order, order.argv)), **prompt})
        if exists(self._launch):
            self._spawn()

    def conversation(self, order: Order) -> str:
        """Return the conversation that the agent began with: the earlier one when the agent was given no prompt."""
        went_on = order.earlier and not first_prompt.was_given(str(self._place))
        return order.earlier if went_on else order.conversation

    def report(self) -> Report | None:
        """Return the report of the session's guard, None before the first one."""
        try:
            return decode((self._place / paths.HOSTED_REPORT).read_bytes(), Report)
        except (OSError, msgspec.MsgspecError):
            return None

    def over(self) -> dict[str, object] | None:
        """Return how the session ended, once its whole tree has ended; None before."""
        with suppress(OSError, ValueError):
            ended = json.loads((self._place / paths.HOSTED_OVER).read_bytes())
            if isinstance(ended, dict):
                return ended
        report = self.report()
        if report is None:
            if looking.exists(self._launch) or time.monotonic() - self._since < COMING_UP or self._runs_on():
                return None
            return self._end_as({"code": None, "signal": None, "reason": NEVER})
        if processes.may_live(report.guard):
            return None
        report = self.report() or report  # the guard may have written a last report before its end
        if report.exit is None:
            return self._end_as({"code": None, "signal": None, "reason": KILLED})
        end = report.exit
        has_run = report.agent or not end.reason  # the look at an agent that ended at once may have missed it
        code = end.code if has_run else NOT_BEGUN
        last_line = end.output.strip().splitlines()[-1:] if code == NOT_BEGUN else []  # it may not have been drawn
        return self._end_as({"code": code, "signal": end.signal, "reason": end.reason or "".join(last_line)})

    def end(self) -> None:
        """Ask the session to end; call it again until `over`."""
        if not looking.exists(self._place):
            self._end_as({"code": None, "signal": None, "reason": NEVER})
        elif (report := self.report()) and not self._told:
            for number in (signal.SIGTERM, signal.SIGCONT):
                processes.signal_process(report.guard, number)
            self._told = True
        elif report is None:
            with suppress(FileNotFoundError):
                self._launch.unlink()  # the remover of the launch file has the session: no guard starts it now
                self._end_as({"code": None, "signal": None, "reason": NEVER})

    @property
    def _launch(self) -> Path:
        return self._place / paths.HOSTED_LAUNCH

    def _make(self, files: dict[str, bytes]) -> None:
        """Make the session's folder with these files, whole or not at all; an existing folder stays as it is."""
        new = self._place.with_name(f"{paths.NEW}{self._there}-{os.getpid()}")
        try:
            make_folder(new)
            with atomic.folder(new) as folder:
                for name, data in files.items():
                    atomic.replace(folder, name, data)
        except BaseException:  # leave no environment of the agent behind
            delete(new)
            raise
        try:
            new.rename(self._place)
        except OSError:  # another process was faster
            delete(new)

    def _has_earlier(self, order: Order) -> bool:
        """Return True when this machine has the earlier conversation, and the agent can resume it."""
        view = view_there(order.earlier, self._place, self.cwd(order))
        return agents.can_go_on(agents.adapter_named(order.agent), view, order.agent_id)

    def _launched(self, order: Order, argv: tuple[str, ...]) -> Launch:
        identity = {TEAM: order.team, AGENT_ID: order.agent_id, HOSTED: str(self._place)}
        started_in = Environment(variables=start_environment(os.environ, order.passes))
        terminal = Terminal(socket=str(self.terminal), library=str(library()), columns=order.columns, lines=order.lines)
        return Launch(
            agent_id=order.agent_id,
            incarnation=self._there,
            team=order.team,
            team_uid=self._there,
            argv=argv,
            cwd=self.cwd(order),
            env=member_environment(of_agent(started_in, order.passes), identity),
            report=str(self._place / paths.HOSTED_REPORT),
            first_state=order.first_state,
            grace=order.grace,
            team_folder=str(self._place),
            terminal=terminal,
        )

    def _spawn(self) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        log = os.open(self._place / paths.HOSTED_LOG, flags, atomic.FILE_MODE)
        try:
            guard = subprocess.Popen(
                resources.guard_argv(self._launch),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                env=started_for_others(),
                start_new_session=True,
            )
        finally:
            os.close(log)
        threading.Thread(target=guard.wait, daemon=True).start()  # reap the guard

    def _end_as(self, how: dict[str, object]) -> dict[str, object] | None:
        """End the processes left by a killed guard, and store the end; None while one of them lives."""
        if processes.end(self._left, FIRM):
            return None
        if not looking.exists(self._place):
            self._make({paths.HOSTED_OVER: json.dumps(how).encode()})
            return self.over()
        with atomic.folder(self._place) as folder:
            atomic.replace(folder, paths.HOSTED_OVER, json.dumps(how).encode())
            for name in os.listdir(folder):
                if name != paths.HOSTED_OVER:
                    with suppress(OSError):
                        os.unlink(name, dir_fd=folder)
        return how

    def _runs_on(self) -> bool:
        """Return True when a session without its files must not be ended: its guard lives, or its home is away.

        A guard itself ends its session once the home is back without the files. A killed guard cannot.
        """
        return self._has_guard() or (not looking.is_folder(self._place.parent) and bool(self._left()))

    def _has_begun(self, order: Order) -> bool:
        """Return True when the session was begun before, perhaps unknown to home; without its files it is ended."""
        runs_on, has_begun = self._runs_on(), order.again or bool(self._left())
        if exists(self._place):  # the home is back, or another process has begun the session
            return True
        if runs_on:
            raise EnvironmentMissing(f"{AWAY} {order.agent_id}")
        if has_begun:
            self._end_as({"code": None, "signal": None, "reason": LOST})
        return has_begun

    def _has_guard(self) -> bool:
        """Return True while the session's guard lives, even before its first report."""
        return bool(processes.called_with({str(self._launch): self._there}))

    def _left(self) -> list[Process]:
        return processes.proven(INCARNATION, [self._there])[self._there]


def end(home: Path, there: str, patience: float) -> dict[str, object] | None:
    """End a session here and return how it ended, None when it has not within `patience` seconds."""
    remote, deadline = Remote(home, there), time.monotonic() + patience
    while time.monotonic() < deadline:
        remote.end()
        if over := remote.over():
            return over
        time.sleep(_PAUSE)
    return None


def _forget_old(folder: Path) -> None:
    """Remove old ends of sessions, and folders left half-made by a killed process."""
    make_folder(folder)
    for place in folder.iterdir():
        with suppress(OSError):
            is_half_made = place.name.startswith(paths.NEW)
            dated, age = (place, HALF_MADE) if is_half_made else (place / paths.HOSTED_OVER, KEPT)
            if time.time() - dated.stat().st_mtime > age:
                delete(place)
