"""Each real agent as a teammate in a tmux pane (issue 4, line 1)."""

from pathlib import Path

import pytest

from pro0.scripted_model.server import Provider
from pro0.scripted_model.tools import is_offered
from pro0.scripted_model.turns import shell, use
from tests.real_agents.scripts import marker, teammate
from tests.real_agents.states import PATIENCE
from tests.real_agents.team import RealTeam, gone

pytestmark = pytest.mark.agents
PARTNERS = {"claude": "pi", "codex": "claude", "opencode": "codex", "pi": "gemini", "gemini": "pi"}
"""Each agent, and the one of another kind to which it writes."""
LETTER = "made.txt is there, as $AGENT said"
WORK = (
    use("claim_task", task_id="task-1"),
    shell("echo 'made by $AGENT' > made.txt"),
    use("message", to="w2", content=LETTER),
    use("complete_task", task_id="task-1", result="made.txt"),
)


@pytest.mark.parametrize("agent", PARTNERS)
def test_a_teammate_works_and_leaves(agent: str, user: Path, provider: Provider, team: RealTeam) -> None:
    provider.script(marker("w1"), teammate(*WORK))
    provider.script(marker("w2"), teammate())
    team.begin("--lead", "none", "--task", "make the file made.txt", w1=agent, w2=PARTNERS[agent])
    team.eventually(lambda: team.task("task-1")["status"] == "completed", "the task is completed")
    [claim] = WORK[0].calls
    assert is_offered(claim, provider.of(marker("w1"))[0].request.tools) is (agent != "pi"), "it began with its tools"
    assert (team.task("task-1")["assignee"], team.task("task-1")["result"]) == ("w1", "made.txt")
    assert (team.project / "made.txt").read_text() == "made by $AGENT\n"
    team.eventually(lambda: LETTER in team.read("w2"), "w2 has read it")
    for name in ("w1", "w2"):
        team.becomes(name, "idle")
        team.counted(name)
    tree = [*team.tree("w1"), *team.tree("w2")]
    team("member", "shutdown", "w1", "--timeout", str(PATIENCE))
    assert team.state("w1") == "shutdown"
    team.becomes("w2", "idle")
    team("team", "stop", "--timeout", str(PATIENCE))
    assert [team.state("w1"), team.state("w2")] == ["shutdown", "shutdown"]
    for name in ("w1", "w2"):
        assert use("approve_shutdown") in [exchange.turn for exchange in provider.of(marker(name))]
    assert gone(tree)
    assert team.read("w2").count(LETTER) == 1
