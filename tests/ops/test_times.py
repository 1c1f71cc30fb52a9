"""The time of an act is that of its turn, not that of the wait for it: a history never runs backwards (ruling 2)."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0.model.runtime import State
from pro0.model.task import Changes, Draft
from pro0.model.team import ShutdownWish
from pro0.ops.context import Context, lead_context, zone
from pro0.ops.mail import messages
from pro0.ops.tasks import tasks
from pro0.ops.team import members, teams
from pro0.store import health
from pro0.store.paths import LOCK
from pro0.store.teams import TeamStore
from tests.teams import human, make_team, member, set_state

TOO_EARLY = datetime(1990, 1, 1, tzinfo=UTC)
TURN = datetime(2026, 1, 1, tzinfo=UTC)

Act = Callable[[Context], object]


@pytest.fixture
def team(home: Path) -> TeamStore:
    """Tasks: 1 pending, 2 claimed by w1, 3 completed, 4 reserved for w1; w1 is asked to end."""
    made = make_team(home, "w1", "w2")
    tasks.create(human(made), [Draft(title=f"t{number}") for number in range(3)])
    tasks.create(human(made), [Draft(title="t3", assignee="w1")])
    tasks.claim(member(made, "w1"), "2")
    tasks.claim(human(made), "3")
    tasks.complete(human(made), "3")
    with made.wanted.change("a test") as change:
        asked = replace(change.value.seats[0], shutdown=ShutdownWish(id="ask", by="human", at=TURN))
        change.value = replace(change.value, seats=(asked, *change.value.seats[1:]))
    return made


def gone(context: Context) -> object:
    set_state(context.team, "w1", State.CRASHED)
    return tasks.free(replace(lead_context(context.team), now=context.now), "w1", "inc-w1", "is dead")


HUMAN: dict[str, Act] = {
    "create": lambda c: tasks.create(c, [Draft(title="t")]),
    "create reserved": lambda c: tasks.create(c, [Draft(title="t", assignee="w1")]),
    "claim": lambda c: tasks.claim(c, "1"),
    "take": lambda c: tasks.take(c),
    "cancel": lambda c: tasks.cancel(c, "2", "why"),
    "reopen": lambda c: tasks.reopen(c, "3"),
    "assign": lambda c: tasks.assign(c, "1", "w2"),
    "update": lambda c: tasks.update(c, "1", Changes(title="new")),
    "delete": lambda c: tasks.delete(c, "4", force=True),
    "comment": lambda c: tasks.comment(c, "1", "said"),
    "send": lambda c: messages.send(c, "w1", "hello"),
    "broadcast": lambda c: messages.broadcast(c, "hello"),
    "shutdown": lambda c: members.shutdown(c, "w2"),
    "stop": lambda c: teams.stop(c),
    "free": gone,
}
MEMBER: dict[str, Act] = {
    "release": lambda c: tasks.release(c, "2"),
    "complete": lambda c: tasks.complete(c, "2"),
    "fail": lambda c: tasks.fail(c, "2"),
    "answer": lambda c: members.answer(c, approve=False, reason="busy"),
}


@pytest.mark.parametrize(
    ("who", "act"),
    [*((human, act) for act in HUMAN.values()), *((lambda made: member(made, "w1"), act) for act in MEMBER.values())],
    ids=[*HUMAN, *MEMBER],
)
def test_the_time_is_asked_for_under_the_lock(who: Callable[[TeamStore], Context], act: Act, team: TeamStore) -> None:
    home = team.paths.home
    before = {path: path.read_bytes() for path in home.rglob("*.json")}

    def now() -> datetime:
        return TURN if any(health.held(lock) for lock in home.rglob(LOCK)) else TOO_EARLY

    act(replace(who(team), now=now))
    changed = [path for path in home.rglob("*.json") if before.get(path) != path.read_bytes()]
    assert changed
    assert not [path for path in changed if b'"1990-' in path.read_bytes()]


@pytest.mark.parametrize(
    ("name", "hours"),
    [("UTC", 0), ("GMT", 0), ("Asia/Tokyo", 9), ("Etc/GMT+5", -5), ("Nowhere/Atall", None), ("../../etc/passwd", None)],
)
def test_a_time_zone_is_known_by_its_name(name: str, hours: int | None) -> None:
    known = zone(name)
    assert (known and known.utcoffset(TURN)) == (None if hours is None else timedelta(hours=hours))


def test_a_time_zone_without_a_name_is_that_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        here = zone("")
    time.tzset()
    assert here
    assert here.utcoffset(TURN) == timedelta(hours=9)
