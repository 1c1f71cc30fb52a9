"""Write the figures in docs/faults.md: between its markers, from the counts that the tests left (`make soak`).

Run it as `python -m tests.crash.figures`. A figure is never typed: what no test has counted here stays as it was, and
what none ever has is a dash.
"""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from tests.cli.broken import BREAKS
from tests.cli.test_corrupt import READ_BY
from tests.crash.lanes import COUNTS, SOAK, TEST, place_of
from tests.hostile.names import NAMES, RESERVED
from tests.hostile.payloads import PAYLOADS

PAGE = Path(__file__).parents[2] / "docs" / "faults.md"
BEGIN = "<!-- figures: tests/crash/figures.py writes what follows -->"
END = "<!-- end of figures -->"
MUTANTS_BEGIN = "<!-- figures of mutants: tests/crash/figures.py writes what follows -->"
MUTANTS_END = "<!-- end of figures of mutants -->"
MUTATED = {
    "the store and its locks": "pro0/store",
    "the rules": "pro0/rules",
    "processes": "pro0/processes",
    "the guard": "pro0/guard",
    "who is taken for whom": "pro0/ops",
}
"""What `make mutants` puts mistakes into, and where that is."""


class Row(NamedTuple):
    """One property: what holds, how it is tested, what is counted, under which names, in which file of tests."""

    holds: str
    how: str
    unit: str
    counts: str
    file: str
    long: bool = True
    """Whether the soak does more of it; what it does not is done once, in the short lane."""


ROWS = (
    Row(
        "`kill -9` anywhere: what was acknowledged is there, else every document is old or new; all can be read, the "
        "operation works again, nothing is left lying about",
        "SIGKILL before and after every file-system call of every operation that changes something",
        "points",
        "points",
        "crash/test_kills.py",
    ),
    Row(
        "the same when what follows is killed too",
        "for each state a first kill leaves: the operation again, killed at calls that change something, sampled",
        "pairs",
        "pairs",
        "crash/test_kills.py",
    ),
    Row(
        "an error leaves the old files byte for byte, or says what was done; one clear sentence, no temporary file",
        "ENOSPC EIO EROFS EDQUOT EACCES EMFILE EFBIG EINTR ENOLCK and short writes at every call of every operation",
        "injections",
        "injections",
        "crash/test_errors.py",
    ),
    Row(
        "the same when the disk stays broken, and it is cleaned up once it works again",
        "EIO at one call of an operation and at all that follow",
        "injections",
        "breaks",
        "crash/test_errors.py",
    ),
    Row(
        "the same from outside",
        "the program on a full tmpfs, in a read-only folder, with RLIMIT_NOFILE and RLIMIT_FSIZE",
        "calls of the program",
        "outside",
        "crash/test_outside.py",
        long=False,
    ),
    Row(
        "power loss: what was acknowledged is there, and what is there can be read",
        "every tree that a disk may show after each call of every operation (the model and its bounds: `power.py`)",
        "states",
        "states",
        "crash/test_power.py",
    ),
    Row(
        "a repair that meets an error loses nothing, and can be finished",
        "one error at each call of `doctor --repair`, with each kind of file corrupt",
        "injections",
        "repairs",
        "crash/test_repairs.py",
    ),
    Row(
        "mail: none lost, doubled, or out of a sender's order",
        "10 processes send to one mailbox while it is read",
        "messages",
        "mail",
        "ops/test_floods.py",
    ),
    Row(
        "the same when senders are killed: what was acknowledged is there, the rest once or not at all",
        "SIGKILL at random, three times each",
        "messages",
        "mail of the killed",
        "ops/test_floods.py",
    ),
    Row(
        "a send into a full mailbox reads and writes no more than 1.2 times what it does into one of 10",
        "bytes, counted at the calls, besides those of one head",
        "messages in it",
        "full mailbox",
        "ops/test_floods.py",
    ),
    Row(
        "calls of the program at one time all succeed: they wait in line, and none gives up while the lock moves",
        "processes that make tasks and send, all at once",
        "calls of the program",
        "at once",
        "cli/test_at_once.py",
    ),
    Row("one winner of a claim", "2, 8 and 50 processes, one task a round", "rounds", "claims", "crash/test_races.py"),
    Row(
        "two acts on one task end as one after the other",
        "every ordered pair of all acts, in five phases, by two processes at once; in `make test` a sample",
        "races",
        "races",
        "crash/test_races.py",
    ),
    Row(
        "linearizable",
        "8 processes, 200 random operations, clients killed in the middle; one order must explain every answer",
        "histories",
        "histories",
        "crash/test_histories.py",
    ),
    Row(
        "clients killed in these histories",
        "SIGKILL at a random call",
        "kills",
        "killed clients",
        "crash/test_histories.py",
    ),
    Row(
        "the tests see what they should",
        "wrong stores: no fsync of the file, none of the folder, rename before fsync, a read outside the lock",
        "mutants caught",
        "mutants",
        "crash/test_power.py",
        long=False,
    ),
    Row(
        "a corrupt file is exit 5, never empty, never a traceback; it stays byte for byte, other teams go on, and "
        "`doctor --repair` mends it without losing what can be read",
        f"{len(READ_BY)} kinds of files, {len(BREAKS)} ways, every command that reads the file; "
        "in the soak every command",
        "calls of the program",
        "corrupt",
        "cli/test_corrupt.py",
    ),
    Row(
        "`pro0 store copy` killed anywhere: one place is in charge and whole, the next copy is as good as the first, "
        "and nothing is left",
        "SIGKILL before each call that changes a file, on the way to a database and back",
        "kills",
        "kills of a copy of a team",
        "store/test_copy.py",
    ),
    Row(
        "no task is done twice in a crowd, over files and over a database",
        "50 processes claim and complete 1,000 tasks, over each",
        "acts",
        "claims and completions in a crowd",
        "store/test_crowds.py",
    ),
    Row(
        "no message is lost, doubled or out of order in a crowd, over files and over a database",
        "10 processes send 100,000 messages to 10 members, over each",
        "messages",
        "messages in a crowd",
        "store/test_crowds.py",
    ),
    Row(
        "no name leads anywhere: exit 2, 3, 4 at every entrance, 5 in an edited file; nothing is touched",
        f"{len({*NAMES, *RESERVED})} names and what no argument can hold, at every argument and "
        "variable that names something",
        "calls of the program",
        "names",
        "hostile/test_entrances.py",
    ),
    Row(
        "the same in files that are edited by hand",
        "these names in every field that becomes a path, an argument, a tag or a key",
        "edits",
        "edits",
        "hostile/test_edited.py",
    ),
    Row(
        "nothing that is stored reaches a terminal as a command, in a pipe or on a terminal",
        f"{len(PAYLOADS)} payloads in every field that holds a text, each with every command that prints it, "
        "plain and as JSON",
        "calls of the program",
        "payloads",
        "hostile/test_printing.py",
    ),
)


