"""A durable claim and send in one process, beside the least cost of durability; and a send into a full mailbox."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import patch

from bench.figure import Figure, interleaved
from bench.scratch import add_tasks, make_team, world
from pro0.ops.context import Context
from pro0.ops.mail import messages
from pro0.ops.tasks import tasks
from pro0.store import atomic

ROUNDS = 40
CLAIM_GOAL = 3.0
SEND_GOAL = 3.0
FULL_GOAL = 1.2


def figures() -> Iterator[Figure]:
    """Measure a claim and a send at 100 and at 1,000 tasks and messages."""
    with world() as folder:
        for count in (100, 1000):
            context = make_team(folder, name=f"bench-{count}")
            add_tasks(context, count)
            _fill(context, count)
            whole = _floor(folder, context.team.tasks.path.stat().st_size)
            floor, least, claim, send = interleaved([_floor(folder), whole, _claim(context), _send(context)], ROUNDS)
            yield Figure(f"claim at {count}", claim, "ms", CLAIM_GOAL, "ms", floor, "one durable replace")
            yield Figure(f"as many bytes as {count} tasks", least, "ms", floor=floor, floor_is="one durable replace")
            yield Figure(f"send at {count}", send, "ms", SEND_GOAL, "ms", floor, "one durable replace")
        yield _full_mailbox(folder)


def _full_mailbox(folder: Path) -> Figure:
    """Measure a send into a mailbox of 10,000 beside one into a mailbox of 10, over a whole cycle of sealing."""
    few, many = (make_team(folder, name=f"mail-{count}") for count in (10, 10_000))
    _fill(many, 10_000)
    small, full = interleaved([_into_ten(few), _send(many)], 100)
    return Figure("send into a box of 10,000", full, "ms", FULL_GOAL, "x", small, "into a box of 10")


def _into_ten(context: Context) -> Callable[[], object]:
    """Return a send that finds ten messages in the mailbox each time."""
    _fill(context, 10)
    head = context.team.mailbox("lead").head
    ten, send = head.path.read_bytes(), _send(context)

    def into_ten() -> object:
        head.path.write_bytes(ten)
        return send()

    return into_ten


def _floor(folder: Path, size: int = 300) -> Callable[[], None]:
    data = b"x" * size

    def replace() -> None:
        with atomic.folder(folder) as descriptor:
            atomic.replace(descriptor, "floor", data)

    return replace


def _claim(context: Context) -> Callable[[], object]:
    numbers = iter(range(1, 1001))
    return lambda: tasks.claim(context, str(next(numbers)))


def _send(context: Context) -> Callable[[], object]:
    return lambda: messages.send(context, "lead", "a word to the lead, of some length, as agents write them")


def _fill(context: Context, count: int) -> None:
    with patch.object(os, "fsync"):  # only the filling need not be durable
        for number in range(count):
            messages.send(context, "lead", f"message {number}")
