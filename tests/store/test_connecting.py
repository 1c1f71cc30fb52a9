"""How a database is reached, which server is waited for, and which acts are forgotten."""

import signal
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest

from pro0.errors import Unwritable
from pro0.store.database import server as server_module
from pro0.store.database.server import DatabaseServer, lock_of
from pro0.store.database.session import Row
from tests.postgres import Postgres, postgres, require
from tests.store.test_database import plain_role, received, send, team_at
from tests.waiting import STUCK, wait_until

Tries = list[dict[str, object]]


@pytest.fixture
def tries(monkeypatch: pytest.MonkeyPatch) -> Iterator[Tries]:
    """Each attempt to connect, with what it was asked with."""
    made: Tries = []
    connect = psycopg.connect

    def counted(words: str, **more: object) -> object:
        made.append(more)
        return connect(words, **more)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(psycopg, "connect", counted)
        yield made


def test_a_server_that_is_away_is_waited_for_once(
    tmp_path: Path, tries: Tries, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who asks at once again waits for nothing; who asks later waits again."""
    monkeypatch.setattr(server_module, "CONNECTING", 0.4)
    database = DatabaseServer(f"postgresql:///db?host={tmp_path}")
    counts = []
    for pause in (0.0, 0.0, 0.5):
        time.sleep(pause)
        tries.clear()
        with pytest.raises(Unwritable, match="cannot be reached"):
            database.connect()
        counts.append(len(tries))
    assert counts[0] > 1 < counts[2]
    assert counts[1] == 1


ENTRIES = """local all pro0,no_login,no_role trust
local all no_password scram-sha-256
local all rejected reject
"""


@pytest.fixture(scope="module")
def strict() -> Iterator[Postgres]:
    """A server that lets few in."""
    require()
    with postgres() as own:
        with psycopg.connect(own.url("postgres"), autocommit=True) as owner:
            for words in ("no_password login", "rejected login", "no_entry login", "no_login"):
                owner.execute(f"create role {words}".encode())
        own.stop(signal.SIGINT)
        (own.at / "data" / "pg_hba.conf").write_text(ENTRIES)
        own.start()
        yield own


@pytest.mark.parametrize(
    ("user", "password", "said"),
    [
        ("pro0", "", 'database "nowhere" does not exist'),
        ("no_role", "", 'role "no_role" does not exist'),
        ("no_login", "", "not permitted to log in"),
        ("no_password", "", "no password supplied"),
        ("no_password", "wrong", "password authentication failed"),
        ("rejected", "", "pg_hba.conf rejects"),
        ("no_entry", "", "no pg_hba.conf entry"),
    ],
)
def test_a_server_that_says_no_is_not_waited_for(
    strict: Postgres, tries: Tries, monkeypatch: pytest.MonkeyPatch, user: str, password: str, said: str
) -> None:
    """It would refuse the same a moment later."""
    monkeypatch.setenv("PGPASSWORD", password)
    url = strict.url("nowhere" if user == "pro0" else "postgres").replace("pro0@", f"{user}@")
    with pytest.raises(Unwritable, match=f"cannot be reached: .*{said}"):
        DatabaseServer(url).connect()
    assert [asked["connect_timeout"] for asked in tries] == [5]


def test_a_server_that_has_no_connection_to_give_is_waited_for(home: Path, server: Postgres, tries: Tries) -> None:
    """Somebody else has all of them for a moment."""
    url = server.url()
    team_at(home, url)
    role = plain_role(server, url)
    theirs = url.replace("pro0@", f"{role}@")
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute(f"alter role {role} connection limit 1".encode())
    with ThreadPoolExecutor() as at_once:
        with closing(DatabaseServer(theirs).connect()):
            before = len(tries)
            waits = at_once.submit(DatabaseServer(theirs).connect)
            wait_until(lambda: len(tries) > before + 1, STUCK, "it has tried in vain")
        waits.result(STUCK).close()


def test_a_server_that_starts_is_waited_for(server: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says so itself, for as long as it looks for what a crash has left."""
    connect, said = psycopg.connect, [psycopg.errors.CannotConnectNow("the database system is starting up")] * 2

    def starting(words: str, **more: object) -> object:
        if said:
            raise said.pop()
        return connect(words, **more)  # type: ignore[arg-type]

    url = server.url()
    monkeypatch.setattr(psycopg, "connect", starting)
    DatabaseServer(url).connect().close()
    assert said == []


AGES: LiteralString = """
select hours from (select floor(extract(epoch from now() - at) / 3600)::int as hours from pro0.acts) as ages
where hours > 0 order by hours desc
"""


def test_acts_of_earlier_days_are_forgotten_now_and_then(
    home: Path, server: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By one act of many, which changes something itself; those of today are what lost answers are looked up by."""
    box = team_at(home, server.url(), "w1").mailbox("w1")
    server.ask("""insert into pro0.acts (id, at) values (gen_random_uuid(), now() - interval '23 hours'),
        (gen_random_uuid(), now() - interval '25 hours') returning id""")
    ids: list[int] = []
    monkeypatch.setattr(uuid, "uuid4", lambda: uuid.UUID(int=ids.pop(0)))
    ids += [64 * 7 + 1, 64 * 7 + 63, 64 * 7]
    for id in ("m1", "m2"):
        send(box, id)
    with box.head.change("look"):
        pass
    assert (ids, server.ask(AGES)) == ([], [(25,), (23,)])
    ids += [64 * 8]
    send(box, "m3")
    assert (ids, server.ask(AGES)) == ([], [(23,)])


def test_an_error_in_an_act_costs_no_connection(server: Postgres) -> None:
    """What comes next finds it as it was."""
    with closing(DatabaseServer(server.url())) as database:

        def act(fails: bool = False) -> list[Row]:
            with database.act(lock_of("alpha", "a place"), "the store", "a test") as opened:
                if fails:
                    raise ZeroDivisionError
                return opened.ask("select pg_backend_pid()")

        before = act()
        with pytest.raises(ZeroDivisionError):
            act(fails=True)
        assert act() == before


def test_a_database_without_an_encoding_that_ends_idle_connections(home: Path, server: Postgres) -> None:
    """As `initdb` makes one where there is no locale; what is waited for over an idle connection stays there."""
    name = f"ascii_{uuid.uuid4().hex}"
    with psycopg.connect(server.url("postgres"), autocommit=True) as owner:
        owner.execute(f"create database {name} encoding 'SQL_ASCII' template template0".encode())
        owner.execute(f"alter database {name} set idle_session_timeout = '200ms'".encode())
    try:
        team = team_at(home, server.url(name), "w1")
        send(team.mailbox("w1"), "m1")
        lease = team.documents.lease()
        assert lease.take("lead")
        time.sleep(1)
        assert lease.has_duties(), "its connection lives"
        assert team.documents.database
        assert [*team.documents.database.records()] == [""], "the machine that made it"
        assert received(team) == ["m1"]
        lease.drop()
    finally:
        server.lose(name)
