"""`pro0 member forget`: give up what a machine out of reach runs."""

import click

from pro0.cli import completing
from pro0.cli.context import here, team_option
from pro0.cli.output import json_option, say, write_json
from pro0.ops.work import sessions

_FOUND = "PATH=$PATH:$HOME/.local/bin"
"""Lets a command over ssh find pro0 in its usual folder."""


@click.command()
@click.argument("name", shell_complete=completing.members)
@team_option
@json_option
def forget(name: str, team: str | None, as_json: bool) -> None:
    """Give up an ended member's program on an unreachable machine.

    Its tasks are released, although its program may still run on that machine. The commands to end it there are
    printed.

    --json prints these commands as a list.

    \b
    Examples:
      pro0 member forget bob
    """
    given_up = sessions.forget(here(team), name)
    commands = [f"{hosted.ssh} {hosted.host} '{_FOUND} pro0 hosted end {hosted.there}'" for hosted in given_up]
    if as_json:
        write_json(commands)
        return
    for command in commands:
        say(f"given up; once the machine is reachable, end the program there: {command}")
