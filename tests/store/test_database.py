"""A team in a PostgreSQL database: races, kills, a server that goes, a connection cut at any byte."""

import errno
import json
import os
import random
import re
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path

import psycopg
import pytest

from pro0.config.database import checked
from pro0.errors import BadInput, ErrorCode, KeepsNoTeam, NotFound, Refused, StoreError, Unwritable
from pro0.model.message import Notice
from pro0.model.runtime import State
from pro0.model.task import Draft, Status
from pro0.model.team import TeamConfig, Wanted
from pro0.ops.context import clock
from pro0.ops.tasks import tasks
from pro0.store import health
from pro0.store.database import listening
from pro0.store.database import server as server_module
from pro0.store.database.documents import label_of
from pro0.store.database.listening import DatabaseWatch
from pro0.store.database.pointer import in_database
from pro0.store.database.server import DatabaseServer, lock_of, server_of
from pro0.store.database.session import DatabaseSession
from pro0.store.mailbox import Box
from pro0.store.paths import EVENTS, STORE
from pro0.store.places.folder import CHANGED_AT_SERVER
from pro0.store.removal import sweeping
from pro0.store.teams import Store, TeamStore
from tests import crowd
from tests.faults import Call, Shim, fail_with
from tests.postgres import Postgres, postgres
from tests.teams import NOW, human, make_team, member, set_state
from tests.waiting import STUCK, wait_until


@pytest.fixture
def url(server: Postgres) -> str:
    return server.url()


def team_at(home: Path, url: str, *members: str) -> TeamStore:
    return make_team(home, *members, url=url)


def send(box: Box, id: str) -> None:
    box.post(Notice(id=id, from_="human", to="w1", content="x"), lambda: NOW)


def received(team: TeamStore) -> list[str]:
    box = team.mailbox("w1")
    return [message.id for message in box.since(box.head.read(), 0)]


