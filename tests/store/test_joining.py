"""A machine joins a team of a database: its folder is there whole or not at all, and the rows stay the team's."""

import errno
import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0.errors import ErrorCode, NotFound, Pro0Error, Refused, StoreError, Unwritable
from pro0.model.runtime import Runtime
from pro0.model.team import Environment, TeamConfig, Wanted
from pro0.store.database import server as server_module
from pro0.store.database.documents import DatabaseDocuments
from pro0.store.database.joining import join
from pro0.store.database.server import server_of
from pro0.store.database.sharing import others_of, record_in
from pro0.store.moving.copy import copy
from pro0.store.teams import Store, TeamStore
from tests import crowd
from tests.faults import KILLED, STEPS, Seen, fail_with, fault_at, in_child, kill_before, temporary_files
from tests.faults import count as counted
from tests.postgres import Postgres
from tests.sharing import joined, pointer_of, seated, share
from tests.store.raw import all_of
from tests.store.test_database import cutting
from tests.teams import NOW, files, make_team

pytestmark = pytest.mark.usefixtures("no_sync")
LATE = ", after the change: a power loss may undo it ("
BEFORE = Environment(variables={"PATH": "/bin"}, reserved={"KEY": "1"})


def joins(team: TeamStore, there: Path, machine: str) -> TeamStore:
    return join(Store(there), team.name, pointer_of(team).url, share(machine), BEFORE)


def test_a_machine_that_joins_has_the_team(alpha: TeamStore, tmp_path: Path) -> None:
    """Issue 19, build 5: what is this machine's alone is here, and all else in the database."""
    before = all_of(alpha)
    two = joins(alpha, tmp_path / "two", "two")
    pointer = pointer_of(two)
    assert (pointer.url, pointer.uid, pointer.share) == (pointer_of(alpha).url, f"uid-{alpha.name}", share("two"))
    assert two.environment.read() == replace(BEFORE, revision=1)
    assert (two.machine, two.wanted.read(), two.tasks.read()) == ("two", alpha.wanted.read(), alpha.tasks.read())
    assert two.config.read().uid == alpha.config.read().uid
    assert two.record.read().seats == ()
    assert others_of(alpha.documents) == ["two"]
    assert {*all_of(alpha)} - {*before} == {"teams/runtime-two.json"}
    assert files(tmp_path / "two") == {
        *("teams", ".lock", f"teams/{alpha.name}"),
        *(f"teams/{alpha.name}/{name}" for name in ("store.json", "environment.json", "logs", "sessions")),
    }
    again = Store(tmp_path / "two").team(alpha.name)
    assert (again.machine, again.config.read()) == ("two", two.config.read())


def test_a_name_is_one_machines(alpha: TeamStore, tmp_path: Path) -> None:
    """Of the machine, and of the team on each machine; who is refused has changed nothing."""
    two = joins(alpha, tmp_path / "two", "two")
    seated(two, "w2")
    before = all_of(alpha)
    with pytest.raises(Refused, match="a machine called two takes part already") as taken:
        joins(alpha, tmp_path / "three", "two")
    assert taken.value.code == ErrorCode.CONFLICT
    assert "--as NAME" in (taken.value.hint or "")
    for there, machine in ((tmp_path / "two", "three"), (alpha.paths.home, "first")):
        with pytest.raises(Refused, match=f"there is a team {alpha.name} already, on this machine") as here:
            joins(alpha, there, machine)
        assert (here.value.code, here.value.hint) == (ErrorCode.CONFLICT, f"pro0 host list -t {alpha.name}")
    assert all_of(alpha) == before
    assert Store(tmp_path / "three").names() == []
    assert others_of(joins(alpha, tmp_path / "three", "three").documents) == ["", "two"]


def test_a_team_that_is_not_there_is_not_joined(alpha: TeamStore, database: str, tmp_path: Path) -> None:
    before = all_of(alpha)
    store = Store(tmp_path / "two")
    with pytest.raises(NotFound, match=r"there is no team nobodys in postgresql:"):
        join(store, "nobodys", database, share("two"), BEFORE)
    assert (store.names(), all_of(alpha)) == ([], before)
    Store(alpha.paths.home).discard(alpha.name, f"uid-{alpha.name}")
    with pytest.raises(NotFound):
        join(store, alpha.name, database, share("two"), BEFORE)
    assert files(store.home) <= {"teams", ".lock"}


def test_a_server_without_teams_has_none_to_join(server: Postgres, tmp_path: Path) -> None:
    store = Store(tmp_path / "two")
    with pytest.raises(StoreError, match="the database has no team"):
        join(store, "alpha", server.url(), share("two"), BEFORE)
    assert store.names() == []


def test_files_of_a_team_that_is_not_here_are_left_alone(alpha: TeamStore, tmp_path: Path) -> None:
    """They may hold work, and would go with the folder of the team when it goes."""
    theirs = tmp_path / "two" / "tasks" / alpha.name / "tasks.json"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("work")
    with pytest.raises(StoreError, match=f"exists, but the team {alpha.name} does not"):
        joins(alpha, tmp_path / "two", "two")
    assert others_of(alpha.documents) == []
    Store(tmp_path / "two").sweep()
    assert theirs.read_text() == "work"


