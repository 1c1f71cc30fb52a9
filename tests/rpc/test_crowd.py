"""A crowd: changes by commands, tools and calls, subscribers that stall or are cut off, leads that are killed."""

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from pro0.errors import Pro0Error
from pro0.model.task import Changes, Draft
from pro0.ops.mail import messages
from pro0.ops.tasks import tasks
from pro0.store.paths import SOCKET
from tests.engine.crew import Crew, crew
from tests.mcp.served import Served
from tests.rpc.sockets import Wire
from tests.teams import granted
from tests.waiting import STUCK, wait_until

View = dict[str, object]
KEYS = {"task.list": ("tasks", "task", "taskId"), "message.list": ("messages", "message", "messageId")}


class Subscriber:
    """A client that follows one list, whatever happens to its connection and to the lead."""

    def __init__(self, path: Path, topic: str) -> None:
        self.view: View = {}
        self.faults: list[str] = []
        self._path, self._topic = path, topic
        self._id, self._seq = "", 0
        self._going = threading.Event()
        self._going.set()
        self._wire: Wire | None = None
        self._over = False
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def stall(self) -> None:
        """Read no more until `go_on`."""
        self._going.clear()

    def go_on(self) -> None:
        """Read again."""
        self._going.set()

    def cut(self) -> None:
        """Lose the connection."""
        if wire := self._wire:
            with suppress(OSError):
                wire.socket.shutdown(2)

    def end(self) -> None:
        """Follow no more."""
        self._over = True
        self.go_on()
        self.cut()
        self._thread.join(STUCK)

    def _follow(self) -> None:
        while not self._over:
            try:
                self._wire = Wire(self._path)
                self._subscribe(self._wire)
                while not self._over:
                    self._take(self._wire.told())
                    self._going.wait(STUCK)
            except (OSError, EOFError):  # it is cut off, or the lead is gone
                threading.Event().wait(0.02)
            finally:
                if self._wire:
                    self._wire.close()

    def _subscribe(self, wire: Wire) -> None:
        several, item, _ = KEYS[self._topic]
        heard = wire.ask(f"{self._topic}.subscribe", {"id": self._id, "seq": self._seq} if self._id else {})
        if "error" in heard:
            raise EOFError(heard)
        found = heard["result"]
        if found["id"] == self._id:
            self._check(found[several] == [], "one that goes on is told the list again")
        else:
            self.view = {each["id"]: shown(item, each) for each in found[several]}
            self._id, self._seq = found["id"], 0

    def _take(self, change: Any) -> None:
        _, item, deleted = KEYS[self._topic]
        operation = change["operation"]
        key = change[deleted] if operation == "delete" else change[item]["id"]
        self._check(change["seq"] > self._seq, f"change {change['seq']} after {self._seq}")
        self._check((key in self.view) is (operation != "create"), f"{operation} of {key}")
        self._seq = change["seq"]
        view = {name: value for name, value in self.view.items() if name != key}
        self.view = view if operation == "delete" else view | {key: shown(item, change[item])}

    def _check(self, right: bool, otherwise: str) -> None:
        if not right:
            self.faults.append(f"{self._topic}: {otherwise}")


def shown(item: str, value: Any) -> object:
    return value["title"] if item == "task" else value.get("read", False)


@pytest.fixture
def alpha(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Crew]:
    monkeypatch.setenv("PRO0_END_GRACE_SECONDS", "1")
    monkeypatch.setenv("PRO0_REVIVE_LEAD", "0")
    with crew(home, tmp_path, "headless") as made:
        made.lead()
        made.spawn("w1")
        yield made


