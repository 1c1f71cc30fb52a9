"""The shell agent takes tasks and says how they went."""

import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0.model.runtime import State
from pro0.model.task import Draft, Gate, Status
from pro0.ops.tasks import tasks
from pro0.ops.team import teams
from tests.shell_agent.conftest import PATIENCE, Desk
from tests.waiting import wait_until


def test_a_task_is_done_and_its_output_is_its_result(desk: Desk) -> None:
    """S004-051"""
    desk.start()
    desk.says(State.IDLE)
    done = desk.settled(id := desk.give('echo "in $PWD as $PRO0_TASK_ID"; echo aside >&2'))
    assert (done.status, done.assignee) == (Status.COMPLETED, "w1")
    assert done.result == f"in {desk.folder} as {id}\naside"
    assert done.claimed_at
    assert done.completed_at
    desk.says(State.IDLE)
    told = [(one.state, one.task) for one in desk.said()]
    assert told == [(State.IDLE, None), (State.WORKING, id), (State.IDLE, None)]
    shown = desk.shown()
    assert f"── {id}: t" in shown
    assert f"in {desk.folder} as {id}\naside\n" in shown
    assert f"── {id} completed" in shown


def test_a_task_with_a_gate_is_said_to_wait_for_it(desk: Desk) -> None:
    said = f"── {desk.give('true', requires=Gate.REVIEW)} is done, waits for review"
    desk.start()
    wait_until(lambda: said in desk.shown(), PATIENCE, said)


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        ("echo why; exit 3", "exit code 3: why"),
        ("exit 1", "exit code 1"),
        ("kill -9 $$", "killed by signal 9"),
        ("echo; nonsense-of-a-program", "exit code 127: /bin/sh: "),
    ],
)
def test_a_failure_says_how(desk: Desk, run: str, reason: str) -> None:
    id = desk.give(run)
    desk.start()
    failed = desk.settled(id)
    assert failed.status is Status.FAILED
    assert failed.closed_reason.startswith(reason)
    assert failed.claim is None


def test_a_command_that_cannot_be_started_fails_its_task_and_nobody_else(desk: Desk) -> None:
    """A single argument may have 128 KiB; the agent must live, or the task goes on to kill the next one."""
    id, after = desk.give("#" * 140_000), desk.give("echo well")
    desk.start()
    assert desk.settled(id).closed_reason == "cannot be started: Argument list too long"
    assert desk.settled(after).result == "well"


def test_its_own_tasks_come_first_then_any_with_a_command_in_order(desk: Desk) -> None:
    order = desk.folder / "order"
    desk.give(None)
    desk.give(f"echo late >> {order}", priority=3)
    desk.give(f"echo soon >> {order}", priority=0)
    desk.give(f"echo mine >> {order}", assignee="w1")
    desk.start()
    wait_until(lambda: order.exists() and len(order.read_text().split()) == 3, PATIENCE, "all are done")
    assert order.read_text().split() == ["mine", "soon", "late"]
    desk.says(State.IDLE)
    assert desk.task("task-1").status is Status.PENDING


def test_dependents_follow_as_soon_as_they_are_ready(desk: Desk) -> None:
    desk.start()
    drafts = [Draft(title="b", key="b", run="echo b", blocked_by=("a",)), Draft(title="a", key="a", run="echo a")]
    b, a = (task.id for task in tasks.create(desk.human, drafts))
    first, second = desk.settled(a), desk.settled(b)
    assert first.completed_at
    assert second.claimed_at
    assert first.completed_at <= second.claimed_at


def test_a_paused_team_claims_nothing(desk: Desk) -> None:
    teams.pause(desk.human, paused=True)
    id = desk.give("true")
    desk.start()
    desk.says(State.IDLE)
    assert desk.task(id).status is Status.PENDING
    teams.pause(desk.human, paused=False)
    assert desk.settled(id).status is Status.COMPLETED


@pytest.mark.parametrize(
    ("run", "result"),
    [
        (r"printf 'a\377\376b'", "a\ufffd\ufffdb"),
        (r"printf 'a\000b'", "a\x00b"),
        (r"printf '\033[31mred\033[0m \033]52;c;eA==\007'", "\x1b[31mred\x1b[0m \x1b]52;c;eA==\x07"),
        (r"printf '<promise>COMPLETE</promise>'", "<promise>COMPLETE</promise>"),
        ("true", None),
    ],
    ids=["invalid UTF-8", "NUL", "escape sequences", "a signal of another policy", "nothing"],
)
def test_any_output_is_a_result(desk: Desk, run: str, result: str | None) -> None:
    id = desk.give(run)
    desk.start()
    done = desk.settled(id)
    assert (done.status, done.result) == (Status.COMPLETED, result)


