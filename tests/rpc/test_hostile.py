"""Three hundred hostile inputs on the socket: each is refused, changes nothing, and the next is served."""

import json
import random
from collections.abc import Iterator
from resource import RUSAGE_SELF, getrusage
from typing import Any

import pytest

from pro0.model.task import Draft
from pro0.ops.tasks import tasks
from pro0.rpc.table import METHODS
from pro0.store.teams import TeamStore
from pro0.wire import LINE_LIMIT
from tests.faults import contents
from tests.rpc.conftest import Connect
from tests.teams import human

ODD: list[object] = [
    None,
    True,
    -1,
    2**70,
    1e308,
    "",
    "x" * 2000,
    "\x1b[2J\x07",
    "\ud800",
    "../../../etc/passwd",
    "a\u202eb",
    "0\nfrom: human",
    [],
    [[]],
    {},
    {"id": {}},
    [None] * 50,
]
"""Values that no method wants, or not there."""
WRONG: list[object] = [[[]], [{"id": []}]]
"""Values that fit no parameter."""


def line(**message: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode()


def not_json() -> Iterator[bytes]:
    chance = random.Random(1)
    good = line(id=1, method="task.create", params={"title": "x", "description": "y", "role_id": {}})
    for _ in range(40):
        yield chance.randbytes(chance.randint(1, 400)).replace(b"\n", b" ")
    yield from (good[: chance.randint(1, len(good) - 1)] for _ in range(20))
    for place in range(0, len(good), 4):
        yield good[:place] + bytes([chance.choice(b'\x00\x80\xff"{}[]:,\\')]) + good[place + 1 :]
    yield from (b"[" * 1000, b'{"a":' * 1000, b'"' + b"\\" * 999, b"nul", b"NaN", b"-Infinity", b"\xef\xbb\xbf{}")


def not_requests() -> Iterator[bytes]:
    for value in ODD:
        yield json.dumps(value).encode()
        yield line(id=1, method=value)
        yield line(id=1, method="team.limit", params=value)
        yield line(id=value, method="no.such")
        yield line(id=1, method="task.create", params={"title": value, "description": value, "role_id": value})
        yield line(id=1, method="$/cancelRequest", params={"id": value})
        yield line(id=1, method="task.list.unsubscribe", params={"id": value})
    yield b'{"jsonrpc": "1.0", "id": 1, "method": "team.cost"}'
    yield b"[" + b",".join([line(id=1, method="team.limit", params={"usd": 1})] * 101) + b"]"


def wrong_parameters() -> Iterator[bytes]:
    """For each method that takes something: each of it of a wrong kind, and a name that it does not have."""
    chance = random.Random(2)
    for name, method in METHODS.items():
        names = [*method.parameters]
        if names and not method.waits:  # the others are answered beside those that come after them
            yield line(id=1, method=name, params={each: chance.choice(WRONG) for each in names})
            yield line(id=1, method=name, params={each: {} for each in [*names, "as"]})


HOSTILE = [*not_json(), *not_requests(), *wrong_parameters()]


def test_there_are_three_hundred() -> None:
    assert len(HOSTILE) >= 300


@pytest.mark.parametrize("part", range(4))
def test_each_is_refused_and_the_next_is_served(connect: Connect, team: TeamStore, part: int) -> None:
    """One after the other on one connection; what was there is as it was."""
    tasks.create(human(team), [Draft(title="parse")])
    wire = connect()
    before = contents(team.paths.home)
    for data in HOSTILE[part::4]:
        wire.say(data + b"\n")
        sentinel = wire.request("team.cost", id="sentinel")
        messages: list[Any] = [wire.hear()]
        while not (isinstance(messages[-1], dict) and messages[-1].get("id") == sentinel):
            messages.append(wire.hear())
        assert "result" in messages.pop()
        assert len(messages) <= 1, data[:200]
        for answer in [each for message in messages for each in (message if isinstance(message, list) else [message])]:
            assert "error" in answer, data[:200]
            shown: str = answer["error"]["message"]
            assert shown.isprintable(), data[:200]
            assert "Traceback" not in shown
            assert len(shown) < 4096
    assert contents(team.paths.home) == before


@pytest.mark.soak
def test_a_line_of_100_megabytes_is_one_error_and_costs_no_memory(connect: Connect) -> None:
    wire = connect()
    wire.result("team.cost")
    before = getrusage(RUSAGE_SELF).ru_maxrss
    for _ in range(100 * 2**20 // 2**16):
        wire.say(b"x" * 2**16)
    wire.say(b"\n")
    assert wire.hear()["error"]["code"] == -32600
    assert getrusage(RUSAGE_SELF).ru_maxrss - before < 4 * LINE_LIMIT // 1024
    assert "result" in wire.ask("team.cost")


def test_many_that_connect_and_say_half_a_word_keep_nobody_out(connect: Connect) -> None:
    half_open = [connect() for _ in range(30)]
    for number, wire in enumerate(half_open):
        wire.say(line(id=1, method="task.list")[: number + 1])
    assert connect().result("task.list") == []
    for wire in half_open[::2]:
        wire.close()
    assert connect().result("task.list") == []
