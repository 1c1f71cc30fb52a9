"""Write the figures of real agents in docs/faults.md: between their markers, from the counts of `make soak-agents`.

Run it as `python -m tests.real_agents.figures`. A figure is never typed: what no test has counted here stays as it was.
"""

import json

from tests.crash.figures import place
from tests.crash.lanes import COUNTS, SOAK
from tests.real_agents.agents import BARE
from tests.real_agents.test_delivery import LATE, LETTERS, UNSEEN
from tools.agents.install import PINNED

BEGIN = "<!-- figures of real agents: tests/real_agents/figures.py writes what follows -->"
END = "<!-- end of figures of real agents -->"
COLUMNS = (
    *("agent", "version", "messages", "ms until a question shows in the status, at most"),
    "ms until mail is read after a person refuses a permission, at most",
)


def table() -> str:
    """Return the table as Markdown."""
    rows = [COLUMNS, ("---",) * len(COLUMNS), *(_row(agent) for agent in BARE)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _row(agent: str) -> tuple[str, ...]:
    return agent, PINNED[agent].version, *(_number(counts, agent) for counts in (LETTERS, UNSEEN, LATE))


def _number(counts: str, agent: str) -> str:
    path = COUNTS / SOAK / counts / f"{agent}.json"
    return f"{json.loads(path.read_bytes())['number']:,}" if path.exists() else "-"


if __name__ == "__main__":
    place(BEGIN, table(), END)
