"""`pro0 agent`: which agents there are, and what a screen of theirs means."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from pro0.agents.adapter import Adapter, Invocation
from pro0.agents.drawings import drawing_named
from pro0.engine.opening.versions import ask_version
from pro0.model.agent import AGENTS, offered
from pro0.model.runtime import State
from pro0.ops.context import Context
from pro0.ops.tasks.drafts import SeatDraft
from pro0.ops.team import members
from tests.cli.conftest import Pro0, become, make, seat, tree
from tests.recorded import FOLDER
from tests.waiting import wait_until

FAKE = Adapter(
    name="fake",
    program="fake-agent",
    tested=("1.2.3", "1.10.2"),
    call=lambda brief: Invocation(argv=("fake-agent",)),
    first_state=State.STARTING,
    delivery="line",
    answers_shutdown=True,
    asks_at_turn_end=True,
    screens=drawing_named("gemini"),
    session_ids="chosen",
)


def program(folder: Path, text: str, name: str = "fake-agent") -> str:
    """Make a program of a shell script and return its path."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Let there be an agent `fake`, and return a folder of the search path where its program is looked for."""
    monkeypatch.setitem(sys.modules, "pro0.agents.fake", sys.modules[__name__])
    monkeypatch.setitem(AGENTS, "fake", "fake:FAKE")
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


def listed(pro0: Pro0) -> dict[str, object]:
    done = pro0("agent", "list", "--json")
    assert done.code == 0
    facts = {agent["agent"]: agent for agent in json.loads(done.out)}
    assert list(facts) == sorted(offered())
    found = facts["fake"]
    assert isinstance(found, dict)
    return found


def test_an_installed_agent_is_listed_with_its_version_and_channels(pro0: Pro0, fake: Path) -> None:
    path = program(fake, "echo fake-agent 1.2.30 '(of today)'")
    assert listed(pro0) == {
        "agent": "fake",
        "program": "fake-agent",
        "path": path,
        "version": "1.2.30",
        "usable": True,
        "missing": [],
        "state": ["title", "screen", "process"],
        "delivery": ["turn-end", "line"],
        "resumes": True,
        "seen": "1.10.2",
        "unproved": False,
        "proved": None,
        "off": [],
    }


def test_what_is_missing_is_said_with_what_to_do(pro0: Pro0, fake: Path) -> None:
    found = listed(pro0)
    assert (found["usable"], found["path"], found["version"]) == (False, "", "")
    assert found["missing"] == ["fake-agent is not installed: install fake-agent"]
    shown = pro0("agent", "list")
    assert shown.code == 0
    assert "fake: fake-agent is not installed" in shown.err


def test_agents_that_ship_with_pro0_are_usable(pro0: Pro0) -> None:
    facts = {agent["agent"]: agent for agent in json.loads(pro0("agent", "list", "--json").out)}
    assert facts["shell"]["usable"]
    assert facts["shell"]["delivery"] == ["mailbox"]
    assert facts["command"]["state"] == ["process"]
    assert pro0("agent", "list", "-o", "name").out.split() == sorted(offered())


def test_doctor_knows_which_agents_are_installed_and_well(pro0: Pro0, fake: Path) -> None:
    def said() -> tuple[str, str]:
        checks = json.loads(pro0("doctor", "--json").out)["checks"]
        return next((check["state"], check["what"]) for check in checks if check["name"] == "agent fake")

    assert said() == ("ok", "not installed; only members that run it need it")
    path = program(fake, "echo 1.2.3")
    assert said() == ("ok", f"1.2.3, {path}")
    program(fake, "exit 1")
    assert said() == ("warn", f"{path} --version says no version (exit code 1)")


@pytest.mark.parametrize(
    ("script", "version", "why"),
    [
        ("echo v2.0.1-rc.1", "2.0.1-rc.1", ""),
        ("echo 1.0; exit 3", "", "says no version (exit code 3)"),
        ("echo hello", "", "says no version (exit code 0)"),
        ("echo 1.0 >&2", "", "says no version"),
        ("exec sleep 600", "", "does not answer within 0.5 s"),
    ],
)
def test_a_program_says_its_version_or_why_not(tmp_path: Path, script: str, version: str, why: str) -> None:
    said, reason = ask_version(program(tmp_path, script), 0.5)
    assert said == version
    assert why in reason
    assert bool(reason) is not bool(version)


def test_a_file_that_is_no_program_is_said_to_be_none(tmp_path: Path) -> None:
    path = tmp_path / "fake-agent"
    path.write_bytes(b"\0\1\2")
    path.chmod(0o755)
    assert "cannot be run" in ask_version(str(path))[1]


def test_what_a_program_leaves_behind_is_ended(tmp_path: Path) -> None:
    left = tmp_path / "left"
    said = ask_version(program(tmp_path, f"sleep 600 >/dev/null & echo $! > {left}; echo 1.0"))
    assert said == ("1.0", "")
    pid = int(left.read_text())
    wait_until(lambda: _gone(pid), 10, "the child has ended")


def _gone(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGCONT)
    except ProcessLookupError:
        return True
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] == "Z"


