"""`pro0 run` with each real agent: one turn each, in a box, against a scripted model (S001; must show 2)."""

import pytest

from pro0.scripted_model.turns import in_turn, say, shell
from tests.real_agents.agents import BY_HAND
from tests.real_agents.states import PATIENCE
from tests.real_agents.team import RealTeam

pytestmark = pytest.mark.agents
DONE = say("It is done.\n<promise>COMPLETE</promise>")


@pytest.mark.parametrize("agent", BY_HAND)
def test_a_task_is_done_and_one_is_handed_over(agent: str, team: RealTeam) -> None:
    team("team", "start", "alpha", "--mode", "headless", "--detach")
    team("task", "create", "the epic", "--type", "epic")
    team("task", "create", "make the file", "--parent", "1")
    team("task", "create", "ask a person", "--parent", "1")
    team.provider.script("# task-2: make the file", in_turn(shell("echo $PRO0_TASK_ID > made.txt"), DONE))
    team.provider.script("# task-3: ask a person", in_turn(say("<promise>INPUT_NEEDED: which colour?</promise>")))
    done = team("run", "1", "--agent", agent, "--permission-mode", "bypass", seconds=PATIENCE)
    assert (team.project / "made.txt").read_text() == "task-2\n", done
    first, second = (team.json("task", "show", id) for id in ("2", "3"))
    assert (first["status"], first["result"]) == ("completed", "It is done.")
    assert (second["awaiting"]["kind"], second["awaiting"]["reason"]) == ("input", "which colour?")
    assert first["iterations"] == 1
    assert first["inputTokens"] > 2000
    assert first["outputTokens"] > 40