def test_of_huge_output_the_tail_is_kept(desk: Desk) -> None:
    id = desk.give("head -c 30000000 /dev/zero | tr '\\0' 'x'; echo; echo the end")
    desk.start()
    result = desk.settled(id).result or ""
    assert len(result) <= 4096
    assert result.endswith("x\nthe end")
    assert desk.screen.stat().st_size > 30_000_000


@pytest.mark.parametrize(
    "left",
    ["sleep 300 &", "(while :; do echo still here; done) &", "setsid sleep 300 &"],
    ids=["silent", "writes for ever", "in a session of its own"],
)
def test_a_child_that_keeps_the_output_open_holds_nobody_up(desk: Desk, left: str) -> None:
    id, after = desk.give(f"{left} echo mine"), desk.give("echo next")
    desk.start()
    assert desk.settled(id).status is Status.COMPLETED
    assert desk.settled(after).result == "next"
    assert f"{id}: ended what its command left running (1)" in desk.shown()


def test_a_result_that_cannot_be_stored_is_stored_later(desk: Desk) -> None:
    go = desk.folder / "go"
    id = desk.give(f"while ! test -e {go}; do sleep 0.05; done; echo precious")
    desk.start()
    desk.says(State.WORKING, id)
    tasks_file = desk.team.tasks.path
    good = tasks_file.read_bytes()
    tasks_file.write_bytes(b"{ broken")
    desk.says(State.ERROR)
    go.touch()
    said = len(desk.said())
    wait_until(lambda: "is corrupt" in desk.shown(), PATIENCE, "the trouble is shown")
    tasks_file.write_bytes(good)
    assert desk.settled(id).result == "precious"
    assert desk.shown().count("is corrupt") == 1
    desk.says(State.IDLE)
    assert len(desk.said()) <= said + 2


def test_trouble_while_idle_is_said_once_and_survived(desk: Desk) -> None:
    process = desk.start()
    desk.says(State.IDLE)
    good = desk.team.tasks.path.read_bytes()
    desk.team.tasks.path.write_bytes(b"{")
    desk.says(State.ERROR)
    before = switches(process.pid)
    wait_until(lambda: switches(process.pid) > before, PATIENCE, "it looks again")
    assert switches(process.pid) - before < 100, "it does not spin"
    desk.team.tasks.path.write_bytes(good)
    assert desk.settled(desk.give("true")).status is Status.COMPLETED
    assert desk.shown().count("is corrupt") == 1


def test_the_team_is_gone_and_so_is_its_agent(desk: Desk) -> None:
    desk.start()
    desk.says(State.IDLE)
    desk.team.paths.team.rename(desk.folder / "gone")
    assert desk.ends() == 0
    assert "── the team alpha is gone" in desk.shown()


@pytest.mark.parametrize("over", ["ended", "replaced"])
def test_a_session_that_counts_as_over_ends(desk: Desk, over: str) -> None:
    """anchors 55"""
    desk.start()
    desk.says(State.IDLE)
    ended = replace(desk.session, state=State.CRASHED)
    desk.record(ended if over == "ended" else replace(desk.session, incarnation="inc-later"))
    id = desk.give("true")
    assert desk.ends() == 1
    assert desk.task(id).status is Status.PENDING


def test_it_runs_as_a_member_only(desk: Desk, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-m", "pro0.shell_agent"], capture_output=True, text=True, cwd=tmp_path, timeout=PATIENCE
    )
    assert done.returncode == 2
    assert done.stderr.startswith("pro0: the shell agent runs as a member")


def test_it_takes_no_task_in_a_folder_that_is_gone(desk: Desk) -> None:
    """As when a person removes its worktree: a command there would fail, or write nowhere and count as completed."""
    desk.folder /= "tree"
    desk.folder.mkdir()
    desk.start()
    desk.says(State.IDLE)
    desk.folder.rmdir()
    id = desk.give("true")
    assert desk.ends() == 1
    assert "its folder was removed" in desk.shown()
    assert desk.task(id).status is Status.PENDING


def switches(pid: int) -> int:
    """How often a process has waited."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("\nvoluntary_ctxt_switches:")[2].split()[0])
