"""`pro0 team show` and `forget`: what a team did, even after its removal, from its archive."""

from collections.abc import Sequence

import click

from pro0.cli import completing
from pro0.cli.context import by_terminal, here, human_only, named_team, project_here, quiet, store, team_name
from pro0.cli.message import print_letters
from pro0.cli.output import json_option, line, local, pairs, say, terminal, write, write_json
from pro0.cli.task.look import print_tasks
from pro0.cli.team.log_lines import text_of
from pro0.cli.team.logs import last
from pro0.cli.team.look import counted, member_table
from pro0.errors import BadInput, EnvironmentMissing, ErrorCode
from pro0.model.task import Task
from pro0.ops.context import Context
from pro0.ops.mail import messages
from pro0.ops.tasks import tasks
from pro0.ops.team import archives
from pro0.ops.team.status import TeamStatus, status
from pro0.rules.text import visible
from pro0.store.removal.archive import Archive

RESULT_LINES = 12
"""The most lines shown of a task's result; --json has all of them."""
ended_option = click.option(
    "--ended",
    default="",
    metavar="TIME",
    help="The time when it ended, or the beginning of that time: 2026-11-23T12.",
)


@click.command()
@named_team
@click.option("--archived", is_flag=True, help="Show a removed team; of several with that name, the last.")
@ended_option
@click.option(
    "-n", "--lines", type=click.IntRange(0), default=20, show_default=True, help="How many of the last events to show."
)
@json_option
def show(team: str | None, archived: bool, ended: str, lines: int, as_json: bool) -> None:
    """Show the tasks, results and mail of a team, even of a removed one.

    It changes nothing and marks no message as read. --json prints {name, ended, path, status, tasks, mail, events}. The
    last four are as printed by `team status`, `task query`, `inbox --all` and `team logs`; ended and path are null for
    a team that is not removed.

    \b
    Examples:
      pro0 team show
      pro0 team show alpha --archived
      pro0 team show alpha --archived --ended 2026-11-23 --json
    """
    if ended and not archived:
        raise BadInput("--ended is for a team that is removed", hint="with --archived")
    archive: Archive | None = None
    if archived:
        human_only("read archives")
        archive, *earlier_archives = archives.find(store(), team_name(team), ended)
        context = archives.context_of(archive)
        if earlier_archives and not as_json:
            times = ", ".join(archives.utc(entry.ended) for entry in earlier_archives)
            say(f"others of that name ended {times}: choose one with --ended")
    else:
        context = here(team)
        quiet()
    _show(context, archive, lines, as_json=as_json)


@click.command()
@click.argument("name", required=False, metavar="[NAME]", shell_complete=completing.archives)
@ended_option
@click.option(
    "--before", metavar="TIME", help="All archives that ended before this time, of all teams or of NAME: 2026-11-01."
)
@click.option("--all", "everything", is_flag=True, help="All archives of that name.")
@click.option("--force", is_flag=True, help="Remove without asking.")
def forget(name: str | None, ended: str, before: str | None, everything: bool, force: bool) -> None:
    """Remove the archive of a removed team.

    If several archives have the name, choose one with --ended, or all of them with --all. --before removes all archives
    older than a time. Times are in UTC. The command asks first, unless --force is given. It is a verdict: without a
    terminal it is refused, exit 4, unless you let scripts give verdicts.

    \b
    Examples:
      pro0 team forget alpha
      pro0 team forget alpha --ended 2026-11-23T12:30 --force
      pro0 team forget --before 2026-11-01
    """
    human_only("forget a team")
    matches = _matches(name, ended, before, everything=everything)
    if not matches:
        say(f"no archive ended before {before}: nothing is removed")
        return
    by_terminal(store().home, project_here, "forget a team")
    description = _described(name, matches)
    if not force:
        if not terminal():
            hint = "--force removes it without asking"
            raise EnvironmentMissing("asking first needs a terminal", code=ErrorCode.NO_TERMINAL, hint=hint)
        if not click.confirm(f"remove {description} for good?", err=True):
            say("nothing is removed")
            return
    archives.forget(store(), matches)
    write(f"{description} {'are' if len(matches) > 1 else 'is'} removed")


def _matches(name: str | None, ended: str, before: str | None, *, everything: bool) -> list[Archive]:
    if before is not None:
        if ended or everything:
            raise BadInput("--before goes with neither --ended nor --all", hint="give one of them")
        return archives.older(store(), before, name)
    if name is None:
        raise BadInput("which team?", hint="name it, or give --before TIME; list them: pro0 team list --archived")
    matches = archives.find(store(), name, ended)
    if len(matches) > 1 and not everything:
        times = ", ".join(archives.utc(archive.ended) for archive in matches)
        raise BadInput(f"which of {len(matches)} archives of {name}?", hint=f"--all, or --ended with one of: {times}")
    return matches


def _described(name: str | None, matches: Sequence[Archive]) -> str:
    if len(matches) == 1:
        return f"the archive of {matches[0].name} of {local(matches[0].ended)}"
    names = name or ", ".join(sorted({archive.name for archive in matches}))
    return f"{len(matches)} archives of {names}"


def _show(context: Context, archive: Archive | None, lines: int, *, as_json: bool) -> None:
    look, all_tasks = status(context), tasks.list_tasks(context, archived=True)
    letters = messages.history(context)
    events = last([context.team.documents.events()], lines)
    place = {"ended": archive and archive.ended, "path": archive and str(archive.path)}
    if as_json:
        write_json({"name": look.name, **place, "status": look, "tasks": all_tasks, "mail": letters, "events": events})
        return
    pairs(_head(look, archive))
    if look.members:
        write()
        member_table(look.members)
    write()
    print_tasks(context, all_tasks, "no tasks", as_json=False, output=None)
    _results([task for task in all_tasks if task.result])
    unread = sum(not letter.message.read for letter in letters)
    write(f"\nmail, {unread} unread")
    print_letters(letters, context.caller.agent_id)
    if events:
        write(f"\nthe last {len(events)} events")
    for event in events:
        write(text_of(event))


def _head(look: TeamStatus, archive: Archive | None) -> list[tuple[str, str]]:
    how = f"ended {local(archive.ended)}" if archive else look.phase
    archive_rows = [("archive", str(archive.path))] if archive else []
    return [
        ("team", f"{look.name}, {how}"),
        ("project", look.project),
        ("tasks", counted(look.tasks) or "none"),
        *archive_rows,
    ]


def _results(done: Sequence[Task]) -> None:
    if done:
        write("\nresults")
    for task in done:
        write(f"  {task.id} {line(task.title)}")
        texts = visible(task.result or "").strip().splitlines()
        for text in texts[:RESULT_LINES]:
            write(f"    {text}")
        if len(texts) > RESULT_LINES:
            write(f"    … {len(texts) - RESULT_LINES} more lines: --json")
