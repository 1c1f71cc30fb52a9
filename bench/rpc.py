"""The socket of a lead: a call, what subscribers cost while nothing happens, and how soon they are told of a change."""

import json
import socket
import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from bench.figure import Figure, milliseconds
from bench.scratch import add_tasks, make_team, until, world
from pro0.engine.opening.launch import ensure_lead
from pro0.model.task import Draft
from pro0.ops.context import Context
from pro0.ops.tasks import tasks
from pro0.store.paths import SOCKET

TASKS = 100
CALLS = 200
SUBSCRIBERS = 20
CHANGES = 20
IDLE_SECONDS = 10.0
CALL_GOAL = 10.0
TOLD_GOAL = 1000.0
WAKE_UP_GOAL = 1.0
CPU_GOAL = 0.5
MEMORY_GOAL = 10.0
FAMILIES = ("task", "ticket", "member", "need")


class Client:
    """One connection."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(path))
        self._stream = self._socket.makefile("rwb")

    def ask(self, method: str, **params: object) -> Any:
        """Send one request and return its answer."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self._stream.write(json.dumps(message).encode() + b"\n")
        self._stream.flush()
        return self.hear()

    def hear(self) -> Any:
        """Return the next message."""
        return json.loads(self._stream.readline())

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()
        self._socket.close()


class Idle(NamedTuple):
    """What a lead costs while nothing happens."""

    cpu: float
    wake_ups: float
    memory: float


def figures() -> Iterator[Figure]:
    """Measure the lead of a team with 100 tasks and without members."""
    with world() as folder, ExitStack() as opened:
        context = make_team(folder)
        add_tasks(context, TASKS)
        ensure_lead(context.team)
        path = context.team.paths.team / SOCKET
        until(path.exists, 10)
        known = context.team.runtime.read().lead
        assert known
        lead = psutil.Process(known.pid)

        def connected() -> Client:
            return opened.enter_context(Client(path))

        asking = connected()
        calls = [milliseconds(lambda: asking.ask("task.show", task_id="1")) for _ in range(CALLS)]
        yield Figure(f"rpc, a call at {TASKS} tasks", statistics.median(calls), "ms", CALL_GOAL, "ms")
        alone = _idle(lead)
        subscribers = [connected() for _ in range(SUBSCRIBERS)]
        for number, one in enumerate(subscribers):
            one.ask(f"{FAMILIES[number % len(FAMILIES)]}.list.subscribe")
        beside = _idle(lead)
        yield Figure(
            f"rpc, {SUBSCRIBERS} idle subscribers, CPU of the lead", beside.cpu, "% of a core", CPU_GOAL, "% of a core"
        )
        more = beside.wake_ups - alone.wake_ups
        yield Figure(f"rpc, {SUBSCRIBERS} idle subscribers, more wake-ups", more, "a second", WAKE_UP_GOAL, "a second")
        grown = beside.memory - alone.memory
        yield Figure(f"rpc, {SUBSCRIBERS} idle subscribers, more memory", grown, "MiB", MEMORY_GOAL, "MiB")
        listening = [connected() for _ in range(SUBSCRIBERS)]
        for one in listening:
            one.ask("task.list.subscribe")
        told = [_told(context, listening, number) for number in range(CHANGES)]
        what = f"rpc, a change is told to {SUBSCRIBERS} subscribers"
        yield Figure(what, statistics.median(told), "ms", TOLD_GOAL, "ms")
        yield Figure(f"{what}, the slowest time", max(told), "ms", TOLD_GOAL, "ms")


def _idle(lead: psutil.Process) -> Idle:
    time.sleep(2)
    before, wake_ups = lead.cpu_times(), _wake_ups(lead.pid)
    time.sleep(IDLE_SECONDS)
    after = lead.cpu_times()
    used = (after.user + after.system) - (before.user + before.system)
    memory = lead.memory_full_info().uss / 2**20
    return Idle(used / IDLE_SECONDS * 100, (_wake_ups(lead.pid) - wake_ups) / IDLE_SECONDS, memory)


def _wake_ups(pid: int) -> int:
    """Return the number of voluntary context switches of a process's threads so far.

    The watcher's own thread is left out: every look of the lead at its files wakes it, with or without subscribers.
    """
    status = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/status")]
    ours = [text for text in status if not text.startswith("Name:\tnotify-rs")]
    return sum(int(text.partition("\nvoluntary_ctxt_switches:")[2].split()[0]) for text in ours)


def _told(context: Context, subscribers: list[Client], number: int) -> float:
    def change() -> None:
        tasks.create(context, [Draft(title=f"change {number}")])
        for one in subscribers:
            assert one.hear()["params"]["task"]["title"] == f"change {number}"

    return milliseconds(change)
