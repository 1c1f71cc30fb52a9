"""Each real agent as a teammate in a tmux pane (issue 4, line 1)."""

from pathlib import Path

import pytest

from tests.real_agents.provider.server import Provider
from tests.real_agents.provider.turns import shell, use
from tests.real_agents.scripts import marker, teammate
from tests.real_agents.team import RealTeam

pytestmark = pytest.mark.agents
AGENTS = ("claude",)
WORK = (
    use("claim_task", task_id="task-1"),
    shell("echo 'made by $AGENT' > made.txt"),
    use("message", to="w2", content="made.txt is there"),
    use("complete_task", task_id="task-1", result="made.txt"),
)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_teammate_works_and_leaves(agent: str, user: Path, provider: Provider, team: RealTeam) -> None:
    provider.script(marker("w1"), teammate(*WORK))
    team.begin("--lead", "none", "--task", "make the file made.txt", w1=agent, w2="shell")
    team.eventually(lambda: team.task("task-1")["status"] == "completed", "the task is completed")
    assert (team.task("task-1")["assignee"], team.task("task-1")["result"]) == ("w1", "made.txt")
    assert (team.project / "made.txt").read_text() == "made by $AGENT\n"
    team.eventually(lambda: team.state("w1") == "idle", "the agent is idle")
    team.eventually(lambda: team.used("w1") == provider.spent(marker("w1")), "all that was used is counted")
    tree = team.tree("w1")
    team("member", "shutdown", "w1", "--timeout", "120", seconds=150)
    assert team.state("w1") == "shutdown"
    assert use("approve_shutdown") in [exchange.turn for exchange in provider.of(marker("w1"))]
    assert not [process for process in tree if process.is_running()]
