"""A team whose lead serves: a tree worked on over the socket, a session that speaks there, a lead that is killed."""

import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pro0.store.paths import SOCKET
from tests.engine.crew import Crew, crew
from tests.rpc.sockets import ASK, Wire
from tests.waiting import STUCK, wait_until


@pytest.fixture
def alpha(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Crew]:
    """A team with a lead and without members."""
    monkeypatch.setenv("PRO0_END_GRACE_SECONDS", "1")
    monkeypatch.setenv("PRO0_REVIVE_LEAD", "0")
    with crew(home, tmp_path, "headless") as made:
        made.lead()
        yield made


def wire(alpha: Crew) -> Wire:
    """Connect to the lead."""
    path = alpha.team.paths.team / SOCKET
    wait_until(path.exists, STUCK, "the socket")
    return Wire(path)


def said_by(alpha: Crew, method: str, **params: object) -> str:
    """A command that says one thing at the socket."""
    call = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    return shlex.join([sys.executable, "-c", ASK, str(alpha.team.paths.team / SOCKET), call])


def test_a_tree_is_worked_on_over_the_socket(alpha: Crew) -> None:
    """S000-079, S003-011: started by a person's client; its session comments there as the member that it is."""
    with wire(alpha) as one:
        one.result("ticket.list.subscribe")
        comment = said_by(alpha, "ticket.comment.create", ticket_id="task-1", content="from within")
        root = {"title": "root", "description": "d", "role_id": None, "run": comment}
        assert one.result("ticket.create", root)["id"] == "task-1"
        below = {"title": "sub", "description": "d", "role_id": None, "parent_id": "task-1", "run": "true"}
        one.result("ticket.create", below)
        session = one.result("ticket.start", {"ticket_id": "task-1"})["session_id"]
        ways: dict[str, list[str]] = {"task-1": [], "task-2": []}
        sessions = set()
        while [way[-1:] for way in ways.values()] != [["closed"], ["closed"]]:
            ticket = one.told()["ticket"]
            ways[ticket["id"]].append(ticket["status"])
            sessions.add(ticket.get("session_id") if ticket["id"] == "task-1" else None)
        assert session in sessions
        [said] = [s for s in one.result("ticket.comment.list", ["1"])["comments"] if s["content"] == "from within"]
        assert said["author_ticket_id"] == "task-1"
        assert said["author"] not in ("human", "lead")


def test_a_member_is_spawned_and_ended_over_the_socket(alpha: Crew) -> None:
    with wire(alpha) as one:
        spawned = one.result("member.spawn", {"name": "w1", "agent": "shell"})
        assert (spawned["agent_id"], spawned["state"]) == ("w1", "idle")
        alpha.remember()
        assert [seat["agent_id"] for seat in one.result("member.list")["members"]] == ["w1"]
        one.result("member.shutdown", {"name": "w1"})
        wait_until(lambda: one.result("member.list")["members"][0]["state"] == "shutdown", STUCK, "it has ended")
        again = one.result("member.restart", {"name": "w1"})
        assert (again["agent_id"], again["state"]) == ("w1", "idle")
        alpha.remember()
        one.result("message.send", {"to": "w1", "content": "good morning"})
        wait_until(lambda: "good morning" in "".join(last_lines(one)), STUCK, "what it shows")
        assert last_lines(one, 1) == last_lines(one)[-1:]


def last_lines(one: Wire, lines: int = 40) -> list[str]:
    found: list[str] = one.result("member.peek", {"name": "w1", "lines": lines})["lines"]
    return found


def test_a_client_that_asks_is_told_how_far_a_call_is(alpha: Crew) -> None:
    """Begun, how far, over, then the answer; of a call that fails too; and nothing to a client that does not ask."""
    with wire(alpha) as one:
        key = one.request("member.spawn", {"name": "w1", "agent": "shell", "workDoneToken": "mine"})
        heard = until_answered(one, key)
        alpha.remember()
        assert [(m["method"], m["params"]["token"]) for m in heard[:-1]] == [("$/progress", "mine")] * 3
        steps = [m["params"]["value"] for m in heard[:-1]]
        assert steps[0] == {"kind": "begin", "title": "member.spawn"}
        assert steps[1] == {"kind": "report", "message": "w1 is idle"}
        assert steps[2] == {"kind": "end"}
        assert heard[-1]["result"]["agent_id"] == "w1"
        key = one.request("task.start", {"task_id": "9", "workDoneToken": 7})
        heard = until_answered(one, key)
        assert [m["params"]["value"]["kind"] for m in heard[:-1]] == ["begin", "end"]
        assert heard[-1]["error"]["data"]["code"] == "not_found"
        key = one.request("member.spawn", {"name": "w2", "agent": "shell"})
        assert len(until_answered(one, key)) == 1
        alpha.remember()


def until_answered(one: Wire, key: object) -> list[Any]:
    """All messages up to the answer of a request."""
    heard = [one.hear()]
    while heard[-1].get("id") != key:
        heard.append(one.hear())
    return heard


def test_a_call_that_waits_keeps_no_other_of_its_client_waiting(alpha: Crew) -> None:
    """It can be told of what happens meanwhile."""
    with wire(alpha) as one:
        one.result("task.list.subscribe")
        one.say(b"".join(line + b"\n" for line in requests()))
        heard: list[Any] = []
        while not {1, 2} <= {message.get("id") for message in heard}:
            heard.append(one.hear())
        assert [m["id"] for m in heard if "id" in m] == [2, 1]


def requests() -> Iterator[bytes]:
    for id, method, params in ((1, "member.spawn", {"name": "w1", "agent": "shell"}), (2, "team.cost", {})):
        yield json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode()


def test_a_lead_that_is_killed_loses_no_change(alpha: Crew) -> None:
    """What was answered has happened; a client that comes again sees what is there."""
    made: list[str] = []
    for _ in range(4):
        with wire(alpha) as one:
            one.result("task.list.subscribe")
            for number in range(20):
                one.request("task.create", {"title": str(len(made) + number), "description": "d", "role_id": None})
            for _answer in range(3):
                heard = one.hear()
                made += [heard["result"]["id"]] if "result" in heard else []
            alpha.leads[-1].kill()
            alpha.leads[-1].wait()
            made += [heard["result"]["id"] for heard in one.rest() if "result" in heard]
        alpha.lead()
        with wire(alpha) as one:
            there = {task["id"] for task in one.result("task.list")}
            assert set(made) <= there
            assert there == {task.id for task in alpha.team.tasks.read().tasks}


def test_a_team_that_has_stopped_takes_its_socket_along(alpha: Crew) -> None:
    path = alpha.team.paths.team / SOCKET
    one = wire(alpha)
    one.result("team.stop")
    alpha.leads[-1].wait(STUCK)
    assert not path.exists()
    assert all("id" in message for message in one.rest())
    one.close()
