"""Neither the view's board, nor a hook, nor an import goes around a gate (issue 6, must show 6; rulings 2.2, 2.3)."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import pytest

from pro0.errors import Pro0Error
from pro0.model.caller import Who
from pro0.model.task import Awaiting, Draft, Gate
from pro0.ops.context import Context
from pro0.ops.tasks import importing, tasks
from pro0.rules.tickets.importing import Ticket
from pro0.store.teams import TeamStore
from pro0.view.acts import ACTS
from tests.crash.lanes import a_few
from tests.gated import STATES, Homes, furnish
from tests.teams import as_who, human, member

VERDICTS = ("approve 1", "reject 1 no", "close 1", "complete 1 done", "update 1 --awaiting none --requires none")


@pytest.fixture
def homes(
    request: pytest.FixtureRequest, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Homes]:
    """A team whose task-1 is in the state of that name; what its acts have started ends with it."""
    monkeypatch.setenv("PRO0_REVIVE_LEAD", "0")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    furnish(tmp_path / "template", request.param)
    made = Homes(tmp_path / "template", home)
    yield made
    made.end()


@pytest.mark.parametrize(("homes", "who"), a_few(product(STATES, Who), 30), indirect=["homes"])
def test_no_act_of_the_board_goes_around_a_gate(homes: Homes, who: Who) -> None:
    """What is behind its keys, whoever looks at it: also from inside a session."""
    bypasses, moved = [], set()
    for name, act in ACTS.items():
        _do(lambda context, act=act: act(context, "1", "y"), as_who(homes.team(), who))  # type: ignore[misc]
        bypasses += [(name, fault) for fault in homes.faults(who)]
        moved |= {name} if homes.moved() else set()
    assert not bypasses
    assert not moved & {"approve", "reject"} or who is Who.HUMAN


def tickets() -> Iterator[Ticket]:
    """Tickets that say everything about themselves that a file can say."""
    gates, waits = (None, *Gate), (None, *Awaiting)
    for status, gate, wait in product(("open", "in_progress", "closed"), gates, waits):
        id = f"tick:{status}-{gate}-{wait}"
        yield Ticket(origin=id, file="a.json", title="t", status=status, requires=gate, awaiting=wait)  # type: ignore[arg-type]


@pytest.mark.parametrize("who", Who)
@pytest.mark.parametrize("homes", ["at its gate"], indirect=True)
def test_no_import_goes_around_a_gate(homes: Homes, who: Who) -> None:
    """What was there stays; what is new waits for its gate; once more changes nothing, whatever files say by now."""
    team = homes.team()
    _do(lambda context: importing.import_all(context, list(tickets())), as_who(team, who))
    assert homes.faults(who) == []
    made = [task for task in tasks.board(human(team)) if task.origin]
    assert bool(made) is (who is Who.HUMAN)
    assert not [task.origin for task in made if task.requires and task.status == "completed"]
    closed = [Ticket(origin=one.origin, file="a.json", title="t", status="closed") for one in tickets()]
    _do(lambda context: importing.import_all(context, closed), as_who(team, who))
    assert [task for task in tasks.board(human(team)) if task.origin] == made


@pytest.mark.parametrize("who", [Who.MEMBER, Who.LEAD_AGENT])
@pytest.mark.parametrize("homes", ["at its gate", "an agent's command"], indirect=True)
def test_no_hook_of_an_agents_act_goes_around_a_gate(homes: Homes, who: Who, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hook that is asked about an agent's act is that agent, and no person."""
    team, name = homes.team(), "lead" if who is Who.LEAD_AGENT else "w1"
    said = homes.home / "said"
    commands = "; ".join(f"pro0 task {words} >> {said} 2>&1" for words in VERDICTS)
    (homes.home / "config.yaml").write_text(
        json.dumps({"verdicts": "scripts", "hooks": {"TaskCreated": commands, "TaskCompleted": commands}})
    )
    identity = {"AGENT_ID": name, "INCARNATION": f"inc-{name}", "MEMBER_OF": str(homes.home), "TEAM": "alpha"}
    for variable, value in identity.items():
        monkeypatch.setenv(f"PRO0_{variable}", value)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    _finish_another(team, name)
    assert homes.faults(who) == []
    assert "not found" not in said.read_text()
    assert said.read_text().count("pro0: ") == 2 * len(VERDICTS), "each verb was refused, at both events"


def _finish_another(team: TeamStore, name: str) -> None:
    context = member(team, name)
    [other] = tasks.create(context, [Draft(title="another")])
    tasks.claim(context, other.id)
    tasks.complete(context, other.id)


def _do(call: Callable[[Context], object], context: Context) -> None:
    try:
        call(context)
    except Pro0Error:
        pass
