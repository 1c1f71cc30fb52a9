"""A runner whose session counts as over, since its guard was killed, begins nothing any more (issue 6, must show 5)."""

from pathlib import Path

import pytest

from pro0.config import Settings
from pro0.model.run import RunOptions
from pro0.model.runtime import State
from pro0.model.task import Draft, Status
from pro0.ops.tasks import tasks
from pro0.ops.team import costs
from pro0.runner.loop import Runner
from tests.teams import human, make_team, own_session, set_state


@pytest.mark.parametrize("says", ["<promise>COMPLETE</promise>", "no signal"])
def test_a_task_is_not_begun_again(
    says: str, home: Path, tmp_path: Path, signals: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its claim is given back when its processes are gone: until then the task looks like its own."""
    team = make_team(home, "runner")
    tasks.create(human(team), [Draft(title="t")])
    context = own_session(team, "runner")
    begun = tmp_path / "begun"
    program = ("/bin/sh", "-c", f"echo begun >> {begun}; echo '{says}'")

    def ends_meanwhile(_used: object) -> float:
        set_state(team, "runner", State.CRASHED, context.caller.incarnation)
        return 0.0

    monkeypatch.setattr(costs, "price", ends_meanwhile)
    options = RunOptions(agent="command", standalone=True, poll=0.05, program=program, max_iterations=3)
    assert Runner(context, options, Settings()).work() == 1
    assert begun.read_text() == "begun\n"
    task = tasks.show(human(team), "1")
    assert (task.status, bool(task.claim)) == (Status.IN_PROGRESS, True)
