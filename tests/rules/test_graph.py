"""Cycles, against a search that is too slow to be wrong."""

from itertools import pairwise, permutations

from hypothesis import given
from hypothesis import strategies as st

from pro0.rules.tasks.graph import SHOWN, arrows, cycle

GRAPHS = st.dictionaries(st.integers(0, 5).map(str), st.lists(st.integers(0, 5).map(str), max_size=4), max_size=6)


def has_cycle(edges: dict[str, list[str]]) -> bool:
    """Try every order of every choice of nodes."""
    nodes = list(edges)
    return any(
        all(ring[(index + 1) % len(ring)] in edges[node] for index, node in enumerate(ring))
        for size in range(1, len(nodes) + 1)
        for ring in permutations(nodes, size)
    )


@given(GRAPHS)
def test_it_finds_a_cycle_exactly_when_there_is_one(edges: dict[str, list[str]]) -> None:
    """Rulings 2.6, S004 dependencies: and what it shows is a way round, first and last the same."""
    found = cycle(edges)
    assert (found is not None) == has_cycle(edges)
    if found:
        assert found[0] == found[-1]
        assert len(found) == len(set(found)) + 1
        assert all(after in edges[before] for before, after in pairwise(found))


def test_a_node_that_names_itself() -> None:
    assert cycle({"a": ["a"]}) == ("a", "a")


def test_long_chains_and_wide_graphs_do_not_exhaust_the_stack() -> None:
    chain = {str(number): [str(number + 1)] for number in range(50_000)}
    assert cycle(chain) is None
    assert cycle(chain | {"50000": ["0"]}) is not None
    diamonds = {str(number): [str(number + 1), str(number + 2)] for number in range(5_000)}
    assert cycle(diamonds) is None


def test_a_long_cycle_is_told_in_one_line() -> None:
    """Of a ring of thousands the beginning and the end are named, of a short one all."""
    ring = [f"task-{number}" for number in range(2000)]
    assert arrows([*ring[:4], ring[0]]) == "task-0 → task-1 → task-2 → task-3 → task-0"
    assert len(arrows([*ring, ring[0]])) < 200
    assert arrows([*ring, ring[0]]).startswith("task-0 → task-1 → task-2 → task-3 → task-4 → (1991 more) → task-1996")
    assert arrows(ring[: 2 * SHOWN]).count("→") == 2 * SHOWN - 1
