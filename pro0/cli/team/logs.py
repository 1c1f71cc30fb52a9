"""`pro0 team logs`."""

import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress

import click
import msgspec

from pro0.cli.context import here, named_team
from pro0.cli.output import json_option, json_text, write
from pro0.cli.team.log_lines import Event, text_of
from pro0.decoding import decode
from pro0.rules.size import DEEPEST, nested_deeper_than
from pro0.store.journal import Journal
from pro0.store.keys import repeated
from pro0.store.paths import LEAD_LOG
from pro0.store.teams import TeamStore

LOOK = 0.25
"""Seconds between two looks of `-f`."""


@click.command()
@named_team
@click.option("-f", "--follow", is_flag=True, help="Print new lines as they come, until interrupted.")
@click.option(
    "-n",
    "--lines",
    type=click.IntRange(0),
    default=50,
    show_default=True,
    help="Past lines to print first.",
)
@json_option
def logs(team: str | None, follow: bool, lines: int, as_json: bool) -> None:
    """Show what happened in a team: the acts of people and members, and those of its lead.

    --json prints one object per line: at, event, actor (for an act of a person or member) or pid (for an act of the
    lead), and more fields for some events.

    \b
    Examples:
      pro0 team logs
      pro0 team logs alpha -f
      pro0 team logs -n 0 -f --json
    """
    context = here(team)
    paths = context.team.paths
    journals = [context.team.documents.events(), Journal(paths.logs / LEAD_LOG)]
    _print(last(journals, lines), as_json=as_json)
    while follow and _there(context.team):
        time.sleep(LOOK)
        _print(_events(text for journal in journals for text in journal.fresh()), as_json=as_json)


def last(journals: Sequence[Journal], lines: int) -> list[Event]:
    """Return the last events of some logs, ordered by time."""
    begin = _events(text for journal in journals for text in journal.last(lines))
    return begin[max(0, len(begin) - lines) :]


def _there(team: TeamStore) -> bool:
    sys.stdout.flush()
    return team.exists()


def _events(lines: Iterable[bytes]) -> list[Event]:
    """Return lines as events ordered by time; a line that is not valid JSON is skipped."""
    events = []
    for text in lines:
        with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            event = decode(text, Event)
            if not nested_deeper_than(DEEPEST, text) and not repeated(text):
                events.append(event)
    return sorted(events, key=lambda event: str(event.get("at")))


def _print(events: list[Event], *, as_json: bool) -> None:
    for event in events:
        write(json_text(event, indent=0) if as_json else text_of(event))
