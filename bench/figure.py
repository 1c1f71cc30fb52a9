"""One measured figure, and the table of figures."""

import math
import statistics
import time
from collections.abc import Callable, Iterable, Sequence

import msgspec


class Figure(msgspec.Struct, frozen=True):
    """A measured value with its floor and its goal; `value` and `floor` are in `unit`, `goal` is for `judged`.

    A figure without a goal explains another figure.
    """

    what: str
    value: float
    unit: str
    goal: float = math.inf
    goal_unit: str = "x"
    floor: float | None = None
    floor_is: str = ""

    @property
    def judged(self) -> float:
        """Return the number to compare with the goal: the ratio to the floor if the goal is a ratio, else the value."""
        return self.value / self.floor if self.goal_unit == "x" and self.floor else self.value

    @property
    def held(self) -> bool:
        """Return whether the goal was reached."""
        return self.judged <= self.goal


def milliseconds(action: Callable[[], object]) -> float:
    """Return how long an action takes, in milliseconds."""
    start = time.perf_counter()
    action()
    return (time.perf_counter() - start) * 1000


def interleaved(actions: Sequence[Callable[[], object]], rounds: int) -> list[float]:
    """Return the median milliseconds of each action; they run in turn, so that a drifting machine affects all alike."""
    for action in actions:
        action()
    times = [[milliseconds(action) for action in actions] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*times, strict=True)]


def table(figures: Iterable[Figure]) -> str:
    """Return the figures as a table of text."""
    header = ("figure", "measured", "floor", "ratio", "goal", "")
    rows = [header, *(_row(figure) for figure in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def _row(figure: Figure) -> tuple[str, ...]:
    floor = f"{figure.floor:.3g} {figure.unit} ({figure.floor_is})" if figure.floor else ""
    ratio = f"{figure.value / figure.floor:.2f}x" if figure.floor else ""
    if math.isinf(figure.goal):
        return (figure.what, f"{figure.value:.3g} {figure.unit}", floor, ratio, "", "")
    verdict = "held" if figure.held else "MISSED"
    goal = f"<= {figure.goal:g}{'' if figure.goal_unit == 'x' else ' '}{figure.goal_unit}"
    return (figure.what, f"{figure.value:.3g} {figure.unit}", floor, ratio, goal, verdict)
