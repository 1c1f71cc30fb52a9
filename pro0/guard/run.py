"""The life of a guard: take the launch file, start the agent, wait, end the tree, report the end."""

import os
import select
import sys
import time

from pro0.guard import agent, tree
from pro0.guard.launch import Launch, take
from pro0.guard.report import ReportFile, StatePipe
from pro0.processes import end, mark, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal

    from pro0.guard.lookout import Lookout
    from pro0.guard.terminal import AgentTerminal
else:
    import _signal as signal

BAD_LAUNCH = 70
CANNOT_START = 127

LOOKS, PAUSE = 100, 0.05
"""Looks at a process that cannot be looked at now, and the seconds between them."""

BY_ITSELF = ""
ASKED = "ended: asked to"
HANG_UP = "ended: hang-up"
TEAM_GONE = "ended: the team is gone"
FAILED = "ended: the guard failed"

KIND = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
"""Environment variables telling agents the kind of our terminal."""


def main(arguments: list[str]) -> None:
    """Guard the agent of the launch file, the only argument, and exit with the agent's code."""
    try:
        guard = Guard(take(arguments[1]))
    except (OSError, ValueError, IndexError) as error:
        _complain(f"the launch file cannot be used: {error}")
        os._exit(BAD_LAUNCH)
    code = BAD_LAUNCH
    try:
        code = guard.run()
    except BaseException as error:  # noqa: BLE001 - after any failure, the tree must not stay behind
        _complain(f"{type(error).__name__}: {error}")
        guard.cause = guard.cause or FAILED
        guard.finish()
    finally:
        os._exit(code)  # nothing to flush, and a missing terminal cannot fail this exit


