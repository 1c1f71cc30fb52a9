"""However a session ends, nothing of its tree stays, and the report says how it was."""

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from pro0 import processes
from pro0.model.runtime import State
from tests.forks import start_in_terminal
from tests.guard.sessions import Session, python
from tests.processes import families
from tests.processes.families import KINDS
from tests.waiting import STUCK, wait_until


class Cause(NamedTuple):
    """A way to end, and what must be seen of it."""

    name: str
    ends: str
    act: Callable[[Session], object]
    state: State
    code: int | None
    signal: int | None
    reason: str
    leaves: int


def nothing(session: Session) -> None:
    pass


def kill_agent(session: Session, number: int = signal.SIGKILL) -> None:
    assert processes.signal_process(session.agent(), number)


def break_agent(session: Session) -> None:
    kill_agent(session, signal.SIGSEGV)


def to_guard(number: int) -> Callable[[Session], object]:
    def act(session: Session) -> None:
        assert session.guard
        session.guard.send_signal(number)

    return act


CAUSES = [
    Cause("agent exits 0", "0", nothing, State.EXITED, 0, None, "", 0),
    Cause("agent exits 3", "3", nothing, State.CRASHED, 3, None, "", 3),
    Cause("agent is killed", "stay", kill_agent, State.CRASHED, None, 9, "", 137),
    Cause("agent breaks down", "stay", break_agent, State.CRASHED, None, 11, "", 139),
    Cause("TERM to the guard", "stay", to_guard(signal.SIGTERM), State.SHUTDOWN, None, 15, "ended: asked to", 143),
    Cause("HUP to the guard", "stay", to_guard(signal.SIGHUP), State.CRASHED, None, 15, "ended: hang-up", 143),
]


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.name)
def test_nothing_of_the_tree_survives(session: Session, tmp_path: Path, cause: Cause) -> None:
    """S004-022, S004-081, reliability 49: every kind of child at once, found by pid and by tag."""
    guard = session.start(families.argv(tmp_path, cause.ends, *KINDS))
    family = families.settled(tmp_path, "agent", *KINDS)
    cause.act(session)

    assert guard.wait(STUCK) == cause.leaves
    assert families.alive(family) == []
    assert session.tagged() == []
    report = session.report()
    assert report.exit
    assert (report.state, report.note) == (cause.state, "")
    assert (report.exit.code, report.exit.signal, report.exit.reason) == (cause.code, cause.signal, cause.reason)
    assert not processes.alive(report.guard)
    assert list(session.reports.iterdir()) == [session.file]


def test_a_death_is_told_before_its_tree_is_ended(session: Session, tmp_path: Path) -> None:
    """AC-76: what the dead agent left may use its whole grace; the lead knows of the death all the same."""
    guard = session.start(families.argv(tmp_path, "stay", "deaf"), grace=600.0)
    family = families.settled(tmp_path, "agent", "deaf")
    kill_agent(session)
    first = session.reported(lambda report: report.exit, "the end of the agent")
    assert (first.state, families.alive(family)) == (State.CRASHED, ["deaf"])
    assert guard.poll() is None
    assert processes.signal_process(family["deaf"], signal.SIGKILL)
    assert guard.wait(STUCK) == 137
    last = session.report()
    assert (last.exit, last.state, last.since) == (first.exit, first.state, first.since)
    assert last.revision == first.revision + 1


def test_asking_again_does_not_interrupt_the_ending(session: Session, tmp_path: Path) -> None:
    """Reliability 52: TERM, the grace, KILL; and the guard stays until it is done."""
    guard = session.start(families.argv(tmp_path, "stay", "deaf", "plain"), grace=1.0)
    family = families.settled(tmp_path, "agent", "deaf", "plain")
    guard.send_signal(signal.SIGTERM)
    wait_until(lambda: families.alive(family) == ["deaf"], 5, "the others have obeyed")
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        guard.send_signal(number)
    assert guard.wait(STUCK) == 143
    assert families.alive(family) == []
    report = session.report()
    assert report.exit
    assert (report.state, report.exit.reason) == (State.SHUTDOWN, "ended: asked to")


def test_an_agent_that_ends_in_its_own_way_when_asked(session: Session, tmp_path: Path) -> None:
    script = f"trap 'exit 4' TERM; echo > {tmp_path}/ready; while :; do sleep 0.01; done"
    guard = session.start(["sh", "-c", script], grace=30.0)
    wait_until((tmp_path / "ready").exists, 5, "the trap is set")
    guard.send_signal(signal.SIGTERM)
    assert guard.wait(STUCK) == 4
    report = session.report()
    assert report.exit
    assert (report.state, report.exit.code, report.exit.reason) == (State.SHUTDOWN, 4, "ended: asked to")


def test_after_a_killed_guard_the_tag_finds_the_rest(session: Session, tmp_path: Path) -> None:
    """Reliability 49, guard KILL: the lead's sweep. What carries no tag is an orphan nobody can tell from others."""
    kinds = [kind for kind in KINDS if kind != "untagged"]
    guard = session.start(families.argv(tmp_path, "stay", *kinds))
    family = families.settled(tmp_path, "agent", *kinds)
    guard.kill()
    assert guard.wait(STUCK) == -signal.SIGKILL
    assert families.alive(family) == ["agent", *kinds]

    assert processes.end(session.tagged, 0.2) == []
    assert families.alive(family) == []
    assert session.report().exit is None