def send_until_killed(home: Path, said: Path, turn: int) -> None:
    box = Store(home).team("alpha").mailbox("w1")
    descriptor = os.open(said, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for number in range(100_000):
        send(box, f"{turn}-{number}")
        os.write(descriptor, f"{turn}-{number}\n".encode())


def test_whenever_a_sender_is_killed_it_has_sent_all_or_nothing(home: Path, url: str, tmp_path: Path) -> None:
    """What was acknowledged is there; at most the one that was under way is there besides."""
    dice, team = random.Random(19), team_at(home, url, "w1")
    for turn in range(15):
        said, before = tmp_path / f"said-{turn}", received(team)
        process = crowd.start(send_until_killed, home, said, turn)
        wait_until(said.exists, STUCK, "it sends")
        time.sleep(dice.random() * 0.1)  # any moment will do
        process.kill()
        process.join()
        send(team.mailbox("w1"), f"after-{turn}")  # its lock is free
        new = received(team)[len(before) : -1]
        told = said.read_text().split()
        assert new in (told, [*told, f"{turn}-{len(told)}"])


def claims_until_killed(home: Path) -> None:
    context = member(Store(home).team("alpha"), "w1")
    while taken := tasks.take(context):
        tasks.release(context, taken.id)


def test_whenever_an_act_is_killed_the_team_is_whole(home: Path, url: str) -> None:
    dice, team = random.Random(7), team_at(home, url, "w1")
    tasks.create(human(team), [Draft(title="one")])
    for _ in range(15):
        process = crowd.start(claims_until_killed, home)
        time.sleep(0.1 + dice.random() * 0.1)  # any moment will do
        process.kill()
        process.join()
        with team.tasks.change("look") as change:  # behind what the server was told before
            [task] = change.value.tasks
        assert (task.status is Status.IN_PROGRESS) == (task.claim is not None)
        assert team.wanted.read()
        assert team.runtime.read()
        if task.claim:
            tasks.release(human(team), task.id)


def send_through_it_all(home: Path, said: Path, number: int) -> None:
    """Send a number of messages; note each as done or not done, as the store said."""
    box = Store(home).team("alpha").mailbox("w1")
    descriptor = os.open(said, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for count in range(number):
        os.write(descriptor, f"m{count} {told(box, f'm{count}').split()[0]}\n".encode())
        time.sleep(0.005)  # so that the server goes in the middle


def test_a_server_that_stops_hard_and_comes_back_takes_nothing_with_it(home: Path, tmp_path: Path) -> None:
    """Issue 19: acknowledged means committed."""
    said = tmp_path / "said"
    with postgres(fsync="on") as own:
        team = team_at(home, own.url(), "w1")
        process = crowd.start(send_through_it_all, home, said, 300)
        for turn in range(3):
            wait_until(lambda: said.exists() and len(said.read_text().splitlines()) > 60 * turn, STUCK, "it sends")  # noqa: B023
            own.stop(signal.SIGQUIT)
            own.start()
        crowd.all_end_well([process], STUCK)
        true_to_its_word(said, received(team))


def told(box: Box, id: str) -> str:
    """Send a message; return what the store says became of it."""
    try:
        send(box, id)
    except StoreError as error:
        return "not done" if "nothing was changed" in f"{error.message} {error.hint}" else "unknown"
    return "done"


def true_to_its_word(said: Path, found: list[str]) -> None:
    """Each message is there once when it was said to be done, and not when it was said not to be."""
    words = dict(line.split() for line in said.read_text().splitlines())
    assert len(found) == len(set(found))
    assert found == sorted(found, key=lambda id: int(id[1:]))
    for id, word in words.items():
        assert word == "unknown" or (id in found) == (word == "done"), (id, word)
    assert "done" in words.values()


class Proxy:
    """A Unix socket before the server's; it cuts a connection once a client has sent so many bytes."""

    def __init__(self, at: Path, target: Path) -> None:
        self.at = at
        self._target = target / ".s.PGSQL.5432"
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(at / ".s.PGSQL.5432"))
        self._listener.listen(64)
        self.cut_after: int | None = None
        """Bytes from clients until the cut; None for never."""
        self.cut_at = b""
        """A word of a client's, which is passed on, and the answer lost."""
        self.answers_too = False
        """Whether all that was sent is passed on, and only the answer is lost."""
        self.is_silent = False
        """Whether nothing of the word is passed on, and the server hears nothing of the cut."""
        self.keeps_quiet = False
        """Whether a client hears nothing of the server, and of its end only once it sends something."""
        self.quiet_ends = 0
        """How many of the server's ends no client has heard of."""
        self.sent = 0
        self.lets_in = True
        """Whether new connections are served."""
        self.refused = 0
        """How many were not."""
        self._ends: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._start(self._run)

    def close(self) -> None:
        """End it, and its threads: the end of a socket that another thread waits for wakes nobody."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._threads[0].join(STUCK)
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(STUCK)
        self._listener.close()

    def _start(self, do: Callable[..., None], *ends: socket.socket) -> threading.Thread:
        self._ends += ends
        thread = threading.Thread(target=do, args=ends, daemon=True)
        self._threads.append(thread)
        thread.start()
        return thread

    def _run(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                if not self.lets_in:
                    self.refused += 1
                    client.close()
                    continue
                self._start(self._serve, client)

    def _serve(self, client: socket.socket) -> None:
        server = socket.socket(socket.AF_UNIX)
        server.connect(str(self._target))
        back = self._start(self._pass_back, server, client)
        with suppress(OSError):
            while data := client.recv(65536):
                self.sent += len(data)
                if self.cut_at and self.cut_at in data:
                    self.answers_too, self.cut_after = True, 0
                if self.cut_after is not None and self.sent > self.cut_after:
                    kept = len(data) if self.answers_too else len(data) - (self.sent - self.cut_after)
                    self.cut_after = None
                    client.shutdown(socket.SHUT_RDWR)
                    if not self.is_silent:
                        server.sendall(data[:kept])
                        server.shutdown(socket.SHUT_WR)
                    break
                server.sendall(data)
            else:
                server.shutdown(socket.SHUT_WR)
        back.join()
        for end in (server, client):
            end.close()

    def _pass_back(self, server: socket.socket, client: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(65536):
                if not self.keeps_quiet:
                    client.sendall(data)
        if self.keeps_quiet:
            self.quiet_ends += 1
            return
        with suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)


@contextmanager
def cutting(server: Postgres) -> Iterator[Proxy]:
    at = server.at / f"proxy-{random.randbytes(4).hex()}"
    at.mkdir()
    proxy = Proxy(at, server.at)
    try:
        yield proxy
    finally:
        proxy.close()


@pytest.mark.parametrize("answers_too", [False, True], ids=["half sent", "answer lost"])
def test_wherever_the_connection_is_cut_it_happened_once_or_not_at_all(
    home: Path, server: Postgres, answers_too: bool
) -> None:
    """Issue 19: and what the store says of it is true."""
    with cutting(server) as proxy:
        url = server.url(host=str(proxy.at))
        team = team_at(home, url, "w1")
        box = team.mailbox("w1")
        send(box, "warm")
        dice, outcomes, expected = random.Random(19), set[str](), ["warm"]
        for turn in range(60):
            server_of(url).close()
            before = proxy.sent
            send(box, f"a{turn}")  # as much as one that is cut would send
            length = proxy.sent - before
            server_of(url).close()
            proxy.answers_too = answers_too
            proxy.cut_after = proxy.sent + (dice.randrange(length) if turn % 2 else length - dice.randrange(1, 120))
            said = told(box, f"b{turn}")
            was_cut = proxy.cut_after is None
            proxy.cut_after = None
            expected += [f"a{turn}", *[f"b{turn}"] * (said == "done")]
            outcomes.add(f"{said}, cut" if was_cut else said)
            assert received(team) == expected
        assert outcomes >= {"not done, cut"} | ({"done, cut"} if answers_too else set())
        assert "unknown, cut" not in outcomes


@pytest.mark.parametrize(("words", "idle"), [("", "10"), ("&keepalives_idle=77", "77")], ids=["ours", "the person's"])
def test_a_server_out_of_reach_is_not_waited_for_for_long(server: Postgres, words: str, idle: str) -> None:
    """The system's own times are two hours for a word from the server, and a quarter of one for an answer."""
    session = DatabaseServer(server.url() + words).connect()
    known = session.connection.info.get_parameters()
    session.close()
    assert (known["keepalives_idle"], known["tcp_user_timeout"]) == (idle, "30000")


def test_a_commit_whose_answer_is_lost_has_happened(home: Path, server: Postgres) -> None:
    """Issue 19, must show 5: the row of the act tells so, once the server can be asked."""
    with cutting(server) as proxy:
        team = team_at(home, server.url(host=str(proxy.at)), "w1")
        send(team.mailbox("w1"), "first")
        proxy.cut_at = b"; commit"
        send(team.mailbox("w1"), "second")
        proxy.cut_at = b""
        assert received(team) == ["first", "second"]


def test_what_nobody_can_tell_is_said_to_be_unknown(
    home: Path, server: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 5: the answer to a commit is lost, and the server cannot be asked."""
    monkeypatch.setattr(server_module, "PATIENCE", 0.5)
    with cutting(server) as proxy:
        box = team_at(home, server.url(host=str(proxy.at)), "w1").mailbox("w1")
        send(box, "first")
        proxy.cut_at, proxy.lets_in = b"; commit", False
        said = r"^the connection to postgresql:\S+/w1 broke at the end of a change, and whether it was made is unknown$"
        with pytest.raises(Unwritable, match=said) as raised:
            send(box, "second")
        assert raised.value.exit_code == 5
        assert raised.value.hint == "look at it once the server answers, before you try again"


def test_what_became_of_a_commit_is_asked_until_the_server_answers(
    home: Path, server: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 19, must show 5: it is told within the time in which a lock is waited for."""
    monkeypatch.setattr(server_module, "CONNECTING", 0.0)
    with cutting(server) as proxy:
        team = team_at(home, server.url(host=str(proxy.at)), "w1")
        send(team.mailbox("w1"), "first")
        proxy.cut_at, proxy.lets_in = b"; commit", False
        refused = proxy.refused

        def comes_back() -> None:
            wait_until(lambda: proxy.refused > refused + 1, STUCK, "it was asked in vain")
            proxy.cut_at, proxy.lets_in = b"", True

        with ThreadPoolExecutor() as at_once:
            back = at_once.submit(comes_back)
            send(team.mailbox("w1"), "second")
            back.result(STUCK)
        assert received(team) == ["first", "second"]


def test_an_error_takes_back_all_of_an_act(home: Path, url: str) -> None:
    team = team_at(home, url, "w1")

    def fail() -> None:
        with team.mailbox("w1").head.change("fail") as change, change.place.within("archive") as archive:
            archive.replace("000001.json", b"{}")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert team.mailbox("w1").place.names() == ["messages.json"]


def end_leases(server: Postgres) -> None:
    """End the connections that hold a lease, as a network would; the server ends them a moment after it was told."""
    server.ask("select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory'")
    wait_until(lambda: not server.ask("select 1 from pg_locks where locktype = 'advisory'"), STUCK, "they ended")


def test_a_lease_is_held_at_the_server_too(home: Path, server: Postgres, url: str, tmp_path: Path) -> None:
    """Nobody leads beside a lead, from whichever machine; with its connection a lead loses it, and takes it again."""
    team = team_at(home, url)
    lease = team.documents.lease()
    assert lease.take("lead")
    assert team.documents.lease().take("another") is False
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "teams" / "alpha" / "logs").mkdir(parents=True)
    (elsewhere / "teams" / "alpha" / "store.json").write_bytes((home / "teams/alpha/store.json").read_bytes())
    other = Store(elsewhere).team("alpha").documents.lease()
    with pytest.raises(Refused, match="is held by a lead elsewhere"):
        other.take("lead")
    end_leases(server)
    lease.keep()
    with pytest.raises(Refused):
        other.take("lead")
    end_leases(server)
    assert other.take("lead")
    with pytest.raises(Refused) as lost:
        lease.keep()
    assert lost.value.code == ErrorCode.LEAD_ALIVE
    other.drop()
    lease.keep()
    lease.drop()


def test_a_change_wakes_whoever_watches_it(home: Path, server: Postgres, url: str) -> None:
    team = team_at(home, url, "w1", "w2")
    documents = team.documents
    watch = documents.watch([documents.tasks, team.mailbox("w1").place], r".*\.json")
    try:
        wait_until(watch.drain, STUCK, "it listens")
        send(team.mailbox("w1"), "m1")
        wait_until(watch.drain, STUCK, "it hears")
        send(team.mailbox("w2"), "m1")
        set_state(team, "w1", State.IDLE)
        tasks.create(human(team), [Draft(title="one")])
        wait_until(watch.drain, STUCK, "it hears of a task")
        server.ask("select pg_terminate_backend(pid) from pg_stat_activity where query ilike 'listen%'")
        wait_until(watch.drain, STUCK, "it listens again, and may have missed something")
        (home / "teams" / "alpha" / "sessions" / "x.json").touch()
    finally:
        watch.close()


def test_a_watch_is_told_of_its_own_places_alone(home: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of no other ones of the team, nor of the same ones of another team."""
    team, other = team_at(home, url, "w1", "w2"), make_team(home, "w1", name="beta", url=url)
    told: list[list[str]] = []
    monkeypatch.setattr(
        DatabaseWatch, "tell", lambda _watch, names: told.append(["all"] if names is None else [*names])
    )
    watch = team.documents.watch([team.mailbox("w1").place], r".*\.json")
    try:
        wait_until(lambda: told, STUCK, "it listens")
        send(other.mailbox("w1"), "m1")
        send(team.mailbox("w2"), "m1")
        send(team.mailbox("w1"), "m1")
        wait_until(lambda: told[-1] not in ([], ["all"]), STUCK, "it hears")
        assert [name for names in told for name in names] == ["all", "messages.json"]
    finally:
        watch.close()


def test_a_watch_without_a_thread_leaves_nothing_open(home: Path, url: str) -> None:
    """The system has no room for a stack of this size; whoever watches tries again, as without a descriptor."""
    team = team_at(home, url, "w1")
    before, size = len(os.listdir("/dev/fd")), threading.stack_size(1 << 45)
    try:
        with pytest.raises(OSError, match="can't start new thread"):
            team.documents.watch([team.mailbox("w1").place], r".*\.json")
    finally:
        threading.stack_size(size)
    assert len(os.listdir("/dev/fd")) == before


@contextmanager
def many_files_open() -> Iterator[None]:
    """Let the next descriptors be beyond the 1024 that `select` knows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard < 2048 else max(soft, 2048), hard))
    opened = [os.open(os.devnull, os.O_RDONLY)]
    try:
        while opened[-1] <= 1024:
            opened.append(os.dup(opened[0]))
        yield
    finally:
        for descriptor in opened:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("beside", [nullcontext, many_files_open], ids=["few files", "many files"])
