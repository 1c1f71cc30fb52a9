"""Hooks before a task is made or completed: who says no, who is heard, and who may have commands run (issue 6, 6)."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from pro0 import processes
from pro0.config import PROJECT_FILE, USER_FILE
from pro0.errors import BadInput, Refused
from pro0.model.home import HookEvent
from pro0.model.need import NeedKind
from pro0.model.runtime import Process
from pro0.model.task import Draft, Status
from pro0.ops import trust
from pro0.ops.context import Context
from pro0.ops.tasks import hooks, tasks
from pro0.ops.team import needs
from pro0.store.paths import EVENTS
from pro0.store.teams import TeamStore
from tests.leftovers import processes_under
from tests.teams import human, make_team, member
from tests.waiting import STUCK, wait_until


@pytest.fixture
def team(home: Path) -> TeamStore:
    return make_team(home, "w1")


def settings(home: Path, text: str, *, project: bool = False) -> None:
    path = home / (PROJECT_FILE if project else Path(USER_FILE))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def begun(team: TeamStore) -> Context:
    """A member that has claimed task-1."""
    tasks.create(human(team), [Draft(title="build", description="all of it")])
    ada = member(team, "w1")
    tasks.claim(ada, "1")
    return ada


def events(team: TeamStore) -> list[dict[str, str]]:
    lines = (team.paths.team / EVENTS).read_text().splitlines()
    return [event for event in map(json.loads, lines) if event["event"].startswith("hook.")]


def test_exit_2_keeps_a_task_in_progress_and_says_why(team: TeamStore, home: Path) -> None:
    """must show 8"""
    ada = begun(team)
    settings(home, "hooks: {TaskCompleted: 'echo the tests fail: 3 of 4 >&2; exit 2'}")
    before = team.tasks.path.read_bytes()
    with pytest.raises(Refused) as refused:
        tasks.complete(ada, "1", "done")
    command = "echo the tests fail: 3 of 4 >&2; exit 2"
    assert refused.value.message == f"the hook '{command}' refused: the tests fail: 3 of 4"
    assert (refused.value.exit_code, refused.value.code) == (4, "blocked_by_hook")
    assert team.tasks.path.read_bytes() == before
    assert [event["event"] for event in events(team)] == ["hook.blocked"]
    settings(home, "hooks: {TaskCompleted: ['true', 'exit 0']}")
    assert tasks.complete(ada, "1", "done").status is Status.COMPLETED


def test_a_hook_means_its_own_folder_to_git(team: TeamStore, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pro0 may be called by a hook of git, whose variables would lead it to another checkout."""
    monkeypatch.setenv("GIT_DIR", str(home))
    monkeypatch.setenv("GIT_INDEX_FILE", str(home / "index"))
    settings(home, "hooks: {TaskCompleted: 'test -z \"$GIT_DIR$GIT_INDEX_FILE\" || exit 2'}")
    tasks.complete(begun(team), "1", "done")


def test_a_task_that_is_refused_is_not_made(team: TeamStore, home: Path) -> None:
    settings(home, "hooks: {TaskCreated: 'grep -q described || { echo describe it >&2; exit 2; }'}")
    with pytest.raises(Refused, match="describe it"):
        tasks.create(member(team, "w1"), [Draft(title="good", description="described"), Draft(title="bad")])
    assert not team.tasks.read().tasks
    assert len(tasks.create(human(team), [Draft(title="good", description="described")])) == 1


def test_what_a_hook_is_told(team: TeamStore, home: Path, tmp_path: Path) -> None:
    ada = begun(team)
    heard = tmp_path / "heard"
    settings(home, f"hooks: {{TaskCompleted: 'cat > {heard}; pwd >> {heard}'}}")
    tasks.complete(ada, "1", "all of it")
    said, place = heard.read_text().splitlines()[0].rsplit("}", 1)
    told = json.loads(said + "}")
    assert (told["hook_event_name"], told["team_name"], told["teammate_name"]) == ("TaskCompleted", "alpha", "w1")
    assert (told["task_id"], told["task_subject"], told["task_description"]) == ("task-1", "build", "all of it")
    assert (told["task"]["status"], told["result"], told["cwd"]) == ("in_progress", "all of it", place)


@pytest.mark.parametrize("command", ["exit 1", "kill -9 $$"])
def test_any_other_failure_is_noted_once_and_changes_nothing(command: str, team: TeamStore, home: Path) -> None:
    ada = begun(team)
    settings(home, f"hooks: {{TaskCompleted: {json.dumps(command)}}}")
    assert tasks.complete(ada, "1").status is Status.COMPLETED
    [event] = events(team)
    assert (event["event"], event["command"]) == ("hook.failed", command)


@pytest.mark.parametrize("command", ["/no/such/program", "exit 127", "/dev/null x"])
def test_one_whose_program_is_missing_closes_its_gate_until_it_is_mended(
    command: str, team: TeamStore, home: Path
) -> None:
    """Nobody says yes there; a person mends it or takes it out. Of changes that only are told, nothing is held up."""
    ada = begun(team)
    settings(home, f"hooks: {{TaskCompleted: {json.dumps(command)}}}")
    for who in (ada, human(team)):
        with pytest.raises(Refused, match=f"the hook '{command}' cannot run .*so the change is refused") as error:
            tasks.complete(who, "1")
        assert error.value.code == "blocked_by_hook"
        assert "takes it out of the settings (hooks, TaskCompleted)" in (error.value.hint or "")
    assert {event["event"] for event in events(team)} == {"hook.failed"}
    settings(home, "hooks: {TaskCompleted: 'true'}")
    assert tasks.complete(ada, "1").status is Status.COMPLETED