def test_the_end_of_the_pane_ends_the_session(session: Session, tmp_path: Path) -> None:
    """Reliability 49, kill-pane: a real hang-up; nohup, setsid and the deaf do not care, but the guard does."""
    pid, terminal = start_in_terminal(session.prepare(families.argv(tmp_path, "stay", *KINDS)))
    try:
        family = families.settled(tmp_path, "agent", *KINDS)
    finally:
        os.close(terminal)
        _, status = os.waitpid(pid, 0)
    report = session.report()
    assert families.alive(family) == []
    assert report.exit
    assert report.state is State.CRASHED
    assert report.exit.reason == "ended: hang-up"
    assert os.waitstatus_to_exitcode(status) == 128 + (report.exit.signal or 0)


def test_keys_reach_the_agent_and_not_the_guard(session: Session, tmp_path: Path) -> None:
    """The agent has the terminal: Ctrl-C and Ctrl-\\ are its own affair."""
    program = f"""
import os, signal
heard = []
for number in (signal.SIGINT, signal.SIGQUIT):
    signal.signal(number, lambda number, _: heard.append(number))
open({str(tmp_path / "ready")!r}, "w").close()
while len(heard) < 2:
    signal.pause()
os._exit(sum(heard))
"""
    pid, terminal = start_in_terminal(session.prepare(python(program)))
    try:
        wait_until((tmp_path / "ready").exists, 10, "the agent listens")
        os.write(terminal, b"\x03")
        os.write(terminal, b"\x1c")
        _, status = os.waitpid(pid, 0)
    finally:
        os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == signal.SIGINT + signal.SIGQUIT


def test_a_lead_that_the_agent_started_is_spared(session: Session, tmp_path: Path) -> None:
    """Its team is its own, and so is all that runs below it."""
    guard = session.start(families.argv(tmp_path, "0", "lead", "setsid"))
    family = families.settled(tmp_path, "lead", "lead-child", "setsid")
    try:
        assert guard.wait(STUCK) == 0
        assert families.alive(family) == ["lead", "lead-child"]
    finally:
        spared = [family["lead"], family["lead-child"]]
        processes.end(lambda: filter(processes.alive, spared), 0)


FAILING = """
import sys
sys.path.insert(0, {root!r})
from pro0.guard import run
def fail(guard):
    run.select.select([guard._pipe.fileno], [], [])
    raise MemoryError("of a test")
run.Guard._wait = fail
run.main(["guard", sys.argv[1]])
"""


def test_a_guard_that_fails_takes_its_tree_along(session: Session, tmp_path: Path) -> None:
    root = str(Path(__file__).parents[2])
    launch = session.prepare(
        ["sh", "-c", f"setsid sleep 600 & echo > {tmp_path}/ready; echo {{}} >&$PRO0_STATE_FD; exec sleep 600"]
    )[-1]
    done = subprocess.run([*python(FAILING.format(root=root)), launch], capture_output=True, timeout=STUCK)
    assert (done.returncode, done.stderr) == (70, b"pro0 guard: MemoryError: of a test\n")
    assert session.tagged() == []
    report = session.report()
    assert report.exit
    assert (report.state, report.exit.reason) == (State.CRASHED, "ended: the guard failed")


def test_a_session_below_a_session_ends_with_it(session: Session, tmp_path: Path) -> None:
    """As when an agent tries pro0 itself: another tag, but of the same descent."""
    (tmp_path / "inner").mkdir()
    inner = Session(tmp_path / "inner")
    command = inner.prepare(families.argv(tmp_path, "stay", "setsid", "deaf"))
    guard = session.start([*command], grace=5.0)
    family = families.settled(tmp_path, "agent", "setsid", "deaf")
    guard.terminate()
    assert guard.wait(STUCK) == 143
    assert families.alive(family) == []
    assert [session.report().state, inner.report().state] == [State.SHUTDOWN, State.SHUTDOWN]
    assert inner.tagged() == []


LATE = """
import os, sys
sys.path.insert(0, {root!r})
from pro0.guard import run, tree
look = tree.belonging
def late(*arguments, **options):
    open({sign!r}, "w").close()
    os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
    return look(*arguments, **options)
tree.belonging = late
run.main(["guard", sys.argv[1]])
"""


def test_an_agent_that_ends_just_before_the_look_has_ended(session: Session, tmp_path: Path) -> None:
    """Its exit is in the report also when there was nobody left to end."""
    sign = str(tmp_path / "sign")
    launch = session.prepare(["sh", "-c", f"until [ -e {sign} ]; do sleep 0.01; done; exit 5"])[-1]
    program = LATE.format(root=str(Path(__file__).parents[2]), sign=sign)
    with subprocess.Popen([*python(program), launch]) as guard:
        session.agent()
        guard.terminate()
        assert guard.wait(STUCK) == 5
    report = session.report()
    assert report.exit
    assert (report.state, report.exit.code) == (State.SHUTDOWN, 5)


def test_orphans_that_end_are_reaped(session: Session, tmp_path: Path) -> None:
    """Reliability 50: the guard inherits orphans, and no zombie stays."""
    script = f"""
for i in 1 2 3 4 5 6 7 8 9 10; do (setsid sh -c 'echo >> {tmp_path}/ran' &) ; done
while [ "$(wc -l < {tmp_path}/ran)" -lt 10 ]; do sleep 0.01; done
echo > {tmp_path}/ready; exec sleep 600"""
    guard = session.start(["sh", "-c", script])
    agent = session.agent()
    wait_until((tmp_path / "ready").exists, 10, "ten orphans were born")
    children = Path(f"/proc/{guard.pid}/task/{guard.pid}/children")
    wait_until(lambda: children.read_text().split() == [str(agent.pid)], 5, "only the agent is left")
