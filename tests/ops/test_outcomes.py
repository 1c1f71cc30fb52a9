"""What became of an agent's request for permission (issue 17, build 3)."""

from pathlib import Path

import pytest

from pro0.model.need import Outcome
from pro0.model.runtime import ENDED, State
from pro0.ops import permissions
from pro0.ops.context import Context, lead_context
from tests.teams import ASKED, make_team, member, set_state

ENDS = {State.STOPPING, *ENDED}


@pytest.mark.parametrize(
    ("state", "by"),
    [*((state, "the lead") for state in State), *((state, "its session") for state in State if state not in ENDED)],
)
def test_a_dialog_that_goes_with_its_session_was_not_answered(home: Path, state: State, by: str) -> None:
    """Whoever waits for the answer may see the agent go before the end of its session is known."""
    team = make_team(home, "w1")
    set_state(team, "w1", State.WAITING)
    context = member(team, "w1")
    request = permissions.ask(context, ASKED)
    set_state(team, "w1", state)
    settler = context if by == "its session" else lead_context(team)
    assert outcome_after(settler, request.id, "elsewhere") == ("" if state in ENDS else "elsewhere")
    assert outcome_after(lead_context(team), request.id, "ended") == ("ended" if state in ENDS else "elsewhere")


def outcome_after(settler: Context, id: str, outcome: Outcome) -> Outcome:
    """Settle a request so; return the outcome that it has then."""
    permissions.settle(settler, {id: outcome})
    return next(request.outcome for request in settler.team.permissions.read().requests if request.id == id)
