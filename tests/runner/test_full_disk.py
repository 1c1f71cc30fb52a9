"""A disk that takes nothing for a moment holds a run up: it costs no turn, and no task is paid for twice."""

from errno import ENOSPC
from pathlib import Path

import pytest

from pro0.config import Settings
from pro0.errors import Unwritable
from pro0.model.run import RunOptions
from pro0.model.task import Draft, Status
from pro0.ops.tasks import tasks
from pro0.runner.loop import Runner
from pro0.store.teams import TeamStore
from tests.faults import count, fail_with, fault_at
from tests.teams import human, make_team, member, own_session

CLAUDE = """#!/bin/sh
cat > /dev/null
echo paid >> "$PAID"
echo '{"type":"result","subtype":"success","is_error":false,"result":"<promise>COMPLETE</promise>",
"total_cost_usd":0.5,"usage":{"input_tokens":5,"output_tokens":5}}' | tr -d '\\n'
"""
"""An agent that tells what its turn has cost."""
OPTIONS = RunOptions(agent="claude", standalone=True, poll=0.05, auto=True, timeout=0.1)
REPLACED = ("rename",)

pytestmark = pytest.mark.usefixtures("signals")


@pytest.fixture
def paid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put the agent on the PATH; return the file with a line for each of its turns."""
    (program := tmp_path / "bin" / "claude").parent.mkdir()
    program.write_text(CLAUDE)
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    monkeypatch.setenv("PAID", str(tmp_path / "paid"))
    return tmp_path / "paid"


def ready(home: Path) -> tuple[TeamStore, Runner]:
    team = make_team(home, "runner")
    tasks.create(human(team), [Draft(title="t")])
    return team, Runner(own_session(team, "runner"), OPTIONS, Settings())


def test_a_write_that_fails_once_costs_no_turn(home: Path, paid: Path) -> None:
    """Whichever it is: the claim, the prompt, what the turn has cost, or the completion."""
    _, runner = ready(home / "0")
    writes = count(runner.work, REPLACED)
    assert len(writes) >= 4, writes
    for number, write in enumerate(writes, 1):
        paid.unlink()
        team, runner = ready(home / str(number))
        with fault_at(number, fail_with(ENOSPC), REPLACED):
            assert runner.work() == 0, write
        assert tasks.show(human(team), "1").status is Status.COMPLETED, write
        assert paid.read_text() == "paid\n", write


def test_a_folder_that_cannot_be_made_is_said(home: Path) -> None:
    with fault_at(None, fail_with(ENOSPC), ("mkdir",)), pytest.raises(Unwritable, match="No space left"):
        Runner(member(make_team(home, "runner"), "runner"), OPTIONS, Settings())
