"""A verdict and what is said with it are one write."""

import threading
from pathlib import Path

from pro0.model.task import Awaiting, Draft, Task
from pro0.ops.tasks import gates, tasks
from tests.teams import human, make_team

ROUNDS = 40


def test_a_reader_never_sees_a_rejection_without_its_feedback(home: Path) -> None:
    """AC-11, S001-107: whoever reads in between sees the task waiting, or handed back with the words."""
    team = make_team(home)
    [task] = tasks.create(human(team), [Draft(title="t", awaiting=Awaiting.APPROVAL)])
    seen: list[Task] = []
    over = threading.Event()

    def read() -> None:
        while not over.is_set():
            seen.extend(team.tasks.read().tasks)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for turn in range(ROUNDS):
            gates.reject(human(team), task.id, f"round {turn}")
            gates.hold(human(team), task.id, Awaiting.APPROVAL, f"after {turn}")
    finally:
        over.set()
        reader.join()
    handed_back = [one for one in seen if one.awaiting is None]
    assert len(seen) > ROUNDS
    for one in handed_back:
        assert (one.history[-1].act, one.history[-1].text.startswith("round ")) == ("reject", True)
