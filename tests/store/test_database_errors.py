"""What a PostgreSQL server refuses, holds back or does not hear of: said in words, and true."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg
import pytest

from pro0 import installation
from pro0.errors import EnvironmentMissing, ErrorCode, StoreError, Unwritable
from pro0.model.team import TeamConfig, Wanted
from pro0.ops.context import clock
from pro0.store.database import server as server_module
from pro0.store.database.pointer import in_database
from pro0.store.database.server import IDLE, server_of
from pro0.store.teams import Store
from tests import crowd
from tests.postgres import Postgres, postgres
from tests.store.raw import all_of
from tests.store.test_database import cutting, plain_role, received, send, team_at
from tests.teams import NOW, make_team
from tests.waiting import STUCK, wait_until


@pytest.fixture
def url(server: Postgres) -> str:
    return server.url()


@contextmanager
def refusing(url: str, table: str, when: str) -> Iterator[None]:
    """Let the server refuse what is new in a table, at once or at the end of the transaction."""
    kind, ends = {"at once": ("", ""), "at its end": ("constraint", "deferrable initially deferred")}[when]
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute(
            "create or replace function public.refuse() returns trigger language plpgsql as "
            "$$ begin raise exception 'not\n  today'; end $$"
        )
        words = f"create {kind} trigger refuse after insert on pro0.{table} {ends} for each row"
        owner.execute(f"{words} execute function public.refuse()".encode())
        try:
            yield
        finally:
            owner.execute(f"drop trigger refuse on pro0.{table}".encode())


@pytest.mark.parametrize("table", ["documents", "acts"])
@pytest.mark.parametrize("when", ["at once", "at its end"])
def test_what_the_server_refuses_did_not_happen(home: Path, url: str, table: str, when: str) -> None:
    """Whether it refuses a document or the commit; what comes next finds a connection that is whole."""
    box = team_at(home, url, "w1").mailbox("w1")

    def put(data: bytes) -> None:
        with box.place.locked("a test") as opened:
            opened.replace("new.json", data)

    with refusing(url, table, when), pytest.raises(StoreError, match=r"^cannot use [^\n]*: not today") as refused:
        put(b"{}")
    assert (type(refused.value), refused.value.hint) == (StoreError, "nothing was changed")
    assert box.place.names() == ["messages.json"]
    put(b"{}")
    assert box.place.names() == ["messages.json", "new.json"]


def test_a_server_that_only_reads_takes_nothing(home: Path) -> None:
    """A server that stands by for another: a team is read, and a change is an error as of a full disk.

    A removal is given up with its archive whole.
    """
    with postgres() as own:
        team = team_at(home, url := own.url(), "w1")
        send(team.mailbox("w1"), "m1")
        own.stop(signal.SIGINT)
        (own.at / "data" / "standby.signal").touch()
        own.start()
        with pytest.raises(Unwritable, match="recovery") as refused:
            send(team.mailbox("w1"), "m2")
        assert refused.value.hint == "nothing was changed"
        with pytest.raises(Unwritable, match=r"^cannot use postgresql:.*/postgres: .*read-only"):
            make_team(home, name="beta", url=own.url("postgres"))
        assert received(team) == ["m1"]
        assert Store(home).names() == ["alpha"]
        with pytest.raises(Unwritable, match="recovery"):
            Store(home).discard("alpha", "uid-alpha", ended=NOW)
        [(database, why)] = Store(home).give_up("alpha").items()
        assert (database, "recovery" in why) == (url, True)
        [archive] = Store(home).archives()
        assert received(Store(archive.path).team("alpha")) == ["m1"]


def test_a_database_whose_tables_are_gone_keeps_no_team(home: Path, url: str) -> None:
    """No error of the server's own words; what may be left out is left out."""
    team = team_at(home, url, "w1")
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("drop schema pro0 cascade")
    documents = in_database(home, "alpha", url)
    reads = (team.tasks.read, team.mailbox_owners, documents.names, documents.uid, documents.records)
    for act in (*reads, team.documents.mailboxes.folders, team.wanted.change("a test").__enter__):
        with pytest.raises(StoreError, match=r"^cannot use postgresql:\S+: the database has no team$") as empty:
            act()
        assert empty.value.hint == "is it the right database?"
    team.log_event(clock(), "human", "an event")
    assert [*team.documents.signs()] == []


