"""The leases of machines that share a team, and the one lead that has the team's duties."""

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest

from pro0.errors import ErrorCode, Refused, Unwritable
from pro0.model.runtime import State
from pro0.model.team import Environment
from pro0.store.database import lease as lease_module
from pro0.store.database.joining import join
from pro0.store.database.lease import DatabaseLease, lease_key
from pro0.store.database.server import server_of
from pro0.store.database.sharing import others_of
from pro0.store.lease import Lease
from pro0.store.teams import Store, TeamStore
from tests import crowd
from tests.postgres import Postgres
from tests.sharing import led, pointer_of, recorded, seated, share, shared, state_of
from tests.store.test_database import cutting
from tests.teams import make_team
from tests.waiting import STUCK, wait_until

pytestmark = pytest.mark.usefixtures("no_sync")


def machines_of(team: str) -> list[str]:
    """The first machine and more, of each kind of number that a lock may have: the server keeps it in two halves."""
    kinds: dict[tuple[bool, bool], str] = {}
    for machine in ["", *(f"m{number}" for number in range(200))]:
        key = lease_key(team, machine)
        kinds.setdefault((key < 0, bool(key & 0x80000000)), machine)
    assert len(kinds) == 4
    return ["", *(machine for machine in kinds.values() if machine)]


def test_who_is_present_is_who_holds_a_lease(alpha: TeamStore, database: str) -> None:
    """Whatever sign the number of the lock has, and whatever team of the same database has a machine of that name."""
    documents = shared(alpha)
    machines = machines_of(alpha.name)
    other = shared(make_team(alpha.paths.home, name=f"{alpha.name}-x", url=database))
    with ExitStack() as stack:
        for number, machine in enumerate(machines):
            stack.enter_context(documents.led_by_nobody(machine))
            assert documents.present(machines) == {*machines[: number + 1]}
        assert documents.present([machines[1], "nobody"]) == {machines[1]}
        assert documents.present([]) == set()
        assert other.present(machines) == set()
    assert documents.present(machines) == set()


