"""A person begins another conversation in an agent's pane: mail is read there, and all that was used counts."""

import os
import signal
import time
from pathlib import Path

import pytest

from pro0.agents.drawings import drawing_named
from pro0.rules.screens.screens import typed
from pro0.scripted_model.server import Provider
from pro0.scripted_model.turns import fail, say, shell
from tests.real_agents.scene import AGAIN
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
    enter(team, "fail now")
    team.becomes("w1", "error")
    first = team.member("w1")["session"]
    provider.script(TOLD, teammate(WAITS, say("The new one is done.")))
    enter(team, ANEW[agent])
    team.eventually(lambda: team.member("w1")["session"] not in ("", first), "the other one is known")
    team.becomes("w1", "idle")
    team("send", "w1", "read me once")
    team.eventually((team.project / "begun").exists, "it works")
    team.becomes("w1", "working")
    (team.project / "go").touch()
    team.becomes("w1", "idle")
    assert "\n".join(provider.results(TOLD)).count("read me once") == 1
    team.eventually(lambda: "The new one is done." in team("member", "show", "w1").out, "its words are known")
    counted(team, provider)
    os.kill(team.json("team", "status")["lead"]["pid"], signal.SIGKILL)
    os.kill(team.member("w1")["pid"], signal.SIGKILL)
    team("team", "resume")
    team.becomes("w1", "idle")
    before = len(provider.of(TOLD))
    enter(team, "go on")
    team.eventually(lambda: len(provider.of(TOLD)) > before, "it goes on with the other one")
    team.becomes("w1", "idle")
    counted(team, provider)


def test_gemini_goes_on_with_an_earlier_conversation(user: Path, provider: Provider, team: RealTeam) -> None:
    """A person chooses it in the list of `/resume`; the next turn tells which it is."""
    provider.script(marker("w1"), teammate(say("All is well.")))
    provider.script(TOLD, teammate())
    team.begin("--lead", "none", w1="gemini")
    team.becomes("w1", "idle")
    first = team.member("w1")["session"]
    enter(team, "/clear")
    team.eventually(lambda: team.member("w1")["session"] != first, "the other one is known")
    team("send", "w1", "read me once", "--wait", "300")
    team.becomes("w1", "idle")
    enter(team, "/resume")
    pane = team.pane("w1")
    team.eventually(lambda: "Resume: Enter" in pane.screen(), "the list is there")
    pane.keys("Down")
    team.eventually(lambda: "❯ #2" in pane.screen(), "the first is chosen")
    pane.keys("Enter")
    team.becomes("w1", "idle")
    team("send", "w1", "and me", "--wait", "300")
    team.becomes("w1", "idle")
    assert team.member("w1")["session"] == first
    assert [team.read("w1").count(text) for text in ("read me once", "and me")] == [0, 1]
    counted(team, provider)


def enter(team: RealTeam, text: str) -> None:
    """Type a text and send it, as a person who looks whether it went: Gemini takes a quick Enter for a new line."""
    pane, drawing = team.pane("w1"), drawing_named(team.member("w1")["agent"])
    pressed = 0.0

    def stands() -> bool:
        return text in (typed(drawing, pane.look()) or "")

    def went() -> bool:
        nonlocal pressed
        if stands() and time.monotonic() - pressed > AGAIN:
            pane.keys("Enter")
            pressed = time.monotonic()
        return not stands()

    pane.keys(text)
    team.eventually(stands, f"{text} is typed")
    team.eventually(went, f"{text} is sent")


def counted(team: RealTeam, provider: Provider) -> None:
    """Wait until pro0 has counted what both conversations used."""

    def both() -> bool:
        return team.used("w1") == provider.spent(marker("w1")) + provider.spent(TOLD)

    team.eventually(both, "what w1 used is counted")
