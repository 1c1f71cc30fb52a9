"""The lead process itself, without what only a person's command line needs."""

import faulthandler
import os
from collections.abc import Iterator
from contextlib import contextmanager

from pro0.cli.warm.server import warm
from pro0.engine.opening.early import AWAITS, has_word
from pro0.processes import mark
from pro0.store import paths
from pro0.store.teams import Store, TeamStore


def lead(name: str, *, revived: bool) -> int:
    """Be the lead of a team, and return the exit code; `revived` ends without a word when there is one already."""
    faulthandler.enable()  # what a crash of a library leaves is read where other last words are
    awaits = os.environ.pop(AWAITS, "")
    mark.take_off()  # a member may have started it, and it goes on without that
    with warm() as serve_commands:  # before there is a lease, which it must not hold
        from pro0.engine.loop import run
        from pro0.rpc.server import serving

        @contextmanager
        def beside(team: TeamStore) -> Iterator[None]:
            serve_commands(team)
            with serving(team):
                yield

        store = Store(paths.home(os.environ))
        if awaits and not has_word(store, name, awaits):
            return 0
        return run(store.team(name).require(), revived=revived, beside=beside)
