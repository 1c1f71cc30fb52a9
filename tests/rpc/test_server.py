"""The socket of a lead: whose it is, who speaks there, and clients that are slow, hostile or gone."""

import errno
import gc
import json
import os
import random
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

import psutil
import pytest

from pro0.errors import NotFound
from pro0.model.runtime import State
from pro0.model.task import Awaiting, Changes, Draft
from pro0.ops.mail import messages
from pro0.ops.tasks import gates, tasks
from pro0.rpc import calls, lists
from pro0.rpc.client import RpcClient
from pro0.rpc.place import CONNECTIONS
from pro0.rpc.server import WORKERS, RpcServer, serving
from pro0.rpc.subscriptions import CHAT, LIMIT, TOPICS
from pro0.store.paths import LEAD_LOG, SOCKET
from pro0.store.places.documents import Files
from pro0.store.teams import TeamStore
from pro0.store.watch import Watch
from pro0.terminals import address
from pro0.wire import INVALID_PARAMS, LINE_LIMIT
from tests.ops.guarded import NAMESPACE, below_its_guard, refusal
from tests.rpc.conftest import Connect
from tests.rpc.sockets import ASK, Wire
from tests.teams import granted, human, make_team, member, set_state
from tests.waiting import STUCK, wait_until

VERSION = {"jsonrpc": "2.0"}


def request(method: str, params: object = None, id: object = 1) -> str:
    return json.dumps({**VERSION, "id": id, "method": method, "params": params or {}})


SPEAKS = request("message.send", {"to": "w2", "content": "who am I?"})


def asked(path: Path, *calls: str, variables: dict[str, str] | None = None, before: tuple[str, ...] = ()) -> list[Any]:
    """What a program of its own is answered."""
    argv = [*before, sys.executable, "-c", ASK, str(path), *calls]
    done = subprocess.run(argv, capture_output=True, text=True, env=os.environ | (variables or {}), timeout=STUCK)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) if line else None for line in done.stdout.splitlines()]


def subscribed(wire: Wire, topic: str, **params: object) -> Any:
    """The answer to a subscription, to a chat to that of w1."""
    return wire.result(f"{topic}.subscribe", params | ({"session_id": "w1"} if topic == CHAT else {}))


def alive(connect: Connect) -> bool:
    """Whether a new client is served."""
    wire = connect()
    try:
        wire.request("task.list")
        return "result" in wire.hear()
    finally:
        wire.close()


class TestPlace:
    """The socket itself."""

    def test_it_is_its_users_alone_and_goes_with_its_server(self, team: TeamStore) -> None:
        path = team.paths.team / SOCKET
        with serving(team):
            assert stat.S_IMODE(path.lstat().st_mode) == 0o600
            assert stat.S_ISSOCK(path.lstat().st_mode)
        assert not path.exists()
        assert not [one for one in os.listdir(team.paths.team) if SOCKET in one]

    def test_one_of_a_killed_lead_is_replaced(self, team: TeamStore) -> None:
        path = team.paths.team / SOCKET
        left = socket.socket(socket.AF_UNIX)
        with address.reachable(str(path)) as short:
            left.bind(short)
        left.close()
        with serving(team), Wire(path) as wire:
            assert wire.result("task.list") == []

    def test_a_place_that_takes_no_socket_does_not_keep_a_lead_from_leading(self, team: TeamStore) -> None:
        path = team.paths.team / SOCKET
        path.mkdir()
        (path / "something").touch()
        team.paths.logs.mkdir(exist_ok=True)
        with serving(team):
            assert path.is_dir()
        assert "no socket" in "".join(one.read_text() for one in team.paths.logs.iterdir())

    def test_a_long_path_is_served_too(self, tmp_path: Path) -> None:
        if sys.platform != "linux":
            pytest.skip("a socket's path is short there")
        team = make_team(tmp_path / ("x" * 100) / "home", "w1")
        with serving(team), address.reachable(str(team.paths.team / SOCKET)) as short, Wire(Path(short)) as wire:
            assert wire.result("task.list") == []


