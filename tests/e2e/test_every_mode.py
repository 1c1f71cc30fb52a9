"""The story of a team, from start to nothing left, in every mode (issue 5: must show 1, build 7)."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pro0.sessions import BACKENDS
from tests.conftest import let_scripts
from tests.contracts.stand_in import terminal_for
from tests.e2e.conftest import Team, kill
from tests.waiting import STUCK
from tests.world import World, changes, world

MODES = sorted(BACKENDS.keys() - {"memory"})
COUNT, FALLS, HELD = 40, 12, 24
"""So many tasks; whoever works on the first of these two is killed; the second is held until the lead was, too."""
SECONDS = STUCK
PRINTS = "import time; print(*(f'line {n} äöü 你好' for n in range(20)), sep='\\n', flush=True); time.sleep(600)"


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A mode, in the terminal that it wants."""
    monkeypatch.setenv("PRO0_END_GRACE_SECONDS", "1")
    monkeypatch.setenv("PRO0_REVIVE_LEAD", "0")
    with terminal_for(request.param, tmp_path):
        yield request.param


def needs(number: int) -> set[int]:
    return {other for other in (number // 2, number - 7) if other > 0}


def graph(log: Path) -> str:
    """Tasks that note when they begin and end, and depend on one or two of those before."""
    does = {
        FALLS: "test -e fallen || { touch fallen; sleep 60; }",
        HELD: "while ! test -e go; do sleep 0.05; done",
    }
    tasks = [
        {
            "title": f"number {n}",
            "key": f"k{n}",
            "run": f"echo begin {n} >> {log}; {does.get(n, ':')}; echo end {n} >> {log}; echo result {n}",
            "blockedBy": [f"k{other}" for other in sorted(needs(n))],
        }
        for n in range(1, COUNT + 1)
    ]
    return json.dumps(tasks)


def running(*folders: Path) -> World:
    """Processes, ports and tmux servers; of files only what `nothing_stored` looks at."""
    return {what: how for what, how in world(*folders).items() if not what.startswith("file")}


def nothing_stored(home: Path) -> None:
    """No team, no task, no mail, no socket."""
    assert [str(path) for path in home.rglob("*") if not path.is_dir() and path.name != ".lock"] == []
    assert [path.name for part in ("teams", "tasks", "mailboxes") for path in (home / part).iterdir()] == []


def test_the_story_of_a_team(mode: str, team: Team, tmp_path: Path) -> None:
    """S004-001…003, S004-038, S004-072, S004-063, S004-069."""
    folders = (tmp_path, Path(os.environ["TMUX_TMPDIR"]))
    before = running(*folders)
    team.start(mode, "w1", "w2", "w3")
    assert team.json("team", "status")["mode"] == mode
    log = team.project / "log"
    team("task", "create", "-f", "-", stdin=graph(log))

    team.until((team.project / "fallen").exists, "somebody works on it", SECONDS)
    victim = team.tasks()[f"task-{FALLS}"]["assignee"]
    kill(team.member(victim)["pid"])
    team.until(lambda: team.state(victim) == "crashed", "the crash is seen")

    def told() -> list[str]:
        return [text for text in team.mail() if "has crashed" in text and victim in text]

    team.until(told, "the crash is told", SECONDS)
    assert len(told()) == 1

    team.until(lambda: team.tasks()[f"task-{HELD}"].get("assignee"), "somebody else goes on", SECONDS)
    living = pids(team)
    kill(team.json("team", "status")["lead"]["pid"])
    team.until(lambda: team.json("team", "status")["lead"]["state"] == "gone", "the lead is gone")
    (team.project / "go").touch()
    team("team", "resume")
    team("team", "wait", "--timeout", str(SECONDS), seconds=2 * SECONDS)
    assert pids(team) == living
    each_ran_after_what_it_needs(team, log, victim)

    one, other = living
    team("member", "shutdown", one)
    assert team.state(one) == "shutdown"
    team.until(lambda: team.state(other) == "idle", "the other goes on")
    team("team", "stop")
    team("team", "cleanup", "alpha")
    let_scripts(team.home)
    team("team", "forget", "alpha", "--force")
    (team.home / "config.yaml").unlink()
    nothing_stored(team.home)
    assert changes(before, running(*folders)) == []


def pids(team: Team) -> dict[str, int]:
    """The processes of those who live."""
    return {one["agentId"]: one["pid"] for one in team.json("team", "status")["members"] if one["state"] != "crashed"}


def each_ran_after_what_it_needs(team: Team, log: Path, victim: str) -> None:
    """Each once, but for the one whose member fell, which another took up."""
    lines = log.read_text().splitlines()
    begun = sorted(int(line.split()[1]) for line in lines if line.startswith("begin"))
    assert begun == sorted([*range(1, COUNT + 1), FALLS])
    assert sorted(int(line.split()[1]) for line in lines if line.startswith("end")) == list(range(1, COUNT + 1))
    for number in range(1, COUNT + 1):
        for other in needs(number):
            assert lines.index(f"end {other}") < lines.index(f"begin {number}")
    tasks = team.tasks()
    assert {task["status"] for task in tasks.values()} == {"completed"}
    assert [tasks[f"task-{n}"]["result"] for n in (1, FALLS, COUNT)] == [f"result {n}" for n in (1, FALLS, COUNT)]
    assert tasks[f"task-{FALLS}"]["assignee"] != victim


def test_peek_and_logs_show_the_same(mode: str, team: Team) -> None:
    """Build 7: whoever shows the session, its last lines are these, and what happens is told while it does."""
    team.start(mode)
    lines = [f"line {number} äöü 你好" for number in range(20)]
    with following(team) as told:
        team.until(lambda: told() != [], "it follows")
        team("member", "spawn", "prog", "--agent", "command", "--", sys.executable, "-u", "-c", PRINTS)
        team.until(lambda: team("member", "peek", "prog").out.splitlines() == lines, "all of it is shown")
        for number in (3, 1):
            assert team("member", "peek", "prog", "-n", str(number)).out.splitlines() == lines[-number:]
        team("task", "create", "something to do")
        team.until(lambda: {"member.spawn", "task.create"} <= set(told()), "both are told")


def test_what_a_crashed_agent_printed_last_is_told(mode: str, team: Team) -> None:
    """Its pane is gone by then. iTerm2 tells nobody what a pane shows once its program has ended."""
    team.start(mode)
    script = r"until [ -e go ]; do sleep 0.05; done; echo one; printf '\033[31mno money left\033[0m\n' >&2; exit 3"
    team("member", "spawn", "poor", "--", "sh", "-c", script)
    (team.project / "go").touch()
    team.until(lambda: team.state("poor") == "crashed", "the crash is seen")
    how = "exit code 3" if mode == "iterm2" else "exit code 3: one / no money left"
    assert team.member("poor")["note"] == how, "told before the lead has noticed, too"
    team.until(lambda: f"poor has crashed ({how})" in team("needs").out, "the person is told")


@contextmanager
def following(team: Team) -> Iterator[Callable[[], list[str]]]:
    """Follow the log of the team; yields what tells its events."""
    told = team.project.parent / "told"
    argv = [str(Path(sys.executable).with_name("pro0")), "team", "logs", "-f", "--json"]
    with open(told, "wb") as out, subprocess.Popen(argv, stdout=out, cwd=team.project) as process:
        try:
            yield lambda: [json.loads(line)["event"] for line in told.read_text().splitlines(keepends=True)]
        finally:
            process.terminate()
