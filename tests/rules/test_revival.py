"""How often a lead comes back, and what it does about sessions that were being started (rulings 3.12)."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from pro0.model.decision import Action, End, Start
from pro0.model.runtime import Handle, State
from pro0.rules.lead import revival
from pro0.rules.lead.supervision import decide
from tests.rules.building import at
from tests.rules.supervising import look, seat, session, wish


@pytest.mark.parametrize(
    ("seconds_ago", "may"),
    [
        ([], True),
        ([1, 2], True),
        ([1, 2, 3], False),
        ([0, 0, 59.9], False),
        ([1, 2, 60], True),
        ([61, 62, 63, 64], True),
        ([-1, -2, -3], True),  # of before the clock was set back
        ([-86400, 1, 2], True),
        ([-86400, 1, 2, 3], False),
    ],
)
def test_three_times_a_minute(seconds_ago: list[float], may: bool) -> None:
    past = [at(0) - timedelta(seconds=seconds) for seconds in seconds_ago]
    assert revival.may_come_back(past, at(0)) is may


STARTING = session("w1", State.STARTING, guard=None, agent=None)


@pytest.mark.parametrize("prepared", [False, True])
def test_a_session_without_a_guard_is_gone_on_with(prepared: bool) -> None:
    """The same incarnation, with the whole time to come up; never a second one."""
    seen = replace(look(STARTING, reports=[]), unopened={STARTING.incarnation: prepared})
    decision = decide(seen, lambda: "new")
    assert decision.actions == (Start(seat("w1"), STARTING.incarnation, prepared),)
    assert decision.runtime.seats == (replace(STARTING, since=at(0), started_at=at(0)),)


@pytest.mark.parametrize("asked", ["team", "member"])
def test_while_it_is_to_end_it_is_not_started(asked: str) -> None:
    seats = [replace(seat("w1"), shutdown=wish() if asked == "member" else None)]
    seen = look(STARTING, reports=[], seats=seats, stop=wish() if asked == "team" else None)
    decision = decide(replace(seen, unopened={STARTING.incarnation: True}), lambda: "new")
    expected: Action = End("w1", STARTING.incarnation, firm=True)
    assert expected in decision.actions
    assert not [action for action in decision.actions if isinstance(action, Start)]
    assert decision.runtime.seats[0].state is State.SHUTDOWN


def test_where_an_adopted_session_is_shown_is_recorded() -> None:
    handle = Handle(backend="tmux", incarnation="inc-w1", pid=1, pane="%1")
    seen = replace(look(session("w1", State.WORKING)), handles={"inc-w1": handle})
    decision = decide(seen, lambda: "new")
    assert decision.runtime.seats[0].handle == handle
    assert decision.actions == ()