class TestWho:
    """Who speaks is proven, never said."""

    def test_a_process_of_its_own_is_the_person(self, team: TeamStore, path: Path) -> None:
        [sent] = asked(path, SPEAKS)
        assert sent["result"]["from"] == "human"

    def test_below_a_guard_it_is_the_guards_member(self, team: TeamStore, path: Path) -> None:
        """A member's connection acts as that member and gives no verdict."""
        verdict = request("task.approve", {"task_id": "task-1"})
        limit = request("team.limit", {"usd": 5})
        pretending = request("message.send", {"to": "w2", "content": "x", "from": "lead"})
        argv = [sys.executable, "-c", ASK, str(path), SPEAKS, verdict, limit, pretending]
        done = below_its_guard(team, "w1", argv)
        sent, refused, limited, pretended = (json.loads(line) for line in done.out.splitlines())
        assert sent["result"]["from"] == "w1"
        assert refused["error"]["data"]["code"] == limited["error"]["data"]["code"] == "not_allowed"
        assert pretended["error"]["code"] == -32602

    @pytest.mark.skipif(bool(refusal(*NAMESPACE)), reason="no namespaces here")
    def test_in_a_namespace_of_its_own_below_a_guard_it_is_still_the_member(self, team: TeamStore, path: Path) -> None:
        done = below_its_guard(team, "w1", [*NAMESPACE, sys.executable, "-c", ASK, str(path), SPEAKS])
        assert json.loads(done.out)["result"]["from"] == "w1"

    def test_with_a_grant_it_is_the_member_of_the_grant(self, team: TeamStore, path: Path) -> None:
        [sent] = asked(path, SPEAKS, variables=granted(team, "w1"))
        assert sent["result"]["from"] == "w1"

    def test_a_claim_without_proof_is_refused_and_the_connection_ends(self, team: TeamStore, path: Path) -> None:
        claim = {"PRO0_TEAM": team.name, "PRO0_AGENT_ID": "w1", "PRO0_INCARNATION": "inc-w1"}
        wire = asked(path, SPEAKS, variables=claim)
        assert wire[0]["error"]["data"]["code"] == "identity_unproven"

    def test_a_member_of_another_team_is_no_member_of_this_one(self, team: TeamStore, path: Path, home: Path) -> None:
        other = make_team(home, "w1", name="beta")
        [refused] = asked(path, SPEAKS, variables=granted(other, "w1"))
        assert refused["error"]["data"]["code"] == "not_member"

    def test_a_process_that_has_gone_is_nobody(self, path: Path) -> None:
        """Its child holds the connection. It may have been seen before it went; then it was the person's."""
        done = subprocess.run(
            [sys.executable, "-c", HANDED_DOWN, str(path), SPEAKS], capture_output=True, text=True, timeout=STUCK
        )
        [heard] = (json.loads(line) for line in done.stdout.splitlines())
        said = heard["error"]["data"]["code"] if "error" in heard else heard["result"]["from"]
        assert said in ("identity_unproven", "human")

    def test_a_session_that_is_over_changes_nothing_any_more(self, team: TeamStore, path: Path) -> None:
        """The connection stays; what it asks for is judged at each call."""
        variables = granted(team, "w1")
        argv = [sys.executable, "-c", RELAY, str(path)]
        with subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | variables
        ) as program:
            assert program.stdin
            assert program.stdout
            for expected in ("w1", "stale_session"):
                program.stdin.write(SPEAKS + "\n")
                program.stdin.flush()
                heard = json.loads(program.stdout.readline())
                got = heard["result"]["from"] if "result" in heard else heard["error"]["data"]["code"]
                assert got == expected
                set_state(team, "w1", State.CRASHED)
            program.stdin.close()


RELAY = ASK.replace("for call in calls:", "for call in sys.stdin:").replace("call.encode()", "call.strip().encode()")


HANDED_DOWN = """
import os, socket, sys, time
with socket.socket(socket.AF_UNIX) as s:
    if os.fork() == 0:
        s.connect(sys.argv[1])
        if os.fork() == 0:
            time.sleep(0.3)
            s.sendall(sys.argv[2].encode() + b"\\n")
            print(s.makefile().readline(), end="", flush=True)
        os._exit(0)
    os.wait()
    time.sleep(0.6)
"""
"""A program whose child connects and ends; the child's child goes on."""


