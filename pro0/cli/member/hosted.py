"""`pro0 hosted`: what pro0 on another machine calls over `ssh`."""

import json
import os

import click

from pro0.cli.output import write
from pro0.errors import TimedOut
from pro0.store import paths


@click.command(hidden=True)
@click.argument("act", type=click.Choice(["serve", "end"]))
@click.argument("session")
@click.option("--patience", type=float, default=20.0, show_default=True, metavar="S", help="Seconds to wait.")
def hosted(act: str, session: str, patience: float) -> None:
    """Run a member for another machine; called by pro0 there.

    `serve` starts its session here or finds it, and carries messages over stdin and stdout. `end` ends it, and prints
    how it ended once its whole tree has.

    \b
    Examples:
      pro0 hosted end 6f1c2a
    """
    home = paths.home(os.environ)
    if act == "serve":
        from pro0.link.far import Far

        Far(home, session).serve()
        return
    from pro0.link import remote

    over = remote.end(home, session, patience)
    if over is None:
        raise TimedOut(f"the session {session} has not ended in {patience:g} s")
    write(json.dumps(over))
