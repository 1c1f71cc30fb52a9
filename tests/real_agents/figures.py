"""Write the figures of real agents in docs/faults.md: between their markers, from the counts of the tests in the box.

Run it as `python -m tests.real_agents.figures`. A figure is never typed: what no test has counted here stays as it was.
"""

import json

from tests.crash.figures import place
from tests.crash.lanes import SOAK, place_of
from tests.real_agents.agents import BARE
from tests.real_agents.test_delivery import LATE, LETTERS, UNSEEN
from tests.real_agents.test_middle import MIDDLE, SEEN
from tests.real_agents.test_sizes import ALONE, COST, MEMBER, MEMORY, PROCESSES
from tools.agents.install import PINNED

BEGIN = "<!-- figures of real agents: tests/real_agents/figures.py writes what follows -->"
END = "<!-- end of figures of real agents -->"
COLUMNS = (
    *("agent", "version", "messages", "ms until a question shows in the status, at most"),
    "ms until mail is read after a person refuses a permission, at most",
    *("in the middle of a turn", "of these seen before the next but one tool call"),
)
SIZES_BEGIN = "<!-- sizes of real agents: tests/real_agents/figures.py writes what follows -->"
SIZES_END = "<!-- end of sizes of real agents -->"
SIZES = (
    *("agent", "version", "MiB alone", "MiB as a member", "processes alone", "processes as a member"),
    *("‰ of a core for the lead, ten idle", "ten working"),
)


def letters() -> str:
    """Return the table of messages as Markdown."""
    return _table(
        COLUMNS, {agent: [(counts, agent) for counts in (LETTERS, UNSEEN, LATE, MIDDLE, SEEN)] for agent in BARE}
    )


def sizes() -> str:
    """Return the table of memory, processes and the lead's share of a core as Markdown."""
    counted = [(counts, how) for counts in (MEMORY, PROCESSES) for how in (ALONE, MEMBER)]
    counted += [(COST, state) for state in ("idle", "working")]
    return _table(SIZES, {agent: [(counts, f"{agent} {how}") for counts, how in counted] for agent in BARE})


def _table(columns: tuple[str, ...], counted: dict[str, list[tuple[str, str]]]) -> str:
    rows = [(agent, PINNED[agent].version, *(_number(*each) for each in counted[agent])) for agent in counted]
    return "\n".join(f"| {' | '.join(row)} |" for row in (columns, ("---",) * len(columns), *rows))


def _number(counts: str, part: str) -> str:
    path = place_of(SOAK, counts, part)
    return f"{json.loads(path.read_bytes())['number']:,}" if path.exists() else "-"


if __name__ == "__main__":
    place(BEGIN, letters(), END)
    place(SIZES_BEGIN, sizes(), SIZES_END)
