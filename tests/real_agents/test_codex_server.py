"""A Codex whose server is gone, and one that could start none."""

from pathlib import Path

import pytest

from pro0.scripted_model.server import Provider
from tests.leftovers import processes_under
from tests.real_agents.scripts import marker, teammate
from tests.real_agents.team import RealTeam, gone

pytestmark = pytest.mark.agents


def test_a_codex_whose_server_is_killed_is_over_and_starts_again(
    user: Path, provider: Provider, team: RealTeam, home: Path
) -> None:
    provider.script(marker("w1"), teammate())
    team.begin("--lead", "none", w1="codex")
    team.becomes("w1", "idle")
    team("send", "w1", "the first", "--wait", "600")
    assert team.member("w1")["deliveredBy"] == "server"
    tree = team.tree("w1")
    (served,) = [process for process in tree if "app-server" in process.cmdline()]
    served.kill()
    team.becomes("w1", "crashed")
    team.eventually(lambda: gone(tree), "nothing of it is left")
    team("member", "restart", "w1")
    team.becomes("w1", "idle")
    team("send", "w1", "the second", "--wait", "600")
    assert team.read("w1").count("the second") == 1
    team.end()
    assert not processes_under(home.parent)
