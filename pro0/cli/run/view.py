"""The live view of a run: its tasks, its waits, its cost, and below them the newest events."""

import time
from collections import deque
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from pro0.cli.output import line
from pro0.cli.run.follow import as_line
from pro0.errors import NotFound, Pro0Error
from pro0.model.run import RunEvent, RunOptions
from pro0.model.task import SETTLED, Kind, Task, Wait
from pro0.ops.context import Context
from pro0.ops.tasks import tasks
from pro0.rules.runs.running import in_scope
from pro0.rules.tasks.board import Board
from pro0.rules.tasks.gates import wait_in_words

LAST = 8
"""The number of last events that are shown."""
AGAIN = 0.5
"""Seconds after which the view is drawn anew, since others change tasks too."""


class RunView:
    """Draws a run in place, on a terminal; a context manager."""

    def __init__(self, context: Context, options: RunOptions) -> None:
        self._context = context
        self._options = options
        self._events: deque[RunEvent] = deque(maxlen=LAST)
        self._spent: float | None = 0.0
        self._unpriced = 0
        self._due = 0.0
        self._board = Board(())
        """The newest board that could be read."""
        self._console = Console(highlight=False, markup=False, emoji=False)
        self._live = Live(console=self._console, auto_refresh=False, transient=False)

    def __enter__(self) -> "RunView":
        self._live.start()
        return self

    def __exit__(self, _type: type[BaseException] | None, _e: BaseException | None, _t: TracebackType | None) -> None:
        self._live.stop()

    def event(self, event: RunEvent) -> None:
        """Take in one event."""
        self._events.append(event)
        self._spent, self._unpriced = event.spent, event.unpriced
        self._due = 0.0

    def look(self) -> None:
        """Draw the view anew after an event, and every AGAIN seconds."""
        if time.monotonic() < self._due:
            return
        self._due = time.monotonic() + AGAIN
        cost = cost_of(self._spent, self._unpriced, self._options)
        trouble = self._read()
        self._live.update(drawn(self._board, self._options, cost, self._events, trouble), refresh=True)

    def _read(self) -> str:
        """Read the board; if it is unreadable now, return the reason: the run waits for it, and so does the view."""
        try:
            self._board = tasks.board(self._context)
        except NotFound:  # the team is gone
            raise
        except Pro0Error as error:
            return error.message
        return ""


def drawn(board: Board, options: RunOptions, cost: str, events: "deque[RunEvent]", trouble: str = "") -> Group:
    """Return the view of a run."""
    mine = [task for task in in_scope(board, options) if task.type is not Kind.EPIC]
    table = Table.grid(padding=(0, 2))
    for task in mine:
        if task.claim:
            table.add_row(*_row(task, Text("runs", "yellow"), task.claim.agent_id))
    for task in mine:
        if task.waits:
            table.add_row(*_row(task, Text("for you", "cyan"), _answer(task.waits)))
    lines = [Text(line(as_line(event)), "dim", no_wrap=True, overflow="ellipsis") for event in events]
    troubles = [Text(line(trouble), "yellow")] if trouble else []
    return Group(Text(_head(mine, options, cost), "bold"), *troubles, table, *lines)


def cost_of(spent: float | None, unpriced: int, options: RunOptions) -> str:
    """Return the known cost of a run so far."""
    budget = f" of ${options.max_cost:.2f}" if options.max_cost else ""
    if spent is None:
        return f"cost unknown{', so --max-cost has no effect' if budget else ''}"
    return f"spent {'at least ' if unpriced else ''}${spent:.2f}{budget}"


def _head(mine: list[Task], options: RunOptions, cost: str) -> str:
    done = sum(task.status in SETTLED for task in mine)
    return f"{options.epic or 'all epics'}: {done} of {len(mine)} tasks are over, {cost}"


def _row(task: Task, state: Text, about: str) -> tuple[Text, ...]:
    return state, Text(task.id), Text(line(task.title)), Text(about, "dim")


def _answer(wait: Wait) -> str:
    return f"{line(wait_in_words(wait))} (task approve, or task reject WHY)"
