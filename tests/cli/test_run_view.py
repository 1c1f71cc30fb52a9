"""The live view of a run: what runs, what waits for whom, what was spent (build 3)."""

import io
from collections import deque
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from pro0.cli.run.follow import follow
from pro0.cli.run.view import RunView, cost_of, drawn
from pro0.model.run import RunEvent, RunOptions
from pro0.model.runtime import State
from pro0.model.task import Awaiting, Draft, Kind, Status, Task, Wait
from pro0.ops.tasks import tasks
from pro0.rules.tasks.board import Board
from pro0.store import paths
from pro0.store.teams import TeamStore
from tests.engine.crew import crew
from tests.rules.building import T0, W1, claimed
from tests.teams import human, make_team

OPTIONS = RunOptions(epic="task-1", max_cost=10.0)
TASKS = (
    Task(id="task-1", title="epic", type=Kind.EPIC),
    claimed(Task(id="task-2", title="build \x1b[31mit", parent="task-1"), W1),
    Task(
        id="task-3",
        title="look",
        parent="task-1",
        status=Status.IN_PROGRESS,
        awaiting=Wait(kind=Awaiting.INPUT, since=T0, by="runner", reason="which\ncolour?"),
    ),
    Task(id="task-4", title="done", parent="task-1", status=Status.COMPLETED),
    Task(id="task-5", title="another's"),
)


def shown(options: RunOptions = OPTIONS, *events: RunEvent) -> list[str]:
    """The rows of the view."""
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(drawn(Board(TASKS), options, cost_of(1.5, 0, options), deque(events)))
    return [row.rstrip() for row in console.export_text().splitlines()]


def test_it_shows_what_runs_what_waits_and_what_was_spent() -> None:
    head, runs, waits = shown()
    assert head == "task-1: 1 of 3 tasks are over, spent $1.50 of $10.00"
    assert runs.split() == ["runs", "task-2", "build", r"\x1b[31mit", "w1"]
    assert waits.startswith("for you  task-3  look")
    assert r"input: which\ncolour? (task approve, or task reject WHY)" in waits


def event(kind: str, **about: object) -> RunEvent:
    """An event of the run of `make_team`'s member runner."""
    known = RunEvent(at=T0, incarnation="inc-runner", event=kind, task="task-1", text="look")
    return msgspec.structs.replace(known, **about)


def test_without_a_limit_none_is_shown_and_events_come_last() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    event = RunEvent(at=at, incarnation="i", event="turn", task="task-2", text="build it", number=2)
    rows = shown(RunOptions(max_cost=0.0, standalone=True), event)
    assert rows[0] == "all epics: 1 of 4 tasks are over, spent $1.50"
    assert rows[-1].endswith("task-2: begins: build it (turn 2)")


@pytest.mark.parametrize(
    ("spent", "unpriced", "said"),
    [
        (None, 3, "cost unknown, so --max-cost has no effect"),
        (1.5, 1, "spent at least $1.50 of $10.00"),
        (0.0, 0, "spent $0.00 of $10.00"),
    ],
)
def test_a_cost_that_nobody_tells_is_unknown_and_not_zero(spent: float | None, unpriced: int, said: str) -> None:
    """M10"""
    assert cost_of(spent, unpriced, OPTIONS) == said
    assert cost_of(None, 1, RunOptions(max_cost=0.0)) == "cost unknown"


def test_the_view_keeps_the_last_board_while_the_task_list_cannot_be_read(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """2.21: the run waits for it too."""
    context = human(make_team(home))
    tasks.create(context, [Draft(title="build it")])
    file = context.team.paths.tasks / paths.TASKS
    with RunView(context, RunOptions(standalone=True)) as view:
        view.look()
        file.write_text("{")
        view.event(event("turn"))
        view.look()
    rows = capsys.readouterr().out.splitlines()
    assert rows[0].startswith("all epics: 0 of 1 tasks are over")
    assert str(file) in "".join(rows[1:3])
    assert rows[-1].endswith("begins: look")


class OutOfReach:
    """A display during which files cannot be read for some looks; then the run is over."""

    def __init__(self, team: TeamStore, looks: int, *files: Path) -> None:
        self._team = team
        self._looks = looks
        self._sound = {file: file.read_bytes() for file in files}

    def event(self, _event: RunEvent) -> None:
        """Show nothing."""

    def look(self) -> None:
        """Damage the files, or mend them."""
        self._looks -= 1
        for file, sound in self._sound.items():
            file.write_bytes(b"{" if self._looks else sound)
        if not self._looks:
            with open(self._team.paths.run_log("runner"), "ab") as log:
                log.write(msgspec.json.encode(event("over", code=4)) + b"\n")


def test_a_run_is_followed_on_while_the_teams_files_cannot_be_read(home: Path) -> None:
    """2.21: whoever asked for it stays, or it would end in the middle of a turn."""
    team = make_team(home, "runner")
    [state] = team.runtime.read().seats
    files = (team.paths.team / paths.RUNTIME, team.paths.tasks / paths.TASKS)
    assert follow(human(team), state, OutOfReach(team, 3, *files)) == 4


class Interrupted:
    """A display in which the person interrupts, and Python makes another error of that."""

    def event(self, _event: RunEvent) -> None:
        """Show nothing."""

    def look(self) -> None:
        """Be interrupted."""
        try:
            raise KeyboardInterrupt
        finally:
            raise RuntimeError("release unlocked lock")


def test_an_interrupt_of_which_python_makes_another_error_ends_the_run_too(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRO0_END_GRACE_SECONDS", "1")
    with crew(home, tmp_path, "headless") as alpha:
        alpha.lead()
        alpha.spawn("runner")
        with pytest.raises(RuntimeError, match="release unlocked lock"):
            follow(alpha.context, alpha.state("runner"), Interrupted())
        assert alpha.state("runner").state is State.SHUTDOWN
