"""Each real agent that can be on another machine, there. A program in the place of ssh runs what ssh would run there.

The box has no account that sshd lets in; that the rest is as with ssh is shown with stand-ins (`tests/e2e`).
"""

import os
import shlex
import signal
import sys
from pathlib import Path

import pytest

from pro0.scripted_model.server import Provider
from pro0.scripted_model.setups import SETUPS
from pro0.scripted_model.turns import say, shell, use
from tests.e2e.machines import records
from tests.real_agents.scripts import marker, teammate
from tests.real_agents.states import PATIENCE
from tests.real_agents.team import RealTeam
from tests.real_agents.test_permission import asked

pytestmark = pytest.mark.agents
LETTER = "it is done there"
WORK = (
    use("claim_task", task_id="task-1"),
    use("message", to="human", content=LETTER),
    use("complete_task", task_id="task-1", result="done"),
)
SOURCES = {
    "claude": "session file",
    "codex": "rollout",
    "opencode": "database",
    "pi": "bridge",
    "gemini": "title",
}
"""What tells the state of each there; Gemini CLI's files tell only errors, here as there."""
SSH = """#!/bin/sh
for line; do :; done
exec env -i {variables} /bin/sh -c "cd && $line"
"""
"""In the place of ssh: the last word is the command line, and all else of the machine is its own."""


def machine(at: Path, variables: dict[str, str]) -> str:
    """Return the command that reaches another machine, whose home is `at` and whose variables are these."""
    folder = at / "bin"
    folder.mkdir(parents=True)
    (folder / "pro0").write_text(f'#!/bin/sh\nexec {sys.executable} -m pro0 "$@"\n')
    own = {"HOME": str(at), "PRO0_HOME": f"{at}/pro0", "PATH": f"{folder}:{os.environ['PATH']}", "LANG": "C.UTF-8"}
    words = " ".join(f"{name}={shlex.quote(text)}" for name, text in (variables | own).items())
    (folder / "ssh").write_text(SSH.format(variables=words))
    for program in folder.iterdir():
        program.chmod(0o700)
    return f"{folder}/ssh"


