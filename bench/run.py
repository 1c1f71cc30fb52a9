"""The run engine: a task whose agent does nothing, beside that program alone; and how soon a verdict is seen."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.figure import Figure, milliseconds
from bench.scratch import PRO0, TEAM, make_team, run, until, world
from pro0.model.task import Draft, Kind, Task
from pro0.ops.context import Context
from pro0.ops.tasks import gates, tasks

TASKS = 100
VERDICTS = 15
TASK_GOAL = 4.0
VERDICT_GOAL = 250.0
DOES_NOTHING = (sys.executable, "-I", "-c", "print('<promise>COMPLETE</promise>')")
ASKS = ("/bin/echo", "<promise>CHECKPOINT: look</promise>")


def figures() -> Iterator[Figure]:
    """Measure a run of 100 tasks from its first claim to its last end, then verdicts on one task."""
    with world() as folder:
        context = make_team(folder)
        bare = [milliseconds(lambda: run(*DOES_NOTHING)) for _ in range(TASKS // 2)]
        made = _epic(context, TASKS)
        run(PRO0, "run", made[0].id, "-t", TEAM, "--headless", "--", *DOES_NOTHING)
        bare += [milliseconds(lambda: run(*DOES_NOTHING)) for _ in range(TASKS // 2)]
        floor = statistics.mean(bare)
        yield Figure("run, a task", _span(context, made[1:]) / TASKS, "ms", TASK_GOAL, "x", floor, "the program alone")
        verdicts = _verdicts(context, folder)
    yield Figure("run, a verdict is seen", statistics.median(verdicts), "ms", VERDICT_GOAL, "ms")


def _epic(context: Context, count: int) -> list[Task]:
    epic = Draft(title="epic", key="e", type=Kind.EPIC)
    return tasks.create(context, [epic, *(Draft(title=f"task {n}", parent="e") for n in range(count))])


def _span(context: Context, made: list[Task]) -> float:
    """Return the milliseconds from the first claim to the last end."""
    done = [tasks.show(context, task.id) for task in made]
    began = min(task.claimed_at for task in done if task.claimed_at)
    ended = max(task.completed_at for task in done if task.completed_at)
    return (ended - began).total_seconds() * 1000


def _verdicts(context: Context, folder: Path) -> list[float]:
    """Return the milliseconds from each approval to the moment when the task is claimed again."""
    epic, task = _epic(context, 1)
    with _running(folder, "run", epic.id, "-t", TEAM, "--auto", "--debounce", "0", "--headless", "--", *ASKS):
        return [_verdict(context, task.id) for _ in range(VERDICTS)]


def _verdict(context: Context, id: str) -> float:
    until(lambda: tasks.show(context, id).waits is not None, 20)
    time.sleep(0.1)  # let the run become idle again
    epoch, start = tasks.show(context, id).epoch, time.perf_counter()
    gates.approve(context, id)
    until(lambda: tasks.show(context, id).epoch > epoch, 20)
    return (time.perf_counter() - start) * 1000


@contextmanager
def _running(folder: Path, *words: str) -> Iterator[None]:
    process = subprocess.Popen(
        [PRO0, *words], cwd=folder / "project", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait()