def test_a_watch_outlives_its_server(
    home: Path, monkeypatch: pytest.MonkeyPatch, beside: Callable[[], AbstractContextManager[None]]
) -> None:
    """And that this process has too many files open to reach it."""
    monkeypatch.setattr(listening, "_AGAIN", 0.02)
    tries: list[DatabaseServer] = []
    connect = DatabaseServer.connect

    def counted(server: DatabaseServer) -> DatabaseSession:
        tries.append(server)
        if len(tries) % 2 == 0 and threading.current_thread() is not threading.main_thread():
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return connect(server)

    monkeypatch.setattr(DatabaseServer, "connect", counted)
    with postgres() as own, beside():
        team = team_at(home, own.url(), "w1")
        watch = team.documents.watch([team.mailbox("w1").place], r".*\.json")
        try:
            wait_until(watch.drain, STUCK, "it listens")
            own.stop()
            before = len(tries)
            wait_until(lambda: len(tries) > before + 2, STUCK, "it has tried in vain")
            own.start()
            wait_until(watch.drain, STUCK, "it listens again")
            send(team.mailbox("w1"), "m1")
            wait_until(watch.drain, STUCK, "it hears")
        finally:
            watch.close()


@pytest.mark.parametrize(
    ("url", "label"),
    [
        ("postgresql://db.example.org/agents", "postgresql:db.example.org/agents"),
        ("postgresql://me@db.example.org:5433/agents", "postgresql:db.example.org:5433/agents"),
        ("postgresql://me:p@ss@db.example.org/agents", "postgresql:db.example.org/agents"),
        ("postgresql:///agents?host=/run/sockets&connect_timeout=3", "postgresql:/run/sockets/agents"),
        ("postgresql://me@db.example.org/agents?host=/run/sockets", "postgresql:db.example.org/agents"),
        ("postgresql:///agents", "postgresql:/agents"),
        ("postgresql:///X", "postgresql:/X"),
    ],
)
def test_a_database_is_named_without_a_user_or_a_password(url: str, label: str) -> None:
    assert str(label_of(url)) == label


