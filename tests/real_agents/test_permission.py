"""An agent that asks its person something is seen to, told of once, and left alone (issue 4, line 5)."""

import re
from pathlib import Path

import pytest

from pro0.scripted_model.server import Provider
from pro0.scripted_model.turns import say, shell
from tests.real_agents.agents import BARE
from tests.real_agents.scripts import marker, teammate
from tests.real_agents.team import RealTeam
from tests.real_agents.terminal import Pane

pytestmark = pytest.mark.agents
ANSWERS = {"yes": "Enter", "no": "Escape"}
NOTES = [f"note {number} of three" for number in (1, 2, 3)]


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("agent", BARE)
def test_a_permission_waits_for_its_person(
    agent: str, answer: str, user: Path, provider: Provider, team: RealTeam
) -> None:
    provider.script(marker("w1"), teammate(shell("touch asked.txt", outside=True), say("It went on.")))
    team.begin("--lead", "none", "--permission-mode", "ask", w1=agent)
    team.becomes("w1", "waiting")
    pane = team.pane("w1")
    shown = still(pane)
    for note in NOTES:
        team("send", "w1", note)
    refused = team("send", "w1", "a fourth", "--wait", "5", code=124)
    assert "queued" in refused.err
    assert still(pane) == shown
    assert not (team.project / "asked.txt").exists()
    assert announced(team) == 1
    pane.keys(ANSWERS[answer])
    team.eventually(lambda: "a fourth" in team.read("w1"), "it has read its mail")
    team.becomes("w1", "idle")
    assert [team.read("w1").count(note) for note in NOTES] == [1, 1, 1]
    assert (team.project / "asked.txt").exists() is (answer == "yes")
    assert announced(team) == 1


def still(pane: Pane) -> str:
    """Return what the pane shows, but for what moves by itself: wheels, dots that blink, Claude Code's mascot."""
    return " ".join(re.sub(r"[⠀-⣿▀-▟●•◦]", " ", pane.screen()).split())


def announced(team: RealTeam) -> int:
    """Return how often the person was told that w1 waits for a permission."""
    return sum("w1 waits for a permission" in text for text in team.mail())


@pytest.mark.parametrize("choice", ["allow", "deny"])
@pytest.mark.parametrize("agent", ["claude", "codex", "opencode", "pi"])
def test_a_permission_is_answered_from_elsewhere(
    agent: str, choice: str, user: Path, provider: Provider, team: RealTeam
) -> None:
    """The agent's own dialog stays open meanwhile; one answer counts, and it is for this request alone."""
    provider.script(marker("w1"), teammate(shell("touch asked.txt", outside=True), say("It went on.")))
    team.begin("--lead", "none", "--permission-mode", "ask", w1=agent)
    team.becomes("w1", "waiting")
    team.eventually(lambda: asked(team), "its request is known")
    request = asked(team)
    shown = team("member", "answer", request).out
    assert "touch asked.txt" in shown
    assert not (team.project / "asked.txt").exists()
    team("member", "answer", request, choice)
    again = team("member", "answer", request, "allow", code=4)
    assert f"answered: {choice}" in again.err
    team.becomes("w1", "idle")
    assert (team.project / "asked.txt").exists() is (choice == "allow")


@pytest.mark.parametrize("agent", ["claude", "codex", "opencode", "pi"])
def test_a_permission_answered_in_the_pane_takes_no_other_answer(
    agent: str, user: Path, provider: Provider, team: RealTeam
) -> None:
    provider.script(marker("w1"), teammate(shell("touch asked.txt", outside=True), say("It went on.")))
    team.begin("--lead", "none", "--permission-mode", "ask", w1=agent)
    team.becomes("w1", "waiting")
    team.eventually(lambda: asked(team), "its request is known")
    request = asked(team)
    team.pane("w1").keys("Enter")
    team.becomes("w1", "idle")
    team.eventually(lambda: "is over" in team("member", "answer", request).out, "its request is over")
    late = team("member", "answer", request, "deny", code=4)
    assert "answered where the agent asked" in late.err
    assert (team.project / "asked.txt").exists()


def asked(team: RealTeam) -> str:
    """Return the request for a permission that waits for the person, "" for none."""
    return next(
        (str(need["request"]) for need in team.json("needs") if need["kind"] == "permission" and need.get("request")),
        "",
    )
