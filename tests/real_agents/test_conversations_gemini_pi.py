"""A person begins another conversation in an agent's pane: mail is read there, and all that was used counts."""

import os
import signal
from pathlib import Path

import pytest

from pro0.scripted_model.server import Provider
from pro0.scripted_model.turns import fail, say, shell
from tests.real_agents.scripts import marker, teammate
from tests.real_agents.team import RealTeam

pytestmark = pytest.mark.agents
ANEW = {"gemini": "/clear", "pi": "/new"}
"""What a person types for it."""
TOLD = "You have 1 unread message"
"""What the other conversation begins with: nobody tells it who it is."""
WAITS = shell("touch begun; until test -e go; do sleep 0.1; done")


@pytest.mark.parametrize("agent", ANEW)
def test_another_conversation_takes_the_place_of_the_first(
    agent: str, user: Path, provider: Provider, team: RealTeam
) -> None:
    """Usage is read from each agent's own files (behaviour 3.18), also by the lead that comes after this one."""
    provider.script(marker("w1"), teammate(say("All is well."), fail(400)))
    team.begin("--lead", "none", w1=agent)
    team.becomes("w1", "idle")
    team.order("fail now", lambda: team.state("w1") == "error", "its turn has failed")
    first = team.member("w1")["session"]
    provider.script(TOLD, teammate(WAITS, say("The new one is done.")))
    team.order(ANEW[agent], lambda: team.member("w1")["session"] not in ("", first), "the other one is known")
    team.becomes("w1", "idle")
    team("send", "w1", "read me once")
    team.eventually((team.project / "begun").exists, "it works")
    team.becomes("w1", "working")
    (team.project / "go").touch()
    team.becomes("w1", "idle")
    assert "\n".join(provider.results(TOLD)).count("read me once") == 1
    team.eventually(lambda: "The new one is done." in team("member", "show", "w1").out, "its words are known")
    counted(team, provider)
    lead = team.json("team", "status")["lead"]["pid"]
    os.kill(lead, signal.SIGKILL)
    team.eventually(lambda: team.json("team", "status")["lead"]["pid"] not in (None, lead), "there is a lead again")
    team("send", "w1", "and me")
    team.eventually(lambda: "and me" in "\n".join(provider.results(TOLD)), "it has read its mail")
    team.becomes("w1", "idle")
    counted(team, provider)
    os.kill(team.member("w1")["pid"], signal.SIGKILL)
    team.becomes("w1", "crashed")
    before = len(provider.of(TOLD))
    team("member", "restart", "w1")
    team.eventually(lambda: len(provider.of(TOLD)) > before, "it is told again of what it has not confirmed")
    newest = provider.of(TOLD)[-1].request.entries
    assert any("read me once" in entry.text for entry in newest), "it goes on with the other one"
    team.becomes("w1", "idle")
    counted(team, provider)


@pytest.mark.parametrize("agent", ANEW)
def test_a_conversation_that_is_over_before_a_lead_looks_counts(
    agent: str, user: Path, provider: Provider, team: RealTeam
) -> None:
    """Only the agent's hooks, or its bridge, know of it."""
    provider.script(marker("w1"), teammate(say("All is well.")))
    provider.script(TOLD, teammate(say("Nobody saw this.")))
    team.begin("--lead", "none", w1=agent)
    team.becomes("w1", "idle")
    lead, pane = team.json("team", "status")["lead"]["pid"], team.pane("w1")
    os.kill(lead, signal.SIGSTOP)
    try:
        team.order(ANEW[agent], lambda: "All is well." not in pane.screen(), "it is begun")
        team.order(TOLD, lambda: "Nobody saw this." in pane.screen(), "it has had a turn")
        team.order(ANEW[agent], lambda: "Nobody saw this." not in pane.screen(), "another one is begun")
    finally:
        os.kill(lead, signal.SIGCONT)
    counted(team, provider)


def test_gemini_goes_on_with_an_earlier_conversation(user: Path, provider: Provider, team: RealTeam) -> None:
    """A person chooses it in the list of `/resume`; the next turn tells which it is."""
    provider.script(marker("w1"), teammate(say("All is well.")))
    provider.script(TOLD, teammate())
    team.begin("--lead", "none", w1="gemini")
    team.becomes("w1", "idle")
    first = team.member("w1")["session"]
    team.order("/clear", lambda: team.member("w1")["session"] != first, "the other one is known")
    team.tell("w1", "read me once")
    pane = team.pane("w1")
    team.order("/resume", lambda: "Resume: Enter" in pane.screen(), "the list is there")
    pane.keys("Down")
    team.eventually(lambda: "❯ #2" in pane.screen(), "the first is chosen")
    pane.keys("Enter")
    team.becomes("w1", "idle")
    team.tell("w1", "and me")
    assert team.member("w1")["session"] == first
    assert [team.read("w1").count(text) for text in ("read me once", "and me")] == [0, 1]
    counted(team, provider)


def counted(team: RealTeam, provider: Provider) -> None:
    """Wait until pro0 has counted what both conversations used."""

    def both() -> bool:
        return team.used("w1") == provider.spent(marker("w1")) + provider.spent(TOLD)

    team.eventually(both, "what w1 used is counted")
