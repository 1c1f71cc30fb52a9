"""A supervised tree with real agents: a session that plans, and one for each subtask, unattended (issue 6)."""

from pathlib import Path

import pytest

from pro0.scripted_model.server import Provider
from pro0.scripted_model.turns import shell, use
from tests.leftovers import processes_under
from tests.real_agents.scripts import planner, teammate
from tests.real_agents.team import RealTeam

pytestmark = pytest.mark.agents
PARTS = {"task-2": "first", "task-3": "second"}


def session_of(task: str) -> str:
    """Return what is in the first prompt of the session for a task."""
    return f"This session is for one task: {task}."


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_a_task_is_planned_its_parts_are_done_and_it_is_completed(
    agent: str, user: Path, provider: Provider, team: RealTeam, home: Path
) -> None:
    plan = [use("task_create", title=title, description=f"write {title}.txt") for title in PARTS.values()]
    provider.script(session_of("task-1"), planner("task-1", *plan))
    for task, title in PARTS.items():
        work = shell(f"echo {title} >> all.txt"), use("complete_task", task_id=task, result=f"{title} is there")
        provider.script(session_of(task), teammate(*work))
    team.begin("--lead", "none")
    team("task", "create", "two lines in all.txt")
    team("task", "start", "1", "--agent", agent)
    team.eventually(lambda: team.task("task-1")["status"] == "completed", "the tree is over")
    tasks = team.tasks()
    assert {id: (task["status"], task["title"]) for id, task in tasks.items() if id in PARTS} == {
        id: ("completed", title) for id, title in PARTS.items()
    }
    assert (team.project / "all.txt").read_text() == "first\nsecond\n"
    reviews = "\n".join(provider.results(session_of("task-1")))
    assert [reviews.count(f"completed {id} ({title})") for id, title in PARTS.items()] == [1, 1]
    team.eventually(lambda: not team.json("team", "status")["members"], "nobody has a seat any more")
    team("team", "stop")
    team.eventually(lambda: not processes_under(home.parent), "nothing runs any more")
