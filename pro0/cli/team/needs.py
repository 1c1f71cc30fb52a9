"""`pro0 needs`."""

from collections.abc import Iterable

import click

from pro0.cli.context import here, quiet, team_option
from pro0.cli.output import json_option, line, local, say, write, write_json
from pro0.model.need import Need
from pro0.ops.team import needs as ops


@click.command()
@click.option("--seen", metavar="ID", help="Drop a failed hook, a failed notice or a repair's losses from the list.")
@team_option
@json_option
def needs(seen: str | None, team: str | None, as_json: bool) -> None:
    """List what needs you now, the most urgent first, and the command that answers each.

    --json prints a list of {id, kind, subject, others, what, why, since, command, member, awaiting, request, look}; an
    id changes only when its need does.

    \b
    Examples:
      pro0 needs
      pro0 needs --json | jq -r '.[].what'
    """
    context = here(team)
    quiet()
    if seen is not None:
        trouble = ops.mark_seen(context, seen)
        if as_json:
            write_json(trouble)
        else:
            write(f"seen: {line(trouble.subject)}")
        return
    open_needs = ops.list_needs(context)
    if as_json:
        write_json(open_needs)
    elif open_needs:
        show(open_needs, f" -t {context.team.name}" if team else "")
    else:
        say("nothing needs you")


def show(open_needs: Iterable[Need], team_flag: str) -> None:
    """Print needs with their commands; `team_flag` is the option with which the commands name this team."""
    for need in open_needs:
        since = f"  since {local(need.since)}" if need.since else ""
        look = f"    look: {need.look}{team_flag}" if need.look else ""
        command = f"{need.command}{team_flag if need.command.startswith('pro0 ') else ''}"
        write(f"  {line(need.sentence)}{since}\n    {line(command)}{look}")
