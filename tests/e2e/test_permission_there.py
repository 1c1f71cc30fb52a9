"""A permission that Claude Code on another machine asks for is answered at home: a real sshd, and a stand-in."""

import json
from typing import Any

import psutil
import pytest

from tests import sshd
from tests.e2e.conftest import Team
from tests.e2e.machines import cut, nothing_left, sessions, type_into, unreached
from tests.e2e.test_agents_there import begun, told
from tests.living import living
from tests.sshd import Machine

pytestmark = [pytest.mark.skipif(bool(sshd.lacks()), reason=sshd.lacks()), pytest.mark.usefixtures("scripts")]


def asking(team: Team, machine: Machine) -> str:
    """Let bob ask for something; return the id of his request once the person may answer."""
    begun(team, machine, "claude")
    return asks(team)


def asks(team: Team) -> str:
    team("send", "bob", "ASK before you go on")
    return team.until(lambda: asked(team), "the person is asked")


def asked(team: Team) -> str:
    """The id of the request that waits for the person, "" for none."""
    needs: list[dict[str, Any]] = team.json("needs")
    return next((str(need["request"]) for need in needs if need.get("request")), "")


def heard(machine: Machine) -> list[str]:
    """What each hook of the stand-in has said at its end."""
    prefix = "the hook is over: "
    return [note.removeprefix(prefix) for note in told(machine) if str(note).startswith(prefix)]


def hooks_there(machine: Machine) -> list[psutil.Process]:
    """The hooks that wait there."""
    found = living(lambda one: one.cmdline()[-2:] == ["member", "permission-hook"], sessions(machine))
    assert found
    return found


def outcome(team: Team, request: str) -> str:
    return str(team.json("member", "answer", request)["outcome"])


@pytest.mark.parametrize("choice", ["allow", "deny"])
def test_an_answer_from_home_reaches_it_once(led: Team, build1: Machine, choice: str) -> None:
    """Issue 19, must show 1 and build 2; issue 17, build 3."""
    request = asking(led, build1)
    assert "rm -r build" in led("member", "answer", request).out
    said = ["not that folder"] if choice == "deny" else []
    assert f"bob has your answer: {choice}" in led("member", "answer", request, choice, *said).out
    led.until(lambda: led.state("bob") == "idle", "it goes on")
    [words] = heard(build1)
    decision = json.loads(words)["hookSpecificOutput"]["decision"]
    assert (decision["behavior"], decision.get("message")) == (choice, said[0] if said else None)
    assert f"answered: {choice}" in led("member", "answer", request, "allow", code=4).err
    assert outcome(led, request) == "taken"
    assert asks(led) != request


@pytest.mark.parametrize("key", [b"\r", b"\x1b"], ids=["yes", "no"])
def test_an_answer_in_its_terminal_leaves_none_for_home(led: Team, build1: Machine, key: bytes) -> None:
    """Issue 17, build 3: Claude ends its hook after a yes, and leaves it alone after Esc."""
    request = asking(led, build1)
    led.until(lambda: led.state("bob") == "waiting", "its question is drawn")
    type_into(led, "bob", key)
    led.until(lambda: outcome(led, request) == "elsewhere", "home knows")
    assert "answered where the agent asked" in led("member", "answer", request, "deny", code=4).err
    led.until(lambda: heard(build1) == [""], "the hook is over")
    assert not asked(led)


def test_a_request_waits_while_the_link_is_cut(led: Team, build1: Machine) -> None:
    """Issue 19, build 4: an answer that is given meanwhile arrives with the link."""
    request = asking(led, build1)
    cut(build1)
    led.until(lambda: unreached(led, "bob"), "home notices")
    assert "has not taken the answer" in led("member", "answer", request, "allow", code=124).err
    assert not heard(build1)
    build1.start()
    led.until(lambda: outcome(led, request) == "taken", "it has the answer")
    [words] = led.until(lambda: heard(build1), "the hook is over")
    assert json.loads(words)["hookSpecificOutput"]["decision"] == {"behavior": "allow"}


def test_an_answer_that_comes_too_late_over_a_cut_link_is_not_taken(led: Team, build1: Machine) -> None:
    """Issue 19, build 4; issue 17, build 3: its dialog was answered there meanwhile."""
    request = asking(led, build1)
    cut(build1)
    led.until(lambda: unreached(led, "bob"), "home notices")
    for process in hooks_there(build1):
        process.kill()  # as Claude does when the person answers there
    led("member", "answer", request, "allow", code=124)
    build1.start()
    led.until(lambda: outcome(led, request) == "elsewhere", "home knows")
    assert heard(build1) == [""]


def test_nobody_answers_for_a_session_that_has_ended(led: Team, build1: Machine) -> None:
    """Issue 17, build 3."""
    request = asking(led, build1)
    led("member", "shutdown", "bob", "--force", "--timeout", "0")
    nothing_left(led, build1)
    led.until(lambda: outcome(led, request) == "ended", "home knows")
    assert "its session has ended" in led("member", "answer", request, "allow", code=4).err
