"""Real agents that are killed, hang or crash (issue 4, line 6), or go on after everything was (9)."""

import signal
from pathlib import Path

import psutil
import pytest

from pro0.scripted_model.server import Provider
from pro0.scripted_model.turns import hang, say, shell, use
from tests.leftovers import processes_under
from tests.living import living
from tests.real_agents.scripts import marker, teammate
from tests.real_agents.team import RealTeam, gone

pytestmark = pytest.mark.agents
AGENTS = ("claude", "codex", "opencode", "pi", "gemini")
SIGNALS = (signal.SIGKILL, signal.SIGABRT)
GRACEFUL = ("opencode", signal.SIGABRT)
"""Who ends as if asked to, with exit code 0, at which signal."""


def busy(agent: str, provider: Provider, team: RealTeam) -> list[psutil.Process]:
    """Start one agent that has claimed a task and runs a command; return its processes, that command's too."""
    provider.script(marker("w1"), teammate(use("claim_task", task_id="task-1"), shell("touch begun; exec sleep 1234")))
    team.begin("--lead", "none", "--task", "wait long", w1=agent)
    team.eventually((team.project / "begun").exists, "the command runs")
    tree = team.tree("w1")
    assert living(lambda process: "1234" in process.cmdline(), tree)
    return tree


def running(agent: str, team: RealTeam) -> list[list[str]]:
    """Return the command lines of an agent's programs that run, a server that it has left behind too."""
    argvs = [left.argv for left in processes_under(team.home.parent)]
    return [argv for argv in argvs if any(f"/{agent}" in word or word == agent for word in argv[:2])]


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_that_is_killed(
    agent: str, number: signal.Signals, user: Path, provider: Provider, team: RealTeam
) -> None:
    tree = busy(agent, provider, team)
    assert running(agent, team)
    tree[0].send_signal(number)
    end = "exited" if (agent, number) == GRACEFUL else "crashed"
    team.becomes("w1", end)
    team.eventually(lambda: team.task("task-1")["status"] == "pending", "its task is pending again")
    assert gone(tree)
    assert not running(agent, team)
    told = [text for text in team.mail() if f"w1 has {end}" in text]
    assert len(told) == 1
    assert "task-1" in told[0]
    work = (use("claim_task", task_id="task-1"), use("complete_task", task_id="task-1", result="ok"))
    provider.script(marker("w1"), teammate(*work))
    team("member", "restart", "w1")
    team.eventually(lambda: team.task("task-1")["status"] == "completed", "the next session has completed the task")


@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_that_hangs(agent: str, user: Path, provider: Provider, team: RealTeam) -> None:
    """It keeps its task until it is proved dead, and it is ended by force."""
    tree = busy(agent, provider, team)
    tree[0].send_signal(signal.SIGSTOP)
    team("member", "shutdown", "w1", "--timeout", "3", code=4)
    assert team.task("task-1")["status"] == "in_progress"
    assert not gone(tree)
    team("member", "shutdown", "w1", "--timeout", "1", "--force")
    assert gone(tree)
    assert team.task("task-1")["status"] == "pending"


@pytest.mark.parametrize("agent", AGENTS)
def test_everything_is_killed_and_goes_on(agent: str, user: Path, provider: Provider, team: RealTeam) -> None:
    """Each agent is back in its session, and mail that it had not read arrives once."""
    provider.script(marker("w1"), teammate(shell("echo first-of-all"), hang()))
    team.begin("--lead", "none", w1=agent)
    team.eventually(lambda: len(provider.of(marker("w1"))) == 2, "the agent works")
    team.eventually(lambda: team.member("w1")["session"], "its session is known")
    session = team.member("w1")["session"]
    team("send", "w1", "read me once")
    team.kill_everything()
    provider.script(marker("w1"), teammate(say("Back again.")))
    team("team", "resume")
    team.eventually(lambda: "read me once" in team.read("w1"), "it has read its mail")
    team.becomes("w1", "idle")
    assert team.read("w1").count("read me once") == 1
    assert team.member("w1")["session"] == session
    assert any("first-of-all" in entry.text for entry in provider.of(marker("w1"))[-1].request.entries)
