"""Numbered lists: whoever comes back is told exactly what it missed, or is given the whole list."""

from collections.abc import Iterable, Iterator
from itertools import permutations
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pro0.model.caller import Caller, Who
from pro0.model.need import Need
from pro0.model.task import Draft
from pro0.ops.context import Context
from pro0.ops.tasks import tasks
from pro0.ops.team import needs
from pro0.rpc import lists
from pro0.rpc.lists import LISTS, Change, Lists, NumberedList, Reader, Rescan
from pro0.rpc.methods import members
from pro0.rpc.subscriptions import MEMBERS, NEEDS, TASKS, NeedChange, TaskChange, Values
from pro0.rules.views import task_digest
from tests.rpc import calling
from tests.rpc.calling import call
from tests.teams import human, make_team

KEYS = "abcd"
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("set"), st.sampled_from(KEYS), st.integers(0, 2)),
        st.tuples(st.just("delete"), st.sampled_from(KEYS), st.just(0)),
        st.tuples(st.just("read"), st.sampled_from("xyz"), st.booleans()),
    ),
    max_size=40,
)


class Client:
    """A reader, what it knows, and whether it is connected."""

    def __init__(self, listed: NumberedList) -> None:
        self.listed = listed
        self.connect()

    def connect(self) -> None:
        self.reader = Reader(-1)
        self.known = {**self.listed.snapshot(self.reader)}

    def come_back(self) -> None:
        """Connect anew with the last number, and take the whole list where that is too old."""
        self.reader = Reader(self.reader.seq)
        if not self.listed.go_on(self.reader):
            self.connect()

    def read(self) -> None:
        before = self.reader.seq
        told = self.listed.news(self.reader)
        assert [seq for seq, _ in told] == sorted({seq for seq, _ in told if seq > before})
        self.take(change for _, change in told)

    def take(self, changes: Iterable[Change]) -> None:
        named = []
        for operation, key, value in changes:
            named.append(key)
            assert (key in self.known) is (operation != "create")
            if operation == "delete":
                del self.known[key]
            else:
                assert self.known.get(key) != value or operation == "update"
                self.known[key] = value
        assert len(set(named)) == len(named), "of each item only what it is now"


@given(STEPS, st.sampled_from([(0, 2), (2, 2), (3, 4), (10_000, 16)]))
def test_every_reader_knows_the_list_in_the_end(steps: list[tuple[str, str, int]], limits: tuple[int, int]) -> None:
    """Told at drawn moments, cut off and back at others, however little is kept."""
    now: dict[str, int] = {"a": 0}
    with patch.object(lists, "KEPT", limits[0]), patch.object(lists, "SPANS", limits[1]):
        listed = NumberedList(Values(lambda: dict(now)))
        clients = {name: Client(listed) for name in "xyz"}
        for what, name, value in steps:
            if what == "set":
                now[name] = value
            elif what == "delete":
                now.pop(name, None)
            else:
                if value:
                    clients[name].come_back()
                clients[name].read()
                assert clients[name].known == now
        for client in clients.values():
            client.come_back()
            client.read()
            assert client.known == now
            client.read()


def test_many_readers_cost_one_look() -> None:
    """Who comes new or back is told what is there now, whatever was seen before."""
    now: dict[str, object] = {"a": 1}
    looks, version = list[int](), [0]

    def look() -> dict[str, object]:
        looks.append(1)
        return dict(now)

    listed = NumberedList(Values[object](look), lambda: version[0])
    clients = [Client(listed) for _ in range(5)]
    now["b"], before = 2, len(looks)
    version[0] += 1
    for client in clients:
        client.read()
        assert client.known == now
    assert len(looks) == before + 1
    now["c"] = 3
    assert Client(listed).known == now
    now["d"] = 4
    clients[0].come_back()
    clients[0].read()
    assert clients[0].known == now


def test_nothing_is_kept_without_a_bound() -> None:
    now: dict[str, int] = {}
    with patch.object(lists, "KEPT", 5):
        listed = NumberedList(Values(lambda: dict(now)))
        client = Client(listed)
        gone = Reader(client.reader.seq)
        for number in range(200):
            now.clear()
            now[str(number)] = number
            client.read()
        assert client.known == now
        assert not listed.go_on(gone)


def test_a_slow_reader_is_waited_for() -> None:
    now: dict[str, int] = {}
    with patch.object(lists, "KEPT", 1):
        listed = NumberedList(Values(lambda: dict(now)))
        quick, slow = Client(listed), Client(listed)
        for number in range(50):
            now[str(number % 7)] = number
            if number % 5 == 0:
                now.pop(str((number + 3) % 7), None)
            quick.read()
        slow.read()
        assert slow.known == quick.known == now


def test_lists_that_nobody_reads_are_dropped() -> None:
    """One that is read stays, however many come after it."""
    made: list[str] = []

    def source() -> Values[int]:
        made.append("x")
        return Values[int](dict)

    known = Lists()
    ours = Caller(Who.HUMAN, "human", "human")
    client = Client(known.get("task", ours, source))
    for number in range(3 * LISTS):
        known.get("task", Caller(Who.MEMBER, "w1", str(number)), source)
    assert known.get("task", ours, source) is client.listed
    assert len(made) == 3 * LISTS + 1
    known.get("task", Caller(Who.MEMBER, "w1", "0"), source)
    assert len(made) == 3 * LISTS + 2


def test_while_a_sign_fails_each_look_is_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not seen may be another; whoever looks goes on."""
    monkeypatch.setattr(lists, "RESCAN", 0.0)
    faults: list[Exception] = []

    def signs() -> Iterator[object]:
        yield "the same"
        if faults:
            raise faults.pop()

    rescan = Rescan(signs, Lists())
    assert [rescan.changed(), rescan.changed()] == [True, False]
    faults += [PermissionError("no"), RuntimeError("not foreseen")]
    assert [rescan.changed() for _ in range(4)] == [True, True, True, False]


@pytest.mark.parametrize("order", [*permutations([TASKS, MEMBERS, NEEDS])])
def test_no_need_is_told_before_its_task(order: tuple[str, ...], home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A task fails in the middle of a look; a client is told both as they are then."""
    team = make_team(home, "w1")
    [task] = tasks.create(human(team), [Draft(title="x")])
    tasks.claim(human(team), task.id)
    person = calling.client(team)
    for topic in order:
        call(person, f"{topic}.subscribe")
    listed = needs.list_needs

    def failing_meanwhile(context: Context) -> tuple[Need, ...]:
        monkeypatch.undo()
        tasks.fail(human(team), task.id, "no space left")
        return listed(context)

    monkeypatch.setattr(members, "list_needs", failing_meanwhile)
    told = [change for _, change in person.subscriptions.changes()]
    places = {type(change): place for place, change in enumerate(told)}
    assert places[TaskChange] < places[NeedChange]
    [now] = [change.task for change in told if isinstance(change, TaskChange)]
    assert now is not None
    assert now.digest == task_digest(tasks.show(human(team), task.id))
