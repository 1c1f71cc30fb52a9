"""One of each agent through a whole story that one sentence begins (issue 17, must show 7).

A plan, spawns, claims, messages, permissions, a usage limit, a crash, a resume after everything was killed, the end.
"""

import math
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from pro0.rules.words.prompts import GO_ON
from pro0.scripted_model.request import ModelRequest
from pro0.scripted_model.server import Provider
from pro0.scripted_model.turns import ModelTurn, Script, fail, shell, use
from tests.leftovers import processes_under
from tests.real_agents.moments import QUESTION
from tests.real_agents.scripts import LEAD, lead, marker, teammate
from tests.real_agents.states import PATIENCE
from tests.real_agents.team import RealTeam
from tests.real_agents.test_mixed_team import AGENTS, NEXT, PARTS, PLAN, PROMPT, WHOLE, letter

pytestmark = pytest.mark.agents
CRASHES, IS_LIMITED = "gemini", "pi"
LIMIT = 25
"""Seconds that the provider names: longer than an agent tries again by itself."""
WORK = {
    agent: (
        use("claim_task", task_id=PARTS[agent]),
        shell(f"echo 'by {agent}' > {agent}.txt", outside=True),
        use("message", to=NEXT[agent], content=letter(agent)),
        use("complete_task", task_id=PARTS[agent], result=f"{agent}.txt"),
    )
    for agent in AGENTS
}
BEFORE_IT_CRASHES = (
    use("claim_task", task_id=PARTS[CRASHES]),
    shell("touch begun; exec sleep 1234", outside=True),
)
PUT_TOGETHER = (
    use("claim_task", task_id=WHOLE),
    shell(f"cat {' '.join(f'{agent}.txt' for agent in AGENTS)} > all.txt", outside=True),
    use("complete_task", task_id=WHOLE, result="all.txt"),
)


def test_all_agents_through_a_whole_story(user: Path, provider: Provider, team: RealTeam, home: Path) -> None:
    provider.script(LEAD, restarting(lead(*PLAN)))
    for agent in AGENTS:
        provider.script(marker(agent), teammate(*WORK[agent]))
    provider.script(marker(IS_LIMITED), limited(teammate(*WORK[IS_LIMITED])))
    provider.script(marker(CRASHES), teammate(*BEFORE_IT_CRASHES))
    provider.script(marker("claude"), teammate(*WORK["claude"], offered={WHOLE: PUT_TOGETHER}))
    team.begin("--lead", "claude", "--permission-mode", "ask", PROMPT)

    allowing(team, (team.project / "begun").exists, "one is about to crash")
    provider.script(marker(CRASHES), teammate(*WORK[CRASHES]))
    team.tree(CRASHES)[0].kill()

    allowing(team, lambda: all(status(team, task) == "completed" for task in PARTS.values()), "all parts are there")
    assert {team.task(task)["assignee"]: task for task in PARTS.values()} == PARTS
    team.eventually(lambda: all(letter(agent) in team.read(NEXT[agent]) for agent in AGENTS), "all letters are read")
    assert [team.read(NEXT[agent]).count(letter(agent)) for agent in AGENTS] == [1] * len(AGENTS)
    assert team.read(IS_LIMITED).count(GO_ON) == 1
    assert f"{CRASHES} has crashed" in "\n".join(provider.results(LEAD))

    team.eventually(lambda: team.state("claude") == "waiting", "the last command waits for its person")
    assert not (team.project / "all.txt").exists()
    team.kill_everything()
    provider.script(marker("claude"), teammate(offered={WHOLE: PUT_TOGETHER}))
    team("team", "resume")
    allowing(team, lambda: team.json("team", "status")["phase"] == "stopped", "the team has ended")
    assert {task["status"] for task in team.tasks().values()} == {"completed"}
    assert (team.project / "all.txt").read_text() == "".join(f"by {agent}\n" for agent in AGENTS)
    members = team.json("team", "status")["members"]
    assert {member["agentId"]: member["state"] for member in members} == dict.fromkeys(("lead", *AGENTS), "shutdown")
    team.eventually(lambda: not processes_under(home.parent), "nothing runs any more")


def status(team: RealTeam, task: str) -> str:
    """Return the status of a task, empty while it is not there."""
    return str(team.tasks().get(task, {}).get("status", ""))


def allowing(team: RealTeam, condition: Callable[[], object], what: str) -> None:
    """Wait for something, and allow meanwhile what the agents ask for: from elsewhere, Gemini in its pane."""

    def met() -> bool:
        for need in team.json("needs"):
            if need["kind"] == "permission":
                allow(team, need)
        return bool(condition())

    team.eventually(met, what, 2 * PATIENCE)


def allow(team: RealTeam, need: dict[str, str]) -> None:
    """Allow one request; one that is over by now is none."""
    if need.get("request"):
        team.cli("member", "answer", need["request"], "allow", cwd=team.project, seconds=PATIENCE)
    elif need["subject"] == CRASHES:
        with suppress(RuntimeError):  # its pane may have gone
            pane = team.pane(CRASHES)
            if QUESTION[CRASHES] in pane.screen():
                pane.keys("Enter")


def limited(script: Script) -> Script:
    """Let the provider refuse the second request, and all until the end that it names."""
    asked, until = 0, math.inf

    def refusing(request: ModelRequest) -> ModelTurn:
        nonlocal asked, until
        asked += 1
        if asked == 2:
            until = time.monotonic() + LIMIT
        left = until - time.monotonic()
        if asked > 1 and left > 0:
            return fail(429, why=f"usage limit reached; try again in {math.ceil(left)}s")
        return script(request)

    return refusing


def restarting(script: Script) -> Script:
    """Let a lead start a teammate again when it hears that it has crashed."""

    def attentive(request: ModelRequest) -> ModelTurn:
        if any(f"{CRASHES} has crashed" in result for result in request.results()):
            return use("spawn_teammate", name=CRASHES, agent=CRASHES)
        return script(request)

    return attentive
