"""Connections are cut and servers are killed: nothing that was told is lost or told twice, nor what was done."""

import random
import signal
import socket
from collections.abc import Callable
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from pro0.model.task import Draft
from pro0.ops.tasks import tasks
from pro0.store.teams import TeamStore
from tests.crash.lanes import a_few
from tests.teams import human
from tests.web.browsers import Browser, Wire
from tests.web.conftest import Server

CUTS = 25
ROUNDS = [1, 2, 3, 4, 5, 6, 7, 8]


class Follower:
    """A page that follows the tasks, and goes on after a cut where it was."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self.tasks: dict[str, Any] = {}
        self.id, self.seq, self.snapshots = "", 0, 0
        self.come_back()

    def come_back(self) -> None:
        """Connect, and subscribe where this was."""
        self.wire: Wire = self._browser.rpc("alpha")
        before = {"id": self.id, "seq": self.seq} if self.id else {}
        subscribed = self.wire.result("task.list.subscribe", **before)
        if subscribed["id"] != self.id:
            self.snapshots += 1
            self.id, self.seq = subscribed["id"], 0
            self.tasks = {task["id"]: task for task in subscribed["tasks"]}

    def hear(self) -> None:
        """Take in one change; a number that does not grow is one told twice."""
        change = self.wire.next_notice()["params"]
        assert change["seq"] > self.seq
        self.seq = change["seq"]
        if change["operation"] == "delete":
            self.tasks.pop(change["taskId"], None)  # one that came and went while this was away was never told
        else:
            self.tasks[change["task"]["id"]] = change["task"]


@pytest.mark.parametrize("number", a_few(ROUNDS, 2))
def test_nothing_is_missed_under_random_cuts(browser: Browser, team: TeamStore, number: int) -> None:
    """Issue 16, must show 4."""
    draw = random.Random(number)
    follower = Follower(browser)
    made: list[str] = []
    for cut in range(CUTS):
        for _ in range(draw.randrange(4)):
            if made and draw.random() < 0.3:
                tasks.delete(human(team), made.pop(draw.randrange(len(made))))
            else:
                made += [task.id for task in tasks.create(human(team), [Draft(title=f"after cut {cut}")])]
            if draw.random() < 0.5 and set(follower.tasks) != set(made):
                follower.hear()
        if draw.random() < 0.5:
            follower.wire.socket.socket.shutdown(socket.SHUT_RDWR)
        else:
            follower.wire.socket.close()
        follower.come_back()
    while set(follower.tasks) != set(made):
        follower.hear()
    assert follower.snapshots == 1


def test_a_killed_server_loses_nothing_and_its_pages_come_back(serve: Callable[..., Server], team: TeamStore) -> None:
    server = serve()
    browser = Browser(server.url)
    browser.pair()
    follower = Follower(browser)
    acknowledged = [
        follower.wire.result("task.create", title=f"task {number}", description="to do", role_id=None)["id"]
        for number in range(5)
    ]
    server.end(signal.SIGKILL)
    with pytest.raises(ConnectionClosed):
        follower.wire.ask("task.list")
    meanwhile = [task.id for task in tasks.create(human(team), [Draft(title="while nobody served")])]
    serve()
    follower.come_back()
    assert set(follower.tasks) == {*acknowledged, *meanwhile}
    assert follower.snapshots == 2
