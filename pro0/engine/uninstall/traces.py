"""All traces of pro0 on this machine, in the order of their removal."""

import os
from pathlib import Path

from pro0.engine.uninstall.in_home import in_home, projects
from pro0.engine.uninstall.outside import outside
from pro0.engine.uninstall.trace import Trace, TraceFate
from pro0.store.teams import Store


def traces(store: Store, here: Path, *, leased: bool = False) -> list[Trace]:
    """Return what pro0 has put into its home, the person's folders, the known projects and the one here.

    `leased` tells that the caller has the leases of all teams.
    """
    of_home = list(in_home(store, leased=leased))
    folders = sorted({*projects(store), here})
    return [*of_home, *outside(store, Path.home(), folders, os.environ)]


def unseen(all_traces: list[Trace], agreed: list[Trace]) -> list[Trace]:
    """Return the traces to remove that the person did not see. A team whose work has changed counts as unseen."""
    identities = {_identity(trace) for trace in agreed if trace.fate is TraceFate.REMOVED}
    return [trace for trace in all_traces if trace.fate is TraceFate.REMOVED and _identity(trace) not in identities]


def by_fate(all_traces: list[Trace]) -> dict[TraceFate, list[Trace]]:
    """Return the traces by their fate."""
    return {fate: [trace for trace in all_traces if trace.fate is fate] for fate in TraceFate}


def _identity(trace: Trace) -> tuple[str, str, str]:
    return trace.kind, trace.name, trace.note if trace.kind == "team" else ""