def test_one_that_the_system_does_not_let_begin_closes_its_gate_and_is_told(
    team: TeamStore, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody says yes there either; it was an error of the system without a word about the hook."""
    ada = begun(team)
    settings(home, "hooks: {TaskCompleted: 'true'}")
    with monkeypatch.context() as full:
        full.setattr(tempfile, "tempdir", "/no/such/place")
        with pytest.raises(Refused, match=r"the hook 'true' cannot run \(it cannot be started: No such file") as error:
            tasks.complete(ada, "1")
        assert error.value.code == "blocked_by_hook"
    assert [event["event"] for event in events(team)] == ["hook.failed"]
    assert NeedKind.HOOK in [need.kind for need in needs.list_needs(human(team))]
    assert tasks.complete(ada, "1").status is Status.COMPLETED
    assert NeedKind.HOOK not in [need.kind for need in needs.list_needs(human(team))]


def test_one_that_hangs_is_ended_with_its_tree_and_blocks_nobody(
    team: TeamStore, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """must show 8: after its time-out the task is complete, and nothing of the hook is left"""
    ada = begun(team)
    monkeypatch.setenv("PRO0_HOOK_TIMEOUT_SECONDS", "1000")  # a member's environment decides nothing here
    hang = "trap : TERM; (trap : TERM; while :; do sleep 60; done) & setsid sleep 60 & touch hangs; wait; wait"
    settings(home, f"hookTimeoutSeconds: 1\nhooks: {{TaskCompleted: {json.dumps(hang)}}}")
    done: list[Status] = []
    thread = threading.Thread(target=lambda: done.append(tasks.complete(ada, "1").status))
    thread.start()
    wait_until((home / "hangs").exists, 30, "it hangs")
    tasks.create(human(team), [Draft(title="meanwhile")])  # no lock is held
    thread.join(STUCK)
    assert done == [Status.COMPLETED]
    assert "over its limit of 1 s" in events(team)[0]["why"]
    assert not processes_under(tmp_path)


def test_what_stands_in_the_way_is_said_before_a_hook_runs(team: TeamStore, home: Path, tmp_path: Path) -> None:
    begun(team)
    settings(home, f"hooks: {{TaskCompleted: 'touch {tmp_path}/ran', TaskCreated: 'touch {tmp_path}/ran'}}")
    with pytest.raises(Refused):
        tasks.complete(member(team, "w1", "inc-other"), "1")
    with pytest.raises(BadInput):
        tasks.create(human(team), [Draft(title="bad", blocked_by=("no id",))])
    assert not (tmp_path / "ran").exists()


def test_completing_twice_asks_once(team: TeamStore, home: Path, tmp_path: Path) -> None:
    ada = begun(team)
    settings(home, f"hooks: {{TaskCompleted: 'echo x >> {tmp_path}/ran'}}")
    tasks.complete(ada, "1")
    tasks.complete(ada, "1")
    assert (tmp_path / "ran").read_text() == "x\n"


def test_hooks_of_a_project_wait_for_the_persons_word(team: TeamStore, home: Path) -> None:
    """A file that agents may write runs nothing before a person has agreed to just these commands."""
    settings(home, "hooks: {TaskCompleted: 'true'}")
    settings(home, "hooks: {TaskCompleted: 'exit 2'}", project=True)
    assert hooks.in_force(home, home) == {HookEvent.TASK_COMPLETED: ("true",)}
    assert trust.agree(home, home) == {"TaskCompleted": ("exit 2",)}
    assert hooks.in_force(home, home) == {HookEvent.TASK_COMPLETED: ("true", "exit 2")}
    settings(home, "hooks: {TaskCompleted: 'exit 2; evil'}", project=True)
    assert hooks.in_force(home, home) == {HookEvent.TASK_COMPLETED: ("true",)}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hooks: {TaskDone: x}", "TaskDone"),
        ("hooks: [x]", "hooks"),
        ("hooks: {TaskCompleted: 1}", "TaskCompleted"),
        ("hooks: {TaskCompleted: []}", "TaskCompleted"),
        ("hooks: {TaskCompleted: ['']}", "TaskCompleted"),
    ],
)
def test_a_bad_block_is_named(text: str, said: str, team: TeamStore, home: Path) -> None:
    settings(home, text)
    with pytest.raises(BadInput, match=said):
        tasks.create(human(team), [Draft(title="t")])


def test_an_interrupted_call_ends_its_hook(team: TeamStore, home: Path, tmp_path: Path) -> None:
    settings(home, "hooks: {TaskCreated: 'touch hangs; sleep 60'}")
    words = [sys.executable, "-m", "pro0", "task", "create", "t", "-t", "alpha"]
    called = subprocess.Popen(words, stderr=subprocess.PIPE, env=os.environ)
    wait_until((home / "hangs").exists, 30, "it runs")
    called.send_signal(signal.SIGINT)
    assert called.wait(STUCK) == 130
    assert called.stderr
    called.stderr.close()
    assert not processes_under(tmp_path)
    assert not team.tasks.read().tasks


def test_a_call_interrupted_while_it_starts_its_hook_ends_it(
    team: TeamStore, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command runs already, and nobody has looked at it yet."""
    settings(home, "hooks: {TaskCreated: 'touch hangs; setsid sleep 60 & sleep 60'}")
    identify = processes.identify

    def interrupted(pid: int) -> Process | None:
        monkeypatch.setattr(processes, "identify", identify)
        wait_until((home / "hangs").exists, 30, "it runs")
        raise KeyboardInterrupt

    monkeypatch.setattr(processes, "identify", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tasks.create(human(team), [Draft(title="t")])
    assert (home / "hangs").exists()
    assert not processes_under(tmp_path)
    assert not team.tasks.read().tasks
