"""Secrets of who starts a team: each reaches the agent whose it is, and nothing else (check 70, rulings 3.17)."""

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from pro0.agents import adapter_named
from pro0.engine.opening.environment import kept_environment, keys_of_agents, of_agent
from pro0.model.agent import AGENTS, Definition
from tests import elsewhere
from tests.contracts.stand_in import terminal_for
from tests.e2e.conftest import Team, kill, team
from tests.elsewhere import Placed
from tests.scenarios.claudes import claudes
from tests.scenarios.conftest import MODES
from tests.waiting import wait_until

__all__ = ["claudes", "team"]

pytestmark = pytest.mark.usefixtures("scripts")

OTHERS = ("MY_PASSWORD", "GITHUB_PAT", "DATABASE_URL", "NPM_TOKEN", "PRO0_SECRET")
"""Nobody's: they stay where they are."""
OWN = {"ANTHROPIC_API_KEY": "w1", "MINE_KEY": "w2"}
"""Whose each of these is."""
AGENT = {
    "mine": {
        "argv": [sys.executable, "-S", "-c", "import time; time.sleep(600)", "{prompt}"],
        "environment": ["MINE_*"],
    }
}


@pytest.fixture(params=(*MODES, "in-process", pytest.param("iterm2", marks=pytest.mark.soak)))
def mode(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Each mode, in the terminal that it asks for, which somebody else has started and which knows no secret."""
    with terminal_for(request.param, tmp_path):
        yield request.param


@pytest.fixture
def secrets(mode: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """Variables of who starts the team, each with a value that is nowhere else on this machine."""
    return secrets_of(monkeypatch)


def secrets_of(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    found = {name: f"s3nt1nel-{uuid.uuid4().hex}" for name in (*OTHERS, *OWN)}
    for name, value in found.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PRO0_AGENTS", json.dumps(AGENT))
    return {name: value.encode() for name, value in found.items()}


def test_each_secret_reaches_its_agent_and_nothing_else(
    mode: str, team: Team, claudes: Path, secrets: dict[str, bytes]
) -> None:
    more = range(5, 9) if mode in MODES else ()
    members = ("w1=claude", "w2=mine", "w3=shell", *(f"w{number}=shell" for number in more))
    words = [word for member in members for word in ("-m", member)]
    team("team", "start", "alpha", "--detach", "--mode", mode, *words)
    team("member", "spawn", "w4", "--", sys.executable, "-S", "-c", "import time; time.sleep(600)")
    team("task", "create", "look", "--run", "env > seen; sleep 600", "--assignee", "w3")
    wait_until((team.project / "seen").is_file, 40, "a command has written down what it sees")

    pids = {member["agentId"]: member["pid"] for member in team.json("team", "status")["members"]}
    assert len(pids) == len(members) + 1
    owners = {name: _tree(pids[whose]) for name, whose in OWN.items()}
    [lead] = [team.json("team", "status")["lead"]["pid"]]
    for name, secret in secrets.items():
        assert not [pid for pid, argv in _everybody("cmdline") if secret in argv], f"{name} is in argv"
        holders = {pid for pid, environment in _everybody("environ") if secret in environment}
        assert holders <= owners.get(name, set()) | _forks(lead), f"{name} is in the environment of others"
        assert bool(holders) is (name in OWN), name

    kill(pids["w1"])
    team.until(lambda: team.state("w1") == "crashed", "its crash is seen", 40)
    said = "".join(
        team(*command).out
        for command in (
            *(("team", "status", "--json"), ("team", "logs", "--json"), ("member", "list"), ("inbox", "--all")),
            *(("member", "show", "w1"), ("member", "env", "w2"), ("member", "peek", "w2"), ("agent", "list")),
        )
    )
    for name, secret in secrets.items():
        assert secret.decode() not in said, f"{name} is printed"
        places = {path.name for path in _files(team.home.parent) if secret in path.read_bytes()}
        assert places <= ({"environment.json"} if name in OWN else set()), f"{name} is in a file"
    if mode == "tmux":
        shown = _tmux_environment()
        assert b"PATH=" in shown
        assert not [name for name, secret in secrets.items() if secret in shown]


@pytest.mark.parametrize("placed", [elsewhere.MODES[0]], indirect=True)
def test_no_secret_of_home_goes_to_another_machine(
    placed: Placed, team: Team, claudes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 19, must show 3: not even an agent's own, and nobody at home has it for the sake of that agent."""
    found, host = secrets_of(monkeypatch), placed.host
    team(
        "team", "start", "alpha", "--detach", "--mode", placed.shown, "-m", f"w2=mine@{host}", "-m", f"w3=shell@{host}"
    )
    team("member", "spawn", "w4", "--host", host, "--", sys.executable, "-S", "-c", "import time; time.sleep(600)")
    team("task", "create", "look", "--run", "env > seen; sleep 600", "--assignee", "w3")
    assert placed.machine
    seen = placed.machine.home / "seen"
    wait_until(lambda: seen.is_file() and "PRO0_AGENT_ID" in seen.read_text(), 40, "a command writes what it sees")
    lead = team.json("team", "status")["lead"]["pid"]
    for name, secret in found.items():
        assert not [pid for pid, argv in _everybody("cmdline") if secret in argv], f"{name} is in argv"
        holders = {pid for pid, environment in _everybody("environ") if secret in environment}
        assert holders <= _forks(lead), f"{name} is in the environment of others"
        places = {path.name for path in _files(team.home.parent) if secret in path.read_bytes()}
        assert places <= ({"environment.json"} if name in OWN else set()), f"{name} is in a file"
    assert seen in _files(team.home.parent), "the files of that machine were looked at"


@pytest.mark.parametrize("agent", AGENTS)
def test_no_agent_sees_the_keys_of_another(agent: str) -> None:
    """For every variable that only some agent gets, and for those of agents of the settings."""
    named = {pattern.replace("*", "_X") if pattern.endswith("*") else pattern for pattern in keys_of_agents()}
    mine = Definition(argv=("mine",), environment=("MINE_*", "ANTHROPIC_*"))
    kept = kept_environment(dict.fromkeys((*named, "MINE_KEY", "PATH", *OTHERS), "s"), (), [mine])
    passes = adapter_named(agent).passes
    seen = of_agent(kept, passes)
    own = {name for name in named if any(_fits(name, pattern) for pattern in passes)}
    assert set(seen) == {"PATH"} | own | {name for name in named if name in ("PATH",)}
    assert set(of_agent(kept, mine.environment)) == {"PATH", "MINE_KEY"} | {
        n for n in named if n.startswith("ANTHROPIC_")
    }


def _fits(name: str, pattern: str) -> bool:
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern


def _everybody(what: str) -> Iterator[tuple[int, bytes]]:
    """Yield a file of every process in /proc that may be read, but of this one, which has made the secrets."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            with suppress(OSError):
                yield int(folder.name), (folder / what).read_bytes()


def _tree(pid: int) -> set[int]:
    return {pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))}


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def _tmux_environment() -> bytes:
    """Return what the team's tmux server knows of variables, for all and for each session."""
    sockets = [path for path in Path(os.environ["TMUX_TMPDIR"]).rglob("*") if path.is_socket()]
    shown = b""
    for socket in sockets:
        tmux = ("tmux", "-S", str(socket))
        sessions = subprocess.run([*tmux, "list-sessions", "-F", "#{session_id}"], capture_output=True)
        targets = [("-g",), *(("-t", name) for name in sessions.stdout.decode().split())]
        for target in targets:
            shown += subprocess.run([*tmux, "show-environment", *target], capture_output=True).stdout
    assert sockets
    return shown


def _forks(lead: int) -> set[int]:
    """The lead and its warm processes, which are forks of it: they have its arguments and its environment for good."""
    argv = _read(lead)
    return {lead} | {pid for pid in _tree(lead) if _read(pid) == argv}


def _read(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
