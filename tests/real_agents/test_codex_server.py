"""A Codex whose server is gone, and one that goes on with another conversation on it."""

import json
from pathlib import Path
from threading import Event

import pytest

from pro0.scripted_model.server import Provider
from pro0.scripted_model.turns import say
from tests.leftovers import processes_under
from tests.living import living
from tests.real_agents.scripts import marker, teammate
from tests.real_agents.team import RealTeam, gone
from tests.real_agents.terminal import Pane

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
    kill_server(team)
    team.eventually(lambda: gone(tree), "nothing of it is left")
    team("member", "restart", "w1")
    team.becomes("w1", "idle")
    team.tell("w1", "the second")
    assert team.read("w1").count("the second") == 1
    team.end()
    assert not processes_under(home.parent)


PROMPT = "Look around"


def test_after_new_a_codex_goes_on_in_the_conversation_in_view(user: Path, provider: Provider, team: RealTeam) -> None:
    go_on = Event()
    provider.script(marker("w1"), teammate())
    provider.script(PROMPT, teammate(say("I looked.", after=go_on)))
    team.begin("--lead", "none", w1="codex")
    team.becomes("w1", "idle")
    team("send", "w1", "the first", "--wait", "600")
    team.becomes("w1", "idle")
    first, pane = conversation(team), team.pane("w1")
    team.order("/new", lambda: "Nothing is left" not in conversation_in(pane), "a new conversation is in view")
    team.order(PROMPT, lambda: provider.of(PROMPT), "it has begun")
    team.becomes("w1", "working")
    team.eventually(lambda: conversation(team) != first, "it is known")
    team("send", "w1", "the second")
    assert team.state("w1") == "working"
    assert "the second" not in pane.screen()
    go_on.set()
    team.eventually(lambda: "the second" in heard(provider, PROMPT), "it is read in view")
    team.becomes("w1", "idle")
    assert [heard(provider, script).count("the second") for script in (PROMPT, marker("w1"))] == [1, 0]
    spent = provider.spent(marker("w1")) + provider.spent(PROMPT)
    team.eventually(lambda: team.used("w1") == spent, f"both have used {spent}")
    kill_server(team)
    team("member", "restart", "w1")
    team.becomes("w1", "idle")
    team.tell("w1", "the third")
    assert heard(provider, PROMPT).count("the third") == 1, "what goes on is the newest"


def test_mail_after_new_is_read_in_the_conversation_in_view(user: Path, provider: Provider, team: RealTeam) -> None:
    line = "You have 1 unread message"
    provider.script(marker("w1"), teammate())
    provider.script(line, teammate())
    team.begin("--lead", "none", w1="codex")
    team.becomes("w1", "idle")
    pane = team.pane("w1")
    team.order("/new", lambda: "Nothing is left" not in conversation_in(pane), "a new conversation is in view")
    for letter in ("the first", "the second"):
        team.tell("w1", letter)
        assert [heard(provider, script).count(letter) for script in (line, marker("w1"))] == [1, 0]
    assert line in pane.screen()


def conversation_in(pane: Pane) -> str:
    """Return what the screen shows of the conversation in view; some versions leave the one before above it."""
    return pane.screen().rpartition("OpenAI Codex (v")[2]


def kill_server(team: RealTeam) -> None:
    """Kill the server of the member, which ends with it. Older versions start it by another program, and exit well."""
    for process in living(lambda process: "app-server" in process.cmdline(), team.tree("w1")):
        process.kill()
    team.eventually(lambda: team.state("w1") in ("crashed", "exited"), "w1 is over")


def heard(provider: Provider, script: str) -> str:
    """Return all that the tools of a conversation have answered."""
    return "\n".join(provider.results(script))


def conversation(team: RealTeam) -> str:
    """Return the id that is recorded for the member's conversation."""
    runtime = json.loads((team.home / "teams" / team.name / "runtime.json").read_bytes())
    return str(runtime["seats"][0].get("session", ""))