class TestClients:
    """What clients may do."""

    def test_each_way_of_cutting_the_bytes_is_the_same(self, connect: Connect) -> None:
        wire, data = connect(), b""
        for id in range(20):
            data += request("task.list", id=id).encode() + b"\r\n\n"
        chance = random.Random(1)
        while data:
            size = chance.randint(1, 40)
            wire.say(data[:size])
            data = data[size:]
        assert sorted(wire.hear()["id"] for _ in range(20)) == [*range(20)]

    def test_the_last_line_may_lack_its_end_and_what_was_asked_is_answered(self, connect: Connect) -> None:
        wire = connect()
        wire.say(b"\n".join(request("task.create", {**TASK, "title": str(n)}, id=n).encode() for n in range(30)))
        wire.socket.shutdown(socket.SHUT_WR)
        assert [wire.hear()["id"] for _ in range(30)] == [*range(30)]
        with pytest.raises(EOFError):
            wire.hear()

    def test_calls_of_one_client_happen_in_order(self, connect: Connect, team: TeamStore) -> None:
        wire = connect()
        wire.say([json.loads(request("message.send", {"to": "w1", "content": str(n)}, id=n)) for n in range(50)])
        assert sorted(one["id"] for one in wire.hear()) == [*range(50)]
        assert [one.message.content for one in messages.history(member(team, "w1"))] == [str(n) for n in range(50)]

    def test_a_notification_acts_and_is_not_answered(self, connect: Connect, team: TeamStore) -> None:
        wire = connect()
        wire.say({**VERSION, "method": "task.create", "params": TASK})
        wire.say({**VERSION, "method": "no.such"})
        assert len(wire.result("task.list")) == 1

    def test_a_request_that_waits_behind_others_can_be_cancelled(self, connect: Connect, team: TeamStore) -> None:
        """What was cancelled is not done; each is answered either way."""
        wire = connect()
        calls = [json.loads(request("task.create", {**TASK, "title": str(n)}, id=n)) for n in range(40)]
        cancels = [{**VERSION, "method": "$/cancelRequest", "params": {"id": n}} for n in range(20, 40)]
        wire.say(b"".join(json.dumps(one).encode() + b"\n" for one in calls + cancels))
        heard = [wire.hear() for _ in range(40)]
        made = {task.title for task in team.tasks.read().tasks}
        assert {str(one["id"]) for one in heard if "result" in one} == made
        assert {one["error"]["code"] for one in heard if "error" in one} <= {-32800}

    def test_too_many_are_told_and_the_rest_go_on(self, connect: Connect) -> None:
        wires = [connect() for _ in range(CONNECTIONS)]
        for wire in wires:
            assert wire.result("task.list") == []
        assert connect().hear()["error"]["data"]["code"] == "too_many"
        wires.pop().close()
        wait_until(lambda: alive(connect), STUCK, "room for another")


TASK = {"title": "x", "description": "y", "role_id": None}


