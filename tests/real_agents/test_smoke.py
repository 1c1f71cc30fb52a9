"""Each real agent, by hand: it asks the scripted provider, runs one command, and ends."""

import shlex
import subprocess
from pathlib import Path

import pytest

from pro0.scripted_model.server import Provider
from pro0.scripted_model.turns import in_turn, say, shell
from tests.real_agents.agents import BY_HAND
from tests.real_agents.states import PATIENCE
from tests.real_agents.terminal import Terminal
from tests.waiting import wait_until

pytestmark = pytest.mark.agents
PROMPT = "Please make the file (by hand)."
MAKE_IT = shell("echo 'made by $AGENT' > made.txt")


@pytest.mark.parametrize("agent", BY_HAND)
def test_an_agent_runs_one_command_and_ends(agent: str, user: Path, provider: Provider, project: Path) -> None:
    provider.script(PROMPT, in_turn(MAKE_IT, say("The file is made.")))
    done = subprocess.run(
        [*BY_HAND[agent].once, PROMPT],
        cwd=project,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert (done.returncode, (project / "made.txt").read_text()) == (0, "made by $AGENT\n"), done.stderr
    assert "The file is made." in done.stdout
    first, second = provider.of(PROMPT)
    assert PROMPT in first.request.opening
    assert len(second.request.results()) == 1


@pytest.mark.parametrize("agent", BY_HAND)
def test_an_agent_runs_one_command_in_a_terminal(
    agent: str, user: Path, provider: Provider, project: Path, terminal: Terminal
) -> None:
    provider.script(PROMPT, in_turn(MAKE_IT, say("The file is made.")))
    terminal.run(shlex.join([*BY_HAND[agent].interactive, PROMPT]), project)
    wait_until(
        lambda: "The file is made." in terminal.screen(), PATIENCE, "the agent has said its last word", every=0.1
    )
    assert (project / "made.txt").read_text() == "made by $AGENT\n"
    assert [len(one.request.results()) for one in provider.of(PROMPT)] == [0, 1]
    terminal.close()
    assert terminal.ended()
