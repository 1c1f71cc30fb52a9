"""What the lead makes of a runner: its run is told where it was asked for, not by mail."""

import pytest

from pro0.model.caller import Caller, Who
from pro0.model.decision import Free, Tell
from pro0.model.run import RUNNER
from pro0.model.runtime import State
from tests.rules.building import claimed, task
from tests.rules.supervising import decided, exited, led, look, only, seat, session

SEAT = seat(RUNNER, agent=RUNNER)


@pytest.mark.parametrize("code", [0, 1, 130])
def test_a_run_that_is_over_is_no_news(code: int) -> None:
    decision = decided(look(session(RUNNER), seats=[SEAT], reports=[exited(RUNNER, code=code)], dead=[RUNNER]))
    assert only(Tell, decision) == []


def test_one_that_was_killed_is_and_gives_back_what_it_held() -> None:
    """AC-39"""
    held = claimed(task(1), Caller(Who.MEMBER, RUNNER, f"inc-{RUNNER}"))
    report = exited(RUNNER, State.CRASHED, signal=9)
    decision = decided(look(session(RUNNER), seats=[SEAT], reports=[report], dead=[RUNNER], tasks=[held]))
    assert [tell.to for tell in only(Tell, decision)] == ["lead"]
    assert [free.agent_id for free in only(Free, decision)] == [RUNNER]


def test_one_that_waits_for_work_tells_nobody() -> None:
    for agent, told in (("shell", 1), (RUNNER, 0)):
        waiting = session(RUNNER, told=())
        assert len(only(Tell, decided(led(look(waiting, seats=[seat(RUNNER, agent=agent)]))))) == told
