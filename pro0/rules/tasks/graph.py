"""Cycles in the graph of dependencies."""

from collections.abc import Iterable, Mapping, Sequence

Edges = Mapping[str, Iterable[str]]
SHOWN = 5
"""Ids shown at the beginning and at the end of a long cycle."""


def cycle(edges: Edges) -> tuple[str, ...] | None:
    """Return one cycle as its ids, first and last the same, or None."""
    finished: set[str] = set()
    for start in edges:
        if start not in finished and (path := _cycle_from(start, edges, finished)):
            return path
    return None


def arrows(cycle: Sequence[str]) -> str:
    """Return a cycle as text for an error. A long cycle is cut in the middle."""
    ids = [*cycle]
    if len(ids) > 2 * SHOWN:
        ids[SHOWN:-SHOWN] = [f"({len(ids) - 2 * SHOWN} more)"]
    return " → ".join(ids)


def _cycle_from(start: str, edges: Edges, finished: set[str]) -> tuple[str, ...] | None:
    # A loop, not recursion: a chain of dependencies may be longer than Python's stack.
    path: dict[str, None] = {start: None}
    branches = [iter(edges.get(start, ()))]
    while branches:
        step = next(branches[-1], None)
        if step is None:
            branches.pop()
            finished.add(path.popitem()[0])
        elif step in path:
            ids = list(path)
            return (*ids[ids.index(step) :], step)
        elif step not in finished:
            path[step] = None
            branches.append(iter(edges.get(step, ())))
    return None