# Killed and failing


def steps(alpha: TeamStore, there: Path) -> list[Seen]:
    """The steps of joining, each of which somebody else may see."""
    return counted(lambda: joins(alpha, there, "measured"), STEPS)


def whole_or_not(alpha: TeamStore, there: Path, machine: str, before: dict[str, bytes], where: object) -> bool:
    """Return whether the machine takes part; its folder is whole or not there, and the team is as it was."""
    store, now = Store(there), all_of(alpha)
    own = f"teams/runtime-{machine}.json"
    assert {name: data for name, data in now.items() if name != own} == before, where
    if not store.names():
        return False
    team = store.team(alpha.name)
    assert (team.machine, own in now) == (machine, True), where
    assert team.environment.read().variables == BEFORE.variables, where
    assert team.runtime.read().seats, where
    for folder in (team.paths.sessions, team.paths.logs):
        assert folder.is_dir(), where
    return True


def test_wherever_it_is_killed_a_machine_takes_part_or_not(alpha: TeamStore, tmp_path: Path) -> None:
    """Its name may be taken then, of which the next one is told; what was half made is gone after the next start."""
    seen, outcomes = steps(alpha, tmp_path / "measured"), set[tuple[bool, bool]]()
    before = all_of(alpha)
    for number, call in enumerate(seen, 1):
        there, machine = tmp_path / f"killed-{number}", f"m{number}"
        assert in_child(lambda: joins(alpha, there, machine), number, kill_before, STEPS) == KILLED  # noqa: B023
        takes_part = whole_or_not(alpha, there, machine, before, call)
        is_taken = machine in others_of(alpha.documents)
        outcomes.add((takes_part, is_taken))
        Store(there).sweep()
        assert takes_part == (Store(there).names() == [alpha.name])
        assert [name for name in files(there) if "/." in name] == [], call
        if not takes_part:
            joins(alpha, there, f"again-{number}" if is_taken else machine)
        before = all_of(alpha)
    assert outcomes == {(False, False), (False, True), (True, True)}


def test_an_error_anywhere_leaves_the_name_free(alpha: TeamStore, tmp_path: Path) -> None:
    """It is whole all the same, or refused; then it works with the same name once the error is mended."""
    seen, outcomes = steps(alpha, tmp_path / "measured"), set[bool]()
    for number, call in enumerate(seen, 1):
        there, machine, before = tmp_path / f"failed-{number}", f"m{number}", all_of(alpha)
        said = ""
        try:
            with fault_at(number, fail_with(errno.EIO), STEPS):
                joins(alpha, there, machine)
        except Pro0Error as error:
            said = error.message
        takes_part = whole_or_not(alpha, there, machine, before, call)
        outcomes.add(takes_part)
        assert takes_part == (not said or (LATE in said and ".new-" not in said)), (said, call)
        assert temporary_files(there) == [], call
        if not takes_part:
            assert all_of(alpha) == before, (said, call)
            joins(alpha, there, machine)
        assert machine in others_of(alpha.documents), call
    assert outcomes == {True, False}


