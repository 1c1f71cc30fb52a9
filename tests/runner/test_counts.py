"""What each task of a run costs, counted: processes, flushes, sweeps; times are in bench/run.py."""

import os
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pro0.config import Settings
from pro0.model.run import RunOptions
from pro0.model.task import Draft, Kind, Status
from pro0.ops.tasks import tasks
from pro0.runner.loop import Runner
from pro0.store.teams import TeamStore
from tests.faults import Shim
from tests.teams import human, make_team, own_session

AGENT = ("/bin/echo", "<promise>COMPLETE</promise>")
PER_TASK = {"fsync": 6, "rename": 4, "pro0.processes.linux.own_pids": 1, "pro0.processes.linux.pids": 1}
"""A claim, a turn and a completion, each flushed with its folder, and the prompt;
what a task has left is looked for once."""


def counted(home: Path, number: int, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Run so many tasks that are completed at once; return how often what was called."""
    team: TeamStore = make_team(home / str(number), "runner")
    epic, *_ = tasks.create(
        human(team), [Draft(title="e", key="e", type=Kind.EPIC), *(Draft(title="t", parent="e") for _ in range(number))]
    )
    started: list[object] = []
    real = subprocess.Popen.__init__

    def noted(*words: Any, **options: Any) -> None:
        started.append(words[0])
        real(*words, **options)

    monkeypatch.setattr(subprocess.Popen, "__init__", noted)
    runner = Runner(own_session(team, "runner"), RunOptions(epic=epic.id, agent="command", program=AGENT), Settings())
    with Shim(tuple(PER_TASK)) as shim:
        assert runner.work() == 0
    assert {task.status for task in team.tasks.read().tasks} == {Status.COMPLETED}
    monkeypatch.undo()
    return Counter({"processes": len(started)}) + Counter(call.name for call in shim.seen)


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="elsewhere processes are looked at in another way")
@pytest.mark.usefixtures("signals")
def test_a_task_costs_one_process_six_flushes_and_one_sweep(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = counted(home, 2, monkeypatch), counted(home, 6, monkeypatch)
    assert many - few == Counter({name: 4 * count for name, count in {**PER_TASK, "processes": 1}.items()})
