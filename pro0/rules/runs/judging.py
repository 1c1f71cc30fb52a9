"""The result of an agent's turn in a run (behaviour 2.21): an act on its task, another turn, or the end of the run.

An agent ends the run when it fails, or never signals. With `auto` the run gives up the task, or hands it to a human,
and goes on, until agents have failed three times in a row. A rate limit is no such failure.
"""

import msgspec

from pro0.model.run import RunOptions
from pro0.model.task import Awaiting, Task
from pro0.rules.runs import signals
from pro0.rules.runs.running import Course, RunEnd
from pro0.rules.screens.rate_limits import is_limit
from pro0.rules.tasks.acts import Act

FAILURES = 3
"""Number of failed turns in a row that ends a run with `auto`."""
RESULT = 4096
"""Characters of the last message kept as a task's result, or quoted from a turn without one."""


class Turn(msgspec.Struct, frozen=True):
    """The result of one agent turn: its final message, or its failure.

    `over` says that the turn was ended at its time limit. `plain` says that the agent's program knows no signals: the
    program's end is its signal.
    """

    number: int
    message: str = ""
    failure: str = ""
    over: bool = False
    plain: bool = False


class TurnStep(msgspec.Struct, frozen=True):
    """The step after a turn: an act on the task, None for another turn, and perhaps the end of the run.

    `text` is the text of the act, or tells the agent in its next turn how the last turn ended.
    """

    act: Act | None
    text: str = ""
    kind: Awaiting = Awaiting.ESCALATION
    warning: str = ""
    failed: bool = False
    """True when the agent failed, and not the task."""
    limited: bool = False
    """True when the agent was rate-limited; the task waits for the limit's end."""
    end: RunEnd | None = None


def judge(turn: Turn, options: RunOptions, task: Task, prompt: str) -> TurnStep:
    """Return the step after a turn that left its task claimed."""
    signal = signals.read(turn.message, prompt)
    # A time-out counts before any signal, and a hand-off counts before a failure of the agent.
    if turn.over:
        return TurnStep(Act.FAIL, turn.failure)
    if signal and signal.awaiting:
        return TurnStep(Act.HAND_OFF, signal.context, signal.awaiting, signal.warning)
    if turn.failure and turn.plain:
        return TurnStep(Act.FAIL, turn.failure)
    if signal or (turn.plain and not turn.failure):
        return TurnStep(Act.COMPLETE, _tail(signals.without(turn.message)))
    if turn.failure:
        return _failed(turn, options, task)
    return _silent(turn, options, task)


def denied(turn: Turn, options: RunOptions, task: Task, why: str) -> TurnStep:
    """Return the step after a hook refused to complete a task: the agent is told why and goes on."""
    if turn.plain:
        return TurnStep(Act.FAIL, why)
    return _another_turn(turn, options, task, f"You signalled that it is complete, but {why}", why)


def too_many(course: Course, step: TurnStep) -> RunEnd | None:
    """Return the end of a run after too many failures in a row, else None."""
    if not step.failed or course.failures + 1 < FAILURES:
        return None
    return RunEnd(1, f"{FAILURES} turns in a row have failed; the last: {step.text}")


def _failed(turn: Turn, options: RunOptions, task: Task) -> TurnStep:
    text = f"the agent failed: {turn.failure}"
    if options.auto and is_limit(turn.failure):
        return TurnStep(Act.RELEASE, text, limited=True)
    if options.auto:
        return TurnStep(Act.FAIL, text, failed=True)
    return TurnStep(Act.RELEASE, text, failed=True, end=RunEnd(1, f"{text} ({task.id})"))


def _silent(turn: Turn, options: RunOptions, task: Task) -> TurnStep:
    tail = _tail(turn.message)
    reminder = f"Your last message had no signal at its end. It ended with:\n\n{tail}" if tail else "You said nothing."
    return _another_turn(turn, options, task, reminder, "no signal")


def _another_turn(turn: Turn, options: RunOptions, task: Task, message: str, why: str) -> TurnStep:
    """Return another turn with a message for the agent, or a hand-off after too many turns."""
    if not options.max_iterations or turn.number < options.max_iterations:
        return TurnStep(None, message)
    text = f"stuck: {why} in {turn.number} turn{'s' if turn.number > 1 else ''}"
    end = None if options.auto else RunEnd(1, f"stuck on {task.id} after {turn.number} iterations: {why}")
    return TurnStep(Act.HAND_OFF, text, end=end)


def _tail(text: str) -> str:
    return text.strip()[-RESULT:].strip()
