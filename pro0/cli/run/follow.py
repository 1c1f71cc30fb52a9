"""Follow a run, with its events as lines or as a view, until it is over and all its processes have ended."""

import sys
import time
from collections.abc import Callable, Iterable
from typing import Protocol

import msgspec

from pro0 import processes
from pro0.cli.interrupts import is_interrupt
from pro0.cli.output import json_text, line, local, write
from pro0.decoding import decoder
from pro0.errors import NotFound, Pro0Error, Refused
from pro0.model.run import RunEvent
from pro0.model.runtime import ENDED, Process, SeatState
from pro0.ops.context import Context
from pro0.ops.seats import roster
from pro0.ops.team import members
from pro0.store.journal import Journal

LOOK = 0.1
"""Seconds between two looks at a run's events."""
ENDING = 30.0
"""Seconds to wait for the end of a run at most."""
_EVENT = decoder(RunEvent)


class Shown(Protocol):
    """The display of a run."""

    def event(self, event: RunEvent) -> None:
        """Show one event of the run."""

    def look(self) -> None:
        """Show the present state of the run."""


class Lines:
    """Shows a run in lines with time, task and event, or as JSON."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json

    def event(self, event: RunEvent) -> None:
        """Print one event."""
        if self._as_json:
            write(json_text(event, indent=0))
        else:
            write(as_line(event))
        sys.stdout.flush()

    def look(self) -> None:
        """Print nothing: the lines of events are enough."""


def as_line(event: RunEvent) -> str:
    """Return one event as a line."""
    turn = f" (turn {event.number})" if event.number > 1 else ""
    begins = "begins: " if event.event == "turn" else ""
    about = f"{event.task}: " if event.task else ""
    return f"{local(event.at)}  {about}{begins}{line(event.text)}{turn}"


def follow(context: Context, state: SeatState, display: Shown) -> int:
    """Show a run until it is over; return its exit code. An interruption ends it first."""
    journal, codes = Journal(context.team.paths.run_log(state.agent_id)), list[int]()
    try:
        while not codes:
            over = _is_over(context, state)
            for event in _fresh(journal, state):
                display.event(event)
                codes += [event.code] if event.code is not None else []
            display.look()
            if over and not codes:
                raise Pro0Error(f"the runner {state.agent_id} has crashed", hint="pro0 team logs")
            if not codes:
                time.sleep(LOOK)
    except (KeyboardInterrupt, Exception) as error:
        if is_interrupt(error):
            _interrupt(context, state)
        raise
    until(lambda: _unless_unreadable(lambda: _is_recorded(context, state) or not _is_led(context)))
    return codes[0]


def until(is_over: Callable[[], bool]) -> None:
    """Wait until something is over, but at most ENDING seconds, since nothing depends on it."""
    deadline = time.monotonic() + ENDING
    while time.monotonic() < deadline and not is_over():
        time.sleep(LOOK / 4)


def _fresh(journal: Journal, state: SeatState) -> Iterable[RunEvent]:
    for text in journal.fresh():
        try:
            event = _EVENT.decode(text)
        except msgspec.MsgspecError:
            continue
        if event.incarnation == state.incarnation:
            yield event


def _interrupt(context: Context, state: SeatState) -> None:
    """Ask for the end of an interrupted run by force, and wait for its end."""
    try:
        members.shutdown(context, state.agent_id, reason="interrupted", timeout=0, force=True)
    except Refused:
        return  # it has ended already
    until(lambda: _unless_unreadable(lambda: _is_recorded(context, state)))


def _is_over(context: Context, state: SeatState) -> bool:
    return _unless_unreadable(lambda: _has_ended(context, state)) or _unless_unreadable(
        lambda: _is_recorded(context, state)
    )


def _unless_unreadable(look: Callable[[], bool]) -> bool:
    """Return the result of a look, False while the files are unreadable: an error would end this client and its run."""
    try:
        return look()
    except NotFound:  # the team is gone
        raise
    except Pro0Error:
        return False


def _has_ended(context: Context, state: SeatState) -> bool:
    report = context.team.report(state.incarnation)
    return bool(report and report.exit) or not _lives(report.guard if report else None)


def _is_recorded(context: Context, state: SeatState) -> bool:
    now = roster(context.team).runtime.session(state.incarnation)
    return now is None or now.state in ENDED


def _is_led(context: Context) -> bool:
    lead = context.team.runtime.read().lead
    return lead is not None and processes.may_live(lead)


def _lives(guard: Process | None) -> bool:
    return guard is None or processes.may_live(guard)
