"""Agents that pro0 knows, on another machine: a real sshd on 127.0.0.1, and stand-ins that draw as those agents do."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from pro0.link.asks import TOOLS_FOR_OTHERS
from tests import sshd
from tests.e2e.conftest import Team
from tests.e2e.machines import cut, nothing_left, type_into, unreached
from tests.sshd import Machine

pytestmark = pytest.mark.skipif(bool(sshd.lacks()), reason=sshd.lacks())

STAND_IN = Path(__file__).parents[1] / "programs" / "drawn.py"
LINE = "You have 1 unread message: run `pro0 inbox`"


def install(machine: Machine, agent: str) -> None:
    """Install a stand-in for an agent there."""
    program = machine.bin / agent
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -I {STAND_IN} {agent} "$@"\n')
    program.chmod(0o700)


def told(machine: Machine, name: str = "bob") -> list[Any]:
    """What the stand-in has noted: its arguments, each prompt, each mail, each key in a question."""
    place = machine.home / f"{name}.jsonl"
    return [json.loads(line) for line in place.read_text().splitlines()] if place.exists() else []


def begun(team: Team, machine: Machine, agent: str) -> list[str]:
    """Start bob there, and return his arguments once his first turn is over."""
    install(machine, agent)
    team("member", "spawn", "bob", "--agent", agent, "--host", "build1", "--prompt", "count the lines")
    team.until(lambda: team.state("bob") == "idle" and len(told(machine)) == 2, "its first turn is over")
    return list(told(machine)[0])


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_an_agent_there_does_what_a_member_does(led: Team, build1: Machine, agent: str) -> None:
    """Issue 19, build 1 and 2: a typed line brings mail, and a shutdown is agreed on.

    Its files tell its state, and where they tell nothing, as with this Codex, its screen.
    """
    *words, prompt = begun(led, build1, agent)
    assert "count the lines" in prompt
    assert "on build1, another machine than the team's" in " ".join(prompt.split())
    for here in (led.home, led.project, led.home.parent / "user", sys.executable):
        assert not [word for word in words if str(here) in word]
    assert led.member("bob")["source"] == {"claude": "session file", "codex": "screen"}[agent]
    assert led("send", "bob", "the parser first", "--wait", "60").out
    assert LINE in told(build1)
    led.until(lambda: "the parser first" in told(build1)[-1], "it has noted what it read")
    assert led.member("bob")["deliveredBy"] == "keys"
    assert "keys" in led("member", "show", "bob").out
    led.until(lambda: led.state("bob") == "idle", "its turn is over")
    led("member", "shutdown", "bob", "--timeout", "60")
    assert led.state("bob") == "shutdown"
    nothing_left(led, build1)


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_nothing_is_typed_while_it_asks(led: Team, build1: Machine, agent: str) -> None:
    """Issue 19, build 2; behaviour 3.6."""
    begun(led, build1, agent)
    led("send", "bob", "ASK before you go on")
    led.until(lambda: led.state("bob") == "waiting", "it asks")
    assert "bob" in led("needs").out
    before = len(told(build1))
    led("send", "bob", "and then this", "--urgent")
    led.until(lambda: led.member("bob")["unread"] == 1, "there is more")
    assert led("send", "bob", "and that", "--wait", "3", code=124).err
    assert len(told(build1)) == before
    type_into(led, "bob", b"\r")
    led.until(lambda: "and then this" in str(told(build1)[-1]), "it is told after the answer")
    assert [note for note in told(build1) if "in the question" in note] == ["in the question: '\\r'"]


def test_nothing_is_typed_while_it_is_out_of_reach(led: Team, build1: Machine) -> None:
    """Issue 19, build 4; behaviour 3.6: its screen at home is an old one."""
    begun(led, build1, "claude")
    before = told(build1)
    cut(build1)
    led.until(lambda: unreached(led, "bob"), "home notices")
    assert "out of reach" in led("send", "bob", "are you there?", "--wait", "3", code=124).err
    assert led.state("bob") == "unreachable"
    build1.start()
    led.until(lambda: "are you there?" in str(told(build1)[-1]), "it is told when it is back")
    assert told(build1)[: len(before) + 1] == [*before, LINE]
    assert told(build1).count(LINE) == 1


def test_what_it_uses_is_counted_at_home(led: Team, build1: Machine) -> None:
    """Issue 19, build 2: by its own files there, once for each turn, whatever becomes of its session."""
    begun(led, build1, "claude")
    for number in (1, 2):
        led.until(lambda number=number: used(led)["inputTokens"] == 1000 * number, "it is counted")  # type: ignore[misc]
        led("send", "bob", f"turn {number}", "--wait", "60")
    led.until(lambda: used(led)["outputTokens"] == 300, "the last turn is counted")
    assert used(led)["costUsd"] > 0
    restarted(led, build1)
    led.until(lambda: led.state("bob") == "idle", "it goes on with its conversation")
    led("send", "bob", "one more", "--wait", "60")
    led.until(lambda: used(led)["inputTokens"] == 4000, "what the session before has used counts once")


def used(team: Team) -> dict[str, Any]:
    """What bob has used, as the team's books say."""
    rows = team.json("team", "cost")["members"]
    nothing = {"inputTokens": 0, "outputTokens": 0, "costUsd": None}
    return next((row for row in rows if row["agentId"] == "bob"), nothing)