def begun(agent: str, provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set a machine up for an agent; return its home, where sessions begin."""
    there = tmp_path / "there"
    setup = SETUPS[agent](provider.url, there)
    monkeypatch.setenv("PRO0_SSH", machine(there, setup.environment))
    setup.write(there)
    return there


@pytest.mark.parametrize("agent", SETUPS)
def test_an_agent_there_works_and_leaves(
    agent: str, provider: Provider, team: RealTeam, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 19, build 2: it takes its words, gets its tools without asking, is told of mail, and leaves."""
    begun(agent, provider, tmp_path, monkeypatch)
    provider.script(marker("w1"), teammate(*WORK))
    words = ("--lead", "none", "--permission-mode", "ask", "--task", "do it there")
    team.begin(*words, w1=f"{agent}@build1")
    team.eventually(lambda: team.task("task-1")["status"] == "completed", "the task is completed")
    assert team.mail("w1") == [LETTER]
    team.becomes("w1", "idle")
    team("send", "w1", "well done", "--wait", str(PATIENCE))
    team.eventually(lambda: "well done" in team.read("w1"), "its model has it")
    team.eventually(lambda: team.member("w1")["deliveredBy"] == "keys", "it was typed")
    team.becomes("w1", "idle")
    team.counted("w1")
    team("member", "shutdown", "w1", "--timeout", str(PATIENCE))
    assert team.state("w1") == "shutdown"
    team.eventually(lambda: not records(team), "the machine says that it is over")


@pytest.mark.parametrize("agent", SETUPS)
def test_the_conversation_goes_on_there(
    agent: str, provider: Provider, team: RealTeam, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 19, build 2: it takes up what was said in the sessions before, by the id of the first.

    Its own files there tell its state and its last words.
    """
    begun(agent, provider, tmp_path, monkeypatch)
    provider.script(marker("w1"), teammate())
    team.begin("--lead", "none", "--permission-mode", "ask", w1=f"{agent}@build1")
    for number in range(3):
        team.becomes("w1", "idle")
        team("send", "w1", f"letter {number}", "--wait", str(PATIENCE))
        team.eventually(lambda number=number: f"letter {number}" in team.read("w1"), "its model has it")  # type: ignore[misc]
        newest = provider.of(marker("w1"))[-1].request
        said = "\n".join(entry.text for entry in newest.entries if entry.who == "tool")
        assert [earlier for earlier in range(3) if f"letter {earlier}" in said] == [*range(number + 1)]
        team.eventually(lambda: says(team) == ("idle", SOURCES[agent]), "its files say that its turn is over")
        team.eventually(lambda: "Nothing is left to do." in team("member", "show", "w1").out, "its words are known")
        os.kill(team.member("w1")["pid"], signal.SIGKILL)
        team.becomes("w1", "crashed")
        team.eventually(lambda: not records(team), "the machine says that it is over")
        if number < 2:
            team("member", "restart", "w1")


def test_the_conversation_that_clear_began_there_goes_on(
    provider: Provider, team: RealTeam, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 19, build 2: Claude Code's own file there names it."""
    begun("claude", provider, tmp_path, monkeypatch)
    provider.script(marker("w1"), teammate())
    team.begin("--lead", "none", "--permission-mode", "ask", w1="claude@build1")
    team.becomes("w1", "idle")
    first = team.member("w1")["session"]
    team.pane("w1").keys("/clear", "Enter")
    team.eventually(lambda: team.member("w1")["session"] != first, "home knows the new one")
    provider.script("remember the blue door", teammate())
    team.pane("w1").keys("please remember the blue door", "Enter")
    team.eventually(lambda: provider.of("remember the blue door"), "its model has it")
    team.eventually(lambda: says(team) == ("idle", SOURCES["claude"]), "its turn is over")
    os.kill(team.member("w1")["pid"], signal.SIGKILL)
    team.becomes("w1", "crashed")
    team.eventually(lambda: not records(team), "the machine says that it is over")
    team("member", "restart", "w1")
    team.becomes("w1", "idle")
    before = len(provider.of("remember the blue door"))
    team.pane("w1").keys("and the key", "Enter")
    team.eventually(lambda: len(provider.of("remember the blue door")) > before, "it goes on with that one")


def says(team: RealTeam) -> tuple[str, str]:
    """What w1 does, and what says so."""
    w1 = team.member("w1")
    return w1["state"], w1["source"]


ASKS = (shell("touch asked.txt", outside=True), say("It went on."))


def asking(agent: str, provider: Provider, team: RealTeam, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let w1 ask for leave there; return the home of its machine."""
    there = begun(agent, provider, tmp_path, monkeypatch)
    provider.script(marker("w1"), teammate(*ASKS))
    team.begin("--lead", "none", "--permission-mode", "ask", w1=f"{agent}@build1")
    team.becomes("w1", "waiting")
    return there


@pytest.mark.parametrize("choice", ["allow", "deny"])
def test_a_permission_there_is_answered_from_home(
    choice: str, provider: Provider, team: RealTeam, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 19, must show 1: Claude Code's own dialog stays open meanwhile, and one answer counts."""
    there = asking("claude", provider, team, tmp_path, monkeypatch)
    team.eventually(lambda: asked(team), "its request is known")
    request = asked(team)
    assert "touch asked.txt" in team("member", "answer", request).out
    assert not (there / "asked.txt").exists()
    team("member", "answer", request, choice)
    assert f"answered: {choice}" in team("member", "answer", request, "allow", code=4).err
    team.becomes("w1", "idle")
    assert (there / "asked.txt").exists() is (choice == "allow")


@pytest.mark.parametrize("key", ["Enter", "Escape"])
def test_a_permission_there_that_is_answered_in_its_pane_takes_no_other_answer(
    key: str, provider: Provider, team: RealTeam, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 17, build 3: Claude ends its hook after Enter, and leaves it alone after Escape."""
    there = asking("claude", provider, team, tmp_path, monkeypatch)
    team.eventually(lambda: asked(team), "its request is known")
    request = asked(team)
    team.pane("w1").keys(key)
    team.becomes("w1", "idle")
    team.eventually(lambda: "is over" in team("member", "answer", request).out, "its request is over")
    assert "answered where the agent asked" in team("member", "answer", request, "deny", code=4).err
    assert (there / "asked.txt").exists() is (key == "Enter")


@pytest.mark.parametrize("agent", [agent for agent in SETUPS if agent != "claude"])
def test_another_agent_there_is_answered_in_its_pane(
    agent: str, provider: Provider, team: RealTeam, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 19, build 2: it asks as its mode says, and nothing is typed into its question."""
    there = asking(agent, provider, team, tmp_path, monkeypatch)
    assert "queued" in team("send", "w1", "a note", "--wait", "3", code=124).err
    assert not (there / "asked.txt").exists()
    team.pane("w1").keys("Enter")
    team.eventually(lambda: "a note" in team.read("w1"), "it has read its mail")
    assert (there / "asked.txt").exists()
