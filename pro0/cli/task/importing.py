"""`pro0 task import`, which is `pro0 import` too: tickets of other programs."""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import click
from msgspec.structs import replace

from pro0 import looking
from pro0.cli.context import here, team_option
from pro0.cli.output import json_option, line, name_option, say, write, write_json
from pro0.errors import BadInput, NotFound
from pro0.model.task import Task
from pro0.ops.tasks import importing
from pro0.rules.tasks.gates import wait_in_words
from pro0.rules.tickets import tickets, ticks
from pro0.rules.tickets.importing import Ticket, faults
from pro0.store import paths

SIZE_LIMIT = 1024 * 1024
"""Bytes of one file."""
FILES = 100_000
"""How many files are read at most."""
TICKS, TICKETS = Path(".tick") / "issues", Path(".tickets")
Read = Callable[[bytes, str], Ticket]
KINDS: dict[str, Read] = {paths.DOCUMENT: ticks.read, ".md": tickets.read}


@click.command("import")
@click.argument("path", type=click.Path(path_type=Path))
@team_option
@json_option
@name_option
def import_tasks(path: Path, team: str | None, as_json: bool, output: str | None) -> None:
    """Make tasks from the tickets of other programs: .tick/issues/*.json and .tickets/*.md.

    PATH is a project with one of these folders, such a folder, or one file. Either all new tickets are imported, or
    none. Tickets imported before are left as they are, so importing again changes nothing. An open ticket becomes
    pending. One in progress becomes pending too, and is offered first. A closed one becomes completed, or waits for its
    gate if it has one. A manual one waits for you. Blockers, parents, labels and notes are imported too. --json prints
    the list of new tasks.

    \b
    Examples:
      pro0 task import .
      pro0 task import ../old/.tickets
    """
    context = here(team)
    tickets = list(_read(path))
    imported = importing.import_all(context, tickets)
    if as_json:
        write_json(imported)
        return
    for task in imported:
        write(task.id if output == "name" else _summary(task))
    if len(tickets) > len(imported):
        say(f"{len(tickets) - len(imported)} of {len(tickets)} were imported before")


def _summary(task: Task) -> str:
    state = f"waits for a human: {wait_in_words(task.awaiting)}" if task.awaiting else task.status.words
    return f"{task.id} from {line(task.origin or '')} ({state}): {line(task.title)}"


def _read(path: Path) -> Iterator[Ticket]:
    """Yield the tickets of all files; raises BadInput naming each file that cannot be used."""
    wrong = list[str]()
    origins = dict[str, str]()
    for file in _files(path):
        name = os.path.relpath(file)
        try:
            ticket = _with_zones(KINDS[file.suffix](_data(file), name))
            if (earlier_file := origins.setdefault(ticket.origin, name)) != name:
                raise BadInput(f"it has the same id as {earlier_file}")
            yield ticket
        except BadInput as error:
            wrong.append(f"{name}: {error.message}")
    if wrong:
        raise faults(wrong)


def _with_zones(ticket: Ticket) -> Ticket:
    """Return a ticket whose notes have times with a zone. The program ticks writes the local time without one."""
    return replace(ticket, notes=tuple(replace(note, at=_here(note.at)) for note in ticket.notes))


def _here(at: datetime | None) -> datetime | None:
    if at is None or at.tzinfo:
        return at
    with suppress(ValueError, OverflowError, OSError):  # the first or the last date of the calendar
        return at.astimezone()
    return at


def _files(path: Path) -> list[Path]:
    if looking.is_file(path):
        if path.suffix not in KINDS:
            raise BadInput(f"{path} is neither a tick (.json) nor a ticket (.md)")
        return [path]
    if not looking.is_folder(path):
        raise NotFound(f"there is no {path}")
    known = (path / TICKS, path / TICKETS, path / TICKS.name)
    places = [place for place in known if looking.is_folder(place)] or [path]
    files = sorted(file for place in places for file in _in(place) if file.suffix in KINDS and file.name[0] != ".")
    if not files:
        raise NotFound(
            f"there are no tickets in {path}", hint="name a project with .tick or .tickets, or such a folder"
        )
    if len(files) > FILES:
        raise BadInput(f"{path} holds more than {FILES} files")
    return files


def _in(folder: Path) -> list[Path]:
    try:
        return [folder / name for name in os.listdir(folder)]  # `glob` would find nothing without permission
    except OSError as error:
        raise BadInput(f"{folder} cannot be read: {error.strerror}") from None


def _data(file: Path) -> bytes:
    try:
        with open(os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise BadInput("it is not a regular file")
            data = stream.read(SIZE_LIMIT + 1)
    except OSError as error:
        raise BadInput(f"it cannot be read: {error.strerror}") from None
    if len(data) > SIZE_LIMIT:
        raise BadInput(f"it is larger than {SIZE_LIMIT} bytes")
    return data
