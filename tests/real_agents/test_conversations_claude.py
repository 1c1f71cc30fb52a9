"""A person turns to another conversation in the pane of a Claude Code: its member goes on in that one."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from threading import Event

import pytest

from pro0.scripted_model.server import Provider
from pro0.scripted_model.turns import TurnUsage, fail, say, shell
from pro0.store.paths import LEAD_LOG
from tests.e2e.conftest import kill
from tests.real_agents.scene import Scene, Steps
from tests.real_agents.scripts import marker
from tests.real_agents.team import RealTeam
from tests.real_agents.terminal import Client
from tests.real_agents.test_permission import asked

pytestmark = pytest.mark.agents
AGAIN = "You are w1, a member of a team that pro0 runs; a person has just switched to another conversation"
"""What the agent is told where it else would not know who it is."""


@pytest.fixture
def scene(user: Path, provider: Provider, team: RealTeam) -> Iterator[Scene]:
    """A Claude Code whose model takes steps in whatever conversation, and its person."""
    model = Steps()
    for words in (marker("w1"), AGAIN):
        provider.script(words, model)
    team.begin("--lead", "none", "--permission-mode", "ask", w1="claude")
    team.becomes("w1", "idle")
    pane = team.pane("w1")
    with closing(Client(pane)) as hands:
        yield Scene("claude", team, pane, hands, model, Random(1))


def turns_to_another(scene: Scene, command: str) -> str:
    """Let the person type a command that takes the agent to another conversation, and return its id."""
    before = session(scene)
    scene.enter(command, lambda: session(scene) != before)
    scene.team.becomes("w1", "idle")
    return session(scene)


def session(scene: Scene) -> str:
    return str(scene.team.member("w1")["session"])


def takes(scene: Scene, number: int, words: str) -> None:
    """Let the agent take a step that ends its turn with these words."""
    scene.number = number
    scene.step(say(words))
    scene.team.eventually(lambda: scene.team.member("w1")["turn"]["words"] == words, f"{words} is recorded")


def reads(scene: Scene, letter: str) -> None:
    """Send a letter to an idle agent, and see it read once."""
    scene.team("send", "w1", letter)
    scene.team.eventually(lambda: letter in scene.model.heard, f"it has read {letter}")
    scene.team.becomes("w1", "idle")
    assert scene.model.heard.count(letter) == 1


def said(team: RealTeam) -> list[str]:
    """Return the last words of each turn that ended, as the lead has recorded them one after the other."""
    lines = (team.home / "teams" / team.name / "logs" / LEAD_LOG).read_text(encoding="utf-8").splitlines()
    words = [str(event["words"]) for event in map(json.loads, lines) if event["event"] == "turn ended"]
    return [one for one, before in zip(words, ["", *words], strict=False) if one not in ("", before)]


def counted(scene: Scene) -> None:
    """Wait until pro0 has counted all that the model was used for, in all conversations."""
    provider, team = scene.team.provider, scene.team
    spent = sum((provider.spent(words) for words in (marker("w1"), AGAIN)), TurnUsage())
    team.eventually(lambda: team.used("w1") == spent, f"it has used {spent}")


def told_again(scene: Scene) -> int:
    """Return how often the model reads, in what it was asked last, who it is in another conversation."""
    assert scene.model.last
    return "\n".join(entry.text for entry in scene.model.last.entries).count(AGAIN)


def test_after_clear_all_is_of_the_new_conversation(scene: Scene) -> None:
    """Who it is, its state, mail to the idle and to the working agent, and a permission that is asked there."""
    team, model = scene.team, scene.model
    scene.number = 1
    scene.step(fail(400))
    team.becomes("w1", "error")
    model.forget(1)
    first = session(scene)
    assert turns_to_another(scene, "/clear") != first
    reads(scene, "the first letter")
    assert team.member("w1")["deliveredBy"] == "hook", "the hook that waits since before has woken it"
    assert marker("w1") not in model.told()
    assert told_again(scene) == 1
    answers, carried = Event(), team.carried("w1")["hook"]
    scene.number = 2
    scene.step(shell("touch asked.txt", outside=True, after=answers))
    team.becomes("w1", "working")
    team("send", "w1", "the second letter")
    team.eventually(lambda: team.carried("w1")["hook"] > carried, "the hook has the line")
    answers.set()
    team.eventually(lambda: asked(team), "its request is known")
    assert "touch asked.txt" in team("member", "answer", asked(team)).out
    team("member", "answer", asked(team), "allow")
    team.eventually(lambda: "the second letter" in model.heard, "it has read its mail")
    team.becomes("w1", "idle")
    assert [model.heard.count(f"the {number} letter") for number in ("first", "second")] == [1, 1]
    assert (team.project / "asked.txt").exists()
    counted(scene)


def test_each_conversation_counts_once_whoever_leads(scene: Scene) -> None:
    """What was said and used in one is neither told nor counted again in the next; a crash resumes the newest."""
    team = scene.team
    first = session(scene)
    takes(scene, 1, "Said in the first.")
    second = turns_to_another(scene, "/clear")
    takes(scene, 2, "Said in the second.")
    third = turns_to_another(scene, "/branch")
    assert len({first, second, third}) == 3
    kill(team.json("team", "status")["lead"]["pid"])
    reads(scene, "a letter to the branch")
    assert turns_to_another(scene, f"/resume {first}") == first
    reads(scene, "a letter to the first")
    assert told_again(scene) == 0, "it knows"
    takes(scene, 3, "Said in the first again.")
    assert turns_to_another(scene, f"/resume {second}") == second
    takes(scene, 4, "Said in the second again.")
    counted(scene)
    assert [scene.model.heard.count(f"a letter to the {which}") for which in ("branch", "first")] == [1, 1]
    idle = "Nothing is left to do."
    words = [one for one in said(team) if one != idle]
    assert words == [f"Said in the {one}." for one in ("first", "second", "first again", "second again")]
    kill(team.member("w1")["pid"])
    team.becomes("w1", "crashed")
    team("member", "restart", "w1")
    team.becomes("w1", "idle")
    assert session(scene) == second


def test_a_crash_after_clear_begins_anew_with_the_first_prompt(scene: Scene) -> None:
    """There is nothing to go on from: an agent without a prompt would know nothing of its team."""
    team = scene.team
    cleared = turns_to_another(scene, "/clear")
    asked_before = len(team.provider.of(marker("w1")))
    kill(team.member("w1")["pid"])
    team.becomes("w1", "crashed")
    team("member", "restart", "w1")
    team.eventually(lambda: len(team.provider.of(marker("w1"))) > asked_before, "it is told its first prompt")
    team.becomes("w1", "idle")
    assert session(scene) != cleared