def test_a_screen_is_explained(pro0: Pro0) -> None:
    """Issue 4, build 2."""
    done = pro0(
        "agent", "explain", "claude", "--screen", str(FOLDER / "claude-permission-prompt.txt"), "--title", "✳ x"
    )
    assert done.code == 0
    assert "waiting, by the rule permission" in done.out
    assert "Bash command · touch perm1.txt" in done.out
    assert "❯ 1. Yes" in done.out
    assert "\x1b" not in done.out


def test_a_screen_from_stdin_is_explained_as_data(pro0: Pro0) -> None:
    text = (FOLDER / "gemini-working.txt").read_text(encoding="utf-8")
    done = pro0("agent", "explain", "gemini", "--screen", "-", "--title", "◇  Ready (x)", "--json", stdin=text)
    said = json.loads(done.out)
    assert {key: said[key] for key in ("agent", "state", "source", "rule", "note")} == {
        "agent": "gemini",
        "state": "idle",
        "source": "title",
        "rule": "title-ready",
        "note": "",
    }
    assert [(one["source"], one["state"], one["place"]) for one in said["readings"]] == [
        ("title", "idle", ""),
        ("screen", "working", "empty input box"),
    ]
    assert "Thinking..." in said["readings"][1]["rows"][0]


def test_a_title_is_explained_alone(pro0: Pro0) -> None:
    done = pro0("agent", "explain", "codex", "--title", "[ ! ] Action Required | x", "--json")
    assert (done.code, json.loads(done.out)["state"]) == (0, "waiting")


@pytest.mark.parametrize("text", ["", "nothing that is known", "\n\n\n"])
def test_what_is_not_known_is_unknown_and_exits_1(pro0: Pro0, text: str) -> None:
    done = pro0("agent", "explain", "codex", "--screen", "-", "--json", stdin=text)
    assert (done.code, json.loads(done.out)["state"]) == (1, "unknown")
    assert pro0("agent", "explain", "claude", "--title", "x").code == 1


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["claude"], 2, "give --screen FILE"),
        (["nobody", "--title", "x"], 3, "no screens of 'nobody' are known"),
        (["shell", "--title", "x"], 3, "no screens of 'shell' are known"),
        (["claude", "--screen", "not-there"], 3, "there is no file not-there"),
        (["claude", "--screen", "."], 2, "cannot be read"),
    ],
)
def test_what_cannot_be_explained_is_said_in_one_line(pro0: Pro0, words: list[str], code: int, said: str) -> None:
    done = pro0("agent", "explain", *words)
    assert (done.code, done.out) == (code, "")
    assert said in done.err


def test_an_endless_screen_is_refused(pro0: Pro0) -> None:
    done = pro0("agent", "explain", "claude", "--screen", "-", stdin="x" * (1024 * 1024 + 1))
    assert done.code == 2
    assert "larger than 1048576 bytes" in done.err


def test_bytes_that_are_no_text_and_control_characters_are_shown_harmless(pro0: Pro0, tmp_path: Path) -> None:
    rule = "─" * 20
    path = tmp_path / "screen"
    path.write_bytes(f"{rule}\n❯ \x07\x9b31m evil \u202e\n{rule}\n".encode() + b"\xff\xfe\n")
    done = pro0("agent", "explain", "claude", "--screen", str(path))
    assert "draft" in done.out
    assert not set("\x07\x9b\x1b\u202e") & set(done.out)