def test_a_machine_that_could_not_join_may_stay_signed_up(
    alpha: TeamStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the server goes in the same moment; the error that is told is the first one."""

    def fails(*_: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    def gone(*_: object) -> None:
        raise StoreError("the server has gone")

    monkeypatch.setattr(Path, "rename", fails)
    monkeypatch.setattr(DatabaseDocuments, "drop_record", gone)
    with pytest.raises(StoreError, match="EIO"):
        joins(alpha, tmp_path / "two", "two")
    assert others_of(alpha.documents) == ["two"]
    assert Store(tmp_path / "two").names() == []


@pytest.mark.parametrize("word", [b"; commit", b"insert into pro0.documents"])
def test_a_connection_that_breaks_signs_nobody_up_twice(
    home: Path, server: Postgres, tmp_path: Path, word: bytes
) -> None:
    """The answer to its commit is lost, or that to its row: it takes part, or does not."""
    with cutting(server) as proxy:
        alpha = make_team(home, url=server.url(host=str(proxy.at)))
        server_of(pointer_of(alpha).url).close()
        proxy.cut_at = word
        with suppress(Unwritable):
            joins(alpha, tmp_path / "two", "two")
        proxy.cut_at = b""
        takes_part = word == b"; commit"
        assert Store(tmp_path / "two").names() == ["alpha"] * takes_part
        assert others_of(alpha.documents) == ["two"] * takes_part


# What is half made, and what is removed


def kill_at_the_rename() -> None:
    Path.rename = lambda *_args: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[assignment,method-assign]


def half_joined(alpha: TeamStore, there: Path, machine: str) -> None:
    kill_at_the_rename()
    joins(alpha, there, machine)


def half_made(home: Path, name: str, url: str) -> None:
    kill_at_the_rename()
    Store(home).create(TeamConfig(name=name, created_at=NOW, uid="half", project="/"), Wanted(), url=url)


def killed(act: object, *arguments: object) -> None:
    process = crowd.start(act, *arguments)  # type: ignore[arg-type]
    process.join()
    assert process.exitcode == KILLED


@pytest.mark.parametrize("how", ["a sweep", "a start", "another join"])
def test_a_half_made_join_takes_nothing_of_the_team(alpha: TeamStore, database: str, tmp_path: Path, how: str) -> None:
    """Whatever removes what is left of it."""
    there = tmp_path / "two"
    killed(half_joined, alpha, there, "two")
    before = all_of(alpha)
    assert (there / "teams" / f".new-{alpha.name}" / "store.json").exists()
    if how == "a sweep":
        assert Store(there).sweep() == [alpha.name]
    elif how == "a start":
        make_team(there, name=alpha.name)
    else:
        joins(alpha, there, "three")
        before |= {"teams/runtime-three.json": all_of(alpha)["teams/runtime-three.json"]}
    assert all_of(alpha) == before
    assert [name for name in files(there) if "/.new-" in name] == []
    assert alpha.wanted.read().seats[0].agent_id == "w1"
    assert database == pointer_of(alpha).url


@pytest.mark.parametrize("ended", [None, NOW], ids=["without an archive", "with an archive"])
def test_who_leaves_takes_nothing_along(alpha: TeamStore, tmp_path: Path, ended: object) -> None:
    """The rows are the team's, and the machine's folder alone goes, whenever its removal is finished."""
    two = joins(alpha, tmp_path / "two", "two")
    seated(two, "w2")
    before = all_of(alpha)
    Store(tmp_path / "two").discard(alpha.name, f"uid-{alpha.name}", ended=ended)  # type: ignore[arg-type]
    assert all_of(alpha) == before
    store = Store(tmp_path / "two")
    assert (store.names(), store.sweep()) == ([], [])
    assert {*before} >= {"teams/runtime-two.json", "teams/config.json", "tasks/tasks.json"}
    assert len(store.archives()) == (ended is not None)


def test_a_removal_that_was_killed_takes_nothing_along(alpha: TeamStore, tmp_path: Path) -> None:
    """Its folder waits as rubbish for the next sweep."""
    two = joins(alpha, tmp_path / "two", "two")
    two.paths.team.rename(two.paths.team.with_name(f".trash-{alpha.name}.uid-{alpha.name}"))
    before = all_of(alpha)
    assert Store(tmp_path / "two").sweep() == [alpha.name]
    assert all_of(alpha) == before
    assert files(tmp_path / "two" / "teams") == set()


def test_a_start_that_was_killed_is_no_team_to_join(home: Path, server: Postgres, tmp_path: Path) -> None:
    """It has made rows of that name, which are nobody's: they go, and the name is free for a team."""
    url, there = server.url(), tmp_path / "two"
    make_team(home, url=url)
    killed(half_made, there, "beta", url)
    assert len(server.ask("select * from pro0.teams")) == 2
    with pytest.raises(NotFound, match="there is no team beta"):
        join(Store(there), "beta", url, share("two"), BEFORE)
    assert server.ask("select name from pro0.teams") == [("alpha",)]
    make_team(home, name="beta", url=url)
    assert join(Store(there), "beta", url, share("two"), BEFORE).machine == "two"


def test_a_removal_that_waits_for_another_server_keeps_nobody_from_joining(
    home: Path, server: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "CONNECTING", 1.0)
    there, alpha = tmp_path / "two", make_team(home, url=server.url())
    with cutting(server) as proxy:
        gone = make_team(there, name="beta", url=server.url(host=str(proxy.at)))
        server_of(pointer_of(gone).url).close()
        proxy.lets_in = False
        with pytest.raises(StoreError, match="the next cleanup removes the rest"):
            Store(there).discard("beta", "uid-beta")
        assert joins(alpha, there, "two").machine == "two"
        assert (there / "teams" / ".trash-beta.uid-beta").exists()


def test_the_first_record_of_a_machine_is_empty(alpha: TeamStore, tmp_path: Path) -> None:
    joined(alpha, "two", tmp_path / "two")
    record = record_in(alpha.documents.team, "two").read()
    assert record.joined
    assert record == Runtime(revision=record.revision, joined=record.joined)


def test_a_team_that_another_machine_joins_meanwhile_is_not_moved(alpha: TeamStore, tmp_path: Path) -> None:
    """Whoever copies has looked before that; else all that runs on the other machine would end as of a removed team."""
    two = joins(alpha, tmp_path / "two", "two")
    joins(alpha, tmp_path / "three", "three")
    before = all_of(alpha)
    with pytest.raises(Refused, match=r"is not copied: it is shared with three, two$") as refused:
        copy(alpha.paths, f"uid-{alpha.name}", "", lambda _: None)
    assert (refused.value.code, refused.value.hint) == (ErrorCode.CONFLICT, f"pro0 host list -t {alpha.name}")
    assert (all_of(alpha), pointer_of(alpha).url) == (before, pointer_of(two).url)
    assert [path.name for path in (alpha.paths.home / "tasks").glob("*/*")] == []
