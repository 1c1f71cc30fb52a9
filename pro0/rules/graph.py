"""Dependencies as a graph."""

from collections.abc import Iterable, Mapping

Edges = Mapping[str, Iterable[str]]


def cycle(edges: Edges) -> tuple[str, ...] | None:
    """Return one cycle as the ids along it, first and last the same, or None when there is none."""
    finished: set[str] = set()
    for start in edges:
        if start not in finished and (found := _cycle_from(start, edges, finished)):
            return found
    return None


def _cycle_from(start: str, edges: Edges, finished: set[str]) -> tuple[str, ...] | None:
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