class TestHostile:
    """Whatever comes in, it costs its own connection and no more."""

    @pytest.mark.parametrize("seed", range(6))
    def test_garbage_is_answered_or_closed_and_the_next_is_served(self, connect: Connect, seed: int) -> None:
        chance = random.Random(seed)
        good = request("task.list").encode()
        for _ in range(10):
            wire = connect()
            pieces = [
                chance.randbytes(chance.randint(0, 2000)),
                b"\n",
                good[: chance.randint(0, len(good))],
                b"[" * 999,
            ]
            chance.shuffle(pieces)
            wire.say(b"".join(pieces))
            wire.close()
        assert alive(connect)

    def test_a_line_over_the_limit_is_one_error(self, connect: Connect) -> None:
        wire = connect()
        for _ in range(LINE_LIMIT // 65536 * 5):
            wire.say(b"x" * 65536)
        wire.say(b"\n")
        assert wire.hear()["error"]["code"] == -32600
        assert wire.result("task.list") == []

    def test_who_does_not_read_is_not_read(self, connect: Connect) -> None:
        """A flood of bad lines: what waits for the client is bounded, and others are served meanwhile."""
        wire = connect()
        wire.socket.setblocking(False)
        sent = 0
        try:
            while sent < 64 * 2**20:
                sent += wire.socket.send(b"x\n" * 32768)
                if sent % 2**20 == 0:
                    assert alive(connect)
        except BlockingIOError:
            pass
        assert sent < 8 * 2**20, "it was taken in without end"
        assert alive(connect)
        wire.socket.settimeout(STUCK)
        assert wire.hear()["error"]["code"] == -32700

    def test_a_flood_of_requests_is_answered_whole_once_it_is_read(self, connect: Connect, team: TeamStore) -> None:
        wire, count = connect(), 3000
        lines = b"".join(request("task.list", id=n).encode() + b"\n" for n in range(count))
        sender = threading.Thread(target=lambda: wire.say(lines))
        sender.start()
        assert alive(connect)
        assert [wire.hear()["id"] for _ in range(count)] == [*range(count)]
        sender.join()

    def test_clients_that_go_at_any_moment_leave_nothing(self, connect: Connect, team: TeamStore) -> None:
        """Each act happened once or not at all: the store is whole, and as many tasks are there as were made."""
        chance = random.Random(7)
        for number in range(60):
            wire = connect()
            data = request("task.create", {**TASK, "title": str(number)}).encode() + b"\n"
            wire.say(data[: chance.choice([len(data), len(data), chance.randint(1, len(data))])])
            if chance.random() < 0.3:
                wire.request("task.list.subscribe")
            wire.close()
        assert alive(connect)
        titles = [task.title for task in team.tasks.read().tasks]
        assert len(titles) == len(set(titles))


class TestTrouble:
    """What the system refuses for a while costs nobody more than that while."""

    def test_a_store_out_of_reach_ends_no_connection_and_no_worker(
        self, connect: Connect, team: TeamStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(lists, "RESCAN", 0.02)
        wire = connect()
        assert wire.result("task.list.subscribe")["tasks"] == []
        with out_of_reach(team.paths.team.parent):
            for _ in range(5 * WORKERS):
                assert "error" in wire.ask("task.list")
                time.sleep(2 * lists.RESCAN)
        assert wire.result("task.list") == []
        assert alive(connect)
        tasks.create(human(team), [Draft(title="x")])
        assert wire.told()["task"]["title"] == "x"

    def test_what_nobody_foresaw_costs_its_own_connection(
        self, connect: Connect, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(_client: RpcClient) -> NoReturn:
            raise OSError(errno.EMFILE, "Too many open files")  # as by an import that comes late

        wires = [connect() for _ in range(2 * WORKERS)]
        for wire in wires:
            assert wire.result("task.list") == []
        with monkeypatch.context() as patch:
            patch.setattr(calls, "methods_of", fail)
            for wire in wires:
                wire.request("task.list")
                assert [*wire.rest()] == []
        assert alive(connect)

    def test_without_a_descriptor_for_a_watch_changes_are_told_all_the_same(
        self, connect: Connect, team: TeamStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """And it is tried again until there is one."""
        real, refused, watched = Files.watch, threading.Event(), threading.Event()

        def watch(documents: Files, *what: Any) -> Watch:
            if not told.is_set():
                refused.set()
                raise OSError(errno.EMFILE, "Too many open files")
            watched.set()
            return real(documents, *what)

        told = threading.Event()
        monkeypatch.setattr(Files, "watch", watch)
        wire = connect()
        assert wire.result("task.list.subscribe")["tasks"] == []
        assert refused.wait(STUCK)
        tasks.create(human(team), [Draft(title="x")])
        assert wire.told()["task"]["title"] == "x"
        told.set()
        assert watched.wait(STUCK)
        assert alive(connect)


@contextmanager
def out_of_reach(folder: Path) -> Iterator[None]:
    """A folder of which nobody can tell whether it is there."""
    away = folder.rename(folder.with_name("away"))
    folder.symlink_to(folder)
    try:
        yield
    finally:
        folder.unlink()
        away.rename(folder)


class TestSubscribers:
    """Who is subscribed is told of every change, by whomever."""

    def test_changes_of_another_process_are_told(self, connect: Connect, team: TeamStore, path: Path) -> None:
        """S000-108, AC-56: made by the command line, told to two clients in their own words."""
        one, two = connect(), connect()
        one.result("ticket.list.subscribe")
        two.result("task.list.subscribe")
        program = "import sys; from pro0.cli.main import entry; sys.exit(entry())"
        argv = [sys.executable, "-c", program, "task", "create", "hello", "-t", team.name]
        subprocess.run(argv, check=True, capture_output=True, timeout=STUCK)
        assert one.told()["ticket"]["title"] == two.told()["task"]["title"] == "hello"

    def test_members_and_needs_are_told_as_they_come_and_go(self, connect: Connect, team: TeamStore) -> None:
        """Each by whomever; what is over is told by its id."""
        members, needs = connect(), connect()
        found = members.result("member.list.subscribe")
        assert [(one["agent_id"], one["state"]) for one in found["members"]] == [
            ("lead", "idle"),
            ("w1", "idle"),
            ("w2", "idle"),
        ]
        assert needs.result("need.list.subscribe")["needs"] == []
        set_state(team, "w1", State.WORKING)
        change = members.told()
        assert (change["operation"], change["member"]["agent_id"]) == ("update", "w1")
        assert (change["id"], change["seq"], change["member"]["state"]) == (found["id"], 1, "working")
        tasks.create(human(team), [Draft(title="x", run="true")])  # else nobody could take it before it is claimed
        tasks.claim(member(team, "w2"), "1")
        gates.hand_off(member(team, "w2"), "1", Awaiting.INPUT, "tabs?")
        asked = needs.told()
        assert (asked["operation"], asked["need"]["subject"], asked["need"]["why"]) == ("create", "task-1", "tabs?")
        gates.approve(human(team), "1", "tabs")
        over = needs.told()
        assert (over["operation"], over["needId"]) == ("delete", asked["need"]["id"])
        needs.result("need.list.unsubscribe", {"id": asked["id"]})

    def test_requests_that_cannot_be_read_hold_up_no_list(self, connect: Connect, team: TeamStore) -> None:
        """They are a need themselves, and members are told of as ever."""
        members, needs = connect(), connect()
        members.result("member.list.subscribe")
        needs.result("need.list.subscribe")
        team.permissions.path.write_bytes(b"{")
        asked = needs.told()
        assert (asked["operation"], asked["need"]["command"]) == ("create", "pro0 doctor")
        assert asked["need"]["what"].startswith("permissions.json cannot be read")
        set_state(team, "w1", State.WORKING)
        assert members.told()["member"]["state"] == "working"
        team.permissions.path.unlink()
        over = needs.told()
        assert (over["operation"], over["needId"]) == ("delete", asked["need"]["id"])

    def test_a_client_has_so_many_subscriptions(self, connect: Connect) -> None:
        wire = connect()
        ids = [subscribed(wire, topic)["id"] for topic in (TOPICS * LIMIT)[:LIMIT]]
        assert len(set(ids)) == LIMIT
        assert wire.ask("task.list.subscribe")["error"]["data"]["code"] == "too_many"

    def test_nothing_is_told_between_a_snapshot_and_its_answer(self, connect: Connect, team: TeamStore) -> None:
        for number in range(5):
            wire = connect()
            wire.request("task.list.subscribe")
            tasks.create(human(team), [Draft(title=str(number))])
            first = wire.hear()
            assert "result" in first
            known = {task["id"] for task in first["result"]["tasks"]}
            while f"task-{number + 1}" not in known:
                known.add(wire.told()["task"]["id"])

    def test_a_client_that_does_not_read_misses_nothing_and_costs_little(
        self, connect: Connect, team: TeamStore
    ) -> None:
        """What it is told late is the difference to what it was told last: its view is the store's in the end."""
        slow, chance = connect(), random.Random(3)
        snapshot = slow.result("task.list.subscribe")
        human_ = human(team)
        tasks.create(human_, [Draft(title=str(n), description="long " * 2000) for n in range(60)])
        for _ in range(60):
            id = str(chance.randint(1, 60))
            if chance.random() < 0.3:
                with suppress(NotFound):
                    tasks.delete(human_, id)
            else:
                with suppress(NotFound):
                    tasks.update(human_, id, Changes(title=f"new {chance.random()}", description="long " * 9000))
        tasks.create(human_, [Draft(title="the last")])
        known: dict[str, Any] = {task["id"]: task["title"] for task in snapshot["tasks"]}
        seqs = []
        stored = {task.id: task.title for task in team.tasks.read().tasks}
        while known != stored:
            change = slow.told()
            seqs.append(change["seq"])
            if change["operation"] == "delete":
                assert known.pop(change["taskId"])
            else:
                assert (change["task"]["id"] in known) is (change["operation"] == "update")
                known[change["task"]["id"]] = change["task"]["title"]
        assert seqs == sorted({*seqs})


class TestLostConnections:
    """A subscription goes on with its id and the last seq heard of it."""

    def test_what_was_missed_is_told_and_nothing_else(self, connect: Connect, team: TeamStore) -> None:
        """Also when nobody was connected meanwhile; the messages after it have the same id and go on counting."""
        human_ = human(team)
        tasks.create(human_, [Draft(title=title) for title in ("one", "two", "three")])
        lost = connect()
        first = lost.result("task.list.subscribe")
        tasks.update(human_, "1", Changes(title="one more"))
        heard = lost.told()
        lost.close()
        tasks.delete(human_, "2")
        tasks.create(human_, [Draft(title="four"), Draft(title="five")])
        tasks.delete(human_, "4")
        back = connect()
        assert heard["id"] == first["id"]
        assert back.result("task.list.subscribe", {"id": heard["id"], "seq": heard["seq"]}) == {**first, "tasks": []}
        changes = [back.told(), back.told()]
        assert {(one["operation"], one.get("taskId") or one["task"]["title"]) for one in changes} == {
            ("delete", "task-2"),
            ("create", "five"),
        }
        tasks.update(human_, "3", Changes(title="three more"))
        changes.append(back.told())
        assert changes[-1]["task"]["title"] == "three more"
        seqs = [one["seq"] for one in changes]
        assert seqs == sorted({*seqs})
        assert seqs[0] > heard["seq"]
        assert {one["id"] for one in changes} == {first["id"]}

    def test_one_that_was_told_nothing_yet_goes_on_from_its_beginning(self, connect: Connect, team: TeamStore) -> None:
        for topic in TOPICS:
            lost = connect()
            id = subscribed(lost, topic)["id"]
            lost.close()
            back = connect()
            items = "items" if topic == CHAT else f"{topic.partition('.')[0]}s"
            assert subscribed(back, topic, id=id) == {"id": id, items: []}
            back.close()
        back = connect()
        back.result("task.list.subscribe", {"id": connect().result("task.list.subscribe")["id"]})
        tasks.create(human(team), [Draft(title="x")])
        assert back.told()["task"]["title"] == "x"

    def test_what_cannot_go_on_begins_anew(self, connect: Connect, team: TeamStore) -> None:
        """Ids of other lists, of an earlier lead, of nobody: the whole list, under a new id."""
        tasks.create(human(team), [Draft(title="x")])
        of_members = connect().result("member.list.subscribe")["id"]
        mine = connect().result("task.list.subscribe")["id"]
        beta = make_team(team.paths.home, "w1", name="beta")
        with serving(beta), Wire(beta.paths.team / SOCKET) as other:
            elsewhere = other.result("task.list.subscribe")["id"]
        for lost in (
            {"id": of_members},
            {"id": elsewhere},
            {"id": mine, "seq": 10_000},
            {"id": "x"},
            {"id": mine[:-1]},
        ):
            wire = connect()
            found = wire.result("task.list.subscribe", lost)
            assert found["id"] != lost["id"]
            assert [task["title"] for task in found["tasks"]] == ["x"]
            wire.close()
        wrong = {"id": mine, "seq": -1}
        assert connect().ask("task.list.subscribe", wrong)["error"]["code"] == INVALID_PARAMS

    def test_another_lead_tells_the_whole_list(self, team: TeamStore) -> None:
        path = team.paths.team / SOCKET
        with serving(team), Wire(path) as wire:
            lost = wire.result("task.list.subscribe")["id"]
        tasks.create(human(team), [Draft(title="x")])
        with serving(team), Wire(path) as wire:
            found = wire.result("task.list.subscribe", {"id": lost, "seq": 0})
        assert found["id"] != lost
        assert [task["title"] for task in found["tasks"]] == ["x"]

    def test_clients_that_are_cut_off_at_any_moment_miss_nothing(self, connect: Connect, team: TeamStore) -> None:
        """Each change once: none is made that is known already, none is deleted that is not there."""
        human_, chance = human(team), random.Random(11)
        known: dict[str, str] = {}
        wire = connect()
        id, seq = wire.result("task.list.subscribe")["id"], 0
        made = 0
        for _ in range(60):
            if chance.random() < 0.5:
                made += 1
                tasks.create(human_, [Draft(title=f"number {made}")])
            else:
                with suppress(NotFound):
                    task = str(chance.randint(1, made + 1))
                    if chance.random() < 0.5:
                        tasks.delete(human_, task)
                    else:
                        tasks.update(human_, task, Changes(title="new"))
            if chance.random() < 0.4:
                wire.close()
                wire = connect()
                found = wire.result("task.list.subscribe", {"id": id, "seq": seq})
                assert (found["id"], found["tasks"]) == (id, [])
            if chance.random() < 0.3:
                seq = follow(wire, known, {task.id: task.title for task in team.tasks.read().tasks}, seq)
        follow(wire, known, {task.id: task.title for task in team.tasks.read().tasks}, seq)


def follow(wire: Wire, known: dict[str, str], stored: dict[str, str], seq: int) -> int:
    """Take in what is told until it is what is stored, and return the last seq."""
    while known != stored:
        change = wire.told()
        assert change["seq"] > seq
        seq = change["seq"]
        if change["operation"] == "delete":
            del known[change["taskId"]]
        else:
            assert (change["task"]["id"] in known) is (change["operation"] == "update")
            known[change["task"]["id"]] = change["task"]["title"]
    return seq


def test_a_server_that_ends_answers_what_is_under_way(team: TeamStore) -> None:
    with serving(team):
        wire = Wire(team.paths.team / SOCKET)
        wire.result("task.list.subscribe")
        wire.request("task.create", TASK)
        wait_until(lambda: team.tasks.read().tasks, STUCK, "the task")
    heard = [*wire.rest()]
    wire.close()
    assert [one["result"]["title"] for one in heard if "result" in one] == ["x"]


def test_a_lead_without_a_thread_to_serve_with_leads_all_the_same(team: TeamStore) -> None:
    """The system has no room for a stack of this size; only the log stays open, and says why nobody is served."""
    gc.collect()
    descriptors, size = psutil.Process().num_fds(), threading.stack_size(1 << 45)
    try:
        with serving(team), pytest.raises(OSError, match="refused"):
            Wire(team.paths.team / SOCKET)
    finally:
        threading.stack_size(size)
    assert "no socket for other programs: can't start new thread" in (team.paths.logs / LEAD_LOG).read_text()
    gc.collect()
    assert psutil.Process().num_fds() <= descriptors + 1


def test_servers_that_ended_leave_no_descriptor_and_no_thread(team: TeamStore) -> None:
    """Nor does one that ends while a client is being brought to it."""
    descriptors, threads = psutil.Process().num_fds(), {*threading.enumerate()}
    for _ in range(5):
        with serving(team):
            wires = [Wire(team.paths.team / SOCKET) for _ in range(4)]
            for wire in wires:
                wire.request("task.list.subscribe")
            for wire in wires:
                wire.hear()
                wire.close()
        server, (ours, theirs) = RpcServer(team), socket.socketpair()
        server.start()
        server.adopt(theirs, lambda lists: RpcClient(human(team), lists))
        server.end()
        assert ours.recv(1) == b""
        ours.close()
    # What an earlier test has left may end meanwhile.
    wait_until(lambda: threads.issuperset(threading.enumerate()), STUCK, "no thread is left")
    wait_until(lambda: psutil.Process().num_fds() <= descriptors, STUCK, "all is closed")
