"""`pro0 store copy`."""

import time
from collections.abc import Callable

import click

from pro0.cli.context import human_only, store, team_names
from pro0.cli.output import live, say, write
from pro0.errors import BadInput
from pro0.model import ids

QUIET = 1.0
"""Seconds before progress is shown to a person."""


@click.command()
@click.argument("team", shell_complete=team_names)
@click.argument("to", metavar="files|URL", shell_complete=lambda _context, _parameter, start: _places(start))
@click.option("--remove-source", is_flag=True, help="Remove the data of the team from its old place.")
@click.option("--force", is_flag=True, help="With --remove-source: forget a database that is gone for good.")
def copy(team: str, to: str, remove_source: bool, force: bool) -> None:
    """Move a stopped team between files and a database.

    All documents and events are written to the new place and compared there, byte by byte. Only then is the team
    switched over, in one step, so an interrupted copy leaves the team as it was. The old place keeps its data until
    --remove-source, which you give with the copy or later.

    A running team is refused, exit 4. If the new place cannot be written, exit 5. With --force, a database that is gone
    for good is given up: its data stays there, and the team can move to another place.

    \b
    Examples:
      pro0 store copy alpha postgresql://me@db.example.org/agents
      pro0 store copy alpha files
      pro0 store copy alpha files --remove-source
    """
    from pro0.engine.copying import copy_store

    human_only("copy a team")
    if force and not remove_source:
        raise BadInput("--force goes with --remove-source only")
    with live() as show:
        name, look = ids.team_name(team), _later(show)
        moved, *hints = copy_store(store(), name, to, look, remove_source=remove_source, force=force)
    write(moved)
    for hint in hints:
        say(hint)


def _places(start: str) -> list[str]:
    return [word for word in ("files", "postgresql://") if word.startswith(start)]


def _later(show: Callable[[str], None]) -> Callable[[str], None]:
    """Return a function that shows progress only after QUIET seconds, and then not every step."""
    next_at = time.monotonic() + QUIET

    def maybe(text: str) -> None:
        nonlocal next_at
        if time.monotonic() >= next_at:
            next_at = time.monotonic() + QUIET / 10
            show(text)

    return maybe
