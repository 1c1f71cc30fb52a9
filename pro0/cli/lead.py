"""`pro0 lead`: the lead process itself, started by the launcher."""

import click

from pro0.cli.context import store


@click.command(hidden=True)
@click.argument("team")
@click.option("--revived", is_flag=True, help="End without a word when there is a lead, or shall be none.")
@click.pass_context
def lead(context: click.Context, team: str, revived: bool) -> None:
    """Be the lead of a team; started by the other commands.

    \b
    Examples:
      pro0 lead alpha
    """
    from pro0.engine.loop import run
    from pro0.processes import mark
    from pro0.rpc.server import serving

    mark.take_off()  # a member may have started it, and it goes on without that
    context.exit(run(store().team(team).require(), revived=revived, beside=serving))
