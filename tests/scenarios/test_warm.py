"""The warm process of a real lead: there while the lead is, whose commands it does, and gone with it."""

import json
import signal
import sys
from functools import partial

import psutil
import pytest

from pro0.cli.warm.client import SOCKET
from tests import elsewhere
from tests.elsewhere import Placed
from tests.living import ended
from tests.scenarios.runs import Terminal
from tests.waiting import STUCK, wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere commands do their work themselves")


@pytest.mark.parametrize("placed", ["headless", elsewhere.MODES[0]], indirect=True)
def test_commands_of_members_and_persons_are_their_own(placed: Placed, scripts: None, terminal: Terminal) -> None:
    """Whoever does the work: a member's command acts as the member, a person's as the person."""
    alone = terminal
    alone.pro0("team", "start", "alpha", "--mode", placed.shown, "--detach")
    warm(alone)
    alone.pro0("member", "spawn", "w1", "--agent", "shell", *(("--host", placed.host) if placed.host else ()))
    alone.pro0("task", "create", "greet", "--run", f"{sys.executable} -m pro0 send human hello")
    heard = json.loads(alone.pro0("inbox", "--wait", str(STUCK), "--json").out)
    letters = [entry["message"] for entry in heard]
    assert [letter["from"] for letter in letters if letter["content"] == "hello"] == ["w1"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_it_ends_with_its_lead(alone: Terminal, number: signal.Signals) -> None:
    lead = warm(alone)
    helpers = lead.children(recursive=True)
    assert helpers
    lead.send_signal(number)
    wait_until(lambda: all(map(ended, (lead, *helpers))), STUCK, "all of it is gone")
    assert "one" not in alone.pro0("task", "list").out


def test_another_one_follows_when_one_is_killed(alone: Terminal) -> None:
    """Each of its processes may die at any time: commands go on, by it or by themselves."""
    lead = warm(alone)
    [helper] = lead.children()
    for victim in (*helper.children(), helper):
        victim.kill()
        wait_until(partial(ended, victim), STUCK, "it is gone")
        assert "the epic" in alone.pro0("task", "list").out
    assert "running" in alone.pro0("team", "status").out


def warm(alone: Terminal) -> psutil.Process:
    """Return the lead of the team, once it has a warm process: the first command asks for one."""
    folder = alone.home / "teams" / "alpha"
    lead = psutil.Process(json.loads((folder / "lead.lock").read_text())["pid"])
    wait_until((folder / SOCKET).exists, STUCK, "there is somebody to ask")

    def ready() -> bool:
        alone.pro0("task", "list")
        return any(helper.children() for helper in lead.children())

    wait_until(ready, STUCK, "commands are done for others")
    return lead
