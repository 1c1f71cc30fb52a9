"""The shell agent ends work that is over its limit, that was taken away, or that is interrupted: the whole tree."""

import os
import shutil
import signal
import sys
from pathlib import Path

import pytest

from pro0 import processes
from pro0.model.runtime import Process, State
from pro0.model.task import SETTLED, Status
from pro0.ops.tasks import tasks
from pro0.ops.team import teams
from tests.shell_agent.conftest import PATIENCE, Desk
from tests.waiting import wait_until

CHILDREN = {
    "plain": "sh -c 'echo $$ > pids/plain; exec sleep 300' &",
    "nohup": "nohup sh -c 'echo $$ > pids/nohup; exec sleep 300' >/dev/null 2>&1 &",
    "setsid": "setsid sh -c 'echo $$ > pids/setsid; exec sleep 300' &",
    "double": "(setsid sh -c 'echo $$ > pids/double; exec sleep 300' &) &",
    "deaf": "sh -c 'trap \"\" TERM HUP; echo $$ > pids/deaf; while :; do sleep 0.2; done' &",
    "untagged": 'env -i PATH="$PATH" sh -c \'trap "" TERM; echo $$ > pids/untagged; while :; do sleep 0.2; done\' &',
}


def family(folder: Path) -> list[Process]:
    """Wait until all of them are there."""
    wait_until(lambda: are_there(folder), PATIENCE, "all children are there")
    found = [processes.identify(int(f.read_text())) for f in (folder / "pids").iterdir()]
    return [process for process in found if process]


def are_there(folder: Path) -> bool:
    """Whether every child has said who it is."""
    return {f.name for f in (folder / "pids").iterdir() if f.read_text().strip()} == set(CHILDREN)


def command(folder: Path, tail: str = "wait") -> str:
    """A command with a child of every kind, which ends when they do."""
    (folder / "pids").mkdir()
    return "\n".join([*CHILDREN.values(), tail])


def test_the_time_limit_ends_the_whole_tree(desk: Desk) -> None:
    """With a limit in which all of it can begin, however busy the machine is."""
    desk.start()
    for limit in (4, 20, 100):
        id = desk.give(command(desk.folder), timeout=float(limit))
        wait_until(lambda id=id: are_there(desk.folder) or desk.task(id).status in SETTLED, PATIENCE, "it has begun")  # type: ignore[misc]
        if are_there(desk.folder):
            break
        desk.settled(id)
        shutil.rmtree(desk.folder / "pids")
    there = family(desk.folder)
    failed = desk.settled(id)
    assert failed.status is Status.FAILED
    assert failed.closed_reason.startswith(f"over its limit of {limit} s")  # some shells add "Killed"
    assert not [process for process in there if processes.alive(process)]
    assert desk.settled(desk.give("echo on")).result == "on"


def test_what_a_command_leaves_running_is_over_when_its_task_is(desk: Desk) -> None:
    """Whoever is ready then finds its ports and files free."""
    ready = "for kind in " + " ".join(CHILDREN) + "; do until test -s pids/$kind; do sleep 0.05; done; done; echo done"
    id = desk.give(command(desk.folder, ready))
    desk.start()
    done = desk.settled(id)
    assert (done.status, done.result) == (Status.COMPLETED, "done")
    left = [int(file.read_text()) for file in (desk.folder / "pids").iterdir()]
    assert len(left) == len(CHILDREN)
    assert not [pid for pid in left if processes.identify(pid)]


def test_the_limit_holds_for_a_command_that_hides(desk: Desk) -> None:
    """No tag, and nothing below it: only that it is the command itself gives it away."""
    id = desk.give("exec env -i sleep 300", timeout=0.2)
    desk.start()
    assert desk.settled(id).closed_reason == "over its limit of 0.2 s"


def test_within_its_limit_nothing_is_ended(desk: Desk) -> None:
    id = desk.give("echo quick", timeout=60)
    desk.start()
    assert desk.settled(id).result == "quick"


@pytest.mark.parametrize("how", ["cancelled", "released", "deleted"])
def test_work_that_was_taken_away_is_stopped(desk: Desk, how: str) -> None:
    id = desk.give(command(desk.folder))
    desk.start()
    there = family(desk.folder)
    desk.says(State.WORKING, id)
    match how:
        case "cancelled":
            tasks.cancel(desk.human, id, "not needed")
        case "deleted":
            tasks.delete(desk.human, id, force=True)
        case "released":
            teams.pause(desk.human, paused=True)
            tasks.release(desk.human, id)
    wait_until(lambda: not [p for p in there if processes.alive(p)], PATIENCE, "all of it has ended")
    desk.says(State.IDLE)
    desk.shows("is no longer ours" if how != "deleted" else f"there is no {id}")
    if how == "released":
        tasks.cancel(desk.human, id)
        teams.pause(desk.human, paused=False)
    assert desk.settled(desk.give("echo on")).result == "on"


