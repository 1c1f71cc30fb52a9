"""Agents on another machine whose own files tell of them: a real sshd, and a stand-in that writes as they do."""

import shutil
import sys
from pathlib import Path

import pytest

from tests import sshd
from tests.e2e.conftest import Team
from tests.e2e.machines import cut, nothing_left, unreached
from tests.e2e.test_agents_there import restarted, sessions_of
from tests.sshd import Machine

pytestmark = pytest.mark.skipif(bool(sshd.lacks()), reason=sshd.lacks())

STAND_IN = Path(__file__).parents[1] / "programs" / "filed.py"
AGAIN = {"codex": "resume", "gemini": "--resume", "opencode": "--session", "pi": "--session"}
SOURCES = {"codex": "rollout", "gemini": "title", "opencode": "database", "pi": "bridge"}
FOLDERS = {"codex": ".codex", "gemini": ".gemini", "opencode": ".local", "pi": ".pi"}
TASK = "count the lines"
SAID = "All is counted."


def begun(team: Team, machine: Machine, agent: str) -> str:
    """Let bob work there; return the id that he chose for his conversation."""
    program = machine.bin / agent
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -I {STAND_IN} {agent} "$@"\n')
    program.chmod(0o700)
    team("member", "spawn", "bob", "--agent", agent, "--host", "build1", "--prompt", TASK)
    team.until(lambda: tells(team, agent, "working"), "its files say that it works")
    return str(team.until(lambda: team.member("bob").get("session"), "its conversation is known"))


def tells(team: Team, agent: str, state: str) -> bool:
    bob = team.member("bob")
    return (bob["state"], bob.get("source")) == (state, SOURCES[agent])


def finish(team: Team, machine: Machine, agent: str) -> None:
    (machine.home / "finish").touch()
    team.until(lambda: tells(team, agent, "idle"), "its files say that its turn is over")


@pytest.mark.parametrize("agent", AGAIN)
def test_its_own_files_tell_what_it_does(led: Team, build1: Machine, agent: str) -> None:
    """Issue 19, build 2: the state, the conversation and the last words, though its screen shows nothing that is known.

    Gemini CLI tells its state by its title, here as there.
    """
    begun(led, build1, agent)
    finish(led, build1, agent)
    led.until(lambda: SAID in led("member", "show", "bob").out, "its last words are known")
    cut(build1)
    led.until(lambda: unreached(led, "bob"), "home notices")
    build1.start()
    led.until(lambda: tells(led, agent, "idle"), "its files say so again")


@pytest.mark.parametrize("agent", AGAIN)
def test_its_conversation_goes_on(led: Team, build1: Machine, agent: str) -> None:
    """Issue 19, build 2: by the id that it chose there, and it is told nothing anew.

    Where that machine has it no more, it begins with its prompt, and the new one goes on from then.
    """
    first = begun(led, build1, agent)
    finish(led, build1, agent)
    assert goes_on(restarted(led, build1), agent, first)
    led("team", "stop", "--force", "--timeout", "1")
    nothing_left(led, build1)
    led("team", "resume")
    led.until(lambda: len(sessions_of(build1)) == 3, "it has begun")
    assert goes_on(sessions_of(build1)[-1], agent, first)
    assert led.member("bob")["session"] == first

    shutil.rmtree(build1.home / FOLDERS[agent])
    (build1.home / "finish").unlink()
    assert TASK in restarted(led, build1)[-1]
    second = led.until(lambda: (id := led.member("bob")["session"]) != first and id, "the new one is known")
    finish(led, build1, agent)
    assert goes_on(restarted(led, build1), agent, second)
    fresh = restarted(led, build1, "--fresh")
    assert TASK in fresh[-1]
    assert second not in fresh


def goes_on(words: list[str], agent: str, id: str) -> bool:
    """Return True when these words go on with a conversation, and tell nothing else."""
    at = words.index(AGAIN[agent]) if AGAIN[agent] in words else len(words)
    return words[at + 1 : at + 2] == [id] and TASK not in " ".join(words)
