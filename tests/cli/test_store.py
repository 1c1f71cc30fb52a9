"""`pro0 store copy`: what it says, to whom, and what it shows while it takes its time (issue 19)."""

import errno
from collections.abc import Iterator

import pytest

from pro0.cli.store import copying
from pro0.model.task import Draft
from pro0.ops.context import Context
from pro0.ops.tasks import tasks
from tests.cli.conftest import Pro0, become
from tests.faults import fail_with, fault_at
from tests.postgres import Postgres, postgres, require


@pytest.fixture
def server() -> Iterator[Postgres]:
    require()
    with postgres() as running:
        yield running


def test_it_says_where_the_team_is_and_what_is_kept(pro0: Pro0, team: Context, server: Postgres) -> None:
    url = server.url()
    there = pro0("store", "copy", "alpha", url)
    assert (there.code, there.out) == (0, f"alpha is in {url} now\n")
    unused = team.team.paths.team / "unused"
    assert there.err == f"its old data is kept in {unused}; remove it: pro0 store copy alpha '{url}' --remove-source\n"
    again = pro0("store", "copy", "alpha", url, "--remove-source")
    assert (again.code, again.out, again.err) == (0, f"alpha is in {url} already\n", "")
    assert not unused.exists()
    back = pro0("store", "move", "alpha", "files")
    assert (back.code, back.out) == (0, "alpha is in files now\n")
    assert back.err == f"its old data is kept in {url}; remove it: pro0 store copy alpha files --remove-source\n"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("alpha", "database"), 2, "'database' is no store"),
        (("alpha", "postgresql://me:secret@host/db"), 2, "holds a password"),
        (("Alpha", "files"), 2, "team"),
        (("beta", "files"), 3, "there is no team beta"),
        (("alpha", "postgresql:///db?host=/nowhere"), 5, "cannot be reached"),
    ],
)
def test_what_it_cannot_do_is_one_line(pro0: Pro0, team: Context, words: tuple[str, str], code: int, said: str) -> None:
    done = pro0("store", "copy", *words)
    assert (done.code, done.out) == (code, "")
    assert said in done.err.splitlines()[0]
    assert "secret" not in done.err
    assert not (team.team.paths.team / "store.json").exists()


def test_no_member_copies_its_team(pro0: Pro0, team: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    become(monkeypatch, team, "w1")
    done = pro0("store", "copy", "alpha", "files")
    assert done.code == 4
    assert "only a person may" in done.err


@pytest.mark.parametrize(("quiet", "shown"), [(0.0, 3), (1000.0, 0)])
def test_progress_is_shown_of_what_takes_a_while(monkeypatch: pytest.MonkeyPatch, quiet: float, shown: int) -> None:
    monkeypatch.setattr(copying, "QUIET", quiet)
    said: list[str] = []
    show = copying._later(said.append)
    for number in range(3):
        show(f"copied {number} of 3 documents")
    assert len(said) == shown


def test_a_database_that_is_gone_is_named_and_given_up(pro0: Pro0, team: Context, server: Postgres) -> None:
    """Nothing but that removal waits, and each command says how to go on without the database."""
    url, database = server.url(), server.latest
    pro0("store", "copy", "alpha", url)
    pro0("store", "copy", "alpha", "files")
    server.lose(database)
    way = "if it is gone for good: pro0 team cleanup alpha --force"
    removed = pro0("team", "cleanup", "alpha")
    assert removed.code == 5
    assert way in removed.err
    trash = next((team.team.paths.home / "teams").glob(".trash-alpha.*"))
    checked = pro0("doctor")
    assert f"{trash} was only half made or half removed, with rows in {url}" in checked.out
    assert "if the database is gone for good: pro0 team cleanup alpha --force" in checked.out
    assert "does not exist" in pro0("doctor", "--repair").err
    again = pro0("team", "cleanup", "alpha")
    assert again.code == 5
    assert way in again.err
    forced = pro0("team", "cleanup", "alpha", "--force")
    assert (forced.code, forced.out) == (0, "alpha is removed\n")
    [line] = [line for line in forced.err.splitlines() if f"rows of alpha may be left in {url}: " in line]
    assert "does not exist" in line
    assert not trash.exists()


def test_a_full_disk_gives_up_no_database(pro0: Pro0, team: Context, server: Postgres) -> None:
    """With room again, the next cleanup keeps the work whole."""
    tasks.create(team, [Draft(title="keep me")])
    pro0("store", "copy", "alpha", server.url(), "--remove-source")
    with fault_at(None, fail_with(errno.ENOSPC), ("write",)):
        forced = pro0("team", "cleanup", "alpha", "--force")
    assert (forced.code, "No space left" in forced.err, "may be left" in forced.err) == (5, True, False), forced
    assert pro0("team", "cleanup", "alpha", "--force").out == "finished removing alpha\n"
    assert "keep me" in pro0("team", "show", "alpha", "--archived", "--json").out
    assert server.ask("select * from pro0.teams") == []


def test_a_home_with_a_team_whose_database_is_gone_says_how_to_go_on(
    pro0: Pro0, team: Context, server: Postgres
) -> None:
    pro0("store", "copy", "alpha", server.url())
    server.lose(server.latest)
    taken_away = pro0("uninstall", "--yes")
    assert taken_away.code == 5
    assert "if it is gone for good: pro0 team cleanup alpha --force" in taken_away.err
    assert pro0("team", "cleanup", "alpha", "--force").code == 0
    assert pro0("team", "cleanup", "alpha", "--force").out == "nothing to clean: there is no team alpha\n"


def test_force_is_for_the_source_alone(pro0: Pro0, team: Context) -> None:
    done = pro0("store", "copy", "alpha", "files", "--force")
    assert (done.code, done.err.splitlines()[0]) == (2, "pro0: --force goes with --remove-source only")
