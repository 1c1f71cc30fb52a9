"""The lead process itself, without the parts that only a person's command line needs."""

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
    """Run the lead of a team, and return the exit code; a `revived` one ends silently if another lead runs."""
    faulthandler.enable()  # a library's crash leaves its traceback in the lead's error log
    awaits = os.environ.pop(AWAITS, "")
    mark.take_off()  # a member may have started the lead, which outlives it
    with warm() as serve_commands:  # before there is a lease, which a fork must not hold
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
