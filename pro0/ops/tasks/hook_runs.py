"""Run hooks: one JSON object on stdin, the end of stderr kept, a time limit, the whole process tree ended."""

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec

from pro0 import looking
from pro0.children import Running
from pro0.git.environment import outside_hooks
from pro0.model.home import HookEvent
from pro0.model.ids import HUMAN
from pro0.model.need import NeedKind
from pro0.ops import troubles
from pro0.ops.context import TEAM_UID, clock, new_id
from pro0.processes.table import SPARED
from pro0.rules.text import visible
from pro0.store.teams import TeamStore

REFUSES = 2
"""The exit code of a refusal."""
_GATES = (HookEvent.TASK_CREATED, HookEvent.TASK_COMPLETED)
"""The events whose hooks must let a change through; a hook that cannot run does not."""
SAID_LIMIT = 8 * 1024
"""The longest refusal text, in bytes: the end of stderr."""
NOT_RUN = (126, 127)
"""The exit codes of a shell that cannot run a program, or finds none."""
NO_START = "it cannot be started"
"""The beginning of the reason when the system cannot start a command."""
UNDECIDED = ", so the change is refused"
"""The end of the reason of a hook that cannot run."""
NOTHING: Mapping[str, str] = {}
GRACE = 2.0
POLL = 0.2


class Runs:
    """Run one team's hooks, each within a time limit in seconds."""

    def __init__(self, team: TeamStore, limit: int) -> None:
        self._team = team
        self._config = team.config.read()
        self._limit = limit

    def ask(
        self,
        commands: Iterable[str],
        event: HookEvent,
        agent_id: str,
        cwd: str,
        about: Mapping[str, object],
        over: Callable[[], str] = str,
    ) -> str:
        """Run an event's commands in order; return the first refusal, which names its hook, else "".

        `over` is polled for a reason to end a running command.
        """
        body = {
            "hook_event_name": event,
            "team_name": self._config.name,
            "teammate_name": agent_id or None,
            "cwd": cwd,
            **about,
        }
        for command in commands:
            code, output = self._run(command, msgspec.json.encode(body), cwd, over)
            if code == REFUSES:
                self._note("hook.blocked", event, command, agent_id, output)
                return f"the hook {command!r} refused{f': {output}' if output else ''}"
            if code is not None or output != over():
                self._keep(command, code, output)
            if code or code is None:
                why = output if code is None else f"exit code {code}: {output}"
                self._note("hook.failed", event, command, agent_id, why)
            no_start = code in NOT_RUN or (code is None and output.startswith(NO_START))
            if no_start and event in _GATES:
                return f"the hook {command!r} cannot run ({output or f'exit code {code}'}){UNDECIDED}"
        return ""

    def notify(self, command: str, body: bytes, variables: Mapping[str, str], over: Callable[[], str]) -> str:
        """Run the person's command for notices; return why it failed, or an empty string."""
        code, output = self._run(command, body, self._config.project, over, variables)
        return "" if code == 0 else output if code is None else f"exit code {code}{f': {output}' if output else ''}"

    def _run(
        self, command: str, body: bytes, cwd: str, over: Callable[[], str], variables: Mapping[str, str] = NOTHING
    ) -> tuple[int | None, str]:
        """Return the exit code and the end of stderr; for a command ended or not started, None and the reason."""
        environment = {name: value for name, value in outside_hooks(os.environ).items() if name != SPARED}
        environment |= variables
        environment[TEAM_UID] = self._config.uid
        try:
            with tempfile.TemporaryDirectory(prefix="pro0-hook-") as folder:
                stdin, errors = Path(folder, "given"), Path(folder, "errors")
                stdin.write_bytes(body)
                words = ("/bin/sh", "-c", command)
                running = Running(words, environment, new_id(), GRACE, given=stdin, errors=errors, cwd=_place(cwd))
                try:
                    running.start()
                    ending = running.follow(self._limit, None, _drop, over, POLL)
                except BaseException:
                    running.end("interrupted", _drop)
                    raise
                output = errors.read_bytes()[-SAID_LIMIT:].decode(errors="replace").strip()
        except OSError as error:
            return None, f"{NO_START}: {error.strerror or error}"
        return (None, ending.why) if ending.why else (ending.code, visible(output))

    def _keep(self, command: str, code: int | None, output: str) -> None:
        """Let the person know of a hook that could not run, until it runs again."""
        if code is None or code in NOT_RUN:
            why = f"exit code {code}: {output}" if code else output
            troubles.note(self._team, NeedKind.HOOK, command, why, clock())
        else:
            troubles.over(self._team, NeedKind.HOOK, command)

    def _note(self, event_name: str, event: HookEvent, command: str, agent_id: str, why: str) -> None:
        self._team.log_event(clock(), agent_id or HUMAN, event_name, hook=event, command=command, why=why)


def _drop(_output: bytes) -> None:
    """Drop a command's output: only its stderr counts."""


def _place(cwd: str) -> Path:
    return Path(cwd) if looking.is_folder(cwd) else Path("/")
