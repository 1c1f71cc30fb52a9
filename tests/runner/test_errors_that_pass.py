"""An error that passes holds a run up: no turn is done, or judged, a second time."""

import os
import selectors
import time
from contextlib import closing
from errno import EMFILE
from itertools import count
from pathlib import Path

import pytest

from pro0 import children, processes
from pro0.agent_output import AgentOutput
from pro0.config import Settings
from pro0.errors import EnvironmentMissing, StoreError
from pro0.model.run import RunOptions
from pro0.model.runtime import Process
from pro0.model.task import Draft, Status, Task
from pro0.ops.context import Context
from pro0.ops.tasks import tasks
from pro0.ops.team import costs
from pro0.ops.work import claims
from pro0.runner.loop import Runner
from pro0.runner.orders import Orders
from pro0.store.teams import TeamStore
from tests.faults import Call, Shim
from tests.teams import human, make_team, member, own_session
from tests.waiting import STUCK

CLAUDE = """#!/bin/sh
turn=$( (echo "$*"; cat) | grep -o 'This is turn [0-9]*')
echo "${turn:-This is turn 1}" >> "$DONE"
test -n "$turn" && signal='<promise>COMPLETE</promise>'
printf '{"type":"result","subtype":"success","is_error":false,"result":"%s","total_cost_usd":0.5}' "$signal"
"""
"""An agent that notes the turn that it is told of, and gives its signal in the second."""
TURNS = "This is turn 1\nThis is turn 2\n"
AGENT = RunOptions(agent="claude", standalone=True, poll=0.05)
SHELL = RunOptions(agent="shell", standalone=True, poll=0.05)

pytestmark = pytest.mark.usefixtures("signals")


@pytest.fixture
def done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put the agent on the PATH; return the file with a line for each of its turns."""
    (program := tmp_path / "bin" / "claude").parent.mkdir()
    program.write_text(CLAUDE)
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    monkeypatch.setenv("DONE", str(tmp_path / "done"))
    return tmp_path / "done"


def ready(home: Path, options: RunOptions, command: str | None = None) -> tuple[TeamStore, Runner]:
    team = make_team(home, "runner")
    tasks.create(human(team), [Draft(title="t", run=command)])
    return team, Runner(own_session(team, "runner"), options, Settings())


class FailsOnce:
    """A fault at the look with this number.

    Looks at single processes do not count, for they are as many as the processes; nor does the start of a program, for
    a run whose agent cannot start ends.
    """

    def __init__(self, number: int) -> None:
        self._left = number
        self.failed = ""

    def fault(self, _shim: Shim, _name: str, real: Call, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        self._left -= not str(args[0]).startswith(("/proc/", os.devnull))
        if self._left or self.failed:
            return real(*args, **kwargs)
        self.failed = str(args[0])
        raise OSError(EMFILE, os.strerror(EMFILE))


def test_whichever_look_at_the_store_fails_once_the_turns_are_done_once_each(home: Path, done: Path) -> None:
    """From the first turn's work to the end of the run, one after the other."""
    for number in count(1):
        done.unlink(missing_ok=True)
        team, runner = ready(home / str(number), AGENT)
        once = FailsOnce(number)
        with Shim(("open", "listdir", "scandir"), None, once.fault, done.exists):
            assert runner.work() == 0, once.failed
        assert (done.read_text(), tasks.show(human(team), "1").status) == (TURNS, Status.COMPLETED), once.failed
        if not once.failed:
            break
    assert number > 20, "the store, and the processes of each turn"


def test_a_turn_without_a_price_now_is_done_once(home: Path, done: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_used: object) -> float:
        raise OSError(EMFILE, os.strerror(EMFILE))

    monkeypatch.setattr(costs, "price", refused)
    _, runner = ready(home, AGENT)
    assert runner.work() == 0
    assert done.read_text() == TURNS


def test_a_command_is_done_once_while_its_claim_cannot_be_looked_at(
    home: Path, done: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often: the run waits, and says so once."""
    real, looks = claims.holds, 0

    def holds(context: Context, task: Task) -> bool:
        nonlocal looks
        looks += done.exists()
        if 1 <= looks <= 3:
            raise StoreError("tasks.json cannot be read")
        return real(context, task)

    monkeypatch.setattr(claims, "holds", holds)
    team, runner = ready(home, SHELL, f"echo done >> {done}")
    assert runner.work() == 0
    assert (done.read_text(), tasks.show(human(team), "1").status) == ("done\n", Status.COMPLETED)
    log = team.paths.run_log("runner").read_text()
    assert log.count("tasks.json cannot be read") == 1


def test_an_order_to_end_ends_that_wait(home: Path, done: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def holds(_context: Context, _task: Task) -> bool:
        raise StoreError("tasks.json cannot be read")

    def asked(_orders: Orders, busy_with: Task | None) -> str:
        return "interrupted" if done.exists() else ""

    monkeypatch.setattr(claims, "holds", holds)
    monkeypatch.setattr(Orders, "why_to_end", asked)
    _, runner = ready(home, SHELL, f"echo done >> {done}")
    assert runner.work() == 130
    assert done.read_text() == "done\n"


def test_without_a_free_descriptor_a_wait_is_short_and_no_error(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of the run's session would have its task done again."""

    def refused() -> None:
        raise OSError(EMFILE, os.strerror(EMFILE))

    context = member(make_team(home, "runner"), "runner")
    monkeypatch.setattr(processes, "ExitWatch", refused)
    began = time.monotonic()
    with closing(claims.changes(context)) as watch:
        Orders(context, None, AgentOutput()).wait(watch, STUCK)
    assert 0.1 < time.monotonic() - began < STUCK / 2


def test_a_command_is_followed_without_a_free_descriptor(
    home: Path, done: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused() -> None:
        raise OSError(EMFILE, os.strerror(EMFILE))

    monkeypatch.setattr(selectors, "DefaultSelector", refused)
    monkeypatch.setattr(children, "ExitWatch", refused)
    team, runner = ready(home, SHELL, f"echo done >> {done}; sleep 0.1; echo said")
    assert runner.work() == 0
    task = tasks.show(human(team), "1")
    assert (done.read_text(), task.status, task.result) == ("done\n", Status.COMPLETED, "said")


def test_a_look_at_what_a_command_left_is_repeated(home: Path, done: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, looks = processes.tagged, 0

    def tagged(variable: str, values: list[str]) -> dict[str, list[Process]]:
        nonlocal looks
        looks += 1
        if looks == 1:
            raise EnvironmentMissing("the system's table of processes cannot be read")
        return real(variable, values)

    monkeypatch.setattr(processes, "tagged", tagged)
    team, runner = ready(home, SHELL, f"sleep 100 & echo done >> {done}")
    assert runner.work() == 0
    assert (done.read_text(), tasks.show(human(team), "1").status) == ("done\n", Status.COMPLETED)
