"""The lead: what it costs while nothing happens, how soon it notices a death, and how soon the person is told."""

import json
import os
import signal
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from bench.figure import Figure
from bench.scratch import make_team, until, world
from pro0.config import USER_FILE
from pro0.engine import outcomes
from pro0.engine.opening.launch import ensure_lead
from pro0.model.runtime import SeatState, State
from pro0.model.task import Awaiting, Draft
from pro0.ops.context import Context
from pro0.ops.tasks import gates, tasks
from pro0.ops.team import members
from pro0.ops.team.members import SeatDraft

MEMBERS = 10
IDLE_SECONDS = 10.0
DEATHS = 10
IDLE_GOAL = 0.5
WAKE_UP_GOAL = 1.0
DEATH_GOAL = 250.0
NEEDS = 20
TOLD_GOAL = 1000.0


def figures() -> Iterator[Figure]:
    """Measure with 10 idle shell members without a terminal; then let tasks ask, and kill one member after another."""
    with world() as folder:
        context = make_team(folder)
        told = folder / "told"
        _tells(context, told)
        ensure_lead(context.team)
        seats = members.spawn(context, [SeatDraft(name=f"w{n}") for n in range(MEMBERS)], MEMBERS)
        outcomes.started(context.team, seats, lambda _text: None)
        time.sleep(3)
        used, woken = _idle(context)
        yield Figure("lead, 10 idle members", used, "% of a core", IDLE_GOAL, "% of a core")
        yield Figure("lead, 10 idle members, wake-ups", woken, "a second", WAKE_UP_GOAL, "a second")
        tellings = [_told(context, told) for _ in range(NEEDS)]
        notices = [_death(context, seat.agent_id) for seat in seats[:DEATHS]]
    yield Figure("a question reaches the hook and notify", statistics.median(tellings), "ms", TOLD_GOAL, "ms")
    yield Figure("a question reaches the hook and notify, the slowest", max(tellings), "ms", TOLD_GOAL, "ms")
    yield Figure("a death is noticed", statistics.median(notices), "ms", DEATH_GOAL, "ms")


def _idle(context: Context) -> tuple[float, float]:
    lead = context.team.runtime.read().lead
    assert lead
    process = psutil.Process(lead.pid)
    before, slept = process.cpu_times(), _wake_ups(process)
    time.sleep(IDLE_SECONDS)
    after = process.cpu_times()
    used = (after.user + after.system) - (before.user + before.system)
    return used / IDLE_SECONDS * 100, (_wake_ups(process) - slept) / IDLE_SECONDS


def _wake_ups(process: psutil.Process) -> int:
    """Return how often the threads of a process have gone to sleep so far."""
    statuses = [thread / "status" for thread in Path(f"/proc/{process.pid}/task").iterdir()]
    lines = [line.split() for file in statuses for line in file.read_text().splitlines()]
    return sum(int(words[1]) for words in lines if words[0] == "voluntary_ctxt_switches:")


def _tells(context: Context, told: Path) -> None:
    """Set the hook and `notify` to append a line each to a file."""
    add = f"echo >> {told}"
    told.touch()
    settings = {"hooks": {"HumanNeeded": add}, "notify": add}
    (context.team.require().paths.home / USER_FILE).write_text(json.dumps(settings), encoding="utf-8")


def _told(context: Context, told: Path) -> float:
    """Return the milliseconds from a question until both have told the person."""
    [task] = tasks.create(context, [Draft(title="a task that asks")])
    before = told.stat().st_size
    start = time.perf_counter()
    gates.hold(context, task.id, Awaiting.INPUT, "which of the two?")
    until(lambda: told.stat().st_size >= before + 2, 10)
    return (time.perf_counter() - start) * 1000


def _death(context: Context, agent_id: str) -> float:
    def crashed() -> bool:
        return _seat(context, agent_id).state is State.CRASHED

    agent = _seat(context, agent_id).agent
    assert agent
    start = time.perf_counter()
    os.kill(agent.pid, signal.SIGKILL)
    until(crashed, 10)
    return (time.perf_counter() - start) * 1000


def _seat(context: Context, agent_id: str) -> SeatState:
    return next(seat for seat in context.team.runtime.read().seats if seat.agent_id == agent_id)