def sessions_of(machine: Machine) -> list[list[str]]:
    """The arguments of each session that there was."""
    return [note for note in told(machine) if isinstance(note, list)]


def restarted(team: Team, machine: Machine, *words: str) -> list[str]:
    """End bob and start him again; return the arguments of his new session once it is there."""
    before = len(sessions_of(machine))
    team("member", "shutdown", "bob", "--force", "--timeout", "0")
    nothing_left(team, machine)
    team("member", "restart", "bob", *words)
    return team.until(lambda: sessions_of(machine)[before:], "it has begun")[0]


def test_a_conversation_goes_on_in_the_next_session(led: Team, build1: Machine) -> None:
    """Issue 19, build 2: by the id that it was begun with, and it is told nothing anew."""
    words = begun(led, build1, "claude")
    id = words[words.index("--session-id") + 1]
    for _ in range(2):
        assert restarted(led, build1)[:2] == ["--resume", id]
        led.until(lambda: led.state("bob") == "idle", "it waits for work")
    assert not [note for note in told(build1)[2:] if "count the lines" in str(note)]
    led("send", "bob", "go on")
    led.until(lambda: "go on" in str(told(build1)[-1]), "it is told of mail")
    led("team", "stop", "--force", "--timeout", "1")
    nothing_left(led, build1)
    led("team", "resume")
    led.until(lambda: len(sessions_of(build1)) == 4, "it has begun")
    assert sessions_of(build1)[-1][:2] == ["--resume", id]
    fresh = restarted(led, build1, "--fresh")
    assert fresh[0] == "--session-id"
    assert fresh[1] != id
    assert "count the lines" in fresh[-1]


@pytest.mark.parametrize("left", [None, "", '{"type":"user","isSidechain":true}\n'], ids=["none", "empty", "another's"])
def test_a_conversation_that_is_not_there_is_begun(led: Team, build1: Machine, left: str | None) -> None:
    """Issue 19, build 2: a machine that was set up anew, or a session that was ended before its first prompt."""
    words = begun(led, build1, "claude")
    id = words[words.index("--session-id") + 1]
    [transcript] = (build1.home / ".claude" / "projects").glob(f"*/{id}.jsonl")
    transcript.unlink() if left is None else transcript.write_text(left)
    again = restarted(led, build1)
    assert again[-2:] == words[-2:]
    assert again[0] == "--session-id"
    assert again[1] != id
    led.until(lambda: led.member("bob")["session"] == again[1], "home knows the new one")
    led.until(lambda: led.state("bob") == "idle", "its first turn is over")
    assert restarted(led, build1)[:2] == ["--resume", again[1]]


def test_the_conversation_that_clear_began_goes_on(led: Team, build1: Machine) -> None:
    """Issue 19, build 2: its own file there names it."""
    words = begun(led, build1, "claude")
    id = words[words.index("--session-id") + 1]
    type_into(led, "bob", b"/clear\r")
    new = led.until(lambda: (now := led.member("bob")["session"]) != id and now, "home knows the new one")
    led("send", "bob", "hello", "--wait", "60")
    led.until(lambda: led.state("bob") == "idle", "its turn is over")
    assert restarted(led, build1)[:2] == ["--resume", new]


def test_a_conversation_that_home_does_not_know_is_begun_anew(led: Team, build1: Machine) -> None:
    """Issue 19, build 2: this Codex keeps none."""
    words = begun(led, build1, "codex")
    assert restarted(led, build1) == words


CLIENT = """
import sys
sys.path.insert(0, {root!r})
from pathlib import Path
from tests.mcp.served import Served

served = Served(Path.cwd()).open()
names = {{tool["name"] for tool in served.ask("tools/list")["result"]["tools"]}}
claimed = served.call("claim_task", task_id="task-1")["structuredContent"]
refused = served.call("task_create", title="more")
served.call("message", to="human", content=f"{{len(names)}} {{'task_create' in names}} {{claimed}} {{refused}}")
print("all is asked", flush=True)
sys.stdin.read()
"""
"""An agent's client of the tools, as far as they go."""


def test_its_tools_are_done_at_home(led: Team, build1: Machine) -> None:
    """Issue 19, build 2: with that member's rights, and those alone that its commands have."""
    led("task", "create", "one")
    (build1.home / "client.py").write_text(CLIENT.format(root=str(Path(__file__).parents[2])))
    led("member", "spawn", "bob", "--host", "build1", "--", sys.executable, "client.py")
    [said] = led.until(lambda: led.mail("bob"), "it has called all")
    assert said.startswith(f"{len(TOOLS_FOR_OTHERS)} False ")
    assert "the tool task_create is not available from another machine" in said
    assert led.tasks()["task-1"]["assignee"] == "bob"
    assert list(led.tasks()) == ["task-1"]


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_an_agent_that_is_not_there_says_so(led: Team, build1: Machine, agent: str) -> None:
    """Issue 19, build 1: its program is that machine's."""
    said = led("member", "spawn", "bob", "--agent", agent, "--host", "build1", code=6).err
    assert "bob did not come up" in said
    assert f"cannot start {agent}" in said
    nothing_left(led, build1)