def watches(home: Path) -> None:
    documents = Store(home).team("alpha").documents
    wait_until(documents.watch([documents.team], "x").drain, STUCK, "it listens")


def test_a_watch_keeps_no_process_alive(home: Path, url: str) -> None:
    """Who ends without a word to it is not held up."""
    team_at(home, url)
    crowd.run(watches, [(home,)])


def test_what_is_here_is_watched_with_the_team(home: Path, url: str) -> None:
    documents = team_at(home, url).documents
    watch = documents.watch([documents.team], r"x\.json")
    try:
        wait_until(watch.drain, STUCK, "it listens")
        (home / "teams" / "alpha" / "sessions" / "x.json").touch()
        wait_until(watch.drain, STUCK, "it hears")
    finally:
        watch.close()


def test_an_event_wakes_whoever_watches_the_team(home: Path, url: str) -> None:
    team = team_at(home, url)
    watch = team.documents.watch([team.documents.team], re.escape(EVENTS))
    try:
        wait_until(watch.drain, STUCK, "it listens")
        team.log_event(clock(), "human", "an event")
        wait_until(watch.drain, STUCK, "it hears")
    finally:
        watch.close()


def test_events_are_read_on_from_the_last_look(home: Path, url: str) -> None:
    team = team_at(home, url)
    reader, late, later = (team.documents.events() for _ in range(3))
    for number in range(5):
        team.log_event(clock(), "human", f"event {number}")
    assert [json.loads(line)["event"] for line in reader.fresh()] == [f"event {number}" for number in range(5)]
    assert len(late.last(2)) == 2
    assert later.last(0) == []
    team.log_event(clock(), "human", "more")
    assert len([*reader.fresh()]) == len([*late.fresh()]) == len([*later.fresh()]) == 1
    assert [*reader.fresh()] == []