class Crowd:
    """Those that change things, each by another way."""

    def __init__(self, alpha: Crew, folder: Path, cli: Callable[..., Any], chance: random.Random) -> None:
        self._alpha, self._cli, self._chance = alpha, cli, chance
        self._served = Served(folder, (), granted(alpha.team, "w1")).open()
        self._count = 0

    def act(self) -> None:
        """Change something by one of the ways; an act that is refused changes nothing."""
        self._count += 1
        title = f"number {self._count}"
        ways = [self._by_command, self._by_tool, self._by_call, self._by_call, self._inside, self._inside]
        self._chance.choice(ways)(title)

    def end(self) -> None:
        """End the server of tools."""
        self._served.kill()

    def _by_command(self, title: str) -> None:
        word = self._chance.choice([("task", "create", title), ("send", "w1", title), ("task", "delete", self._task())])
        self._cli(*word, "--team", "alpha")

    def _by_tool(self, title: str) -> None:
        tool, arguments = self._chance.choice(
            [("create_task", {"title": title}), ("message", {"to": "human", "content": title})]
        )
        self._served.call(tool, **arguments)

    def _by_call(self, title: str) -> None:
        choice: list[tuple[str, dict[str, object]]] = [
            ("task.create", {"title": title, "description": "d", "role_id": None}),
            ("task.update", {"task_id": self._task(), "title": title}),
            ("message.send", {"to": "w1", "content": title}),
        ]
        method, params = self._chance.choice(choice)
        with suppress(OSError, EOFError), Wire(self._alpha.team.paths.team / SOCKET) as wire:
            wire.ask(method, params)

    def _inside(self, title: str) -> None:
        context = self._alpha.context
        with suppress(Pro0Error):
            acts: list[Callable[[], object]] = [
                lambda: tasks.create(context, [Draft(title=title)]),
                lambda: tasks.update(context, self._task(), Changes(title=title)),
                lambda: tasks.delete(context, self._task()),
                lambda: messages.inbox(context, acknowledge=True),
            ]
            self._chance.choice(acts)()

    def _task(self) -> str:
        return str(self._chance.randint(1, max(1, self._count // 2)))


@pytest.mark.parametrize(
    ("acts", "followers", "kills"), [(24, 4, 1), pytest.param(1000, 20, 50, marks=pytest.mark.soak)]
)
def test_every_view_is_the_store_in_the_end(
    alpha: Crew, tmp_path: Path, cli: Callable[..., Any], acts: int, followers: int, kills: int
) -> None:
    """A third of the subscribers is stalled or cut off at drawn moments; no change is lost, and none told twice."""
    chance = random.Random(acts)
    path = alpha.team.paths.team / SOCKET
    wait_until(path.exists, STUCK, "the socket")
    subscribers = [Subscriber(path, [*KEYS][number % len(KEYS)]) for number in range(followers)]
    killed_at = set(chance.sample(range(acts), kills))
    crowd = Crowd(alpha, tmp_path, cli, chance)
    try:
        for number in range(acts):
            one = subscribers[chance.randrange(max(1, followers // 3))]
            chance.choice([one.stall, one.go_on, one.go_on, one.cut])()
            if number in killed_at:
                alpha.leads[-1].kill()
                alpha.leads[-1].wait()
                alpha.lead()
            crowd.act()
        for one in subscribers:
            one.go_on()
        for one, topic in zip(subscribers, [*KEYS] * followers, strict=False):
            wait_until(agrees(one, alpha, topic), STUCK, f"the {topic} in a view")
        assert [fault for one in subscribers for fault in one.faults] == []
    finally:
        crowd.end()
        for one in subscribers:
            one.end()


def agrees(subscriber: Subscriber, alpha: Crew, topic: str) -> Callable[[], bool]:
    return lambda: subscriber.view == stored(alpha, topic)


def stored(alpha: Crew, topic: str) -> View:
    """Return what a list is in the store."""
    team = alpha.team
    if topic == "task.list":
        return {task.id: task.title for task in team.tasks.read().tasks}
    view: View = {}
    for box in map(team.mailbox, team.mailbox_owners()):
        head = box.head.read()
        view |= {message.id: message.seq <= head.acked for message in box.since(head, 0)}
    return view
