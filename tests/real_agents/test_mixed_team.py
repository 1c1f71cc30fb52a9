"""One of each agent, led by claude, from one prompt to the end without a person (issue 4, line 2)."""

from itertools import pairwise
from pathlib import Path

import pytest

from pro0.scripted_model.server import Provider
from pro0.scripted_model.turns import ModelTurn, shell, use
from tests.leftovers import processes_under
from tests.real_agents.scripts import LEAD, lead, marker, teammate
from tests.real_agents.states import PATIENCE
from tests.real_agents.team import RealTeam

pytestmark = pytest.mark.agents
AGENTS = ("claude", "codex", "opencode", "pi", "gemini")
NEXT = dict(pairwise((*AGENTS, AGENTS[0])))
"""To whom each teammate writes."""
PROMPT = "Let one teammate of each kind write a file of its own name, then let all files be put together in all.txt."
PARTS = {agent: f"task-{number}" for number, agent in enumerate(AGENTS, 1)}
WHOLE = f"task-{len(AGENTS) + 1}"
PLAN = (
    *(use("create_task", title=f"write {agent}.txt") for agent in AGENTS),
    *(use("spawn_teammate", name=agent, agent=agent) for agent in AGENTS),
    use("create_task", title="put all together", dependencies=list(PARTS.values()), assignee="claude"),
)
PUT_TOGETHER = (
    use("claim_task", task_id=WHOLE),
    shell(f"cat {' '.join(f'{agent}.txt' for agent in AGENTS)} > all.txt"),
    use("complete_task", task_id=WHOLE, result="all.txt"),
)


def letter(agent: str) -> str:
    """Return what one teammate writes to the next."""
    return f"{agent}.txt is there, by {agent}"


def part(agent: str) -> tuple[ModelTurn, ...]:
    """Return what one teammate does by itself."""
    return (
        use("claim_task", task_id=PARTS[agent]),
        shell(f"echo 'by {agent}' > {agent}.txt"),
        use("message", to=NEXT[agent], content=letter(agent)),
        use("complete_task", task_id=PARTS[agent], result=f"{agent}.txt"),
    )


def test_a_mixed_team_works_from_one_prompt_to_its_end(
    user: Path, provider: Provider, team: RealTeam, home: Path
) -> None:
    provider.script(LEAD, lead(*PLAN))
    for agent in AGENTS:
        provider.script(
            marker(agent), teammate(*part(agent), offered={WHOLE: PUT_TOGETHER} if agent == "claude" else {})
        )
    team.begin("--lead", "claude", PROMPT)
    team.eventually(lambda: team.json("team", "status")["phase"] == "stopped", "the team has ended", 2 * PATIENCE)
    assert {task["status"] for task in team.tasks().values()} == {"completed"}
    assert {team.task(task)["assignee"]: task for task in PARTS.values()} == PARTS
    assert (team.project / "all.txt").read_text() == "".join(f"by {agent}\n" for agent in AGENTS)
    members = team.json("team", "status")["members"]
    assert {member["agentId"]: member["state"] for member in members} == dict.fromkeys(("lead", *AGENTS), "shutdown")
    for agent in AGENTS:
        assert team.read(NEXT[agent]).count(letter(agent)) == 1
    assert PROMPT in provider.of(LEAD)[0].request.opening
    team.eventually(lambda: not processes_under(home.parent), "nothing runs any more")
