"""Reasons to end a run from outside: a signal, its client's death, a shutdown request."""

import selectors
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

from pro0 import processes
from pro0.agent_output import AgentOutput
from pro0.errors import Pro0Error
from pro0.model.stored import Process
from pro0.model.task import Task
from pro0.ops.context import Context
from pro0.ops.team.mail_reader import MailReader
from pro0.store.watch import Watch

BLIND = 0.2
"""The longest wait in seconds that nothing can end early."""


class Orders:
    """Knows when a run must end. It handles signals, so it needs the main thread."""

    def __init__(self, context: Context, client: Process | None, agent_output: AgentOutput) -> None:
        self._client = client
        self._agent_output = agent_output
        self._asked = False
        self._mail = MailReader(context, agent_output.say)

    @property
    def agreed(self) -> bool:
        """Return True when the run has agreed to shut down."""
        return self._mail.agreed

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Install handlers for the signals to end."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._ask)
        yield

    def why_to_end(self, busy_with: Task | None) -> str:
        """Return the reason to end now, empty for none. This also reads and answers mail."""
        if self._asked:
            return "interrupted: the runner was asked to end"
        if self._client and not processes.may_live(self._client):
            return "interrupted: `pro0 run` is gone"
        try:
            self._mail.read(busy_with)
        except Pro0Error as error:
            self._agent_output.say(error.message)
        return "shutting down, as agreed" if self.agreed else ""

    def wait(self, watch: Watch, seconds: float) -> None:
        """Wait for a change, the client's end, a signal, or `seconds`; without a free descriptor, wait a moment."""
        try:
            self._wait(watch, seconds)
        except OSError:  # the run goes on: if it ended, its task would be done again
            time.sleep(min(seconds, BLIND))
        watch.drain()

    def _wait(self, watch: Watch, seconds: float) -> None:
        with selectors.DefaultSelector() as selector, processes.ExitWatch() as exits:
            selector.register(watch, selectors.EVENT_READ)
            selector.register(exits, selectors.EVENT_READ)
            if self._client:
                exits.add(self._client)
            ring = watch.ringing()
            before = signal.set_wakeup_fd(ring, warn_on_full_buffer=False)
            try:
                if not self._asked:
                    selector.select(seconds)
            finally:
                signal.set_wakeup_fd(before)

    def _ask(self, _number: int, _frame: object) -> None:
        self._asked = True