def test_a_name_in_the_database_is_one_team(home: Path, url: str, tmp_path: Path) -> None:
    team = team_at(home, url, "w1")
    before = team.wanted.read()
    another = TeamConfig(name="alpha", created_at=NOW, uid="another", project="/")
    with pytest.raises(Refused, match=r"there is a team alpha already, in ") as refused:
        Store(tmp_path / "other").create(another, Wanted(), url=url)
    assert (refused.value.code, refused.value.hint) == ("conflict", "choose another name")
    assert Store(tmp_path / "other").names() == []
    assert team.wanted.read() == before


def test_who_makes_a_team_sees_what_it_has_written(home: Path, url: str, tmp_path: Path) -> None:
    """Before anybody else does."""
    documents = in_database(home, "beta", url, "uid")
    with documents.founding(tmp_path, "uid") as places:
        with places.mailboxes.locked("a test") as opened:
            opened.replace("x.json", b"1")
        assert places.mailboxes.holds("x.json")
        with places.mailboxes.open() as opened:
            assert opened.read("x.json", 1) == b"1"
        assert not documents.mailboxes.holds("x.json")
    assert documents.mailboxes.holds("x.json")


def test_a_removed_team_leaves_no_row(home: Path, server: Postgres, url: str) -> None:
    team, store = team_at(home, url, "w1"), Store(home)
    box = team.mailbox("w1")
    send(box, "m1")
    team.log_event(clock(), "human", "an event")
    events = team.documents.events().last(9)
    kept = {kind: {*getattr(team.documents, kind).names()} for kind in ("tasks", "mailboxes")}
    store.discard("alpha", "uid-alpha", ended=NOW)
    with pytest.raises(NotFound):
        send(box, "late")
    for table in ("teams", "documents", "events"):
        assert server.ask(f"select * from pro0.{table}") == []
    [archive] = store.archives()
    archived = Store(archive.path).team("alpha")
    assert received(archived) == ["m1"]
    assert [json.loads(line)["event"] for line in events] == ["an event"]
    assert archived.documents.events().last(9) == events
    assert {kind: {*getattr(archived.documents, kind).names()} for kind in kept} == kept