def test_a_change_whose_commit_never_arrived_did_not_happen(home: Path, server: Postgres) -> None:
    """The server takes the old connection for open, with its locks, until it is told that it is over."""
    with cutting(server) as proxy:
        team = team_at(home, server.url(host=str(proxy.at)), "w1")
        send(team.mailbox("w1"), "m1")
        proxy.cut_at, proxy.is_silent = b"; commit", True
        with pytest.raises(Unwritable, match="broke; nothing was changed") as broken:
            send(team.mailbox("w1"), "m2")
        assert broken.value.hint == "try again"
        proxy.cut_at = b""
        send(team.mailbox("w1"), "m3")
        assert received(team) == ["m1", "m3"]


def test_who_writes_while_somebody_deletes_the_teams_row_is_told(home: Path, server: Postgres, url: str) -> None:
    """Whoever removes a team by other means than pro0's waits for no lock of it."""
    team = make_team(home, "w1", url=url)
    with team.documents.mailboxes.locked("a letter") as opened:
        assert server.ask("delete from pro0.teams returning name") == [("alpha",)]
        with pytest.raises(FileNotFoundError, match=r"^\[Errno 2\] the team is gone: 'alpha'$"):
            opened.replace("w1", b"{}")


def test_who_changed_nothing_loses_nothing_with_the_connection(home: Path, server: Postgres) -> None:
    """A look behind a lock is whole when its end is never heard of."""
    with cutting(server) as proxy:
        box = team_at(home, server.url(host=str(proxy.at)), "w1").mailbox("w1")
        send(box, "m1")
        with box.head.change("look") as change:
            proxy.cut_at = b"rollback"
        assert [message.id for message in change.value.messages] == ["m1"]
        assert proxy.answers_too, "it was cut"
        proxy.cut_at = b""
        send(box, "m2")
        assert [message.id for message in box.head.read().messages] == ["m1", "m2"]


OURS = "select count(*) from pg_stat_activity where datname = current_database() and application_name like 'pro0 %'"


def test_few_connections_stay_open_when_many_were_used_at_once(home: Path, server: Postgres, url: str) -> None:
    """What a server can have of them is little."""
    names = [f"w{number}" for number in range(IDLE + 3)]
    team = team_at(home, url, *names)
    with ExitStack() as stack:
        for name in names:
            stack.enter_context(team.mailbox(name).head.change("hold it"))
        assert server.ask(OURS) == [(len(names),)]
    wait_until(lambda: server.ask(OURS) == [(IDLE,)], STUCK, "the others are closed")
    server_of(url).close()
    wait_until(lambda: server.ask(OURS) == [(0,)], STUCK, "all are closed")


LEASES = "select pid from pg_locks where locktype = 'advisory' order by pid"


def test_a_lease_is_kept_by_the_connection_that_took_it(home: Path, server: Postgres, url: str) -> None:
    lease = team_at(home, url).documents.lease()
    assert lease.take("lead")
    [taken] = server.ask(LEASES)
    for _ in range(2):
        lease.keep()
        assert server.ask(LEASES) == [taken]
    lease.drop()
    assert server.ask(LEASES) == []


def test_a_lease_that_the_server_refuses_is_held_nowhere(home: Path, server: Postgres, url: str) -> None:
    """Neither on this machine, nor by a connection that nobody would end."""
    team_at(home, url)
    role = plain_role(server, url)
    team = make_team(home / "other", name="beta", url=url.replace("pro0@", f"{role}@"))
    lease = team.documents.lease()
    taking = "execute on function pg_try_advisory_lock(bigint)"
    before = server.ask(OURS)
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute(f"revoke {taking} from public".encode())
        with pytest.raises(StoreError, match="cannot use the lease of beta: permission denied") as refused:
            lease.take("lead")
        assert refused.value.hint == "ask its owner for access"
        wait_until(lambda: server.ask(OURS) == before, STUCK, "its connection is closed")
        assert lease.holder() is None
        owner.execute(f"grant {taking} to public".encode())
    other = team.documents.lease()
    assert other.take("another")
    other.drop()