def test_an_interrupt_in_its_pane_ends_the_work_not_the_agent(desk: Desk) -> None:
    id = desk.give(command(desk.folder))
    process = desk.start()
    there = family(desk.folder)
    os.kill(process.pid, signal.SIGINT)
    failed = desk.settled(id)
    assert failed.status is Status.FAILED
    assert failed.closed_reason.startswith("interrupted in its pane")  # some shells add "Killed"
    assert not [one for one in there if processes.alive(one)]
    assert desk.settled(desk.give("echo on")).result == "on"


def test_a_second_interrupt_does_not_cut_the_end_of_the_work_short(desk: Desk) -> None:
    """Else the agent would be gone, and the command would run again."""
    id = desk.give("trap ': >asked' TERM; touch begun; while :; do sleep 0.05; done")  # a program could be ended
    process = desk.start()
    wait_until((desk.folder / "begun").exists, PATIENCE, "it has begun")
    os.kill(process.pid, signal.SIGINT)
    wait_until((desk.folder / "asked").exists, PATIENCE, "it was asked to end")
    os.kill(process.pid, signal.SIGINT)
    failed = desk.settled(id)
    assert failed.closed_reason.startswith("interrupted in its pane")
    assert desk.settled(desk.give("echo on")).result == "on"


def test_an_interrupt_costs_no_outcome_that_cannot_be_stored_yet(desk: Desk) -> None:
    id = desk.give("touch begun; until test -e go; do sleep 0.05; done; sleep 300 & echo precious")
    process = desk.start()
    wait_until((desk.folder / "begun").exists, PATIENCE, "it has begun")
    good = desk.team.tasks.path.read_bytes()
    desk.team.tasks.path.write_bytes(b"{ broken")
    desk.says(State.ERROR)
    (desk.folder / "go").touch()
    desk.shows("ended what its command left running")
    os.kill(process.pid, signal.SIGINT)
    os.kill(process.pid, signal.SIGINT)
    assert process.poll() is None
    desk.team.tasks.path.write_bytes(good)
    assert desk.settled(id).result == "precious"
    assert desk.settled(desk.give("echo on")).result == "on"


@pytest.mark.parametrize("step", ["children.subprocess.Popen", "processes.identify", "children.os.set_blocking"])
def test_an_interrupt_while_its_command_starts_ends_the_work_too(desk: Desk, step: str) -> None:
    """Found by a busy machine: the command ran, and its agent had not been given the processor since."""
    id = desk.give(command(desk.folder))
    agent = desk.start("-c", INTERRUPTED_AT.format(step=step))
    assert agent.stdin
    agent.stdin.close()
    there = family(desk.folder)
    failed = desk.settled(id)
    assert failed.status is Status.FAILED
    assert failed.closed_reason.startswith("interrupted in its pane")
    assert not [one for one in there if processes.alive(one)]
    assert desk.settled(desk.give("echo on")).result == "on"


INTERRUPTED_AT = """
import os, signal, sys, time
from pathlib import Path
from pro0 import children, processes
from pro0.shell_agent.__main__ import main

real, there = {step}, Path("pids")

def step(*arguments, **names):
    made = real(*arguments, **names)
    if children.Running._begin.__code__ is sys._getframe(1).f_code and not all_are_there.seen:
        while not all_are_there():
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)
    return made

def all_are_there():
    all_are_there.seen = len([file for file in there.iterdir() if file.read_text().strip()]) == CHILDREN
    return all_are_there.seen

all_are_there.seen = False
{step} = step
sys.exit(main())
""".replace("CHILDREN", str(len(CHILDREN)))
"""The agent, interrupted at a step of its first command's start, when all the command's children are there."""


def test_an_interrupt_while_idle_ends_the_agent_without_a_traceback(desk: Desk) -> None:
    process = desk.start()
    desk.says(State.IDLE)
    os.kill(process.pid, signal.SIGINT)
    assert desk.ends() == 130
    assert "Traceback" not in desk.shown()


def test_output_is_shown_while_the_command_runs(desk: Desk) -> None:
    id = desk.give("echo first; while ! test -e go; do sleep 0.05; done; echo last")
    desk.start()
    desk.shows("\nfirst\n")
    assert desk.task(id).status is Status.IN_PROGRESS
    (desk.folder / "go").touch()
    assert desk.settled(id).result == "first\nlast"


def test_python_is_what_it_is_in_the_agents_own_environment(desk: Desk) -> None:
    """The agent runs isolated; a task's command does not, and never has the guard's pipe."""
    run = f"{sys.executable} -c 'import os, sys; print(sys.flags.isolated, os.environ.get(\"PRO0_STATE_FD\"))'"
    desk.start()
    assert desk.settled(desk.give(run)).result == "0 None"
