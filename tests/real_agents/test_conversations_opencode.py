"""A person begins another conversation in the pane of an agent, or picks one: the member goes on in that one."""

import os
import signal
from pathlib import Path

import pytest

from pro0.scripted_model.server import Provider
from pro0.scripted_model.turns import say, shell
from tests.real_agents.scripts import marker, teammate
from tests.real_agents.team import RealTeam
from tests.real_agents.test_permission import asked

pytestmark = pytest.mark.agents
ROAD = "Please take a new road"
UNTIL_GO = shell("touch begun; until test -e go; do sleep 0.1; done")
MODE = "--permission-mode"


def begin_another(team: RealTeam) -> None:
    """Begin another conversation, and say something in it."""
    pane = team.pane("w1")
    team.order("/new", lambda: pane.value("pane_title") == "OpenCode", "it is begun")
    team.order(ROAD, lambda: team.provider.of(ROAD), "its model has it")


def conversation(team: RealTeam, name: str) -> str:
    """Return the recorded conversation of a member."""
    return str(team.member(name)["session"])


def heard(provider: Provider, marker: str) -> str:
    """Return all that the tools have answered in one conversation."""
    return "\n".join(provider.results(marker))


def test_mail_is_read_in_the_conversation_in_the_pane(user: Path, provider: Provider, team: RealTeam) -> None:
    """Both members have one database and one folder, and the other one is left alone."""
    for one in (marker("w1"), marker("w2")):
        provider.script(one, teammate())
    provider.script(ROAD, teammate(UNTIL_GO))
    team.begin("--lead", "none", MODE, "ask", w1="opencode", w2="opencode")
    for name in ("w1", "w2"):
        team.becomes(name, "idle")
    before = {name: conversation(team, name) for name in ("w1", "w2")}
    begin_another(team)
    team.becomes("w1", "waiting")
    team.eventually(lambda: asked(team), "its request is known")
    team("member", "answer", asked(team), "allow")
    team.eventually((team.project / "begun").exists, "its command runs")
    team.becomes("w1", "working")
    assert conversation(team, "w1") not in before.values()
    assert (team.state("w2"), conversation(team, "w2")) == ("idle", before["w2"])
    (team.project / "go").touch()
    team.becomes("w1", "idle")
    team("send", "w1", "a letter")
    team.eventually(lambda: "a letter" in heard(provider, ROAD), "the new conversation has read its mail")
    team.becomes("w1", "idle")
    assert (heard(provider, ROAD).count("a letter"), team.read("w1").count("a letter")) == (1, 0)
    spent = provider.spent(marker("w1")) + provider.spent(ROAD)
    team.eventually(lambda: team.used("w1") == spent, f"both conversations have used {spent}")
    team.counted("w2")


def test_one_that_is_picked_goes_on(user: Path, provider: Provider, team: RealTeam) -> None:
    provider.script(marker("w1"), teammate(say("I wait."), shell("sleep 2")))
    provider.script(ROAD, teammate(UNTIL_GO))
    team.begin("--lead", "none", w1="opencode")
    team.becomes("w1", "idle")
    first, pane = conversation(team, "w1"), team.pane("w1")
    begin_another(team)
    team.eventually(lambda: conversation(team, "w1") != first, "the new conversation is recorded")
    team("send", "w1", "drop that", "--urgent")
    team.eventually(lambda: "drop that" in heard(provider, ROAD), "its turn was stopped, and it was told")
    team.becomes("w1", "idle")
    team.order("/sessions", lambda: "Sessions" in pane.screen(), "the list is there")
    pane.keys("Down", "Enter")
    team.eventually(lambda: "Begin with `pro0 inbox`" in pane.screen(), "the first conversation is shown")
    team.order("Please go on here", lambda: conversation(team, "w1") == first, "it goes on")
    team.becomes("w1", "idle")
    os.kill(team.member("w1")["pid"], signal.SIGKILL)
    team.becomes("w1", "crashed")
    team("member", "restart", "w1")
    team("send", "w1", "read me")
    team.eventually(lambda: "read me" in team.read("w1"), "it goes on, and has read its mail")
    assert "read me" not in heard(provider, ROAD)
