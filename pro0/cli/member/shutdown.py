"""`pro0 shutdown approve` and `reject`, the answers of a member's session."""

import click

from pro0.cli.context import here, team_option
from pro0.cli.lazy import LazyGroup
from pro0.cli.output import text_or_stdin, write
from pro0.ops.team import members

COMMANDS = {
    "approve": ("pro0.cli.member.shutdown:approve", "Say yes, and this session ends"),
    "reject": ("pro0.cli.member.shutdown:reject", "Say not yet, and why; you are asked again when you are idle"),
}

HELP = """Answer the shutdown that your session was asked for.

\b
Examples:
  pro0 shutdown approve
  pro0 shutdown reject "still working on task-3"
"""


@click.command()
@team_option
def approve(team: str | None) -> None:
    """Say yes, and this session ends.

    \b
    Examples:
      pro0 shutdown approve
    """
    members.answer(here(team), approve=True)
    write("agreed: this session is being ended")


@click.command()
@click.argument("reason", metavar="REASON|-")
@team_option
def reject(reason: str, team: str | None) -> None:
    """Say not yet, and why; you are asked again when you are idle.

    \b
    Examples:
      pro0 shutdown reject "still working on task-3"
    """
    members.answer(here(team), approve=False, reason=text_or_stdin(reason))
    write("said: not yet")


shutdown = LazyGroup("shutdown", COMMANDS, HELP)
