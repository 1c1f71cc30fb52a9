"""An agent that has to plan first hands its plan in, and goes on with more permissions once it is approved."""

from pathlib import Path

import pytest

from pro0.scripted_model.server import Provider
from pro0.scripted_model.turns import say, shell, use
from tests.real_agents.agents import BARE
from tests.real_agents.scripts import marker, teammate
from tests.real_agents.team import RealTeam

pytestmark = pytest.mark.agents


@pytest.mark.parametrize("agent", BARE)
def test_a_plan_is_handed_in_approved_and_carried_out(
    agent: str, user: Path, provider: Provider, team: RealTeam
) -> None:
    """In plan mode it reaches the team; the next session goes on in the same conversation, unasked."""
    work = (
        use("submit_plan", plan="I make built.txt."),
        say("It is handed in."),
        shell("touch built.txt"),
        say("Done."),
    )
    provider.script(marker("w1"), teammate(*work))
    team.begin()
    team("member", "spawn", "w1", "--agent", agent, "--plan", seconds=120)
    team.eventually(lambda: team.member("w1")["plan"] == "handed in", "its plan is handed in")
    team.becomes("w1", "idle")
    before = team.member("w1")
    assert (before["permissionMode"], (team.project / "built.txt").exists()) == ("plan", False)

    team("member", "approve-plan", "w1")
    team.eventually((team.project / "built.txt").exists, "the plan is carried out")
    team.becomes("w1", "idle")
    after = team.member("w1")
    assert (after["permissionMode"], after["plan"], after["session"]) == ("bypass", "approved", before["session"])
    assert "Your plan is approved by human" in team.read("w1")