def test_a_removal_that_is_finished_later_takes_nothing_of_a_later_team(
    home: Path, server: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows of that name are another's meanwhile: they are in no archive, and stay."""
    monkeypatch.setattr(server_module, "CONNECTING", 1.0)
    with cutting(server) as proxy:
        url = server.url(host=str(proxy.at))
        send(team_at(home, url, "w1").mailbox("w1"), "m1")
        server_of(url).close()
        proxy.lets_in = False
        with pytest.raises(StoreError, match="the next cleanup removes the rest"):
            Store(home).discard("alpha", "uid-alpha", ended=NOW)
        there = server.url(server.latest)
        with psycopg.connect(there, autocommit=True) as owner:
            owner.execute("delete from pro0.teams")
        another = TeamConfig(name="alpha", created_at=NOW, uid="another", project="/")
        later = Store(tmp_path / "other").create(another, Wanted(), url=there)
        send(later.mailbox("lead"), "theirs")
        proxy.lets_in = True
        assert Store(home).sweep() == ["alpha"]
        [archive] = Store(home).archives()
        assert [*archive.path.rglob("messages.json")] == []
        assert later.config.read().uid == "another"
        assert later.mailbox("lead").head.read().messages


def open_without(missing: tuple[str, ...], variables: dict[str, str], said: Path) -> None:
    """Open a team in a database where some modules cannot be imported; write down what becomes of it."""
    os.environ.update(variables)
    for name in [*sys.modules]:
        if name.startswith(("psycopg", "pro0.store.database.")) and name != in_database.__module__:
            del sys.modules[name]
    sys.modules.update(dict.fromkeys(missing))  # type: ignore[arg-type] # None keeps a module from being imported
    try:
        in_database(Path("/h"), "alpha", "postgresql:///db")
        said.write_text("opened")
    except EnvironmentMissing as error:
        said.write_text(f"{error.exit_code} {error.code} {error.message}\n{error.hint}")
    except ImportError as error:
        said.write_text(str(error))


def opening(said: Path, *missing: str, **variables: str) -> str:
    """Open a team so in a process of its own; return what it says."""
    crowd.run(open_without, [(missing, variables, said)])
    return said.read_text()


@pytest.mark.parametrize("what", ["psycopg", "psycopg.client_cursor", "libpq"])
def test_a_store_on_a_server_needs_a_library(tmp_path: Path, what: str) -> None:
    """Exit 6, and how to add it to this pro0; psycopg names no module when its libpq is missing."""
    at = tmp_path / "said"
    said, hint = (opening(at, PSYCOPG_IMPL="c") if what == "libpq" else opening(at, what)).splitlines()
    assert (
        said
        == f"6 {ErrorCode.LIBRARY_MISSING} a store on PostgreSQL needs psycopg and libpq, which are not installed here"
    )
    assert hint == installation.adding("postgres")


def test_a_part_of_pro0_that_is_missing_is_no_library(tmp_path: Path) -> None:
    """A broken installation is not mended by adding psycopg."""
    assert opening(tmp_path / "said") == "opened"
    told = opening(tmp_path / "said", "pro0.store.database.contents")
    assert told.startswith("import of pro0.store.database.contents")


def test_a_server_without_room_is_said_before_anything_is_written(home: Path, url: str) -> None:
    """What waits for room asks so, and nobody is told of a change."""
    team = team_at(home, url, "w1")
    before = all_of(team)
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute(
            "create function public.full_disk() returns trigger language plpgsql as "
            "$$ begin raise exception using errcode = 'disk_full', message = 'could not extend file'; end $$"
        )
        owner.execute("create trigger full_disk before insert on pro0.documents execute function public.full_disk()")
    with pytest.raises(Unwritable, match="could not extend file"):
        team.runtime.try_room()
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("drop trigger full_disk on pro0.documents")
    team.runtime.try_room()
    assert all_of(team) == before