@pytest.mark.parametrize("stays", [False, True], ids=["once", "for a while"])
def test_a_pointer_out_of_reach_takes_nothing_along(home: Path, server: Postgres, url: str, stays: bool) -> None:
    """Whichever look at store.json fails, in the removal or when it is given up, the archive gets the documents."""
    store, number, looks = Store(home), 0, [""]
    while number < len(looks):
        number += 1
        looks = []

        def fault(shim: Shim, name: str, real: Call, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
            if str(args[0]).endswith(STORE):
                looks.append(name)  # noqa: B023 - called in this round
                if len(looks) == number or (stays and len(looks) > number):  # noqa: B023 - called in this round
                    return fail_with(errno.EIO)(shim, name, real, args, kwargs)
            return real(*args, **kwargs)

        send(team_at(home, url, "w1").mailbox("w1"), "m1")
        for act in (lambda: store.discard("alpha", "uid-alpha", ended=NOW), lambda: store.give_up("alpha")):
            with Shim(("stat", "open"), None, fault), suppress(StoreError):
                act()
        if store.names():
            store.discard("alpha", "uid-alpha", ended=NOW)
        store.sweep()
        [archive] = store.archives()
        assert received(Store(archive.path).team("alpha")) == ["m1"], looks
        assert server.ask("select * from pro0.teams") == [], looks
        store.forget(archive)


def test_a_removal_without_the_server_is_finished_later(home: Path, tmp_path: Path) -> None:
    with postgres(fsync="on") as own:
        team = team_at(home, own.url(), "w1")
        send(team.mailbox("w1"), "m1")
        own.stop(signal.SIGQUIT)
        store = Store(home)
        with pytest.raises(StoreError, match="the next cleanup removes the rest"):
            store.discard("alpha", "uid-alpha", ended=NOW)
        assert (store.names(), store.archives()) == ([], [])
        make_team(home, name="beta")  # nobody else waits for it
        own.start()
        assert store.sweep() == ["alpha"]
        [archive] = store.archives()
        assert received(Store(archive.path).team("alpha")) == ["m1"]
        assert own.ask("select * from pro0.teams") == []


@pytest.mark.parametrize("made_anew", [False, True], ids=["dropped", "made anew"])
def test_a_removal_whose_database_is_gone_keeps_nobody(home: Path, server: Postgres, made_anew: bool) -> None:
    """One made anew has no row of the team; for one that is dropped it waits, until a person gives it up."""
    team_at(home, url := server.url())
    for name in ("beta", "gamma"):
        tasks.create(human(make_team(home, name=name)), [Draft(title="one")])
    store, waiting = Store(home), [] if made_anew else [home / "teams" / ".trash-alpha.uid-alpha"]
    server.lose(server.latest, made_anew=made_anew)
    with nullcontext() if made_anew else pytest.raises(Unwritable, match="does not exist"):
        store.discard("alpha", "uid-alpha")
    store.discard("beta", "uid-beta", NOW)
    make_team(home, name="delta")
    with nullcontext() if made_anew else pytest.raises(Unwritable, match="does not exist"):
        store.sweep()
    assert store.sweep("beta") == []
    store.discard("gamma", "uid-gamma", NOW)
    assert [kept.name for kept in store.archives()] == ["beta", "gamma"]
    assert [path for _, path in health.half_done(home)] == waiting
    assert store.names() == ["delta"]
    assert [*store.give_up("alpha")] == ([] if made_anew else [url])
    assert store.sweep() == []


def test_a_removal_is_given_up_though_the_server_went_before_its_archive_was_whole(home: Path) -> None:
    with postgres(fsync="on") as own:
        team_at(home, url := own.url(), "w1")
        own.stop(signal.SIGQUIT)
        store = Store(home)
        with pytest.raises(StoreError, match="the next cleanup removes the rest"):
            store.discard("alpha", "uid-alpha", ended=NOW)
        assert sweeping.waits(home, "alpha")
        assert [*store.give_up("alpha")] == [url]
        assert not sweeping.waits(home, "alpha")
        assert store.sweep() == []
        own.start()


def test_a_removal_of_which_nobody_knows_the_database_is_given_up(home: Path, server: Postgres) -> None:
    team_at(home, server.url())
    server.lose(server.latest)
    store = Store(home)
    with pytest.raises(Unwritable):
        store.discard("alpha", "uid-alpha")
    (home / "teams" / ".trash-alpha.uid-alpha" / "store.json").write_text("{")
    with pytest.raises(StoreError):
        store.sweep("alpha")
    assert [*store.give_up("alpha")] == ["a database that its damaged store.json named"]
    assert store.sweep() == []


def test_a_half_made_team_waits_for_its_database(home: Path, server: Postgres) -> None:
    """Nobody takes over what it has: a team of its name would be in that database."""
    team_at(home, url := server.url())
    trash = home / "teams" / ".new-alpha"
    (home / "teams" / "alpha").rename(trash)
    server.lose(server.latest)
    with pytest.raises(StoreError, match="alpha, left by an earlier start, waits for its database"):
        make_team(home)
    assert [*Store(home).give_up("alpha")] == [url]
    assert not make_team(home).documents.database


def test_a_removal_that_a_role_may_not_make_waits_and_keeps_nobody(home: Path, server: Postgres, url: str) -> None:
    team_at(home, url)
    Store(home).discard("alpha", "uid-alpha")
    role = plain_role(server, url)
    theirs = url.replace("pro0@", f"{role}@")
    team_at(home, theirs)
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute(f"revoke usage on schema pro0 from {role}".encode())
    with pytest.raises(KeepsNoTeam, match="permission denied"):
        Store(home).discard("alpha", "uid-alpha")
    make_team(home, name="beta")
    assert server.ask("select name from pro0.teams") == [("alpha",)]
    [(database, why)] = Store(home).give_up("alpha").items()
    assert (database, "permission denied" in why) == (theirs, True)
    assert Store(home).sweep() == []


def test_a_removal_is_not_given_up_while_its_database_answers(home: Path, server: Postgres, url: str) -> None:
    """A question there that took too long is no reason: asked again, the archive is whole and no row is left."""
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute(f"alter database {server.latest} set statement_timeout = '1s'".encode())
    team, store = team_at(home, url, "w1"), Store(home)
    send(team.mailbox("w1"), "m1")
    with psycopg.connect(url) as another:
        another.execute("lock table pro0.documents")
        with pytest.raises(Unwritable, match="statement timeout"):
            store.discard("alpha", "uid-alpha", ended=NOW)
        with pytest.raises(Unwritable, match="statement timeout"):
            store.give_up("alpha")
    assert store.give_up("alpha") == {}
    [archive] = store.archives()
    assert received(Store(archive.path).team("alpha")) == ["m1"]
    assert server.ask("select * from pro0.teams") == []


def test_a_removal_is_not_given_up_while_another_holds_its_rows(
    home: Path, server: Postgres, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "PATIENCE", 0.2)
    team_at(home, url)
    store = Store(home)
    with server_of(url).act(lock_of("alpha"), "the store", "a long change"):
        with pytest.raises(StoreError, match="a long change"):
            store.discard("alpha", "uid-alpha")
        with pytest.raises(StoreError, match="a long change"):
            store.give_up("alpha")
    assert store.give_up("alpha") == {}
    assert server.ask("select * from pro0.teams") == []


def test_a_team_that_was_half_made_leaves_nothing(home: Path, url: str, server: Postgres) -> None:
    """Killed between its rows and the rename that makes it: the next one begins anew."""

    def begin() -> None:
        Path.rename = lambda *_args: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[assignment,method-assign]
        team_at(home, url)

    team_at(home / "first", url, "w1")  # the tables are there
    Store(home / "first").discard("alpha", "uid-alpha")
    process = crowd.start(begin)
    process.join()
    assert Store(home).names() == []
    team = team_at(home, url, "w1")
    assert team.config.read().uid == "uid-alpha"
    assert len(server.ask("select * from pro0.teams")) == 1


def audited(home: Path) -> None:
    """Send one message; who audits this process has heard of a change before the server has."""
    heard: list[str] = []
    team = Store(home).team("alpha")
    sys.addaudithook(lambda event, _: heard.append(event) if event == CHANGED_AT_SERVER else None)
    assert team.wanted.read()
    assert heard == []
    send(team.mailbox("w1"), "m1")
    assert heard


def test_who_may_give_its_work_back_hears_of_a_change_at_the_server(home: Path, url: str) -> None:
    """A warm process hands over a command only as long as nothing was changed."""
    team_at(home, url, "w1")
    crowd.run(audited, [(home,)], STUCK)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("postgresql://me:secret@host/db", "holds a password"),
        ("postgresql://host/db?password=secret", "holds a password"),
        ("postgresql://host/db?sslmode=require&sslpassword=secret", "holds a password"),
        ("postgresql://host/db?oauth_client_secret=secret", "holds a password"),
        ("https://host/db", "is no store"),
        ("postgresql://host/a b", "is no store"),
        ("postgresql://[host/db", "cannot be read"),
    ],
)
def test_what_names_no_store_is_refused(text: str, said: str) -> None:
    with pytest.raises(BadInput, match=said) as raised:
        checked(text)
    assert "secret" not in raised.value.message


