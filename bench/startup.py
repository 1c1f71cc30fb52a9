"""Whole commands, as multiples of a bare interpreter."""

import sys
from collections.abc import Callable, Iterator

from bench.figure import Figure, interleaved
from bench.scratch import PRO0, TEAM, add_tasks, make_team, run, world

ROUNDS = 15
GOALS = {"--version": 4.0, "task claim": 10.0, "send": 10.0, "inbox": 10.0}


def figures() -> Iterator[Figure]:
    """Measure `--version` and the verbs that agents call most, at 100 tasks."""
    with world() as folder:
        context = make_team(folder)
        add_tasks(context, 100)
        numbers = iter(range(1, 1000))
        commands: dict[str, Callable[[], None]] = {
            "--version": lambda: run(PRO0, "--version"),
            "task claim": lambda: run(PRO0, "task", "claim", str(next(numbers)), "-t", TEAM),
            "send": lambda: run(PRO0, "send", "lead", "a word to the lead", "-t", TEAM),
            "inbox": lambda: run(PRO0, "inbox", "-t", TEAM),
        }
        bare = lambda: run(sys.executable, "-I", "-c", "pass")  # noqa: E731
        floor, *times = interleaved([bare, *commands.values()], ROUNDS)
    for name, time in zip(commands, times, strict=True):
        yield Figure(f"pro0 {name}", time, "ms", GOALS[name], "x", floor, "python -I -c pass")
