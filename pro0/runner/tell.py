"""Reports of a run: one line each in its log, for `pro0 run` to follow, and in its own pane."""

from contextlib import suppress

from pro0.agent_output import AgentOutput
from pro0.model.run import RunEvent
from pro0.ops.context import Context
from pro0.store import atomic, journal


class Teller:
    """Reports on one run. An unwritable log does not stop the work."""

    def __init__(self, context: Context, agent_output: AgentOutput) -> None:
        self._context = context
        self._agent_output = agent_output
        self._path = context.team.paths.run_log(context.caller.agent_id)
        self._last = ""
        self.spent: float | None = 0.0
        self.unpriced = 0

    def tell(self, event: str, text: str, task: str | None = None, number: int = 0, code: int | None = None) -> None:
        """Report one event, in one line."""
        self._last = ""
        self._agent_output.say(f"{task}: {text}" if task else text)
        line = RunEvent(
            at=self._context.now(),
            incarnation=self._context.caller.incarnation,
            event=event,
            task=task,
            text=text,
            number=number,
            spent=self.spent,
            unpriced=self.unpriced,
            code=code,
        )
        with suppress(OSError), atomic.folder(self._path.parent) as folder:
            journal.append(folder, self._path.name, line)

    def once(self, event: str, text: str) -> None:
        """Report an event, such as a reason to idle, unless its text is that of the last report."""
        if text != self._last:
            self.tell(event, text)
            self._last = text