@pytest.mark.parametrize("text", ["postgresql://me@host:5433/db?sslmode=verify-full", "postgres:///db?host=/run/pg"])
def test_what_names_a_store_is_taken(text: str) -> None:
    assert checked(text) == text


def plain_role(server: Postgres, url: str) -> str:
    """Make somebody who may use the tables that are there, and nothing else; return the name."""
    role = f"plain_{server.latest}"
    with psycopg.connect(url, autocommit=True) as owner:
        for words in (
            f"create role {role} login",
            f"grant usage on schema pro0 to {role}",
            f"grant select, insert, update, delete on all tables in schema pro0 to {role}",
            f"grant usage on all sequences in schema pro0 to {role}",
        ):
            owner.execute(words.encode())
    return role


def test_who_may_make_nothing_may_use_the_tables_that_are_there(home: Path, server: Postgres, url: str) -> None:
    team_at(home, url)
    role = plain_role(server, url)
    team = make_team(home / "other", "w1", name="beta", url=url.replace("pro0@", f"{role}@"))
    send(team.mailbox("w1"), "m1")
    assert received(team) == ["m1"]
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute(f"revoke update on pro0.documents from {role}".encode())
    with pytest.raises(StoreError, match="permission denied"):
        send(team.mailbox("w1"), "m2")


def test_tables_of_a_newer_pro0_are_left_alone(home: Path, url: str) -> None:
    team_at(home, url)
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("update pro0.version set number = 99")
    said = rf"^the tables of {re.escape(str(label_of(url)))} have version 99; this pro0 knows \d+$"
    with pytest.raises(StoreError, match=said) as raised:
        make_team(home, name="beta", url=url)
    assert (raised.value.code, raised.value.hint) == (ErrorCode.NEWER_SCHEMA, "use the newer pro0 that made them")
    assert Store(home).names() == ["alpha"]
