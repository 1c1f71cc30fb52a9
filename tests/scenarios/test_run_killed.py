"""A run that is killed at any moment: nothing runs twice, nothing is forgotten, nothing left (must show 5, AC-39)."""

import itertools
import random
import signal
import subprocess
import threading
import time

import pytest

from pro0 import processes
from pro0.model.run import RUNNER
from pro0.model.runtime import ENDED
from pro0.model.stored import Process
from pro0.model.task import Draft, Gate, Kind, Status
from pro0.ops.tasks import gates
from pro0.store.teams import Store
from tests.crash.lanes import SOAK, TEST, a_few, counted
from tests.engine.crew import PATIENCE, kill
from tests.scenarios.runs import DONE, FEEDBACK, Terminal, below, hands_off
from tests.waiting import wait_until

KILLS = 50
TASKS = 4
REJECTED = 2
"""How often a task comes back before it is approved."""
EPIC = Draft(title="the epic of a round", type=Kind.EPIC, key="epic")
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


def is_there(alone: Terminal, run: "subprocess.Popen[str]", who: str) -> bool:
    """Whether that process lives."""
    found = victim(alone, run, who)
    return found is not None and processes.alive(found)


def kill_after(alone: Terminal, run: "subprocess.Popen[str]", who: str, seconds: float) -> bool:
    """Kill one process of a run some time after it has come; return whether it was there."""
    wait_until(lambda: run.poll() is not None or is_there(alone, run, who), PATIENCE, f"the {who} is there")
    time.sleep(seconds)
    found = victim(alone, run, who)
    killed = bool(found and processes.signal_process(found, signal.SIGKILL))
    if who != "lead":
        run.wait(timeout=PATIENCE)
    return killed


def never_twice(alone: Terminal) -> None:
    """No task was begun while it ran, nor without a claim of its own, nor again unless a person sent it back."""
    running: dict[str, str] = {}
    for what, id, pid in alone.log():
        if what == "begin":
            running[id] = pid
        assert running[id] == pid, f"{id} went on after it was begun again"
    for id in set(alone.ran()):
        task = alone.task(id)
        acts = [entry.act for entry in task.history]
        assert alone.ran().count(id) <= task.epoch, f"{id} was begun more often than it was claimed"
        assert acts.count("complete") <= 1 + acts.count("reject"), f"{id} was completed twice"


def a_round(alone: Terminal, number: int, who: str, dice: random.Random) -> bool:
    """Give work, kill one process of its run, run it again, look; return whether there was something to kill."""
    below = [Draft(title=f"t{number}.{place}", parent="epic") for place in range(TASKS)]
    epic, *made, last = alone.give(EPIC, *below, Draft(title="asks", parent="epic"))
    turn: object = {"run": f"sleep {dice.uniform(0.02, 0.3):.3f}", "say": DONE}
    asks: list[object] = [hands_off("INPUT_NEEDED", "which?")]
    alone.script(others=[turn], **{last.replace("-", "_"): asks})
    first = alone.run(epic, "--auto", "--debounce", "0.1", "--timeout", "0.1")
    killed = kill_after(alone, first, who, dice.uniform(0, 1.5))
    second = alone.run(epic, "--auto", "--debounce", "0.1", "--timeout", "0.1")
    for run in (first, second):
        run.wait(timeout=PATIENCE)
    said = f"{who}, round {number}: {alone.said(first)} {alone.said(second)}"
    assert second.returncode == 0, said
    assert [alone.task(id).status for id in made] == [Status.COMPLETED] * TASKS, said
    assert alone.status(last) == "awaiting input", said
    never_twice(alone)
    alone.nothing_runs()
    return killed


def a_gated_round(alone: Terminal, number: int, who: str, dice: random.Random) -> bool:
    """The same with tasks that a person rejects twice and then approves, in a second terminal, all the while."""
    gated = Draft(title="declared before", parent="epic", requires=Gate.REVIEW)
    epic, declared, asked = alone.give(EPIC, gated, Draft(title="asked for", parent="epic"))
    sleep = f"sleep {dice.uniform(0.02, 0.3):.3f}"
    asks: list[object] = [{"run": sleep, "say": hands_off("APPROVAL_NEEDED")}]
    alone.script(others=[{"run": sleep, "say": DONE}], **{asked.replace("-", "_"): asks})
    first = alone.run(epic, "--auto", "--debounce", "0.1")
    person = Person(alone, (declared, asked))
    killed = kill_after(alone, first, who, dice.uniform(0, 2.5))
    second = alone.run(epic, "--auto", "--debounce", "0.1")
    person.join(3 * PATIENCE)
    for run in (first, second):
        run.wait(timeout=PATIENCE)
    said = f"{who}, round {number}: {alone.said(first)} {alone.said(second)}"
    assert second.returncode == 0, said
    for id in (declared, asked):
        assert alone.status(id) == "completed", said
        answered = [entry.act for entry in alone.task(id).history if entry.act in ("approve", "reject")]
        assert answered == [*["reject"] * REJECTED, "approve"], said
        told = below(alone.prompts(id)[-1], FEEDBACK)
        assert all(told.count(f"change number {time}") == 1 for time in range(REJECTED)), told
    never_twice(alone)
    alone.nothing_runs()
    return killed


class Person(threading.Thread):
    """Rejects each task twice and then approves it, whenever it waits, by operations as the person's."""

    def __init__(self, alone: Terminal, ids: tuple[str, ...]) -> None:
        super().__init__(daemon=True)
        self._alone, self._ids = alone, ids
        self.start()

    def run(self) -> None:
        given = dict.fromkeys(self._ids, 0)
        while min(given.values()) <= REJECTED:
            for id in self._ids:
                if self._alone.task(id).waits:
                    self._answer(id, given[id])
                    given[id] += 1
            time.sleep(0.05)

    def _answer(self, id: str, before: int) -> None:
        if before < REJECTED:
            gates.reject(self._alone.context, id, f"change number {before}")
        else:
            gates.approve(self._alone.context, id)


ROUNDS = {"plain": a_round, "gated": a_gated_round}
CASES = [("plain", who) for who in VICTIMS] + [("gated", who) for who in ("client", "lead")]


@pytest.mark.parametrize(("kind", "who"), a_few(CASES, 2))
def test_a_killed_run_is_gone_on_with(alone: Terminal, kind: str, who: str) -> None:
    """must show 5, AC-39: on restart the task in progress is picked up again; the gated ones wait for a person"""
    killed = ROUNDS[kind](alone, 0, who, random.Random(who))
    counted(TEST, f"kills of runs, {kind}", who, int(killed))


@pytest.mark.soak
@pytest.mark.parametrize(("kind", "who"), CASES)
def test_fifty_killed_runs(alone: Terminal, kind: str, who: str) -> None:
    """must show 5: 50 times each at random moments"""
    seed = time.time_ns()
    dice, killed = random.Random(seed), 0
    for number in itertools.count():
        try:
            killed += ROUNDS[kind](alone, number, who, dice)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, round {number}") from error
        counted(SOAK, f"kills of runs, {kind}", who, killed)
        if killed == KILLS:
            break


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