class Guard:
    """One guard of one agent."""

    def __init__(self, launch: Launch) -> None:
        self.cause = BY_ITSELF
        self._launch = launch
        mark.take_off()  # a session may have started this guard: the guard is not part of it
        self._report = ReportFile(launch, _entry(os.getpid()))
        self._pipe = StatePipe()
        self._wake = agent.catch_signals()
        self._subreaper = agent.become_subreaper()
        self._pid = 0
        self._code: int | None = None
        self._lookout: Lookout | None = None
        self._terminal: AgentTerminal | None = None
        self._look_at = time.monotonic() + launch.look

    def run(self) -> int:
        """Start the agent, stay until it ends or must end, end its tree; return the exit code."""
        self._report.write()
        if not self._report.gone and self._start():
            while not self._over():
                self._wait()
        self.finish()
        return BAD_LAUNCH if self._code is None else self._code

    def finish(self) -> None:
        """End the tree and put the report on disk for good."""
        survivors = end(self._belonging, self._launch.grace)
        if self._terminal:
            self._terminal.end()
        if survivors:
            self._report.remark(f"{len(survivors)} processes cannot be ended")
        self._report.write(durable=True)

    def _start(self) -> bool:
        launch = self._launch
        tags = {
            tree.TEAM: launch.team_uid,
            tree.INCARNATION: launch.incarnation,
            tree.STATE: str(self._pipe.agents_end),
        }
        try:
            terminal_variables, path = self._make_terminal()
            environment = {**launch.env, **terminal_variables, **tags}
            mark.put_on(launch.incarnation)
            self._pid = agent.start(launch.argv, launch.cwd, environment, self._pipe.agents_end, path)
        except agent.CannotStart as error:
            self._code = CANNOT_START
            self._report.ended("crashed", CANNOT_START, None, str(error))
            return False
        finally:
            mark.take_off()  # later starts, such as a lead, are not part of this session
        self._pipe.handed_over()
        self._report.started(_entry(self._pid), launch.first_state)
        return True

    def _make_terminal(self) -> tuple[dict[str, str], str]:
        """Make the agent's terminal, when the launch asks for ours; return its environment variables and its path."""
        if not self._launch.terminal:
            # A pane of tmux is a terminal of tmux's kind, whatever terminal the team was started in.
            return {"TERM": os.environ["TERM"]} if os.environ.get("TMUX_PANE") and "TERM" in os.environ else {}, ""
        from pro0.guard import terminal  # late: a guard in a pane needs none of it

        try:
            self._terminal = terminal.AgentTerminal(self._launch.terminal, self._launch.incarnation)
        except OSError as error:
            raise agent.CannotStart(f"cannot make a terminal: {error}") from error
        return KIND, self._terminal.path

    def _over(self) -> bool:
        return bool(self.cause) or not self._pid

    def _wait(self) -> None:
        """Wait for a signal, a report of the agent or the time of the next look, and handle it."""
        sources = [self._wake, self._pipe.fileno] if self._pipe.open else [self._wake]
        seconds = max(0.0, self._look_at - time.monotonic()) if self._launch.team_folder else None
        ready = select.select(sources, [], [], seconds)[0]
        if self._pipe.fileno in ready:
            self._listen()
        if self._wake in ready:
            # The request comes first: an agent just killed by a hang-up did not end by itself.
            numbers = os.read(self._wake, 4096)
            if signal.SIGTERM in numbers:
                self.cause = ASKED
            elif signal.SIGHUP in numbers:
                self.cause = HANG_UP
            self._reap()
        if seconds is not None and time.monotonic() >= self._look_at:
            self._report.write_owed()
            self._look()

    def _look(self) -> None:
        """Look around; a failed look never harms the agent."""
        try:
            from pro0.guard import lookout  # late: a guard that starts needs none of it

            self._lookout = self._lookout or lookout.Lookout(self._launch)
            if not self._lookout.look():
                self.cause = self.cause or TEAM_GONE
            self._look_at = time.monotonic() + self._lookout.pause(self._launch.look)
        except Exception as error:  # noqa: BLE001
            _complain(f"cannot check on the team and its lead: {error}")
            self._look_at = time.monotonic() + 60

    def _listen(self) -> None:
        self._report.merge(self._pipe.lines())

    def _belonging(self) -> list[table.ProcessEntry]:
        processes = tree.belonging(self._launch.incarnation, () if self._subreaper else self._leaders())
        self._reap()  # reap after the look: an agent dead by then is handled before the tree counts as empty
        return processes

    def _leaders(self) -> tuple[int, ...]:
        """Return the leaders of terminal sessions here; the agent only while its pid cannot be another's."""
        return (os.getpid(), *([self._pid] if self._terminal else []))

    def _reap(self) -> None:
        """Reap every ended child: the agent, and the tree's orphans adopted by the guard."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            if pid == self._pid:
                self._agent_ended(status)

    def _agent_ended(self, status: int) -> None:
        self._pid = 0
        if self._pipe.open:
            self._listen()  # the agent's last words come before its end
        code = os.waitstatus_to_exitcode(status)
        self._code = code if code >= 0 else 128 - code
        state = "shutdown" if self.cause == ASKED else "crashed"
        if self.cause == BY_ITSELF and code == 0:
            state = "exited"
        # A log outlives its agent, a pane does not.
        kept = state == "crashed" or (state == "exited" and "TMUX_PANE" in os.environ)
        output = self._last_output() if kept and not self.cause else ""
        self._report.ended(state, code if code >= 0 else None, -code if code < 0 else None, self.cause, output)

    def _last_output(self) -> str:
        """Return the last of an ended agent's output; whatever fails here, its end is reported."""
        try:
            from pro0.guard import output  # late: an agent seldom ends

            return output.last_output(self._terminal)
        except Exception as error:  # noqa: BLE001
            _complain(f"cannot tell what the agent printed last: {error}")
            return ""


def _entry(pid: int) -> table.ProcessEntry | None:
    """Return a process of this session; a failed look is repeated, since the agent must not end of it."""
    for _ in range(LOOKS):
        try:
            return table.entry(pid)
        except Exception:  # noqa: BLE001 - naming the error would cost each guard 4 ms
            time.sleep(PAUSE)
    return table.entry(pid)


def _complain(sentence: str) -> None:
    try:
        sys.stderr.write(f"pro0 guard: {sentence}\n")
        sys.stderr.flush()
    except (OSError, AttributeError):  # the terminal is gone, or there never was one
        pass
