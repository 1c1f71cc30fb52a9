"""`pro0 lead`: the lead process, as a command."""

import click


@click.command(hidden=True)
@click.argument("team")
@click.option("--revived", is_flag=True, help="End silently if the team has a lead, or is not to have one.")
@click.pass_context
def lead(context: click.Context, team: str, revived: bool) -> None:
    """Run the lead of a team; started by the other commands, not by a person.

    \b
    Examples:
      pro0 lead alpha
    """
    from pro0.cli import leading

    context.exit(leading.lead(team, revived=revived))
