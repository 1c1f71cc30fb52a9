"""What a member may do unasked: as its spawn says, else as the lead agent, else as the team (rulings 3.17)."""

import pytest
from msgspec.structs import replace

from pro0.errors import Refused
from pro0.model.ids import LEAD
from pro0.model.team import PermissionMode, PlanGate, Wanted
from pro0.rules.lead.permissions import permission_mode, within
from tests.rules.supervising import CONFIG, seat

ASK, EDITS, PLAN, BYPASS = PermissionMode.ASK, PermissionMode.EDITS, PermissionMode.PLAN, PermissionMode.BYPASS
Mode = PermissionMode | None


def team(lead: Mode = None, of_team: PermissionMode = ASK, *, led: bool = True) -> Wanted:
    return Wanted(seats=(seat(LEAD, permission_mode=lead),) if led else ())


@pytest.mark.parametrize(
    ("own", "lead", "of_team", "mode"),
    [
        (None, None, ASK, ASK),
        (None, None, BYPASS, BYPASS),
        (None, EDITS, ASK, EDITS),
        (None, PLAN, BYPASS, PLAN),
        (BYPASS, PLAN, ASK, BYPASS),
        (PLAN, BYPASS, BYPASS, PLAN),
    ],
)
def test_the_nearest_word_counts(own: Mode, lead: Mode, of_team: PermissionMode, mode: PermissionMode) -> None:
    config = replace(CONFIG, permission_mode=of_team)
    assert permission_mode(seat(permission_mode=own), team(lead), config) is mode
    if lead is None:
        assert permission_mode(seat(permission_mode=own), team(led=False), config) is mode


@pytest.mark.parametrize(
    ("own", "lead", "may"),
    [
        *((None, lead, True) for lead in (None, *PermissionMode)),
        *((mode, mode, True) for mode in PermissionMode),
        *((PLAN, lead, True) for lead in PermissionMode),
        *((mode, BYPASS, True) for mode in PermissionMode),
        (ASK, PLAN, False),
        (EDITS, ASK, False),
        (EDITS, None, False),
        (BYPASS, EDITS, False),
        (BYPASS, None, False),
    ],
)
def test_a_lead_agent_gives_no_more_than_it_has(own: Mode, lead: Mode, may: bool) -> None:
    """A plan that comes first makes it no less: it is lifted later."""
    for gate in (None, PlanGate()):
        asked = seat(permission_mode=own, gate=gate)
        if may:
            within(asked, team(lead), CONFIG)
            continue
        with pytest.raises(Refused, match="may not give anybody the mode") as refused:
            within(asked, team(lead), CONFIG)
        assert (refused.value.code, refused.value.exit_code) == ("not_allowed", 4)
