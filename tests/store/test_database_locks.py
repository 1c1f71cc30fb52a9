"""Who waits for a lock at the server: it is given up when one holder keeps it, never while it changes hands."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import psycopg
import pytest

from pro0.errors import ErrorCode, StoreError, Unwritable
from pro0.store.database import server as server_module
from pro0.store.database.lease import lease_key
from pro0.store.database.place import channel_of
from pro0.store.database.server import DatabaseServer, PlaceLock, lock_of, server_of, whole_lock_of
from pro0.store.places.promises import Documents
from tests.postgres import Postgres
from tests.store.test_database import cutting, plain_role, send, team_at
from tests.teams import make_team
from tests.waiting import STUCK, wait_until

PLACE = lock_of("alpha", "a place")
WHOLE = whole_lock_of("alpha")
HINT = "if that process hangs, end it; nothing was changed"


@pytest.fixture
def url(server: Postgres) -> str:
    return server.url()


def test_a_holder_is_waited_for_and_named(home: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    team = team_at(home, url, "w1")
    monkeypatch.setattr(server_module, "PATIENCE", 0.5)
    words = rf"^postgresql:\S+/alpha is held by pid {os.getpid()} \(hold it\); gave up after 0\.5 s$"
    with team.wanted.change("hold it"):
        with pytest.raises(StoreError, match=words) as raised:
            team.runtime.change("want it").__enter__()
        assert (raised.value.code, raised.value.hint) == (ErrorCode.LOCK_TIMEOUT, HINT)
        send(team.mailbox("w1"), "m1")  # another place has another lock


@pytest.mark.parametrize(("lock", "role"), [(PLACE, "another"), (WHOLE, "the same")], ids=["a place", "the whole team"])
def test_nobody_gives_up_while_the_lock_changes_hands(
    home: Path, server: Postgres, url: str, monkeypatch: pytest.MonkeyPatch, lock: PlaceLock, role: str
) -> None:
    """How long a holder has been in line before it got the lock counts for nothing."""
    team_at(home, url)
    monkeypatch.setattr(server_module, "PATIENCE", 3.0)
    theirs = url.replace("pro0@", f"{plain_role(server, url)}@") if role == "another" else url
    with (
        closing(DatabaseServer(url)) as database,
        closing(DatabaseServer(theirs)) as of_role,
        ThreadPoolExecutor() as at_once,
    ):
        with of_role.act(lock, "the store", "the first"):
            second = at_once.submit(hold, of_role, lock, 2.5)
            wait_until(lambda: in_line(server) == 1, STUCK, "the second is in line")
            last = at_once.submit(hold, database, PLACE, 0)
            wait_until(lambda: in_line(server) == 2, STUCK, "the last is in line")
            time.sleep(2)
        second.result(STUCK)
        last.result(STUCK)


@pytest.mark.parametrize(("held", "wanted"), [(PLACE, WHOLE), (WHOLE, PLACE)], ids=["of a place", "of the whole team"])
def test_the_holder_of_a_part_and_of_the_whole_wait_for_each_other(
    home: Path, url: str, monkeypatch: pytest.MonkeyPatch, held: PlaceLock, wanted: PlaceLock
) -> None:
    """And whoever gives up names the other."""
    team_at(home, url)
    monkeypatch.setattr(server_module, "PATIENCE", 0.2)
    said = pytest.raises(StoreError, match=rf"^the store is held by pid {os.getpid()} \(hold it\); gave up")
    with closing(DatabaseServer(url)) as database, database.act(held, "the store", "hold it"), said:
        hold(database, wanted, 0)


def test_the_row_of_a_team_is_not_waited_for_for_ever(home: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody deletes it by hand, and does not come to an end: nobody can be named."""
    team = team_at(home, url, "w1")
    monkeypatch.setattr(server_module, "PATIENCE", 0.2)
    with psycopg.connect(url) as owner:
        owner.execute("delete from pro0.teams")
        with pytest.raises(StoreError, match=r"^postgresql:\S+/w1 is held by an unknown process$") as held:
            send(team.mailbox("w1"), "m1")
        assert (held.value.code, held.value.hint) == (ErrorCode.LOCK_TIMEOUT, HINT)
        owner.rollback()
    send(team.mailbox("w1"), "m2")


def test_who_waits_for_the_row_of_a_team_that_goes_is_told(home: Path, server: Postgres, url: str) -> None:
    """As whoever comes later."""
    team = team_at(home, url, "w1")

    def write() -> None:
        with team.documents.mailboxes.locked("a letter") as opened:
            opened.replace("w1", b"{}")

    with ThreadPoolExecutor() as at_once, psycopg.connect(url) as owner:
        owner.execute("delete from pro0.teams")
        writes = at_once.submit(write)
        wait_until(lambda: server.ask(WAITING), STUCK, "it waits for the row")
        owner.commit()
        with pytest.raises(FileNotFoundError, match=r"^\[Errno 2\] the team is gone$"):
            writes.result(STUCK)


def hold(database: DatabaseServer, lock: PlaceLock, seconds: float) -> None:
    """Take a lock, and have it for so long."""
    with database.act(lock, "the store", "hold it"):
        time.sleep(seconds)


def in_line(server: Postgres) -> int:
    """Return how many wait for a lock of the database that was made last."""
    return len(server.ask("select 1 from pg_locks where locktype = 'advisory' and not granted"))


