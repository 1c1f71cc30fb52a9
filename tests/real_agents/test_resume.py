"""A resumed Gemini CLI that has left its first prompt out is told it again, whenever its next prompt comes."""

import os
import signal
from pathlib import Path

import pytest

from pro0.scripted_model.server import Provider
from pro0.scripted_model.turns import say, shell
from tests.real_agents.scripts import marker, teammate
from tests.real_agents.team import RealTeam

pytestmark = pytest.mark.agents


@pytest.fixture
def killed(user: Path, provider: Provider, team: RealTeam) -> RealTeam:
    """A team whose member was refused a command, which puts its first prompt behind its context, and was killed."""
    provider.script(marker("w1"), teammate(shell("touch made"), say("So be it.")))
    team.begin("--lead", "none", "--permission-mode", "ask", w1="gemini")
    team.becomes("w1", "waiting")
    team.pane("w1").keys("Escape")
    team.becomes("w1", "idle")
    os.kill(team.member("w1")["pid"], signal.SIGKILL)
    team.becomes("w1", "crashed")
    provider.script(marker("w1"), teammate())
    return team


def test_mail_that_waits_for_a_resumed_gemini_is_read(killed: RealTeam) -> None:
    killed("send", "w1", "read me")
    killed("member", "restart", "w1")
    killed.eventually(lambda: "read me" in killed.read("w1"), "it has read its mail")
