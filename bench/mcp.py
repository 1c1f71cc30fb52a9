"""The MCP server of every agent: its start beside a bare interpreter's, its private memory, and a call."""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator

import psutil
from msgspec.structs import replace

from bench.figure import Figure, interleaved, milliseconds
from bench.scratch import PRO0, TEAM, add_tasks, make_team, run, world
from pro0.model.runtime import SeatState, State
from pro0.model.team import Seat
from pro0.ops import grants
from pro0.ops.context import Context, clock
from pro0.ops.team.members import identity
from pro0.processes import mark

ROUNDS = 15
CALLS = 200
READY_GOAL = 3.0
MEMORY_GOAL = 15.0
CALL_GOAL = 10.0
SESSION = "bench"
OPENING = [
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
]
CALL = {
    "jsonrpc": "2.0",
    "id": 3,
    "method": "tools/call",
    "params": {"name": "task_get", "arguments": {"task_id": "1"}},
}


class Server:
    """The server of one member; it is ready, because its tools are listed."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [PRO0, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ | environment
        )
        for message in OPENING:
            self.ask(message)

    def ask(self, message: dict[str, object]) -> None:
        """Send one message and wait for its answer."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        assert b'"result"' in self.process.stdout.readline()

    def private(self) -> float:
        """Return the memory that only this process has, in MiB."""
        return float(psutil.Process(self.process.pid).memory_full_info().uss) / 2**20

    def end(self) -> None:
        """Close its input, as clients do, and wait for its end."""
        self.process.communicate()


def figures() -> Iterator[Figure]:
    """Measure servers of one member of a team with 100 tasks."""
    with world() as folder:
        context = make_team(folder)
        add_tasks(context, 100)
        member = _member(context)
        bare = lambda: run(sys.executable, "-I", "-c", "pass")  # noqa: E731
        try:
            floor, ready = interleaved([bare, lambda: Server(member).end()], ROUNDS)
            server = Server(member)
        finally:
            mark.take_off()
        first = server.private()
        calls = [milliseconds(lambda: server.ask(CALL)) for _ in range(CALLS)]
        later = server.private()
        server.end()
    yield Figure("mcp, tools are listed", ready, "ms", READY_GOAL, "x", floor, "python -I -c pass")
    yield Figure("mcp, private memory", first, "MiB", MEMORY_GOAL, "MiB")
    yield Figure(f"mcp, private memory after {CALLS} calls", later, "MiB", MEMORY_GOAL, "MiB")
    yield Figure("mcp, a call at 100 tasks", statistics.median(calls), "ms", CALL_GOAL, "ms")


def _member(context: Context) -> dict[str, str]:
    """Record a living session, and return the environment variables of its programs.

    From now on this process marks the programs that it starts, as a guard does. Without marks it uses a grant.
    """
    now = clock()
    seat = SeatState(agent_id="w1", generation=1, incarnation=SESSION, state=State.IDLE, since=now, started_at=now)
    with context.team.wanted.change(TEAM) as wanted:
        seats = (Seat(agent_id="w1", name="w1", agent="shell"),)
        wanted.value = replace(wanted.value, seats=seats)
    with context.team.runtime.change(TEAM) as runtime:
        runtime.value = replace(runtime.value, seats=(seat,))
    context.team.mailbox("w1").make()
    (context.team.paths.sessions / context.team.paths.launch(SESSION)).touch()
    return identity(context.team, seat) if mark.put_on(SESSION) else grants.make(context, "w1")
