"""A task's command: run it in its member's terminal, and say how it ended."""

import os
from collections.abc import Callable
from typing import NamedTuple

from pro0.agent_output import AgentOutput
from pro0.children import ChangeSource, Ending, Running
from pro0.ops.team.members import task_identity


class Command(NamedTuple):
    """What is run for a task; `tag` is of this claim alone, and `grace` the seconds between TERM and KILL."""

    task_id: str
    line: str
    parent: str
    timeout: float | None
    tag: str
    grace: float


def carry_out(
    command: Command, agent_output: AgentOutput, watch: ChangeSource, look: Callable[[], str], poll: float
) -> Ending:
    """Run a command to its end, and end what it left running.

    `look` returns why to end it, empty for no reason; it is called at changes, and every `poll` seconds.
    """
    agent_output.say(f"$ {command.line}")
    environment = os.environ | task_identity(command.task_id, command.parent)
    running = Running(("/bin/sh", "-c", command.line), environment, command.tag, command.grace)
    try:
        try:
            running.start()
        except OSError as error:
            return Ending(127, "", f"cannot be started: {error.strerror}")
        ending = running.follow(command.timeout, watch, agent_output.pass_on, look, poll)
    except KeyboardInterrupt:  # the command may be at work before `start` has returned
        ending = running.end("interrupted in its pane", agent_output.pass_on)
    if ending.left and not ending.why:
        agent_output.say(f"{command.task_id}: ended what its command left running ({ending.left})")
    if ending.kept:
        agent_output.say(f"{command.task_id}: {ending.goes_on}")
    return ending


def how(ending: Ending) -> str:
    """Return why a command counts as failed: how it ended, and the last line of its output."""
    why = ending.why or (f"exit code {ending.code}" if ending.code > 0 else f"killed by signal {-ending.code}")
    last_line = ending.tail.splitlines()[-1] if ending.tail else ""
    why = f"{why}, and {ending.goes_on}" if ending.kept else why
    return f"{why}: {last_line}" if last_line else why
