"""One turn: an agent's program runs on one task, to its end, its limit, or a reason to stop it."""

import os
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec.structs import replace

from pro0.agent_output import AgentOutput
from pro0.agents import defined
from pro0.agents.adapter import Brief, Invocation, OneTurn, TurnOutput
from pro0.agents.first_prompt import FILE
from pro0.children import ChangeSource, Ending, Running
from pro0.config import Settings
from pro0.engine.opening.briefs import PRO0
from pro0.engine.opening.environment import of_agent
from pro0.model.run import RunOptions
from pro0.model.task import Task
from pro0.model.team import Environment, Seat
from pro0.model.usage import Usage
from pro0.ops.context import Context
from pro0.ops.seats import roster
from pro0.ops.team.members import task_identity
from pro0.rules.lead.permissions import permission_mode
from pro0.rules.runs.judging import Turn
from pro0.store import atomic
from pro0.store.files import add_links, translated

ERRORS = "stderr.txt"
MESSAGE = 64 * 1024
"""The last bytes of a program's output, taken as its final message."""
SHELL = "shell"


class Ran(msgspec.Struct, frozen=True):
    """A turn, its usage, and the reason when it was cut short."""

    turn: Turn
    usage: Usage
    why: str = ""


class Turns:
    """Runs the turns of one run."""

    def __init__(self, context: Context, options: RunOptions, settings: Settings, agent_output: AgentOutput) -> None:
        self._context = context
        self._options = options
        self._settings = settings
        self._agent_output = agent_output
        self._adapter = defined(options.agent, options.definition)
        self._folder = context.team.paths.agent_folder(context.caller.incarnation)
        with translated(self._folder):
            self._folder.mkdir(mode=atomic.FOLDER_MODE, exist_ok=True)
        # This session's environment, without the keys of other agents.
        self._environment = of_agent(Environment(variables=dict(os.environ)), self._adapter.passes)
        self.poll = min(options.poll, settings.poll_interval_ms / 1000)

    @property
    def folder(self) -> Path:
        """Return the folder of this session's files."""
        return self._folder

    def run(self, task: Task, prompt: str, number: int, changes: ChangeSource, look: Callable[[], str]) -> Ran:
        """Run one turn.

        `look` is called at changes and from time to time. It returns a reason to end the turn now, empty for none.
        Raises StoreError, with nothing started, when the agent's files cannot be written.
        """
        reader = _OutputReader(self._adapter.turn)
        looked = ""

        def until() -> str:
            nonlocal looked
            looked = look()
            return looked

        seat = self._seat()  # before the start: an error of the store must not lose a finished turn
        call = self._call(task, prompt, seat)
        self._write(call)
        tag = f"{self._context.caller.incarnation}:{task.id}:{task.epoch}:{number}"
        limit = task.timeout or self._settings.task_timeout_minutes * 60.0
        running = Running(
            call.argv,
            self._environment | task_identity(task.id, task.parent or "") | call.env,
            tag,
            self._settings.end_grace_seconds,
            given=self._folder / FILE if self._reads_stdin else None,
            errors=None if self._options.agent == SHELL else self._folder / ERRORS,
        )
        try:
            running.start()
        except OSError as error:
            return Ran(self._turn(number, failure=f"{call.argv[0]} cannot be started: {error.strerror}"), Usage())
        ending = running.follow(limit, changes, lambda data: self._take_in(reader, data), until, self.poll)
        output = reader.output()
        failure = self._failure(ending, output)
        over = bool(ending.why) and not looked
        usage = output.usage if output.usage.models else replace(output.usage, models=_models(seat))
        return Ran(self._turn(number, message=output.message, failure=failure, over=over), usage, looked)

    def _turn(self, number: int, *, message: str = "", failure: str = "", over: bool = False) -> Turn:
        plain = self._options.agent == SHELL
        return Turn(number=number, message=message, failure=failure, over=over, plain=plain)

    @property
    def _reads_stdin(self) -> bool:
        turn = self._adapter.turn
        return turn.reads_stdin if turn else self._options.agent != SHELL

    def _call(self, task: Task, prompt: str, seat: Seat) -> Invocation:
        if self._options.agent == SHELL:
            return Invocation(argv=("/bin/sh", "-c", task.run or ""))
        if self._adapter.turn:
            return self._adapter.turn.call(self._brief(prompt, seat))
        return Invocation(argv=self._options.program, files={FILE: prompt.encode(errors="replace")})

    def _brief(self, prompt: str, seat: Seat) -> Brief:
        team = self._context.team
        config = team.config.read()
        return Brief(
            seat=seat,  # the seat's model and effort apply to the agent doing the turns
            prompt=prompt,
            mode=permission_mode(seat, team.wanted.read(), config),
            session=self._context.new_id() if self._adapter.session_ids == "chosen" else "",
            folder=str(self._folder),
            cwd=os.getcwd(),  # noqa: PTH109
            environment=os.environ,
            pro0=PRO0,
        )

    def _seat(self) -> Seat:
        return roster(self._context.team).find(self._context.caller.agent_id)

    def _write(self, call: Invocation) -> None:
        with translated(self._folder):
            with atomic.folder(self._folder) as folder:
                for name, data in call.files.items():
                    atomic.replace(folder, name, data, durable=False)
            add_links(self._folder, call.links)

    def _take_in(self, reader: "_OutputReader", data: bytes) -> None:
        reader.take(data)
        if self._adapter.turn is None:
            self._agent_output.pass_on(data)

    def _failure(self, ending: Ending, output: TurnOutput) -> str:
        if ending.why:
            why = f"{ending.why}, and {ending.goes_on}" if ending.kept else ending.why
            return f"{why}: {_last_line(output.message)}" if output.message else why
        if not ending.code:
            return output.failure
        how = f"exit code {ending.code}" if ending.code > 0 else f"killed by signal {-ending.code}"
        detail = output.failure or _last_line(self._errors() or output.message)
        return f"{how}: {detail}" if detail else how

    def _errors(self) -> str:
        try:
            with (self._folder / ERRORS).open("rb") as stream:
                stream.seek(max(0, stream.seek(0, os.SEEK_END) - MESSAGE))
                return stream.read().decode(errors="replace").strip()
        except OSError:
            return ""


class _OutputReader:
    """Collects the output of one turn: an agent's stream line by line, otherwise only the last bytes."""

    def __init__(self, turn: OneTurn | None) -> None:
        self._turn = turn
        self._output = TurnOutput()
        self._rest = b""

    def take(self, data: bytes) -> None:
        """Take in a piece of output."""
        self._rest += data
        if self._turn is None:
            self._rest = self._rest[-MESSAGE:]
            return
        *lines, self._rest = self._rest.split(b"\n")
        for line in lines:
            self._output = self._turn.read(self._output, line)

    def output(self) -> TurnOutput:
        """Return the result of all output so far."""
        if self._turn is None:
            return TurnOutput(message=self._rest.decode(errors="replace").strip())
        return self._turn.read(self._output, self._rest)


def _models(seat: Seat) -> tuple[str, ...]:
    """Return the requested model, if any: not every agent reports the model it used."""
    return (seat.model,) if seat.model else ()


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else ""