def test_nothing_is_made_for_an_agent_that_is_not_installed(
    pro0: Pro0, home: Path, fake: Path, team: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is said first, with the program and how to get it: exit 6, no team, no member."""
    before = tree(home)
    start = ("team", "start", "beta", "--mode", "headless", "-m", "w1=shell")
    settings = json.dumps({"mine": {"argv": ["no-such-agent", "{prompt}"], "install": "pipx install no-such-agent"}})
    monkeypatch.setenv("PRO0_AGENTS", settings)
    for agent, program, hint in (
        ("fake", "fake-agent", "install fake-agent"),
        ("mine", "no-such-agent", "pipx install no-such-agent"),
    ):
        for words in (
            (*start, "-m", f"w2={agent}"),
            (*start, "--lead", agent, "go"),
            ("member", "spawn", "w9", "--agent", agent),
        ):
            said = pro0(*words)
            assert (said.code, said.out) == (6, ""), said
            assert f"{program}, which the agent {agent} runs, is not installed" in said.err
            assert f"hint: {hint}\n" in said.err
    assert pro0(*start, "-m", "w2=nobody").code == 2
    assert tree(home) == before


def test_agents_of_the_settings_are_listed(pro0: Pro0, project: Path, fake: Path, scripts: None) -> None:
    (project / ".pro0").mkdir()
    (project / ".pro0" / "config.yaml").write_text(
        "agents: {mine: {argv: [fake-agent], nudge: true, screens: aider}}\n"
    )
    path = program(fake, "echo 0.1")
    assert pro0("config", "trust").code == 0
    found = {agent["agent"]: agent for agent in json.loads(pro0("agent", "list", "--json").out)}["mine"]
    assert (found["path"], found["version"], found["resumes"]) == (path, "0.1", False)
    assert (found["state"], found["delivery"]) == (["screen", "process"], ["line"])
    assert "mine" in pro0("agent", "list", "-o", "name").out.split()
    assert "mine" in pro0("config", "get", "agents").out


def test_what_an_agent_does_not_take_is_refused_or_left_out(pro0: Pro0, team: Context, fake: Path) -> None:
    """A wish for one member is refused; what a layout gives to all is shown for those who take it."""
    program(fake, "sleep 600", "gemini")
    for words, what in ((("--agent", "gemini", "--effort", "high"), "effort"), (("--model", "big"), "model")):
        said = pro0("member", "spawn", "w9", *words, "--no-wait")
        assert said.code == 2, said
        assert f"takes no {what}" in said.err
    drafts = [SeatDraft(name=name, agent=name, model="big", effort="high") for name in ("shell", "gemini")]
    spawned = {seat.agent: (seat.model, seat.effort) for seat in members.spawn(team, drafts, 10)}
    assert spawned == {"shell": ("", ""), "gemini": ("big", "")}
    shown = pro0("team", "status").out
    assert "gemini (big)  ask" in " ".join(shown.split("\n")[-20:])
    modes = {one["agentId"]: one["permissionMode"] for one in json.loads(pro0("member", "list", "--json").out)}
    assert (modes["gemini"], modes["shell"], modes["w1"]) == ("ask", "", "")


def test_a_lead_agent_gives_no_more_than_it_has(
    pro0: Pro0, home: Path, project: Path, fake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(fake, "sleep 600", "gemini")
    context = make(home, "alpha", project)
    seat(context, "lead")
    become(monkeypatch, context, "lead")
    said = pro0("member", "spawn", "w9", "--agent", "gemini", "--permission-mode", "bypass", "--no-wait")
    assert (said.code, context.team.wanted.read().seats[1:]) == (4, ())
    assert "a lead agent in the mode ask may not give anybody the mode bypass" in said.err


DEFINED = {
    "mine": {
        "argv": ["fake-agent"],
        "screens": {"prompt": "> ", "waiting": ["Allow this?"], "dialog": [], "working": []},
    },
    "theirs": {"argv": ["fake-agent"], "screens": "aider"},
    "blind": {"argv": ["fake-agent"]},
}


@pytest.fixture
def agents_of_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Agents that the settings define: one by words, one like one that is known, one without screens."""
    monkeypatch.setenv("PRO0_AGENTS", json.dumps(DEFINED))


@pytest.mark.parametrize(
    ("agent", "screen", "state"),
    [
        ("mine", "Allow this? (y/n)\n> ", "waiting"),
        ("mine", "> ", "idle"),
        ("mine", "> half a th", "draft"),
        ("theirs", (FOLDER / "aider-idle.txt").read_text(encoding="utf-8"), "idle"),
    ],
)
@pytest.mark.usefixtures("agents_of_the_settings")
def test_a_screen_of_an_agent_of_the_settings_is_explained(pro0: Pro0, agent: str, screen: str, state: str) -> None:
    done = pro0("agent", "explain", agent, "--screen", "-", "--json", stdin=screen)
    assert (done.code, json.loads(done.out)["state"]) == (0, state)


@pytest.mark.usefixtures("agents_of_the_settings")
def test_an_agent_of_the_settings_without_screens_cannot_be_explained(pro0: Pro0) -> None:
    done = pro0("agent", "explain", "blind", "--title", "x")
    assert (done.code, done.out) == (3, "")
    assert "no screens of 'blind' are known" in done.err
    assert "agents.blind.screens" in done.err


@pytest.mark.usefixtures("agents_of_the_settings")
def test_doctor_looks_at_agents_of_the_settings(pro0: Pro0, fake: Path) -> None:
    path = program(fake, "echo 0.1")
    checks = {check["name"]: check for check in json.loads(pro0("doctor", "--json").out)["checks"]}
    assert [checks[f"agent {name}"]["what"] for name in DEFINED] == [f"0.1, {path}"] * 3


@pytest.mark.parametrize(
    ("version", "than"),
    [
        *((version, "") for version in ("1.2.3", "1.9.9", "1.10.2")),
        *((version, "newer than 1.10.2, the last") for version in ("1.10.3-beta", "2.0")),
        *((version, "older than any version") for version in ("1.2", "1.2.2", "0.9")),
    ],
)
def test_a_version_that_the_rules_were_not_proved_with_is_named(
    version: str, than: str, pro0: Pro0, fake: Path, home: Path
) -> None:
    """Its screens may have changed: without a word nobody would know why its state is unknown."""
    program(fake, f"echo fake {version}")
    found = listed(pro0)
    assert (found["seen"], found["unproved"]) == ("1.10.2", bool(than))
    text = f"{version} is {than} that pro0's rules for its states were proved with"
    assert (f"fake: {text}" in pro0("agent", "list").err) is bool(than)
    checks = {check["name"]: check for check in json.loads(pro0("doctor", "--json").out)["checks"]}
    assert (checks["agent fake"]["state"], checks["agent fake"]["what"] == text) == (
        ("warn", True) if than else ("ok", False)
    )
