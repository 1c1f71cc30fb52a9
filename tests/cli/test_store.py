"""`pro0 store copy`: what it says, to whom, and what it shows while it takes its time (issue 19)."""

from collections.abc import Iterator

import pytest

from pro0.cli.store import copying
from pro0.ops.context import Context
from tests.cli.conftest import Pro0, become
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
    assert there.err == f"what it had is kept in {unused}; remove it: pro0 store copy alpha '{url}' --remove-source\n"
    again = pro0("store", "copy", "alpha", url, "--remove-source")
    assert (again.code, again.out, again.err) == (0, f"alpha is in {url} already\n", "")
    assert not unused.exists()
    back = pro0("store", "move", "alpha", "files")
    assert (back.code, back.out) == (0, "alpha is in files now\n")
    assert back.err == f"what it had is kept in {url}; remove it: pro0 store copy alpha files --remove-source\n"


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
