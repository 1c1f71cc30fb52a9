"""A run that is killed at any moment: nothing runs twice, nothing is forgotten, nothing left (must show 5, AC-39)."""

import random
import subprocess
import time

import pytest

from pro0 import processes
from pro0.model.process import Process
from pro0.model.run import RUNNER
from pro0.model.runtime import ENDED
from pro0.model.task import Status
from pro0.store.teams import Store
from tests.engine.crew import PATIENCE, kill
from tests.scenarios.runs import DONE, Terminal, hands_off
from tests.waiting import wait_until

TASKS = 4
VICTIMS = ("client", "runner", "guard", "lead")


def victim(alone: Terminal, run: "subprocess.Popen[str]", who: str) -> Process | None:
    """The process that is to be killed, None when it is not, or no longer, there."""
    team = Store(alone.home).team("alpha")
    runtime = team.runtime.read()
    if who == "lead":
        return runtime.lead
    if who == "client":
        return processes.identify(run.pid)
    state = next((seat for seat in runtime.seats if seat.agent_id == RUNNER and seat.state not in ENDED), None)
    report = team.report(state.incarnation) if state else None
    if report is None:
        return None
    return report.guard if who == "guard" else report.agent


def kill_after(alone: Terminal, run: "subprocess.Popen[str]", who: str, seconds: float) -> None:
    """Kill one process of a run at some moment."""
    time.sleep(seconds)
    found = victim(alone, run, who)
    if found and processes.alive(found):
        kill(found)
    if who != "lead":
        run.wait(timeout=PATIENCE)


def never_twice(alone: Terminal) -> None:
    """No task was begun while it ran, nor after it was completed, nor without a claim of its own."""
    running: dict[str, int] = {}
    for what, id, pid in alone.log():
        if what == "begin":
            assert not running.get(id) or not processes.identify(running[id]), f"{id} runs twice"
            running[id] = int(pid)
        elif running.get(id) == int(pid):
            running[id] = 0
    for id in set(alone.ran()):
        task = alone.task(id)
        assert alone.ran().count(id) <= task.epoch, f"{id} was begun more often than it was claimed"
        assert [entry.act for entry in task.history].count("complete") <= 1, f"{id} was completed twice"


def a_round(alone: Terminal, number: int, dice: random.Random) -> None:
    """Give work, kill one process of its run, run it again, look."""
    who = VICTIMS[number % len(VICTIMS)]
    epic = alone.create(f"epic {number}", "--type", "epic")
    made = [alone.create(f"t{number}.{place}", "--parent", epic) for place in range(TASKS)]
    last = alone.create("asks", "--parent", epic)
    turn: object = {"run": f"sleep {dice.uniform(0.02, 0.3):.3f}", "say": DONE}
    asks: list[object] = [hands_off("INPUT_NEEDED", "which?")]
    alone.script(others=[turn], **{last.replace("-", "_"): asks})
    first = alone.run(epic, "--auto", "--timeout", "0.1")
    kill_after(alone, first, who, dice.uniform(0, 1.5))
    second = alone.run(epic, "--auto", "--timeout", "0.1")
    for run in (first, second):
        run.wait(timeout=PATIENCE)
    said = f"{who}, round {number}: {alone.said(first)} {alone.said(second)}"
    assert second.returncode == 0, said
    assert [alone.task(id).status for id in made] == [Status.COMPLETED] * TASKS, said
    assert alone.status(last) == "awaiting input", said
    never_twice(alone)
    alone.nothing_runs()


@pytest.mark.parametrize("number", range(len(VICTIMS)), ids=VICTIMS)
def test_a_killed_run_is_gone_on_with(alone: Terminal, number: int) -> None:
    """must show 5, AC-39: on restart the task in progress is picked up again"""
    a_round(alone, number, random.Random(number))


@pytest.mark.soak
@pytest.mark.parametrize("who", VICTIMS)
def test_fifty_killed_runs(alone: Terminal, who: str) -> None:
    """must show 5: 50 times each at random moments"""
    seed = time.time_ns()
    dice = random.Random(seed)
    for number in range(50):
        try:
            a_round(alone, number * len(VICTIMS) + VICTIMS.index(who), dice)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, round {number}") from error


def test_a_runner_that_is_killed_is_said_to_have_crashed(alone: Terminal) -> None:
    """and its agent, which ignores TERM, goes with it"""
    first = alone.create("t1", "--parent", "1")
    alone.script(others=[{"deaf": True}])
    run = alone.run("1")
    wait_until(lambda: alone.ran() == [first], PATIENCE, "the agent works")
    found = victim(alone, run, "runner")
    assert found
    kill(found)
    assert "the runner runner has crashed" in alone.over(run, code=1)
    alone.becomes(first, "pending")
    alone.nothing_runs()
