"""A rebuild never takes what is out of reach for a moment for what is gone (behaviour 4.3)."""

import errno
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from pro0 import processes
from pro0.errors import StoreError
from pro0.model.runtime import Process, Report, State
from pro0.model.task import Draft
from pro0.ops.repair.repair import repair
from pro0.ops.tasks import tasks
from pro0.store.files import File
from pro0.store.teams import TeamStore
from tests.faults import Call, Shim, count, fail_with
from tests.teams import NOW, human, make_team

ASKING = ("open", "listdir", "scandir")


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No other process is looked at: there may be hundreds, and each costs calls."""
    monkeypatch.setattr(processes, "having", lambda _names: [])


@pytest.fixture
def guard() -> Iterator[Process]:
    with subprocess.Popen(["sleep", "600"]) as program:
        process = processes.identify(program.pid)
        assert process
        yield process
        program.kill()


@pytest.fixture
def team(home: Path, guard: Process) -> TeamStore:
    """A team with a session that lives, and with three tasks of which only its events still tell."""
    made = make_team(home, "lead", "w1")
    report = Report(agent_id="w1", incarnation="inc-w1", guard=guard, agent=guard, state=State.WORKING, since=NOW)
    File(made.paths.sessions, made.paths.report("inc-w1"), Report).create(report)
    tasks.create(human(made), [Draft(title=title) for title in ("a", "b", "c")])
    return made


@pytest.mark.parametrize("name", ["runtime", "tasks", "mailbox"])
def test_what_is_out_of_reach_is_not_taken_for_gone(name: str, team: TeamStore) -> None:
    """No living session is forgotten, and no number is given twice, whichever question fails."""
    paths = {"runtime": team.runtime.path, "tasks": team.tasks.path, "mailbox": team.mailbox("w1").head.path}
    path = paths[name]

    def mended() -> tuple[object, ...]:
        repair(human(team), "/project")
        seats = {(seat.agent_id, seat.incarnation) for seat in team.runtime.read().seats}
        return seats, team.tasks.read().next_id, team.mailbox("w1").head.read().next_seq

    def fault(shim: Shim, called: str, real: Call, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        """Let a question about the store fail; what is asked of the system is not what this is about."""
        of_the_store = not str(args[0]).startswith("/proc")
        return fail_with(errno.EMFILE)(shim, called, real, args, kwargs) if of_the_store else real(*args, **kwargs)

    for _ in range(2):  # the first repair makes files of its own
        path.write_bytes(b"{")
        calls, expected = count(mended, ASKING), mended()
    assert expected[1] == 4
    for number in (number for number, call in enumerate(calls, 1) if not call.about.startswith("/proc")):
        path.write_bytes(b"{")
        with Shim(ASKING, number, fault) as shim, suppress(StoreError):
            assert mended() == expected, shim.seen[number - 1]
        assert mended() == expected, shim.seen[number - 1]
