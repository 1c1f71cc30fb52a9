"""Many calls of the program at one time: all wait for their turn, and none gives up (AC-64)."""

import os
import subprocess
import sys

import pytest

from pro0.ops.context import Context
from pro0.store.paths import QUEUE
from tests.crash.lanes import SOAK, TEST, counted

STUCK = 900
"""Seconds that all of them may take: a bound on being stuck."""


@pytest.mark.parametrize(("lane", "number"), [(TEST, 12), pytest.param(SOAK, 72, marks=pytest.mark.soak)])
def test_calls_at_once_all_succeed(team: Context, lane: str, number: int) -> None:
    """AC-64: real processes; each makes a task of its own or sends a message, and every one is there afterwards."""
    acts = [("task", "create", f"task {place}") if place % 3 else ("send", "w1", f"{place}") for place in range(number)]
    calls = [
        subprocess.Popen(
            [sys.executable, "-m", "pro0", *act], env=os.environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        for act in acts
    ]
    ends = [(call.communicate(timeout=STUCK)[1], call.returncode) for call in calls]
    assert [(said, code) for said, code in ends if code] == []
    titles = sorted(task.title for task in team.team.tasks.read().tasks)
    letters = sorted(message.content for message in team.team.mailbox("w1").head.read().messages)
    assert titles == sorted(act[2] for act in acts if act[0] == "task")
    assert letters == sorted(act[2] for act in acts if act[0] == "send")
    assert list(team.team.paths.home.rglob(QUEUE)) == []
    counted(lane, "at once", "cli", number)
