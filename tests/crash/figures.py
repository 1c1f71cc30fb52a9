"""Write the figures in docs/faults.md: between its markers, from the counts that the tests left (`make soak`).

Run it as `python -m tests.crash.figures`. A figure is never typed: what no test has counted is shown as a dash.
"""

import json
import sys
from pathlib import Path
from typing import NamedTuple

from tests.crash.lanes import COUNTS, SOAK, TEST

PAGE = Path(__file__).parents[2] / "docs" / "faults.md"
BEGIN = "<!-- figures: tests/crash/figures.py writes what follows -->"
END = "<!-- end of figures -->"


class Row(NamedTuple):
    """One property: what holds, how it is tested, what is counted, under which names, in which file of tests/crash."""

    holds: str
    how: str
    unit: str
    counts: str
    file: str


ROWS = (
    Row(
        "`kill -9` anywhere: what was acknowledged is there, else every document is old or new; all can be read, the "
        "operation works again, nothing is left lying about",
        "SIGKILL before and after every file-system call of every operation that changes something",
        "points",
        "points",
        "test_kills.py",
    ),
    Row(
        "the same when what follows is killed too",
        "for each state a first kill leaves: the operation again, killed at calls that change something, sampled",
        "pairs",
        "pairs",
        "test_kills.py",
    ),
    Row(
        "an error leaves the old files byte for byte, or says what was done; one clear sentence, no temporary file",
        "ENOSPC EIO EROFS EDQUOT EACCES EMFILE EFBIG EINTR ENOLCK and short writes at every call of every operation",
        "injections",
        "injections",
        "test_errors.py",
    ),
    Row(
        "the same when the disk stays broken, and it is cleaned up once it works again",
        "EIO at one call of an operation and at all that follow",
        "injections",
        "breaks",
        "test_errors.py",
    ),
    Row(
        "the same from outside",
        "the program on a full tmpfs, in a read-only folder, with RLIMIT_NOFILE and RLIMIT_FSIZE",
        "calls of the program",
        "outside",
        "test_outside.py",
    ),
    Row(
        "power loss: what was acknowledged is there, and what is there can be read",
        "every tree that a disk may show after each call of every operation (the model and its bounds: `power.py`)",
        "states",
        "states",
        "test_power.py",
    ),
    Row("one winner of a claim", "2, 8 and 50 processes, one task a round", "rounds", "claims", "test_races.py"),
    Row(
        "two acts on one task end as one after the other",
        "every ordered pair of 13 acts, in three phases, by two processes at once",
        "races",
        "races",
        "test_races.py",
    ),
    Row(
        "linearizable",
        "8 processes, 200 random operations, clients killed in the middle; one order must explain every answer",
        "histories",
        "histories",
        "test_histories.py",
    ),
    Row(
        "clients killed in these histories", "SIGKILL at a random call", "kills", "killed clients", "test_histories.py"
    ),
    Row(
        "the tests see what they should",
        "wrong stores: no fsync of the file, none of the folder, rename before fsync, a read outside the lock",
        "mutants caught",
        "mutants",
        "test_power.py",
    ),
)


def total(lane: str, counts: str) -> str:
    """Return the sum of what the tests of one lane counted; what has no longer form is counted in the short lane."""
    found = [json.loads(path.read_bytes())["number"] for path in sorted((COUNTS / lane / counts).glob("*.json"))]
    return f"{sum(found):,}" if found else ""


def table() -> str:
    """Return the table as Markdown."""
    lines = ["| property | how it is tested | `make test` | `make soak` | command |", "|---|---|---|---|---|"]
    for row in ROWS:
        short, long = total(TEST, row.counts), total(SOAK, row.counts)
        figures = f"{short or '-'} {row.unit} | {f'{long} {row.unit}' if long else 'the same'}"
        lines.append(f"| {row.holds} | {row.how} | {figures} | `pytest tests/crash/{row.file}` |")
    return "\n".join(lines)


def main() -> None:
    """Put the table between the markers."""
    text = PAGE.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        sys.exit(f"{PAGE} has no markers")
    PAGE.write_text(f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
