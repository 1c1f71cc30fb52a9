"""Progress as people see it: a panel drawn in place on a terminal, else lines with the time."""

import os
import sys
import time
from collections.abc import Iterable
from contextlib import suppress

from rich.console import Console, Group
from rich.live import Live
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from pro0.cli.demo.follow import Event, Look, seconds
from pro0.cli.output import line
from pro0.model.runtime import State
from pro0.model.task import Status, Task
from pro0.ops.team.status import MemberStatus

COLOURS = {"good": "green", "bad": "bold red", "warn": "yellow", "mail": "cyan", "act": "bold", "hint": "dim"}
_STATES = {State.WORKING: "yellow", State.IDLE: "green", State.CRASHED: "bold red", State.STARTING: "yellow"}
_OUTPUT_LOST = (OSError, ValueError)
"""The errors of a closed terminal or an unread pipe. The demo ignores them, and still clears up."""


def live_terminal() -> bool:
    """Return True when progress goes to a terminal that can be drawn on."""
    return sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def console_for(stream: str) -> Console:
    """Return the console of `stdout` or `stderr`, which takes texts literally, without any markup."""
    file = getattr(sys, stream)
    width = None if file.isatty() else 100
    return Console(file=file, width=width, highlight=False, markup=False, emoji=False)


class DemoView:
    """Prints what happens, each line with the seconds since the start, and draws the panel below the lines."""

    def __init__(self, *, live: bool) -> None:
        self._console = console_for("stderr")
        self._wanted = live
        self._live: Live | None = None
        self._held: list[Text] | None = None
        self._began = time.monotonic()
        self._act = ""

    @property
    def passed(self) -> float:
        """Return the seconds since the start."""
        return time.monotonic() - self._began

    def open(self, folder: str) -> None:
        """Announce the demo and its folder."""
        self._print(Text("A lead and three members build, test and release a small program; one of them is killed."))
        self._print(Text(f"It all happens in {folder}. Lines with $ are what you would type.", COLOURS["hint"]))

    def act(self, title: str, command: str) -> None:
        """Begin an act, and show what a person would type for it."""
        self._act = title
        self._print(Text())
        self._print(Text(title, COLOURS["act"]))
        if command:
            self.command(command)

    def command(self, text: str) -> None:
        """Show the command a person would type here; never cut, since a person may copy it."""
        self._print(Text(f"        $ {text}", COLOURS["hint"]))

    def say(self, text: str, kind: str = "") -> None:
        """Print one line at once, cut to the width of the terminal."""
        message = Text(f"{self.passed:6.1f}  ", "dim") + Text(line(text), COLOURS.get(kind, ""))
        message.truncate(self._console.width, overflow="ellipsis")
        self._print(message)

    def tell(self, event: Event) -> None:
        """Print an event, unless the panel shows it."""
        if not (self._live and event.minor):
            self.say(event.text, event.kind)

    def show(self, look: Look) -> None:
        """Draw the panel anew, if this view has one."""
        if not self._wanted or self._held is not None:
            return
        with suppress(*_OUTPUT_LOST):
            if self._live is None:
                self._live = Live(console=self._console, auto_refresh=False, transient=True)
                self._live.start()
            self._live.update(panel(look, self._act, self.passed), refresh=True)

    def hide(self) -> None:
        """Remove the panel; the lines stay."""
        live, self._live = self._live, None
        with suppress(*_OUTPUT_LOST):
            if live:
                live.stop()

    def hold(self) -> None:
        """Hold all lines back while another program uses the terminal."""
        self.hide()
        self._held = []

    def release(self) -> None:
        """Print the lines held back."""
        held, self._held = self._held or [], None
        for text in held:
            self._print(text)

    def _print(self, text: Text) -> None:
        if self._held is not None:
            self._held.append(text)
            return
        with suppress(*_OUTPUT_LOST):
            self._console.print(text, soft_wrap=True)
            self._console.file.flush()


def panel(look: Look, act: str, passed: float) -> Group:
    """Return the team as one picture: members, and tasks in two columns."""
    head = Text(f"{act} · {look.done()} of {len(look.tasks)} tasks done · {passed:.0f} s", "dim")
    # The last line is short: the terminal shows ^C in it, and must not wrap.
    foot = Text("  Ctrl-C ends and removes it all", "dim")
    return Group(Rule(head, align="left", style="dim"), _members(look), _tasks(look.tasks, look.ready), foot)


def _members(look: Look) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_row(Text("  lead"), Text(look.lead, "green" if look.lead == "running" else "red"), Text())
    titles = {task.id: task.title for task in look.tasks}
    for member in look.members:
        state = Text(member.state, _STATES.get(member.state, ""))
        grid.add_row(Text(f"  {member.agent_id}"), state, Text(_doing(member, titles)))
    return grid


def _doing(member: MemberStatus, titles: dict[str, str]) -> str:
    if member.state is State.WORKING and member.task:
        return f"{member.task}  {titles.get(member.task, '')}"
    return member.note if member.state is State.CRASHED else ""


def _tasks(tasks: tuple[Task, ...], ready: Iterable[str]) -> Table:
    grid = Table.grid(padding=(0, 2))
    half = (len(tasks) + 1) // 2
    cells = [_task(task, ready) for task in tasks] + [Text()] * (2 * half - len(tasks))
    for left_cell, right_cell in zip(cells[:half], cells[half:], strict=True):
        grid.add_row(left_cell, right_cell)
    return grid


def _task(task: Task, ready: Iterable[str]) -> Text:
    if task.status is Status.COMPLETED:
        mark, style, tail = "✓", "green", f"{task.assignee} {seconds(task):.1f} s"
    elif task.status is Status.IN_PROGRESS:
        mark, style, tail = "▶", "yellow", f"{task.assignee} {seconds(task):.1f} s"
    elif task.status is Status.FAILED:
        mark, style, tail = "✗", "bold red", "failed"
    elif task.id in ready:
        mark, style, tail = "○", "", "ready"
    else:
        mark, style, tail = "·", "dim", ""
    number = task.id.removeprefix("task-")
    return Text(f"  {mark} {number:>2} {task.title:<19} ", style, no_wrap=True) + Text(tail, "dim")
