"""No operation goes around a gate, whoever calls it (issue 6, must show 6; rulings 2.2, 2.3, 2.9; AC-07, AC-10)."""

from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from pro0.errors import Pro0Error
from pro0.model.caller import Who
from pro0.model.task import Awaiting, Changes, Draft
from pro0.ops.catalog import OPERATIONS
from pro0.ops.context import Context
from pro0.ops.tasks import gates, tasks, trees
from tests.crash.lanes import a_few
from tests.gated import STATES, Homes, furnish
from tests.ops.test_permissions import CALLS
from tests.teams import as_who

Call = Callable[[Context], object]
FURTHER: dict[str, Call] = {
    "complete with a result": lambda c: tasks.complete(c, "1", "all done"),
    "no gate": lambda c: tasks.update(c, "1", Changes(requires="")),
    "another gate": lambda c: tasks.update(c, "1", Changes(requires="content")),
    "another command": lambda c: tasks.update(c, "1", Changes(run="true")),
    "no command": lambda c: tasks.update(c, "1", Changes(run="")),
    "delete by force": lambda c: tasks.delete(c, "1", force=True),
    "reserve nobody": lambda c: tasks.assign(c, "1", None),
    "hold for another reason": lambda c: gates.hold(c, "1", Awaiting.CHECKPOINT),
    "hand off for another reason": lambda c: gates.hand_off(c, "1", Awaiting.WORK),
    "await": lambda c: gates.await_human(c, "1", Awaiting.INPUT),
    "a subtask": lambda c: tasks.create(c, [Draft(title="x", parent="1")]),
    "a session of its own": lambda c: trees.begin(c, "1", "w2", "inc-w2"),
    "take what runs": lambda c: tasks.take(c, runnable=True),
    "the subtask": lambda c: (tasks.claim(c, "2"), tasks.complete(c, "2")),
    "cancel the subtask": lambda c: tasks.cancel(c, "2"),
}
EVERY: dict[str, Call] = {
    **{name: call for name, (_, call) in CALLS.items() if OPERATIONS[name].changes},
    **FURTHER,
}


@pytest.mark.parametrize(("state", "who"), a_few(product(STATES, Who), 50))
def test_no_operation_goes_around_a_gate(state: str, who: Who, tmp_path: Path) -> None:
    """Each operation alone, from the same start, and then all of them one after the other."""
    furnish(tmp_path / "template", state)
    homes = Homes(tmp_path / "template", tmp_path / "home")
    bypasses = []
    for name, call in EVERY.items():
        _do(call, as_who(homes.team(), who))
        bypasses += [(name, fault) for fault in homes.faults(who)]
    if who is not Who.HUMAN:
        team = homes.team()
        for name, call in EVERY.items():
            _do(call, as_who(team, who))
            bypasses += [(f"... {name}", fault) for fault in homes.faults(who)]
    assert not bypasses


def _do(call: Call, context: Context) -> None:
    try:
        call(context)
    except Pro0Error:
        pass


def test_the_judge_sees_a_bypass(tmp_path: Path) -> None:
    """A store in which somebody has gone around the gate is told from one in which nobody has."""
    from msgspec.structs import replace

    furnish(tmp_path / "template", "at its gate")
    homes = Homes(tmp_path / "template", tmp_path / "home")
    team = homes.team()
    assert homes.faults(Who.MEMBER) == []
    with team.tasks.change("a test") as change:
        passed = replace(change.value.tasks[0], status="completed", awaiting=None, requires=None)
        change.value = replace(change.value, tasks=(passed, *change.value.tasks[1:]))
    assert set(homes.faults(Who.MEMBER)) == {
        "completed past its gate",
        "its gate was changed by an agent",
        "an agent answered for a human",
        "completed by an agent",
        "what waits for it is ready",
    }
