"""Mail that comes in the middle of a turn is seen after a tool, not only at its end (issue 17, must show 1)."""

import time
from functools import partial
from pathlib import Path
from random import Random

import pytest

from pro0.scripted_model.request import ModelRequest
from pro0.scripted_model.server import Provider
from pro0.scripted_model.turns import ModelTurn, say, shell, use
from tests.crash.lanes import LANES, SOAK, counted
from tests.real_agents.scripts import MAIL, marker
from tests.real_agents.team import RealTeam

pytestmark = pytest.mark.agents
AGENTS = ("claude", "opencode", "pi", "gemini")
"""Codex's server drops the answer under way for a text that comes in a turn, so its mail waits for the end."""
MIDDLE, SEEN = "letters in the middle of a turn", "letters seen before the next but one tool call"
FEW, MANY = 4, 60
SOON = 1
"""Tool calls after a letter, at most, before the model is told of it: it is seen before the next but one."""
A_TURN = 5
"""Letters in one turn, and one: after thirty calls in a turn Gemini asks a model whether it goes round in circles."""
LEAST = 0.95
"""The share of letters that have to be seen by then."""


class LongTurn:
    """A scripted model that calls one tool after the other, and reads its mail when it is told of any."""

    def __init__(self, random: Random) -> None:
        self.calls = 0
        """How many tools it has called, without those that read mail."""
        self.told_at: list[int] = []
        """How many those were each time it was told of mail."""
        self.over = False
        self._random = random

    def __call__(self, request: ModelRequest) -> ModelTurn:
        """Return the next call; the last one of the turn once it is over."""
        if any(MAIL.search(entry.text) for entry in request.news):
            self.told_at.append(self.calls)
            return use("check_messages")
        if self.over:
            return say("That was all.")
        self.calls += 1
        seconds = self._random.uniform(0.3, 3)
        return shell(f"timeout {seconds:.1f} tail -f /dev/null; echo call {self.calls} is over")


@pytest.mark.parametrize("lane", LANES)
@pytest.mark.parametrize("agent", AGENTS)
def test_mail_in_the_middle_of_a_turn(agent: str, lane: str, user: Path, provider: Provider, team: RealTeam) -> None:
    random, many = Random(f"{agent} {lane}"), MANY if lane == SOAK else FEW
    model, late = LongTurn(random), []
    provider.script(marker("w1"), model)
    team.begin("--lead", "none", w1=agent)
    team.eventually(lambda: model.calls > 1, "it is in the middle of its turn")
    for number in range(1, many + 1):
        if number % A_TURN == 0:
            another_turn(team, model)
        time.sleep(random.uniform(0, 3))
        told = len(model.told_at)
        team("send", "w1", letter(number))
        sent_at = model.calls
        team.eventually(partial(is_told, model, told), f"letter {number} is told of", every=0.02)
        late.append(model.told_at[told] - sent_at)
        team.eventually(partial(is_read, team, number), f"letter {number} is read")
        del provider.exchanges[:-50]
    print(agent, late, flush=True)
    model.over = True
    team.becomes("w1", "idle")
    assert len(model.told_at) == many + many // A_TURN
    seen = sum(calls <= SOON for calls in late)
    counted(lane, MIDDLE, agent, many)
    counted(lane, SEEN, agent, seen)
    assert seen >= LEAST * many, late


def another_turn(team: RealTeam, model: LongTurn) -> None:
    """Let the turn end, and a letter that is not counted begin the next one."""
    model.over = True
    team.becomes("w1", "idle")
    told, model.over = len(model.told_at), False
    team("send", "w1", "Please go on.")
    team.eventually(partial(is_told, model, told), "it is told to go on")
    calls = model.calls
    team.eventually(lambda: model.calls > calls + 1, "it is in the middle of its next turn")


def letter(number: int) -> str:
    return f"Letter {number} of many."


def is_told(model: LongTurn, times: int) -> bool:
    """Tell whether the model was told of mail more often than that."""
    return len(model.told_at) > times


def is_read(team: RealTeam, number: int) -> bool:
    return letter(number) in team.read("w1")
