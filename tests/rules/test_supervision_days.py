"""A day of a member that lives, whatever it shows: nobody is ended, nothing given back, nothing told all the time.

Reliability 54: silent for hours, waiting for a permission, unknown, a draft that nobody sends, an error that stays.
"""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from pro0.model.decision import Nudge, Seen, Tell
from pro0.model.message import Unread
from pro0.model.runtime import State
from tests.rules.building import T0
from tests.rules.supervising import decided, held, kinds, look, only, recorded, seat, session

HOURS = 8
PAUSE = 120
"""Seconds between two looks."""
SHOWN = (State.WORKING, State.WAITING, State.DIALOG, State.DRAFT, State.UNKNOWN, State.ERROR, State.IDLE)
TOLD = {State.WAITING: 1, State.DIALOG: 1, State.UNKNOWN: 1, State.ERROR: 1}
"""How often others are told of it: once, of what needs somebody."""

NUDGED = (State.IDLE, State.ERROR, State.WORKING)
"""Who may get its line, one that works once its turn is over: never who asks something or has a draft."""


@pytest.mark.parametrize("mail", [0, 500], ids=["no-mail", "mail"])
@pytest.mark.parametrize("state", SHOWN)
def test_a_living_member_is_never_ended_by_itself(state: State, mail: int) -> None:
    day = look(session("w1", State.STARTING, told=()), seats=[seat(agent="claude")], tasks=[held(1)])
    day = replace(
        day,
        unread={"w1": Unread(newest=mail, count=mail)} if mail else {},
        seen={"inc-w1": Seen(state, since=T0, source="screen")},
    )
    told: list[str] = []
    for second in range(0, HOURS * 3600, PAUSE):
        decision = decided(replace(day, now=T0 + timedelta(seconds=second)))
        assert set(kinds(decision)) <= {"Tell", "Nudge"}
        told += [action.id for action in only(Tell, decision)]
        assert state in NUDGED or not only(Nudge, decision)
        day = replace(day, runtime=decision.runtime)
    assert recorded(decision).state is state
    asked = state is State.IDLE and not mail  # once for a word on the task that it holds
    assert len(told) == len(set(told)) == TOLD.get(state, 0) + asked
