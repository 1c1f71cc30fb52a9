"""What reaches a person's inbox while a team works."""

import json
import sys

import pytest

from tests import elsewhere
from tests.e2e.conftest import Team, team
from tests.elsewhere import Placed
from tests.waiting import STUCK

__all__ = ["team"]


@pytest.mark.parametrize("count", [12, pytest.param(100, marks=pytest.mark.soak)])
@pytest.mark.parametrize("placed", ["headless", elsewhere.MODES[0]], indirect=True)
def test_only_a_question_is_mail(placed: Placed, team: Team, count: int) -> None:
    """Issue 14, must show 3: tasks that end, members that fall idle, give none; a task is left open here."""
    team.start(placed.mode, "w1", "w2", "w3")
    tasks = [{"title": f"short {number}", "run": "true"} for number in range(count - 1)]
    tasks.insert(count // 2, {"title": "one that asks", "run": f"{sys.executable} -m pro0 send human 'red or blue?'"})
    tasks.append({"title": "the person's own", "requires": "approval", "run": "true"})
    listed = team.project / "tasks.json"
    listed.write_text(json.dumps({"tasks": tasks}))
    team("task", "create", "--file", str(listed))

    def settled() -> bool:
        return [task["status"] for task in team.tasks().values()].count("completed") == count

    team.until(settled, "all but the person's own are completed", STUCK)
    last = f"task-{count + 1}"
    team.until(lambda: team.tasks()[last]["awaiting"], "the last waits for its approval", STUCK)
    assert team.mail() == ["red or blue?"]
