"""Many servers at once write to one mailbox, each as fast as it is asked to (check 1, by the tool that agents use)."""

from pathlib import Path
from threading import Thread

import pytest

from tests.crash.lanes import LANES, SOAK
from tests.mcp.conftest import Serve
from tests.mcp.served import Served
from tests.mcp.test_callers import as_member
from tests.teams import make_team

SENDERS = {"test": 3, SOAK: 10}
AHEAD = 10
NUMBERS = {"test": 60, SOAK: 2_000}


def flood(server: Served, number: int, answers: list[bool]) -> None:
    """Ask for all of it, some ahead of the answers; note of each answer whether it was sent."""
    for count in range(number + AHEAD):
        if count < number:
            server.request("tools/call", {"name": "message", "arguments": {"to": "reader", "content": str(count)}})
        if count >= AHEAD:
            answers.append("isError" not in server.hear()["result"])


@pytest.mark.parametrize("lane", LANES)
def test_none_is_lost_doubled_or_out_of_its_senders_order(home: Path, serve: Serve, lane: str) -> None:
    names = [f"w{number}" for number in range(SENDERS[lane])]
    team = make_team(home, "reader", *names)
    answers: dict[str, list[bool]] = {name: [] for name in names}
    servers = {name: serve(**as_member(team, name)).open() for name in names}
    threads = [Thread(target=flood, args=(servers[name], NUMBERS[lane], answers[name])) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == dict.fromkeys(names, [True] * NUMBERS[lane])
    box = team.mailbox("reader")
    got = [(message.from_, int(message.content)) for message in box.since(box.head.read(), 0)]
    for name in names:
        assert [count for sender, count in got if sender == name] == list(range(NUMBERS[lane]))
