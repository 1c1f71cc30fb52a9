"""Follow the output of members without a terminal, as lines without control sequences."""

import time

from pro0.cli.output import line, write
from pro0.rules.text import printed
from pro0.store.journal import Journal
from pro0.store.teams import TeamStore

LINES = 10
"""The number of earlier lines of each member to begin with."""
LOOK = 0.25


def follow(team: TeamStore) -> None:
    """Print the members' output as it comes, until the team is gone or the person interrupts."""
    logs: dict[str, Journal] = {}
    while team.exists():
        for seat in team.runtime.read().seats:
            if seat.agent_id in logs:
                _print(seat.agent_id, [*logs[seat.agent_id].fresh()])
            else:
                logs[seat.agent_id] = Journal(team.paths.log(seat.agent_id))
                _print(seat.agent_id, logs[seat.agent_id].last(LINES))
        time.sleep(LOOK)


def _print(name: str, lines: list[bytes]) -> None:
    for text in lines:
        write(f"{name}  {line(printed(text.decode(errors='replace')).expandtabs())}")
