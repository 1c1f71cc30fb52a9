"""Which session of a seat goes on with the conversation of the one before."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0.model.runtime import State
from pro0.ops.team import members
from pro0.ops.team.members import SeatDraft
from tests.teams import human, make_team, set_state


@pytest.mark.parametrize(
    ("agent", "host", "fresh"),
    [("claude", "build1", False), ("claude", "build2", True), ("codex", "build1", True)],
    ids=["the same", "another machine", "another agent"],
)
def test_a_member_that_is_spawned_anew_goes_on_where_its_conversation_is(
    home: Path, agent: str, host: str, fresh: bool
) -> None:
    """Issue 19, must show 4: what one machine says of a conversation is asked of no other."""
    team = make_team(home)
    with team.config.change("a test") as change:
        change.value = replace(change.value, mode="in-process")
    members.spawn(human(team), [SeatDraft(name="w1", agent="claude", host="build1")], 9)
    set_state(team, "w1", State.EXITED)
    [seat] = members.spawn(human(team), [SeatDraft(name="w1", agent=agent, host=host)], 9)
    assert (seat.generation, seat.fresh) == (2, fresh)


def test_fresh_counts_for_one_session(home: Path) -> None:
    """Behaviour 3.14: the one after it goes on, whoever asks for that one."""
    team = make_team(home, "w1")
    set_state(team, "w1", State.EXITED)
    seat = members.restart(human(team), "w1", fresh=True)
    assert seat.fresh
    assert not members.renewed(seat, team.runtime.read()).fresh
