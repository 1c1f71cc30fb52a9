"""Many at once where others read, or where the team goes away meanwhile (reliability 2, 3, 8, 10, 33, 67)."""

import itertools
import json
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from pro0.errors import BadInput, NotFound, Refused
from pro0.model.task import Changes, Draft
from pro0.model.team import PlanGate
from pro0.ops.context import Context
from pro0.ops.mail import messages
from pro0.ops.tasks import tasks
from pro0.ops.team import plan_approval
from pro0.rules.mail import HEAD_COUNT
from pro0.store.teams import Store, TeamStore
from tests import crowd
from tests.crash.lanes import LANES, SOAK
from tests.teams import human, make_team, member
from tests.traffic import traffic
from tests.waiting import wait_until

NAMES = [f"w{number}" for number in range(10)]


def team_in(home: Path) -> TeamStore:
    return Store(home).team("alpha")


def write_round(home: Path, name: str, number: int) -> None:
    """Send so many messages to each member, oneself too, beginning with another one than all others do."""
    context, first = member(team_in(home), name), NAMES.index(name)
    for count in range(number):
        for to in (*NAMES[first:], *NAMES[:first]):
            messages.send(context, to, f"{name} {count}")


@pytest.mark.parametrize("lane", LANES)
def test_all_send_to_all_and_nobody_waits_for_ever(home: Path, lane: str) -> None:
    """2: ten agents, ten mailboxes: none lost, doubled, or out of a sender's order."""
    number = {SOAK: 100}.get(lane, 5)
    team = make_team(home, *NAMES)
    crowd.run(write_round, [(home, name, number) for name in NAMES], 600)
    for to in NAMES:
        box = team.mailbox(to)
        got = [message.content.split() for message in box.since(box.head.read(), 0)]
        for name in NAMES:
            assert [int(count) for sender, count in got if sender == name] == list(range(number))


FULL = {"test": 450, SOAK: 10_000}


def read_up_to(home: Path, number: int) -> TeamStore:
    """A mailbox of so many messages, of which all but the last have been read."""
    team = make_team(home / str(number), "w1")
    for count in range(number):
        messages.send(human(team), "w1", f"message {count:06} of some length, as agents write them")
        if count == number - 2:
            while messages.inbox(member(team, "w1"), acknowledge=True):
                pass  # an agent gets the first ones of very many
    return team


READS: dict[str, Callable[[Context], object]] = {
    "inbox": messages.inbox,
    "inbox --ack": lambda context: messages.inbox(context, acknowledge=True),
    "unread": messages.unread,
}


@pytest.mark.parametrize("lane", LANES)
def test_reading_costs_the_same_in_a_full_mailbox(home: Path, lane: str) -> None:
    """3: of what was read long ago nothing is looked at again, beside one head and one segment."""
    small, large, heads = (read_up_to(home, number) for number in (10, FULL[lane], HEAD_COUNT))
    head = heads.mailbox("w1").head.path.stat().st_size
    for what, act in READS.items():
        few, many = (traffic(partial(act, member(team, "w1"))) for team in (small, large))
        assert many.read <= 1.2 * few.read + 2.5 * head, what
        assert many.written <= 1.2 * few.written + 1.5 * head, what


def change_all_the_time(home: Path, number: int) -> None:
    team = team_in(home)
    for count in range(number):
        tasks.update(human(team), "1", Changes(title=str(count)))
        messages.send(human(team), "w1", str(count))
    (home / "over").touch()


def read_all_the_time(home: Path, path: Path, name: str) -> None:
    """Read without a lock, as any program may, until the writer is done."""
    last, reads = 0, 0
    while not (home / "over").exists():
        revision = json.loads(path.read_bytes())["revision"]
        assert revision >= last
        last, reads = revision, reads + 1
    (home / f"reads-{name}").write_text(str(reads))


@pytest.mark.parametrize("lane", LANES)
def test_who_reads_without_a_lock_meets_whole_files_that_never_go_back(home: Path, lane: str) -> None:
    """8: while one writes all the time."""
    team = make_team(home, "w1")
    tasks.create(human(team), [Draft(title="t")])
    readers = enumerate([team.tasks.path, team.mailbox("w1").head.path] * 2)
    started = [crowd.start(read_all_the_time, home, path, number) for number, path in readers]
    started.append(crowd.start(change_all_the_time, home, {SOAK: 10_000}.get(lane, 100)))
    crowd.all_end_well(started, 600)
    assert min(int(path.read_text()) for path in home.glob("reads-*")) > 10


def go_on_until_it_is_gone(home: Path, name: str) -> None:
    """Work in the team until it is not there any more; any other error fails the test."""
    context = member(team_in(home), name)
    acts: list[Callable[[], object]] = [
        lambda: messages.send(context, "w1", "hello"),
        lambda: messages.inbox(context),
        lambda: tasks.create(context, [Draft(title="t")]),
        lambda: tasks.take(context),
    ]
    with suppress(NotFound):
        for act in itertools.cycle(acts):
            act()
            (home / f"at-work-{name}").touch()


@pytest.mark.parametrize("lane", LANES)
def test_a_team_that_is_removed_meanwhile_stays_removed(home: Path, lane: str) -> None:
    """10: who still sends and claims is told that it is not there, and brings no folder of it back."""
    names = NAMES[:5]
    for number in range({SOAK: 200}.get(lane, 4)):
        place = home / str(number)
        team = make_team(place, *names)
        crew = [crowd.start(go_on_until_it_is_gone, place, name) for name in names]
        wait_until(lambda place=place: len([*place.glob("at-work-*")]) == len(names), 60, "all are at work")  # type: ignore[misc]
        Store(place).discard("alpha", team.config.read().uid)
        crowd.all_end_well(crew)
        assert [path for path in place.rglob("*") if "alpha" in path.name] == []


def decide(home: Path, verdict: str) -> None:
    """Say yes or no to the plan of w1, and note that it counted."""
    context = human(team_in(home))
    with suppress(Refused):
        if verdict == "yes":
            plan_approval.approve(context, "w1")
        else:
            plan_approval.reject(context, "w1", "not so")
        (home / verdict).touch()


def test_two_verdicts_on_a_plan_are_one(home: Path) -> None:
    """67: of who says yes and who says no at once one is told that it is decided."""
    for number in range(20):
        place = home / str(number)
        team = make_team(place, "w1")
        with team.wanted.change("ask for a plan") as change:
            change.value = replace(change.value, seats=(replace(change.value.seats[0], gate=PlanGate()),))
        plan_approval.submit(member(team, "w1"), "first this")
        crowd.run(decide, [(place, "yes"), (place, "no")])
        [verdict] = [name for name in ("yes", "no") if (place / name).exists()]
        gate = team.wanted.read().seats[0].gate
        assert gate
        assert gate.verdict == {"yes": "approved", "no": "rejected"}[verdict]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> TeamStore:
    """A team that all examples share."""
    return make_team(tmp_path_factory.mktemp("text") / "pro0", "w1")


@given(st.text(st.characters(exclude_categories=()), max_size=200))
@settings(deadline=None, max_examples=100)
def test_a_text_arrives_as_it_was_sent_or_is_refused(pair: TeamStore, text: str) -> None:
    """33: whatever letters it has; refused is only what is no Unicode, or says nothing."""
    try:
        messages.send(human(pair), "w1", text)
    except BadInput:
        assert not text.strip() or not text.isprintable()
    else:
        [letter] = messages.inbox(member(pair, "w1"), acknowledge=True)
        assert letter.message.content == text