def wait_again(server: Postgres) -> None:
    """Wait until the one who waits for a lock begins to wait anew."""
    [began] = wait_until(lambda: waits_since(server), STUCK, "it waits")
    wait_until(lambda: waits_since(server) not in ([], [began]), STUCK, "it waits again")


def waits_since(server: Postgres) -> list[tuple[object, ...]]:
    """Return when the waits for a lock of the database that was made last began."""
    return server.ask("select waitstart from pg_locks where locktype = 'advisory' and not granted")


def test_a_holder_that_is_no_pro0_is_given_up(home: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    team_at(home, url)
    monkeypatch.setattr(server_module, "PATIENCE", 0.2)
    with psycopg.connect(url) as stranger, closing(DatabaseServer(url)) as database:
        stranger.execute("select pg_advisory_xact_lock(%s)", (PLACE.key,))
        with pytest.raises(StoreError, match="is held by an unknown process; gave up"):
            hold(database, PLACE, 0)


def test_a_waiter_that_is_cut_off_as_its_time_is_up_is_told(
    home: Path, server: Postgres, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    team_at(home, url)
    monkeypatch.setattr(server_module, "PATIENCE", 0.2)
    with (
        cutting(server) as proxy,
        closing(DatabaseServer(url)) as database,
        closing(DatabaseServer(server.url(server.latest, str(proxy.at)))) as cut_off,
        database.act(PLACE, "the store", "hold it"),
    ):
        proxy.cut_at = b"rollback"
        with pytest.raises(Unwritable, match=r"^cannot use the store: "):
            hold(cut_off, PLACE, 0)


def test_a_holder_that_has_yet_to_note_its_time_is_not_given_up(
    home: Path, server: Postgres, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It got the lock a moment ago: the server does both in one go."""
    team_at(home, url)
    monkeypatch.setattr(server_module, "PATIENCE", 0.2)
    with (
        closing(DatabaseServer(url)) as database,
        ThreadPoolExecutor() as at_once,
        psycopg.connect(url, application_name="pro0 pid 1") as holder,
    ):
        holder.execute("select pg_advisory_xact_lock(%s)", (PLACE.key,))
        waiting = at_once.submit(hold, database, PLACE, 0)
        for _ in range(2):
            wait_again(server)
        holder.rollback()
        waiting.result(STUCK)


@pytest.mark.parametrize("why", ["x" * 200, "\u00e9" * 200, "ask@home@5"], ids=["long", "not ASCII", "like a time"])
def test_a_holder_is_given_up_whatever_it_does(home: Path, url: str, monkeypatch: pytest.MonkeyPatch, why: str) -> None:
    team_at(home, url)
    monkeypatch.setattr(server_module, "PATIENCE", 0.2)
    said = pytest.raises(StoreError, match=rf"is held by pid {os.getpid()} \([x?a]")
    with closing(DatabaseServer(url)) as database, database.act(PLACE, "the store", why), said:
        hold(database, PLACE, 0)


def is_logged(documents: Documents) -> bool:
    """Return whether one event more is there, once it was to be logged."""
    events = documents.events()
    before = [*events.fresh()]
    documents.log({"event": "x"})
    assert b'"x"' not in b"".join(before)
    return [b'"x"' in line for line in events.fresh()] == [True]


def test_each_place_of_each_team_has_a_lock_of_its_own(home: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And whoever holds them all keeps no event out."""
    teams = [make_team(home, "w1", name=name, url=url) for name in ("alpha", "beta")]
    monkeypatch.setattr(server_module, "PATIENCE", 0.2)
    with ExitStack() as stack:
        for team in teams:
            places = (team.documents.team, team.documents.tasks, team.documents.mailboxes)
            for place in (*places, team.documents.mailboxes.within("w1"), team.documents.tasks.within("w1")):
                stack.enter_context(place.locked("hold it"))
            stack.enter_context(server_of(url).act(lock_of(team.name), "the store", "hold it"))
            assert is_logged(team.documents)


WAITING = """
select application_name from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()
"""


def test_the_events_of_a_team_wait_for_no_other_team(
    home: Path, server: Postgres, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One whose row goes meanwhile has no more events, and nobody hears an error."""
    alpha, beta = (make_team(home, name=name, url=url) for name in ("alpha", "beta"))
    with ThreadPoolExecutor() as at_once, psycopg.connect(url) as owner:
        owner.execute("delete from pro0.teams where name = 'beta'")
        writes = at_once.submit(beta.documents.log, {"event": "late"})
        [(name,)] = wait_until(lambda: server.ask(WAITING), STUCK, "it waits for the row")
        assert str(name).startswith(f"pro0 pid {os.getpid()} (log)@")
        monkeypatch.setattr(server_module, "PATIENCE", 0.2)
        assert is_logged(alpha.documents)
        owner.commit()
        assert writes.result(STUCK) is None
    assert server.ask("select name from pro0.teams") == [("alpha",)]


def test_every_version_of_pro0_asks_for_the_same_locks() -> None:
    """Machines that share a team may have different ones."""
    whole = 440772106310116970
    assert lock_of("alpha", "tasks") == PlaceLock(-3427779262727830393, whole)
    assert whole_lock_of("alpha") == PlaceLock(whole, -2268301850725565282)
    assert (lease_key("alpha", ""), lease_key("alpha", "two")) == (-6203471134776210603, -1529591078157644953)
    assert channel_of("alpha") == "pro0_5306d220eac8089a"
