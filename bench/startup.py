"""Whole commands, as multiples of a bare interpreter: without a lead, and while one works.

Similar programs run in the same rounds when BENCH_PEERS=VENV/bin names the folder of their programs, in an environment
of their own (`pip install hcom clawteam tmuxp`).
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from bench.figure import Figure, interleaved
from bench.scratch import PEERS, PRO0, TEAM, add_tasks, make_team, run, until, world
from pro0.cli.warm.client import SOCKET
from pro0.engine.opening.launch import ensure_lead
from pro0.ops.context import Context
from pro0.ops.team import members
from pro0.ops.team.members import SeatDraft

ROUNDS = 15
VERSION_GOAL, GOAL, ALONE_GOAL = 4.0, 1.6, 4.0
LOADING = 5.0
SENDERS, MESSAGES = 10, 50
SENT_GOAL = 1 / 150 * 1000
"""Milliseconds for each message."""
_COMPLETION = {"_PRO0_COMPLETE": "bash_complete", "COMP_WORDS": "pro0 task show ", "COMP_CWORD": "3"}
_BARE = "python -I -c pass"


def figures() -> Iterator[Figure]:
    """Measure `--version` and the commands that agents call most, at 100 tasks; then many senders at once."""
    with world() as folder:
        context = make_team(folder)
        add_tasks(context, 100)
        yield from _compared({"--version": lambda: run(PRO0, "--version")}, "", VERSION_GOAL)
        yield from _compared(_commands(iter(range(1, 50))), ", no team at work", ALONE_GOAL)
        ensure_lead(context.team)
        members.spawn(context, [SeatDraft(name="w1")], 10)
        until((context.team.paths.team / SOCKET).exists, 60)
        run(PRO0, "task", "list", "-t", TEAM)  # the first one makes the warm process load what it needs
        time.sleep(LOADING)
        yield from _compared(_commands(iter(range(50, 100))), "", GOAL)
        yield Figure(f"{SENDERS} senders, each message", _all_send(context), "ms", SENT_GOAL, "ms")


def _commands(numbers: Iterator[int]) -> dict[str, Callable[[], None]]:
    return {
        "task claim": lambda: run(PRO0, "task", "claim", str(next(numbers)), "-t", TEAM),
        "send": lambda: run(PRO0, "send", "lead", "a word to the lead", "-t", TEAM),
        "inbox": lambda: run(PRO0, "inbox", "-t", TEAM),
        "task list": lambda: run(PRO0, "task", "list", "-t", TEAM),
        "team status": lambda: run(PRO0, "team", "status", TEAM),
        "completion": _completed,
    }


def _compared(commands: dict[str, Callable[[], None]], when: str, goal: float) -> Iterator[Figure]:
    bare = lambda: run(sys.executable, "-I", "-c", "pass")  # noqa: E731
    peers = _peers() if goal == GOAL and PEERS else {}
    floor, *times = interleaved([bare, *commands.values(), *peers.values()], ROUNDS)
    for name, duration in zip(commands, times, strict=False):
        yield Figure(f"pro0 {name}{when}", duration, "ms", goal, "x", floor, _BARE)
    for name, duration in zip(peers, times[len(commands) :], strict=True):
        yield Figure(name, duration, "ms", float("inf"), "x", floor, _BARE)


def _peers() -> dict[str, Callable[[], None]]:
    calls = ("hcom list", "clawteam task list bench", "clawteam --version", "tmuxp --version")
    return {call: partial(run, Path(PEERS, call.split()[0]), *call.split()[1:]) for call in calls}


def _completed() -> None:
    subprocess.run([PRO0], env={**os.environ, **_COMPLETION}, check=True, capture_output=True)


def _all_send(context: Context) -> float:
    """Return the milliseconds per message when many are sent; all of them must arrive."""
    before = context.team.mailbox("w1").head.read().next_seq
    script = f'for n in $(seq {MESSAGES}); do "$0" send w1 "$1 $n" -t {TEAM} || exit; done'
    start = time.perf_counter()
    senders = [subprocess.Popen(["sh", "-c", script, PRO0, str(n)], stdout=subprocess.DEVNULL) for n in range(SENDERS)]
    assert all(sender.wait() == 0 for sender in senders)
    took = time.perf_counter() - start
    assert context.team.mailbox("w1").head.read().next_seq - before == SENDERS * MESSAGES
    return took * 1000 / (SENDERS * MESSAGES)
