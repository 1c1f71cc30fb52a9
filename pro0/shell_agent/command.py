"""A task's command: run it in its member's terminal, and say how it ended."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from pro0.agent_output import AgentOutput
from pro0.children import ChangeSource, Ending, Running
from pro0.ops.team.members import task_identity
from pro0.signals import interrupted_once


class Command(NamedTuple):
    """A command to run for a task; `tag` belongs to this claim alone, `grace` is the seconds between TERM and KILL."""

    task_id: str
    line: str
    parent: str
    timeout: float | None
    tag: str
    grace: float


@contextmanager
def carried_out(
    command: Command, agent_output: AgentOutput, watch: ChangeSource, look: Callable[[], str], poll: float
) -> Iterator[Ending]:
    """Run a command to its end, end its leftover processes, and yield its ending, to be reported.

    `look` returns the reason to end the command, empty for none; it is called at changes, and every `poll` seconds.
    The first Ctrl+C ends the command too. Further ones are ignored until the ending is reported: a command without a
    report would run again.
    """
    with interrupted_once() as deaf:
        agent_output.say(f"$ {command.line}")
        environment = os.environ | task_identity(command.task_id, command.parent)
        running = Running(("/bin/sh", "-c", command.line), environment, command.tag, command.grace)
        try:
            ending = _followed(running, command.timeout, agent_output, watch, look, poll)
        except KeyboardInterrupt:  # the command may be at work before `start` has returned
            ending = running.end("interrupted in its pane", agent_output.pass_on)
        deaf()
        if ending.left and not ending.why:
            agent_output.say(f"{command.task_id}: ended what its command left running ({ending.left})")
        if ending.kept:
            agent_output.say(f"{command.task_id}: {ending.goes_on}")
        yield ending


def _followed(
    running: Running,
    limit: float | None,
    agent_output: AgentOutput,
    watch: ChangeSource,
    look: Callable[[], str],
    poll: float,
) -> Ending:
    try:
        running.start()
    except OSError as error:
        return Ending(127, "", f"cannot be started: {error.strerror}")
    return running.follow(limit, watch, agent_output.pass_on, look, poll)


def how(ending: Ending) -> str:
    """Return why a command counts as failed: how it ended, and the last line of its output."""
    why = ending.why or (f"exit code {ending.code}" if ending.code > 0 else f"killed by signal {-ending.code}")
    last_line = ending.tail.splitlines()[-1] if ending.tail else ""
    why = f"{why}, and {ending.goes_on}" if ending.kept else why
    return f"{why}: {last_line}" if last_line else why