def test_a_holder_that_is_about_to_end_is_waited_for(alpha: TeamStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server notices the end of one that was killed a moment later."""
    monkeypatch.setattr(lease_module, "_ENDING", STUCK)
    documents = shared(alpha)
    with ExitStack() as held:
        held.enter_context(documents.led_by_nobody("two"))
        ends = threading.Timer(0.3, held.close)
        ends.start()
        with documents.led_by_nobody("two"):
            assert documents.present(["two"]) == {"two"}
        ends.join()
    assert documents.present(["two"]) == set()


def hold(home: Path, name: str, ready: Path) -> None:
    """Lead on a machine, with the duties where they are free, until killed."""
    lease = Store(home).team(name).documents.lease()
    assert lease.take("a test")
    ready.write_text(str(lease.has_duties()))
    time.sleep(600)


def ends(team: TeamStore, server: Postgres, lease: Lease) -> None:
    """End the connection that holds a lease, as a network would, and wait until the server knows."""
    assert isinstance(lease, DatabaseLease)
    session = lease._session
    assert session
    with psycopg.connect(server.url("postgres"), autocommit=True) as person:
        person.execute("select pg_terminate_backend(%s)", (session.pid,))
    wait_until(lambda: team.machine not in shared(team).present([team.machine]), STUCK, "the server knows")
    wait_until(lambda: not session.is_fresh, STUCK, "the word of it has come")


class Going(NamedTuple):
    """A lead at work, and how it goes and comes back."""

    go: Callable[[], object]
    back: Callable[[], object]


@pytest.fixture(params=["dropped", "killed", "cut"])
def leading(request: pytest.FixtureRequest, server: Postgres, tmp_path: Path) -> Iterator[Callable[[TeamStore], Going]]:
    """Have a lead at work on a machine, with the duties where they are free; it goes in each of the ways."""
    with ExitStack() as stack:

        def lead(team: TeamStore) -> Going:
            lease = team.documents.lease()
            stack.callback(lease.drop)
            if request.param == "killed":
                ready = tmp_path / "ready"
                child = crowd.start(hold, team.paths.home, team.name, ready)
                stack.callback(child.join)
                stack.callback(child.kill)
                wait_until(lambda: ready.exists() and ready.read_text(), STUCK, "it leads")
                return Going(child.kill, lambda: wait_until(lambda: lease.take("a test"), STUCK, "it is back"))
            assert lease.take("a test")
            lease.has_duties()
            if request.param == "dropped":
                return Going(lease.drop, lambda: lease.take("a test"))
            return Going(lambda: ends(team, server, lease), lease.keep)

        yield lead


Leading = Callable[[TeamStore], Going]


def test_a_lead_that_goes_is_missed(alpha: TeamStore, two: TeamStore, leading: Leading) -> None:
    """Its sessions are out of reach, whatever has become of it; they are themselves again when it is back."""
    seated(two, "w2")
    recorded(two, state_of("w3", State.CRASHED))

    def seen() -> dict[str, State]:
        return {state.agent_id: state.state for state in alpha.runtime.read().seats}

    is_there = {"w1": State.IDLE, "w2": State.IDLE, "w3": State.CRASHED}
    lead = leading(two)
    assert seen() == is_there
    lead.go()
    wait_until(lambda: seen() == is_there | {"w2": State.UNREACHABLE}, STUCK, "it is missed")
    lead.back()
    assert seen() == is_there


def test_another_lead_gets_the_duties_of_one_that_goes(
    alpha: TeamStore, two: TeamStore, three: TeamStore, leading: Leading
) -> None:
    """Issue 19, build 5: one of the leads does what concerns the whole team, and the others do not."""
    lead = leading(two)
    with led(alpha) as first, led(three) as second:
        assert [first.has_duties(), second.has_duties()] == [False, False]
        lead.go()
        wait_until(first.has_duties, STUCK, "the first one has them")
        assert [first.has_duties(), second.has_duties()] == [True, False]
        lead.back()
        first.drop()
        assert second.has_duties()
        assert not first.has_duties()


def test_whoever_asks_first_has_the_duties(alpha: TeamStore, two: TeamStore, three: TeamStore) -> None:
    """And keeps them, however often the others ask; a lead that holds no lease has none."""
    leases = [team.documents.lease() for team in (two, alpha, three)]
    assert [lease.has_duties() for lease in leases] == [False] * 3
    for lease in leases:
        assert lease.take("a test")
    for _ in range(3):
        assert [lease.has_duties() for lease in leases] == [True, False, False]
        for lease in leases:
            lease.keep()
    for lease in leases:
        lease.drop()
    assert [lease.has_duties() for lease in leases] == [False] * 3


def test_the_duties_of_one_team_are_not_anothers(alpha: TeamStore, database: str) -> None:
    other = make_team(alpha.paths.home, name=f"{alpha.name}-x", url=database)
    with led(alpha) as first, led(other) as second:
        assert (first.has_duties(), second.has_duties()) == (True, True)


def test_there_are_never_two_leads_with_the_duties(
    alpha: TeamStore, two: TeamStore, three: TeamStore, server: Postgres
) -> None:
    """Whatever happens to leads and their connections; and there is one as long as a lead is at work."""
    dice, teams = random.Random(19), (alpha, two, three)
    leases = [team.documents.lease() for team in teams]
    held = [False] * 3
    for _ in range(60):
        number = dice.randrange(3)
        team, lease = teams[number], leases[number]
        if not held[number]:
            assert lease.take("a test")
            held[number] = True
        elif dice.random() < 0.5:
            lease.drop()
            held[number] = False
        else:
            ends(team, server, lease)
            before = [one.has_duties() for one in dice.sample(leases, 3)]  # it has not noticed yet
            assert before.count(True) <= 1
            lease.keep()
        having = [one.has_duties() for one in dice.sample(leases, 3)]
        assert having.count(True) == any(held)
    for lease in leases:
        lease.drop()


def test_who_has_lost_the_lease_has_no_duties(
    alpha: TeamStore, server: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy of the machine's folder leads with both, and the first one notices only now."""
    monkeypatch.setattr(lease_module, "_ENDING", 0.05)
    copied = tmp_path / "copied" / "teams" / alpha.name
    (copied / "logs").mkdir(parents=True)
    (copied / "store.json").write_bytes((alpha.paths.team / "store.json").read_bytes())
    other = Store(tmp_path / "copied").team(alpha.name).documents.lease()
    with led(alpha) as lease:
        assert lease.has_duties()
        ends(alpha, server, lease)
        assert other.take("another")
        assert other.has_duties()
        assert not lease.has_duties()
        with pytest.raises(Refused):
            lease.keep()
        assert not lease.has_duties()
        other.drop()


@pytest.fixture
def asleep(alpha: TeamStore, server: Postgres, tmp_path: Path) -> Iterator[Callable[[Lease], None]]:
    """End the connection of a lead on the machine `slept`; no word of it comes, as to a machine that sleeps."""
    with cutting(server) as proxy:
        url = pointer_of(alpha).url.replace(str(server.at), str(proxy.at))
        join(Store(tmp_path / "slept"), alpha.name, url, share("slept"), Environment())

        def sleep(lease: Lease) -> None:
            assert isinstance(lease, DatabaseLease)
            assert lease._session
            proxy.keeps_quiet = True
            server_of(pointer_of(alpha).url).ask("it", "select pg_terminate_backend(%s)", (lease._session.pid,))
            wait_until(lambda: proxy.quiet_ends, STUCK, "it has ended at the server")
            assert shared(alpha).present(["slept"]) == set()
            proxy.keeps_quiet = False

        yield sleep


def test_a_lead_that_slept_asks_before_it_does_what_another_one_does_by_now(
    alpha: TeamStore, asleep: Callable[[Lease], None], tmp_path: Path
) -> None:
    """Its connection looks as it did, but the server has given its lease and its duties away."""
    slept = Store(tmp_path / "slept").team(alpha.name)
    with led(slept) as lease, led(alpha) as other:
        assert (lease.has_duties(), other.has_duties()) == (True, False)
        asleep(lease)
        assert other.has_duties()
        lease.keep()
        assert not lease.has_duties()
        assert shared(alpha).present(["slept"]) == {"slept"}


def test_a_lead_that_hears_of_its_end_in_the_middle_of_a_round_leads_on(
    alpha: TeamStore, asleep: Callable[[Lease], None], tmp_path: Path
) -> None:
    """The next round takes the lease again."""
    slept = Store(tmp_path / "slept").team(alpha.name)
    with led(alpha) as other, led(slept) as lease:
        assert (other.has_duties(), lease.has_duties()) == (True, False)
        asleep(lease)
        with pytest.raises(Unwritable):
            lease.has_duties()
        lease.keep()
        assert not lease.has_duties()
        assert shared(alpha).present(["slept"]) == {"slept"}


def test_a_team_in_files_has_one_lead_that_does_all(home: Path) -> None:
    team = make_team(home)
    with led(team) as lease:
        assert lease.has_duties()
    assert team.documents.database is None
    assert team.documents.share is None
    assert (team.machine, others_of(team.documents)) == ("", [])
    assert team.runtime is team.record


def test_nobody_leads_on_a_machine_that_is_kept_from_it(
    alpha: TeamStore, two: TeamStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until the act is over, whether it was done or not; its lead at work keeps the act from beginning."""
    monkeypatch.setattr(lease_module, "_ENDING", 0.05)
    documents, lease = shared(alpha), two.documents.lease()
    with documents.led_by_nobody("two"):
        with pytest.raises(Refused, match="is held by a lead elsewhere") as refused:
            lease.take("lead")
        assert refused.value.code == ErrorCode.LEAD_ALIVE
        assert lease.holder() is None
        with led(alpha):
            pass
    with pytest.raises(ZeroDivisionError), documents.led_by_nobody("two"):
        raise ZeroDivisionError
    assert lease.take("lead")
    with pytest.raises(Refused), documents.led_by_nobody("two"):
        raise AssertionError("it began")
    lease.drop()
    with documents.led_by_nobody("two"):
        pass
