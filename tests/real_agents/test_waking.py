"""An idle Claude Code is woken by its hook, and by keys where the hook is gone."""

from contextlib import closing
from pathlib import Path

import psutil
import pytest

from pro0.agents.claude import waiter
from pro0.scripted_model.server import Provider
from tests.leftovers import processes_under
from tests.living import living
from tests.real_agents.scripts import marker, teammate
from tests.real_agents.team import RealTeam, gone
from tests.real_agents.terminal import Client

pytestmark = pytest.mark.agents


def waiters(team: RealTeam) -> list[psutil.Process]:
    """Return the processes of w1 that wait for a line."""
    return living(lambda process: waiter.__file__ in process.cmdline(), team.tree("w1"))


def read(team: RealTeam, text: str, by: str) -> None:
    """Send a message to w1, and see it read once, brought by this."""
    team.tell("w1", text)
    assert team.read("w1").count(text) == 1
    assert team.member("w1")["deliveredBy"] == by
    assert f"delivered by {by}" in " ".join(team("member", "show", "w1").out.split())


def test_an_idle_claude_is_woken_beside_a_draft_and_without_its_hook(
    user: Path, provider: Provider, team: RealTeam, home: Path
) -> None:
    provider.script(marker("w1"), teammate())
    team.begin("--lead", "none", w1="claude")
    team.becomes("w1", "idle")
    team.eventually(lambda: len(waiters(team)) == 1, "one waits")
    read(team, "the first", by="hook")
    pane = team.pane("w1")
    with closing(Client(pane)) as hands:
        hands.type("not yet sent")
        team.eventually(lambda: team.state("w1") == "draft", "the draft is seen")
        team("send", "w1", "the second", "--wait", "600")
        team.eventually(lambda: "not yet sent" in pane.screen(), "the draft still stands there")
        hands.press(*["BSpace"] * 20)
        team.becomes("w1", "idle")
    assert team.read("w1").count("the second") == 1
    team.eventually(lambda: len(waiters(team)) == 1, "one waits again")
    waiters(team)[0].kill()
    read(team, "the third", by="keys")
    team.eventually(lambda: len(waiters(team)) == 1, "the turn has started another")
    read(team, "the fourth", by="hook")
    assert "not yet sent" not in str(provider.of(marker("w1"))[-1].request.entries)
    tree = team.tree("w1")
    tree[0].kill()
    team.eventually(lambda: gone(tree), "nothing outlives it")
    team.end()
    assert not processes_under(home.parent)
