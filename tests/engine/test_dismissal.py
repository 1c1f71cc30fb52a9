"""A lead agent lets its team go: its own session ends, then the lead removes the team (S004-048)."""

from msgspec.structs import replace

from pro0.engine import outcomes
from pro0.model.caller import Caller, Who
from pro0.model.team import Seat
from pro0.ops.context import Context
from pro0.ops.team import teams
from tests.engine.crew import PATIENCE, Crew
from tests.waiting import wait_until

LEADER = Seat(agent_id="lead", name="lead", agent="shell")
"""The shell agent takes no instructions, so that nobody may ask for it as lead agent; it does answer a shutdown."""


def test_the_lead_removes_a_team_that_its_lead_agent_lets_go(alpha: Crew) -> None:
    alpha.lead()
    with alpha.team.wanted.change("a test") as change:
        change.value = replace(change.value, seats=(LEADER,))
    [leader] = outcomes.started(alpha.team, [LEADER], alpha.shown.append)
    alpha.remember()
    caller = Context(alpha.team, Caller(Who.LEAD_AGENT, "lead", leader.incarnation))
    assert teams.dismiss(caller)
    wait_until(lambda: not alpha.team.exists(), PATIENCE, "the team is removed")
    assert alpha.leads[0].wait(PATIENCE) == 0
    assert not any((alpha.store.home / kind / "alpha").exists() for kind in ("teams", "tasks", "mailboxes"))
