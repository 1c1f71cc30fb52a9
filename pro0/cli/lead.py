"""`pro0 lead`: the lead process itself, started by the launcher."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import click

from pro0.cli.context import store
from pro0.store.teams import TeamStore


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
    from pro0.engine.opening.early import AWAITS, has_word
    from pro0.processes import mark

    awaits = os.environ.pop(AWAITS, "")
    mark.take_off()  # a member may have started it, and it goes on without that
    from pro0.cli.warm.server import warm

    with warm() as serve_commands:  # before there is a lease, which it must not hold
        from pro0.engine.loop import run
        from pro0.rpc.server import serving

        @contextmanager
        def beside(team: TeamStore) -> Iterator[None]:
            serve_commands(team)
            with serving(team):
                yield

        if awaits and not has_word(store().team(team), awaits):
            context.exit(0)
        code = run(store().team(team).require(), revived=revived, beside=beside)
    context.exit(code)
