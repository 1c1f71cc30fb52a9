"""Tasks behind gates, and a judge who says whether an operation went around one (rulings 2.2, 2.3, 2.9)."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from pro0 import processes
from pro0.model.caller import Who
from pro0.model.task import Awaiting, Draft, Gate, Status, Task
from pro0.ops.context import Context
from pro0.ops.tasks import gates, tasks
from pro0.rules.tasks.board import Board, why_not_ready
from pro0.store.teams import Store, TeamStore
from tests.conftest import let_scripts
from tests.engine.crew import called_for, tagged_with
from tests.teams import human, make_team, member

AGENTS = frozenset({Who.MEMBER, Who.LEAD_AGENT, Who.OUTSIDE, Who.LEAD})


def _worked_on(team: TeamStore, end: Callable[[Context], object]) -> None:
    tasks.create(human(team), [Draft(title="gated", requires=Gate.APPROVAL)])
    w1 = member(team, "w1")
    tasks.claim(w1, "1")
    end(w1)


def _awaiting(kind: Awaiting, requires: Gate | None) -> Callable[[TeamStore], None]:
    def make(team: TeamStore) -> None:
        tasks.create(human(team), [Draft(title="gated", requires=requires)])
        tasks.claim(member(team, "w1"), "1")
        gates.hand_off(member(team, "w1"), "1", kind, "please look")

    return make


def _done(team: TeamStore) -> None:
    tasks.create(human(team), [Draft(title="gated", requires=Gate.APPROVAL, key="k"), Draft(title="sub", parent="k")])
    tasks.claim(member(team, "w1"), "1")
    tasks.complete(member(team, "w1"), "1")


STATES: dict[str, Callable[[TeamStore], object]] = {
    **{
        f"awaiting {kind}{f', requires {requires}' if requires else ''}": _awaiting(kind, requires)
        for kind in Awaiting
        for requires in (None, Gate.APPROVAL)
    },
    "pending": lambda team: tasks.create(human(team), [Draft(title="gated", requires=Gate.APPROVAL)]),
    "in progress": lambda team: _worked_on(team, lambda _: None),
    "failed": lambda team: _worked_on(team, lambda w1: tasks.fail(w1, "1", "broken")),
    "at its gate": lambda team: _worked_on(team, lambda w1: tasks.complete(w1, "1", "done")),
    "done": _done,
    "an agent's command": lambda team: tasks.create(member(team, "w1"), [Draft(title="gated", run="rm -rf x")]),
}
"""By name, what makes task-1 stand behind a gate, in a team with the lead agent and w1."""
FEW = (
    "at its gate",
    "in progress",
    "failed",
    "awaiting work, requires approval",
    "awaiting input",
    "an agent's command",
)
"""States for surfaces that are slow to drive."""


def furnish(home: Path, state: str) -> TeamStore:
    """Make a team whose task-1 is in that state, and a task that waits for it."""
    team = make_team(home, "lead", "w1")
    let_scripts(home)
    STATES[state](team)
    tasks.create(human(team), [Draft(title="after", blocked_by=("1",))])
    return team


class Homes:
    """Copies of one home: a fresh one whenever the last was changed."""

    def __init__(self, template: Path, home: Path) -> None:
        self._template = template
        self.home = home
        self.before = self._look(template)[0]

    def team(self) -> TeamStore:
        """Return the team as it was at the beginning."""
        if not self.home.exists() or self._look(self.home) != self._look(self._template):
            self.end()
            shutil.rmtree(self.home, ignore_errors=True)
            shutil.copytree(self._template, self.home)
        return Store(self.home).team("alpha")

    def end(self) -> None:
        """End the lead that an act has woken, and the sessions it has started."""
        processes.end(lambda: [*tagged_with(self.home), *called_for(self.home)], 0)

    def moved(self) -> bool:
        """Return whether anything was changed in the meantime."""
        return self._look(self.home) != self._look(self._template)

    def faults(self, who: Who) -> list[str]:
        """Return what has gone around the gate in the meantime, done by this kind of caller."""
        return list(_faults(self.before, self._look(self.home)[0], who))

    @staticmethod
    def _look(home: Path) -> tuple[tuple[Task, ...], object, object]:
        team = Store(home).team("alpha")
        if not team.exists():
            return (), None, None
        return team.tasks.read().tasks, team.wanted.read(), team.runtime.read()


def _faults(before: tuple[Task, ...], after: tuple[Task, ...], who: Who) -> Iterator[str]:
    if not after:
        return  # the whole team is gone, and its gates with it
    old, board = before[0], Board(after)
    new, waiting = board.get("task-1"), next(task for task in after if task.title == "after")
    if new is None:
        if who in AGENTS:
            yield "deleted by an agent"
        return
    approved = new.history[-1].act == "approve" and new.history[-1].actor == "human"
    if old.requires and new.status is Status.COMPLETED:
        passed = old.awaiting is not None and old.awaiting.kind.value == old.requires.value
        if not (approved and passed and who is Who.HUMAN):
            yield "completed past its gate"
    agreed = who is Who.HUMAN and (approved or new.run != old.run)
    if old.unagreed and not agreed and why_not_ready(board, new) is None:
        yield "an agent's command may run"
    if who in AGENTS:
        yield from _agents_faults(old, new)
        if why_not_ready(board, waiting) is None:
            yield "what waits for it is ready"


def _agents_faults(old: Task, new: Task) -> Iterator[str]:
    if new.requires != old.requires:
        yield "its gate was changed by an agent"
    if old.awaiting and (new.awaiting != old.awaiting or new.status != old.status):
        yield "an agent answered for a human"
    if new.status in (Status.COMPLETED, Status.CANCELLED):
        yield f"{new.status} by an agent"
