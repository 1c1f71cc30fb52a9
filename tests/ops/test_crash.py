"""Killed at every call: what was acknowledged is there, else it is as before or after; and the next one works.

Reliability 11 and 22. Worlds are copied, acts run in forked children (tests/faults.py).
"""

import shutil
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from pathlib import Path

import pytest

from pro0.errors import Refused
from pro0.model.task import Draft
from pro0.ops.mail import messages
from pro0.ops.tasks import tasks
from pro0.ops.team import members, teams
from pro0.ops.team.members import SeatDraft
from pro0.ops.team.status import status
from pro0.store.teams import Store, TeamStore
from tests.crash.lanes import a_few
from tests.faults import DONE, KILLED, MUTATING, Fault, kill_after, kill_before, points, temporary_files
from tests.teams import human, make_team, member, settle_debts

Seen = list[object]


def tasks_of(team: TeamStore) -> Seen:
    return [(task.id, task.status, task.assignee, task.result) for task in team.tasks.read().tasks]


def mail_of(team: TeamStore) -> Seen:
    return [[m.content for m in team.mailbox(name).since(team.mailbox(name).head.read(), 0)] for name in ("w1", "w2")]


def seats_of(team: TeamStore) -> Seen:
    return [(seat.agent_id, seat.generation) for seat in team.wanted.read().seats]


ACTS: dict[str, Callable[[TeamStore], object]] = {
    "create": lambda team: tasks.create(human(team), [Draft(title="a", key="a"), Draft(title="b", blocked_by=("a",))]),
    "claim": lambda team: tasks.claim(member(team, "w1"), "1"),
    "complete": lambda team: tasks.complete(member(team, "w1"), "2", "result"),
    "cancel": lambda team: tasks.cancel(human(team), "2", "no"),
    "assign": lambda team: tasks.assign(human(team), "1", "w1"),
    "send": lambda team: messages.send(human(team), "w1", "hello"),
    "sealing send": lambda team: messages.send(human(team), "w2", "hello"),
    "inbox": lambda team: messages.inbox(member(team, "w2")),
    "spawn": lambda team: members.spawn(human(team), [SeatDraft(name="w3"), SeatDraft(name="w4")], 9),
    "stop": lambda team: teams.stop(human(team)),
}


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A team with a pending, a claimed and a blocked task, and a mailbox whose head is full."""
    home = tmp_path / "base"
    team = make_team(home, "w1", "w2")
    tasks.create(human(team), [Draft(title="one"), Draft(title="two"), Draft(title="three", blocked_by=("2",))])
    tasks.claim(member(team, "w1"), "2")
    for number in range(200):
        messages.send(human(team), "w2", str(number))
    return home


def all_of(team: TeamStore) -> Seen:
    return [tasks_of(team), mail_of(team), seats_of(team), team.wanted.read().wish, team.tasks.read().outbox]


@pytest.mark.parametrize(("what", "fault"), a_few(product(ACTS, (kill_before, kill_after)), 4))
def test_killed_at_every_call(base: Path, tmp_path: Path, what: str, fault: Fault) -> None:
    act = ACTS[what]
    homes: list[Path] = []

    def prepare() -> Callable[[], object]:
        homes.append(tmp_path / str(len(homes)))
        shutil.copytree(base, homes[-1])
        team = Store(homes[-1]).team("alpha")
        return lambda: act(team)

    old = all_of(Store(base).team("alpha"))
    prepare()()
    new = all_of(Store(homes[-1]).team("alpha"))
    for point in points(prepare, fault, MUTATING):
        assert point.ended in (KILLED, DONE), point
        team = Store(homes[-1]).team("alpha")
        found = all_of(team)
        assert all(one in (before, after) for one, before, after in zip(found[:4], old, new, strict=False)) or (
            what in ("cancel", "assign")
        ), point
        assert status(human(team)).name == "alpha"
        follow(team, what, act)
        assert all_of(team) == new or what in ("create", "send", "sealing send"), point
        every_folder(team)
        assert [path for path in temporary_files(homes[-1]) if path.parent.name != "archive"] == [], point
        shutil.rmtree(homes[-1])


def every_folder(team: TeamStore) -> None:
    """One more write in every folder: whatever a killed writer left there goes away."""
    messages.broadcast(human(team), "all are there")
    teams.pause(human(team), paused=True)
    tasks.create(human(team), [Draft(title="more")])


def follow(team: TeamStore, what: str, act: Callable[[TeamStore], object]) -> None:
    """Do the act again, as its caller would: it works, or says that it was done."""
    with suppress(Refused):
        act(team)
    settle_debts(human(team))
