"""Memory and open files of the lead over time."""

import statistics
from contextlib import suppress
from typing import NamedTuple

import psutil

from tests.engine.crew import Crew
from tests.scenarios.leads import leader

SLACK = 2 << 20
"""Bytes that a heap may move without being said to grow."""
GROWTH = 0.10
ENOUGH = 10
"""Looks at one lead before it can be said to grow: one that has just come takes its members up one by one."""


class Sample(NamedTuple):
    """What one lead had at one moment."""

    pid: int
    memory: int
    files: int


class Gauge:
    """Samples of the leads of a team."""

    def __init__(self, crew: Crew) -> None:
        self._crew = crew
        self._samples: list[Sample] = []

    def read(self) -> None:
        """Take one sample, if there is a lead."""
        lead = leader(self._crew)
        with suppress(psutil.Error):
            if lead:
                process = psutil.Process(lead.pid)
                self._samples.append(Sample(lead.pid, process.memory_full_info().uss, process.num_fds()))

    def last(self) -> list[Sample]:
        """Return the samples of the lead that lived last, without its first moments."""
        mine = [sample for sample in self._samples if sample.pid == self._samples[-1].pid]
        return mine[len(mine) // 5 :]

    def growth(self) -> Sample:
        """Return by how much the last lead's memory and open files grew while it lived, as medians of its fifths."""
        samples = self.last()
        fifth = max(1, len(samples) // 5)
        ends = ([s.memory for s in part] for part in (samples[:fifth], samples[-fifth:]))
        files = ([s.files for s in part] for part in (samples[:fifth], samples[-fifth:]))
        return Sample(samples[0].pid, _risen(*ends), _risen(*files))

    def grown(self) -> list[str]:
        """Return a line when that is more than chance."""
        if len(self.last()) < ENOUGH:
            return []
        first, growth = self.last()[0], self.growth()
        lines = []
        if growth.memory > first.memory * GROWTH + SLACK:
            lines.append(f"the lead's memory grew by {growth.memory:,} to {first.memory + growth.memory:,} bytes")
        if growth.files > 2:
            lines.append(f"the lead's open files grew by {growth.files} to {first.files + growth.files}")
        return lines

    def __str__(self) -> str:
        samples = self.last()
        memory = [sample.memory / (1 << 20) for sample in samples]
        files = [sample.files for sample in samples]
        return (
            f"the last lead had {memory[0]:.1f} to {max(memory):.1f} MiB, {memory[-1]:.1f} at last, "
            f"and {min(files)} to {max(files)} open files, in {len(samples)} looks"
        )


def _risen(before: list[int], after: list[int]) -> int:
    return round(statistics.median(after) - statistics.median(before))