def count(lane: str, counts: str, part: str) -> int:
    """Return what one test counted, 0 for nothing."""
    path = place_of(lane, counts, part)
    return int(json.loads(path.read_bytes())["number"]) if path.exists() else 0


def total(lane: str, counts: str) -> str:
    """Return the sum of what the tests of one lane counted, a dash for nothing."""
    found = [json.loads(path.read_bytes())["number"] for path in sorted((COUNTS / lane / counts).glob("*.json"))]
    return f"{sum(found):,}" if found else "-"


def table(rows: Iterable[Row]) -> str:
    """Return a table as Markdown."""
    lines = ["| property | how it is tested | `make test` | `make soak` | command |", "| --- | --- | --- | --- | --- |"]
    for row in rows:
        long = f"{total(SOAK, row.counts)} {row.unit}" if row.long else "the same"
        figures = f"{total(TEST, row.counts)} {row.unit} | {long}"
        lines.append(f"| {row.holds} | {row.how} | {figures} | `pytest tests/{row.file}` |")
    return "\n".join(lines)


def mutants() -> str:
    """Return the table of the mutants of each area, as Markdown."""
    lines = ["| area | mutants | refused by mypy | noticed | live | score |", "| --- | --- | --- | --- | --- | --- |"]
    for area in MUTATED:
        refused, killed, lives = (count(SOAK, f"mutants {kind}", area) for kind in ("refused", "killed", "lives"))
        tried = killed + lives
        figures = [f"{number:,}" for number in (refused + tried, refused, killed, lives)] if tried else ["-"] * 4
        lines.append(f"| {area} | {' | '.join(figures)} | {f'{killed / tried:.1%}' if tried else '-'} |")
    return "\n".join(lines)


def put(begin: str, rows: Iterable[Row], end: str) -> None:
    """Put the table of these rows between its markers."""
    place(begin, table(rows), end)


def place(begin: str, table: str, end: str) -> None:
    """Put a table between its markers; what it has no figure for stays."""
    text = PAGE.read_text(encoding="utf-8")
    before, first, rest = text.partition(begin)
    old, last, after = rest.partition(end)
    if not (first and last):
        sys.exit(f"{PAGE} has no markers")
    PAGE.write_text(f"{before}{begin}\n\n{kept(old, table)}\n\n{end}{after}", encoding="utf-8")


def kept(old: str, new: str) -> str:
    """Return the new table with the old one's figures where it has none: in the row that begins the same."""
    were = {cells[0]: cells for cells in map(_cells, old.splitlines())}
    return "\n".join(_row(cells, were.get(cells[0], [])) for cells in map(_cells, new.splitlines()))


def _cells(line: str) -> list[str]:
    return line.removeprefix("| ").removesuffix(" |").split(" | ")


def _row(cells: list[str], was: list[str]) -> str:
    """Return a row; a cell whose figure is a dash is the old one's."""
    if len(was) != len(cells) or cells[0].startswith("-"):
        was = cells
    return f"| {' | '.join(old if cell.split()[:1] == ['-'] else cell for cell, old in zip(cells, was, strict=True))} |"


if __name__ == "__main__":
    put(BEGIN, ROWS, END)
    place(MUTANTS_BEGIN, mutants(), MUTANTS_END)
