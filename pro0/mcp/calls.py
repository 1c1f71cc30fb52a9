"""Calls of tools in threads: short ones one after the other, in order; a call that may wait has its own thread."""

from __future__ import annotations

import os
import threading
from queue import SimpleQueue

from pro0.errors import Pro0Error
from pro0.mcp.protocol import Call
from pro0.store.paths import home
from pro0.wire import INTERNAL_ERROR, INVALID_PARAMS, Fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from pro0.mcp.tool_context import ToolContext
    from pro0.wire import JSON


class Calls:
    """Runs the calls of one client; `done` gets each outcome, in the thread of the call.

    If `elsewhere` is given, it performs them on another machine.
    """

    def __init__(
        self,
        done: Callable[[Call, dict[str, JSON] | Fault], None],
        elsewhere: Callable[[Call], dict[str, JSON]] | None = None,
    ) -> None:
        self._done = done
        self._elsewhere = elsewhere
        self._desk: ToolContext | None = None
        self._queue: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._given = 0
        self._finished = 0
        threading.Thread(target=self._work, daemon=True).start()

    @property
    def idle(self) -> bool:
        """Return True when no short call is left."""
        return self._given == self._finished

    def submit(self, call: Call) -> None:
        """Run a call."""
        self.later(lambda: self._run(call))

    def later(self, act: Callable[[], None]) -> None:
        """Run an action after everything that was submitted before it."""
        self._given += 1
        self._queue.put(act)

    def _work(self) -> None:
        while True:
            act = self._queue.get()
            try:
                act()
            except Exception:  # noqa: BLE001 - the calls after this one must still run
                _show()
            self._finished += 1

    def _run(self, call: Call) -> None:
        outcome: dict[str, JSON] | Fault | None
        try:
            outcome = {} if call.cancelled else self._outcome(call)
        except Exception as error:  # noqa: BLE001 - what fails here is a fault of pro0, and is answered too
            _show()
            outcome = Fault(INTERNAL_ERROR, f"{type(error).__name__}: {error}")
        if outcome is not None:
            self._done(call, outcome)

    def _outcome(self, call: Call) -> dict[str, JSON] | Fault | None:
        """Return the result of a call; None for a call with a thread of its own, which answers later."""
        if self._elsewhere:
            return self._elsewhere(call)
        from pro0.mcp.tool_context import ToolContext
        from pro0.mcp.tools.table import TOOLS, failed, perform

        tool = TOOLS.get(call.name)
        if tool is None:
            return Fault(INVALID_PARAMS, f"Unknown tool: {call.name[:100]}")
        try:
            tool_context = self._desk = self._desk or ToolContext(os.environ, home(os.environ))
        except Pro0Error as error:
            return failed(error)
        if tool.waits:
            threading.Thread(target=lambda: self._done(call, perform(tool, tool_context, call)), daemon=True).start()
            return None
        return perform(tool, tool_context, call)


def perform_one(name: str, arguments: dict[str, object]) -> dict[str, JSON]:
    """Perform one call for the caller that the environment names, and return its result."""
    from pro0.mcp.tool_context import ToolContext
    from pro0.mcp.tools.table import TOOLS, failed, perform

    try:
        call = Call(name, name, arguments, lambda _: None, stateless=False)
        return perform(TOOLS[name], ToolContext(os.environ, home(os.environ)), call)
    except Pro0Error as error:
        return failed(error)


def _show() -> None:
    if os.environ.get("PRO0_DEBUG") == "1":
        import traceback

        traceback.print_exc()
