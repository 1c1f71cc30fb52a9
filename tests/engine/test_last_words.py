"""Scripted agents end their turns in plain text: a lead agent hears each last word once (issue 14, must show 4)."""

import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from pro0 import processes
from pro0.agents.claude import waiter, waking
from pro0.agents.codex import server, starter
from pro0.engine.background.words import left_running
from pro0.model.runtime import State, TurnEnd
from pro0.model.task import Draft
from pro0.ops.context import clock
from pro0.ops.team.members import SeatDraft
from pro0.ops.team.status import MemberStatus, remark
from tests.conftest import Result
from tests.engine.crew import Crew, crew
from tests.processes.families import running
from tests.waiting import STUCK, wait_until

SCRIPT = Path(__file__).parents[1] / "programs" / "speaking.py"
AGENTS = ("claude", "codex", "gemini", "opencode", "pi")


@pytest.fixture
def asked(home: Path, tmp_path: Path) -> Path:
    """Let each of the five agents be a stand-in, and return the folder from which they take their turns."""
    programs, folder = tmp_path / "bin", tmp_path / "user" / "speaking"
    programs.mkdir()
    folder.mkdir()
    for name in AGENTS:
        (programs / name).write_text(f'#!/bin/sh\nexec {sys.executable} -I {SCRIPT} {name} "$@"\n')
        (programs / name).chmod(0o755)
    return folder


@pytest.fixture
def alpha(home: Path, tmp_path: Path, asked: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Crew]:
    """A team in terminals of ours, whose members find the stand-ins."""
    monkeypatch.setenv("PRO0_END_GRACE_SECONDS", "1")
    with crew(home, tmp_path, "in-process") as made:
        with made.team.environment.change("a test") as change:
            found = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
            change.value = replace(change.value, variables={"HOME": os.environ["HOME"], "PATH": found})
        yield made


class Letters:
    """What the lead address was told of turns; its mailbox is bounded, so it is read again and again."""

    def __init__(self, team: Crew) -> None:
        self._team = team
        self.known: dict[str, str] = {}

    def telling(self, text: str) -> list[str]:
        """Return the letters with this last line."""
        self.known |= {letter.id: letter.content for letter in self._team.mail() if ":idle:" in letter.id}
        return [content for content in self.known.values() if content.splitlines()[-1] == text]


@pytest.mark.parametrize("turns", [2, pytest.param(40, marks=pytest.mark.soak)])
def test_every_last_word_reaches_the_lead_once(
    asked: Path, alpha: Crew, cli: Callable[..., Result], turns: int
) -> None:
    letters = Letters(alpha)
    alpha.lead()
    alpha.led()
    alpha.spawn(*(SeatDraft(name=f"of-{agent}", agent=agent) for agent in AGENTS))
    members = [f"of-{agent}" for agent in AGENTS]
    expected = [f"{name} is there" for name in members]
    held = dict.fromkeys(members, "")
    for turn in range(turns):
        wait_until(lambda: all(map(letters.telling, expected)), STUCK, "their words are told")
        for name in members:
            claim = "" if held[name] else alpha.give(Draft(title="look", assignee=name))[0]
            text = f"{name} said {turn}"
            part = asked / f"{name}.part"
            part.write_text(json.dumps({"complete": held[name], "claim": claim, "text": text}))
            part.rename(asked / f"{name}.json")
            held[name] = claim
            expected.append(text)
    wait_until(lambda: all(map(letters.telling, expected)), STUCK, "their last words are told")
    for name in members:
        assert alpha.reaches(name, State.IDLE).turn
        for turn in range(turns):
            (letter,) = letters.telling(f"{name} said {turn}")
            assert ("holds task-" in letter) == (turn % 2 == 0), letter
    shown = cli("member", "show", "of-pi", "--team", "alpha").out.splitlines()
    assert shown[0].split(maxsplit=2) == ["last", "words", f"of-pi said {turns - 1}"]
    told = Counter(content.splitlines()[-1] for content in letters.known.values())
    assert told == Counter(expected), "one letter for each turn, and no other"


WORDS = TurnEnd(at=clock(), how="ended", words="I looked.\nThere are 3 bugs.", source="transcript")


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({}, "said: There are 3 bugs."),
        ({"queued": "typing"}, "typing"),
        ({"note": "a note", "queued": "typing"}, "a note"),
        ({"state": State.WORKING}, ""),
        ({"turn": None}, ""),
    ],
)
def test_status_and_board_show_what_an_idle_member_said(more: dict[str, Any], text: str) -> None:
    member = MemberStatus(name="w1", agent_id="w1", agent="pi", state=State.IDLE, turn=WORDS)
    assert remark(replace(member, **more)) == text


@pytest.mark.parametrize("folder", ["mcp", "my-mcp-server/tests", "modelcontextprotocol"])
def test_a_program_in_a_folder_with_the_name_of_a_server_is_one_that_was_left_running(
    folder: str, tmp_path: Path
) -> None:
    """Else nothing that runs in such a project would be named, and its worker would seem stuck."""
    (script := tmp_path / folder / "node_modules" / "watch.py").parent.mkdir(parents=True)
    script.write_text("import time; time.sleep(300)")
    parent = "import subprocess, sys; subprocess.Popen(sys.argv[1:]); sys.stdin.readline()"
    with running([sys.executable, "-c", parent, sys.executable, str(script)], stdin=-1) as child:
        me = processes.identify(child.pid)
        try:
            named = (Path(sys.executable).name,)
            wait_until(lambda: left_running(me, frozenset()) == named, STUCK, "it is named")
        finally:
            for process in processes.descendants(child.pid):
                os.kill(process.pid, signal.SIGKILL)
            child.communicate()


def test_what_serves_an_agent_is_no_program_that_it_left_running(tmp_path: Path) -> None:
    """Claude's waiter comes up in the middle of a session, and a new lead does not know what was there before."""
    (keeper := tmp_path / "idle.py").write_text("import time; time.sleep(300)")
    idle = [sys.executable, str(keeper)]
    beside = [
        ["sh", "-c", str(waking.hook(str(tmp_path))["command"])],
        [*idle, "-m", "pro0", "mcp"],
        [*idle, "exec", "@modelcontextprotocol/server-filesystem"],
        [*idle, "/x/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", "/x"],
        [*idle, "/x/node_modules/@playwright/mcp/cli.js"],
        [*idle, "/x/bin/mcp-server-git"],
        [*idle, "-c", 'mcp-server-filesystem "/x"'],
        [*idle, *starter.command(str(tmp_path))],
        [*idle, "app-server", "--listen", server.address(str(tmp_path))],
    ]
    (agent := tmp_path / "agent.py").write_text(
        "import json, subprocess, sys\n"
        "started = [subprocess.Popen(words, stdin=subprocess.DEVNULL) for words in json.loads(sys.argv[1])]\n"
        "sys.stdin.readline()\n"
        "for process in started: process.kill()\n"
    )
    words = [sys.executable, str(agent), json.dumps([*beside, ["sleep", "300"]])]
    with running(words, stdin=-1) as child:
        me = processes.identify(child.pid)
        try:
            wait_until(lambda: len(processes.descendants(child.pid)) == len(beside) + 1, STUCK, "all run")
            wait_until((tmp_path / waiter.PIPE).exists, STUCK, "the waiter waits")
            wait_until(lambda: left_running(me, frozenset()) == ("sleep",), STUCK, "only it is named")
        finally:
            child.communicate()
