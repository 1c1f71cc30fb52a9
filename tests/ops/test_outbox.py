"""A notice is told once: whoever is killed between delivering it and taking it off, whatever comes in between.

Rulings 3.3; reliability 22.
"""

import shutil
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from pro0.model.caller import THE_HUMAN
from pro0.model.task import Draft
from pro0.ops.mail import messages
from pro0.ops.tasks import tasks
from pro0.ops.team import members
from pro0.rules.tasks import changes
from pro0.rules.tasks.acts import Act, Request
from pro0.store.teams import Store, TeamStore
from tests import crowd
from tests.crash.lanes import a_few
from tests.faults import DONE, FAILED, KILLED, MUTATING, Fault, fail_with, kill_after, kill_before, points
from tests.teams import NOW, human, make_team, member, settle_debts

NAMES = ("w1", "w2", "lead", "human")
WORDS = ("task-", "w1 says")


def told(team: TeamStore, name: str = "w1") -> list[str]:
    box = team.mailbox(name)
    return [message.content for message in box.since(box.head.read(), 0) if message.content.startswith(WORDS)]


@pytest.fixture
def base(tmp_path: Path) -> Path:
    team = make_team(tmp_path / "base", "w1", "w2", "lead")
    tasks.create(human(team), [Draft(title="one"), Draft(title="two"), Draft(title="three", parent="1")])
    tasks.claim(member(team, "w1"), "1")
    tasks.claim(member(team, "w2"), "3")
    members.shutdown(human(team), "w1")
    return tmp_path / "base"


ACTS: dict[str, Callable[[TeamStore], object]] = {
    "assign": lambda team: tasks.assign(human(team), "2", "w1"),
    "cancel": lambda team: tasks.cancel(human(team), "1", "no"),
    "create": lambda team: tasks.create(human(team), [Draft(title="more", assignee="w1")]),
    "answer": lambda team: members.answer(member(team, "w1"), approve=False, reason="not yet"),
}


@pytest.mark.parametrize(("what", "fault"), a_few(product(ACTS, (kill_before, kill_after, fail_with(28))), 4))
def test_hit_at_every_call(base: Path, tmp_path: Path, what: str, fault: Fault) -> None:
    """The next one pays, mail that sealed the head may have come between: each is told once, if the act happened."""
    act = ACTS[what]
    homes: list[Path] = []

    def prepare() -> Callable[[], object]:
        homes.append(tmp_path / str(len(homes)))
        shutil.copytree(base, homes[-1])
        team = Store(homes[-1]).team("alpha")
        return lambda: act(team)

    prepare()()
    wanted = [told(Store(homes[-1]).team("alpha"), name) for name in NAMES]
    for point in points(prepare, fault, MUTATING):
        assert point.ended in (KILLED, DONE, FAILED), point
        team = Store(homes[-1]).team("alpha")
        for number in range(3 * (point.number % 2)):
            messages.send(human(team), "w1", str(number) * 200_000)
        settle_debts(human(team))
        settle_debts(human(team))
        found = [told(team, name) for name in NAMES]
        assert found in (wanted, [[]] * len(NAMES)), point
        assert found == wanted or point.ended != DONE, point
        assert team.tasks.read().outbox == team.wanted.read().outbox == ()
        shutil.rmtree(homes[-1])


def settle(home: Path) -> None:
    settle_debts(human(Store(home).team("alpha")))


def chatter(home: Path, number: int) -> None:
    for count in range(number):
        messages.send(human(Store(home).team("alpha")), "w1", str(count))


def test_many_pay_at_once_while_mail_comes_in(home: Path) -> None:
    team = make_team(home, "w1")
    tasks.create(human(team), [Draft(title=f"t{number}") for number in range(20)])
    with team.tasks.change("a test") as change:
        value = change.value
        for id in range(1, 21):
            value, _ = changes.assign(value, f"task-{id}", assigning(), f"n{id}")
        change.value = value
    crowd.run(pay_or_chat, [(home, number) for number in range(6)])
    settle_debts(human(team))
    assert sorted(told(team)) == sorted(f"task-{id} is assigned to you: t{id - 1}" for id in range(1, 21))
    assert team.tasks.read().outbox == ()


def assigning() -> Request:
    return Request(act=Act.ASSIGN, caller=THE_HUMAN, now=NOW, assignee="w1")


def pay_or_chat(home: Path, number: int) -> None:
    if number % 2:
        settle(home)
    else:
        chatter(home, 100)
