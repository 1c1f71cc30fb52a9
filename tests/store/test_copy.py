"""A team moves between files and a database: the same bytes, and one place in charge at each moment (issue 19)."""

import errno
import json
import os
import random
import resource
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from pro0.engine.copying import copy_store
from pro0.errors import EnvironmentMissing, ErrorCode, NotFound, Pro0Error, Refused, StoreError, Unwritable
from pro0.model.message import Notice
from pro0.model.runtime import State
from pro0.model.task import Changes, Comment, Comments, Draft
from pro0.model.team import StorePointer, TeamConfig, Wanted
from pro0.model.usage import UsageBook
from pro0.ops.context import clock
from pro0.ops.tasks import tasks
from pro0.store import journal
from pro0.store.database import server as server_module
from pro0.store.database.contents import RowContents
from pro0.store.database.pointer import in_database, pointer_in
from pro0.store.files import File
from pro0.store.moving import copy as moving
from pro0.store.moving import files as moving_files
from pro0.store.moving.files import FileContents
from pro0.store.paths import DOCUMENTS, EVENTS, STORE, UNUSED, TeamPaths, is_document
from pro0.store.teams import Store, TeamStore
from tests import crowd
from tests.crash.lanes import LANES, SOAK, counted, sample
from tests.crash.test_outside import may_mount
from tests.faults import KILLED, STEPS, Call, Shim, count, fail_with, fault_at, in_child, kill_before
from tests.postgres import Postgres, postgres
from tests.teams import NOW, human, make_team, set_state
from tests.waiting import STUCK, wait_until


@pytest.fixture
def url(server: Postgres) -> str:
    return server.url()


def quietly(_text: str) -> None:
    pass


def go(home: Path, to: str, *, remove_source: bool = False) -> list[str]:
    return copy_store(Store(home), "alpha", to, quietly, remove_source=remove_source)


def filled(home: Path, monkeypatch: pytest.MonkeyPatch, mail: int = 450, history: int = 120) -> TeamStore:
    """A team with tasks, comments, history and an archive, mail in segments, usage, and events of several files."""
    monkeypatch.setattr(journal, "LIMIT", 4096)
    team = make_team(home, "w1", "w2")
    tasks.create(human(team), [Draft(title=f"task {number}") for number in range(20)])
    for number in range(history):
        tasks.update(human(team), "task-1", Changes(title=f"title {number}"))
    for id in ("task-1", "task-7"):
        tasks.comment(human(team), id, "a ☃ remark")
    for number in range(mail):
        notice = Notice(id=f"m{number}", from_="human", to="w1", content="x" * 1000)
        team.mailbox("w1").post(notice, lambda: NOW)
    with team.usage.change("fill") as change:
        change.value = UsageBook()
    for number in range(200):
        team.log_event(clock(), "human", f"event {number}")
    for name in ("w1", "w2"):
        set_state(team, name, State.SHUTDOWN)
    return team


def contents(home: Path) -> dict[str, bytes]:
    """Return all documents and event files of a team in files."""
    paths = TeamPaths(home, "alpha")
    files = FileContents(paths)
    events = {path.name: path.read_bytes() for path in paths.team.glob("events*")}
    if not paths.tasks.exists() and not paths.mailboxes.exists():
        return {path.name: b"" for path in paths.team.glob("*.json") if path.name in DOCUMENTS} | events
    return {key: files.read(key) for key in files.keys()} | events  # noqa: SIM118 - no mapping


def rows(home: Path, url: str = "") -> dict[str, bytes]:
    """Return all documents and event files of a team, from a database: the one in charge, unless one is named."""
    pointer = pointer_in(home / "teams" / "alpha")
    assert pointer
    assert pointer.url or url
    there = in_database(home, "alpha", url or pointer.url).contents(pointer.uid)
    return {key: there.read(key) for key in there.keys()} | dict(journal.files_of(EVENTS, there.lines()))  # noqa: SIM118


def in_charge(home: Path) -> dict[str, bytes]:
    pointer = pointer_in(home / "teams" / "alpha")
    return rows(home) if pointer and pointer.url else contents(home)


def test_there_and_back_is_the_same_to_the_byte(
    home: Path, url: str, server: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    team = filled(home, monkeypatch)
    before = contents(home)
    names = " ".join(before)
    for part in ("tasks/task-1/history/000001.json", "mailboxes/w1/archive/000002.json", "tasks/task-7/comments.json"):
        assert part in names
    assert "events-000003.jsonl" in names
    assert "teams/usage.json" in names
    assert go(home, url)[0] == f"alpha is in {url} now"
    assert rows(home) == before
    assert contents(home) == {}
    there = Store(home).team("alpha")
    assert there.tasks.read().tasks[0].title == "title 119"
    assert len([*there.mailbox("w1").since(there.mailbox("w1").head.read(), 0)]) == 450
    assert contents(team.paths.team / UNUSED) == before
    said = go(home, "files")
    assert said == [
        "alpha is in files now",
        f"its old data is kept in {url}; remove it: pro0 store copy alpha files --remove-source",
    ]
    assert contents(home) == before
    assert server.ask("select name from pro0.teams") == [(".unused-alpha.uid-alpha",)]
    assert go(home, "files", remove_source=True) == ["alpha is in files already"]
    assert server.ask("select count(*) from pro0.documents") == [(0,)]
    assert not (team.paths.team / UNUSED).exists()
    assert not (team.paths.team / "store.json").exists()
    assert contents(home) == before


@pytest.mark.parametrize("where", ["in files", "in a database"])
def test_an_event_whose_writer_was_killed_keeps_no_team_in_a_database(
    home: Path, url: str, server: Postgres, where: str
) -> None:
    """Its line has no end, also one that an earlier pro0 has brought there so: it is joined with no other."""
    team = make_team(home)
    team.log_event(NOW, "human", "whole")
    if where == "in files":
        with (team.paths.team / EVENTS).open("ab") as stream:
            stream.write(b'{"at":"cut')
    go(home, url)
    if where == "in a database":
        with psycopg.connect(server.url(server.latest), autocommit=True) as owner:
            owner.execute('update pro0.events set line = \'{"at":"cut\' where seq = (select max(seq) from pro0.events)')
    Store(home).team("alpha").log_event(NOW, "human", "later")
    go(home, "files")
    *_, cut, later = (team.paths.team / EVENTS).read_bytes().splitlines()
    assert cut == b'{"at":"cut'
    assert json.loads(later)["event"] == "later"


def test_each_document_is_told_of_as_it_goes(home: Path, url: str) -> None:
    make_team(home, "w1")
    number, shown = len(contents(home)), list[str]()
    copy_store(Store(home), "alpha", url, shown.append, remove_source=False)
    told = [text for text in shown if text.endswith(" documents")]
    assert told == [f"{done} {at + 1} of {number} documents" for done in ("copied", "compared") for at in range(number)]


def test_the_error_that_is_told_is_the_first_one(home: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when nothing can be taken back."""

    def fails(*_: object) -> None:
        raise StoreError("the first")

    def gone(*_: object) -> None:
        raise StoreError("the server has gone")

    make_team(home)
    monkeypatch.setattr(moving, "_fill", fails)
    monkeypatch.setattr(RowContents, "clear", gone)
    with pytest.raises(StoreError, match=r"^the first$"):
        go(home, url)


def test_what_is_changed_there_comes_back(home: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(home, monkeypatch, mail=3, history=3)
    for turn in range(2):
        said = go(home, url, remove_source=bool(turn))
        assert len(said) == (1 if turn else 2)
        assert (home / "teams" / "alpha" / UNUSED).exists() == (not turn)
        team = Store(home).team("alpha")
        tasks.create(human(team), [Draft(title=f"there {turn}")])
        for number in range(100):
            team.log_event(clock(), "human", f"there {number}")
        before = rows(home)
        go(home, "files")
        assert contents(home) == before
        assert Store(home).team("alpha").tasks.read().tasks[-1].title == f"there {turn}"
        assert max(path.stat().st_size for path in (home / "teams" / "alpha").glob("events*")) < 4096 + 200


def test_a_copy_where_it_is_already_changes_nothing(home: Path, url: str) -> None:
    make_team(home)
    before = contents(home)
    assert go(home, "files", remove_source=True) == ["alpha is in files already"]
    assert contents(home) == before
    go(home, url)
    before = rows(home)
    assert go(home, url)[0] == f"alpha is in {url} already"
    assert rows(home) == before


def until_killed(home: Path, to: str, ready: Path) -> None:
    server_module._servers.clear()
    ready.touch()
    go(home, to)


def killed_in_a_copy(home: Path, to: str, ready: Path, seconds: float) -> bool:
    """Kill a copy some time after it has begun; return True when it was not over."""
    ready.unlink(missing_ok=True)
    process = crowd.start(until_killed, home, to, ready)
    wait_until(ready.exists, STUCK, "it begins")
    time.sleep(seconds)  # any moment will do
    process.kill()
    process.join()
    return process.exitcode == -signal.SIGKILL


@pytest.mark.parametrize("back", [False, True], ids=["there", "back"])
def test_whenever_a_copy_is_killed_one_place_is_in_charge_and_whole(
    home: Path, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, back: bool
) -> None:
    """20 moments drawn, or more until ten met a living copy, either way; the next copy is as good as the first."""
    filled(home, monkeypatch, mail=250, history=60)
    before = contents(home)
    if back:
        go(home, url)
    began = time.monotonic()
    go(home, "files" if back else url)
    length = time.monotonic() - began
    go(home, url if back else "files")
    dice, ready, killed, drawn = random.Random(19), tmp_path / "ready", 0, 0
    to, from_ = ("files", url) if back else (url, "files")
    while drawn < 20 or (killed <= 10 and drawn < 100):
        drawn += 1
        killed += killed_in_a_copy(home, to, ready, dice.random() * length)
        assert in_charge(home) == before
        team = Store(home).team("alpha")
        assert len(team.tasks.read().tasks) == 20
        assert team.mailbox_owners() == ["human", "lead", "w1", "w2"]
        began = time.monotonic()
        assert go(home, to)[0].startswith(f"alpha is in {to}")
        length = min(length, time.monotonic() - began)  # the machine may have been busy with something else
        assert in_charge(home) == before
        go(home, from_)
        assert in_charge(home) == before
    assert killed > 10


SAMPLE = 14
"""Kills at one call each, for each way, in `make test`; all of them in the soak."""


@pytest.mark.parametrize("lane", LANES)
@pytest.mark.parametrize("back", [False, True], ids=["there", "back"])
def test_at_whichever_step_a_copy_is_killed(home: Path, server: Postgres, lane: str, back: bool) -> None:
    """Before each change of a file, and so before and after the switch; the next copy leaves nothing behind."""
    make_team(home, "w1")
    before, url, another = contents(home), server.url(), server.url()
    go(home, another)  # so that all are loaded
    go(home, "files", remove_source=True)
    to, from_ = ("files", url) if back else (url, "files")
    if back:
        go(home, url)
    numbers = range(1, len(count(lambda: go(home, to), STEPS)) + 1)
    go(home, from_)
    ends = list[str]()
    for number in numbers if lane == SOAK else sample(numbers, SAMPLE, to):
        assert in_child(lambda: go(home, to), number, kill_before, STEPS) == KILLED
        pointer = pointer_in(home / "teams" / "alpha")
        ends.append("there" if pointer and pointer.url else "here")
        assert in_charge(home) == before, number
        go(home, to)
        assert in_charge(home) == before, number
        go(home, from_, remove_source=True)
        assert in_charge(home) == before, number
    assert {*ends} == {"here", "there"}
    go(home, "files", remove_source=True)
    assert server.ask("select count(*) from pro0.teams") == [(0,)]
    assert not (home / "teams" / "alpha" / UNUSED).exists()
    counted(lane, "kills of a copy of a team", "back" if back else "there", len(ends))


def fail_to_set_aside(
    _shim: Shim, _name: str, real: Call, args: tuple[object, ...], kwargs: dict[str, object]
) -> object:
    if UNUSED in Path(str(args[1])).parts:
        raise OSError(errno.EIO, "Input/output error")
    return real(*args, **kwargs)


def test_what_cannot_be_set_aside_does_not_count(home: Path, url: str) -> None:
    """The team was switched over; what is left in its old place is removed with the rest."""
    make_team(home, "w1")
    before = contents(home)
    with fault_at(None, fail_to_set_aside, ("rename",)):
        assert go(home, url)[0] == f"alpha is in {url} now"
    assert rows(home) == contents(home) == before
    tasks.create(human(Store(home).team("alpha")), [Draft(title="one")])
    go(home, url, remove_source=True)
    assert contents(home) == {}
    assert Store(home).team("alpha").tasks.read().tasks


def test_a_team_without_a_folder_is_not_copied(home: Path, url: str) -> None:
    team = make_team(home)
    team.paths.tasks.rename(home / "elsewhere")
    with pytest.raises(StoreError, match=r"cannot use .*tasks/alpha"):
        go(home, url)
    (home / "elsewhere").rename(team.paths.tasks)
    team.paths.mailboxes.rename(home / "elsewhere")
    with pytest.raises(StoreError, match=r"cannot use .*mailboxes/alpha"):
        FileContents(team.paths).keys()  # one that goes meanwhile is not taken for an empty one
    (home / "elsewhere").rename(team.paths.mailboxes)
    with pytest.raises(NotFound, match="does not exist"):
        in_database(home, "alpha", url).contents("uid-alpha").read("teams/config.json")


def test_folders_on_two_file_systems_are_refused(home: Path, url: str) -> None:
    """No rename would set them aside."""
    team = make_team(home)
    team.paths.tasks.rename(home / "elsewhere")
    team.paths.tasks.symlink_to("/dev")
    with pytest.raises(EnvironmentMissing, match="is on another file system than the teams") as unfit:
        go(home, url)
    assert (unfit.value.code, unfit.value.hint) == (ErrorCode.UNSAFE_PATH, "move it beside them")
    assert not (home / "teams" / "alpha" / "store.json").exists()


def with_few_files(home: Path, url: str) -> None:
    server_module._servers.clear()
    os.closerange(3, 4096)  # what the process of the tests has open is no matter of this
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    go(home, url)


def test_more_places_than_files_may_be_open(home: Path, url: str) -> None:
    """Each is locked until the team is switched over."""
    make_team(home, *(f"w{number}" for number in range(60)))
    crowd.run(with_few_files, [(home, url)], STUCK)
    assert len(Store(home).team("alpha").mailbox_owners()) == 62


ENDLESS = resource.RLIM_INFINITY


@pytest.mark.parametrize(
    ("limits", "becomes"),
    [
        ((ENDLESS, ENDLESS), []),
        ((276, 276), []),
        ((275, 1000), [(276, 1000)]),
        ((275, ENDLESS), [(276, ENDLESS)]),
        ((100, 200), [(200, 200)]),
    ],
)
def test_as_many_files_may_be_open_as_ten_locks_need(
    monkeypatch: pytest.MonkeyPatch, limits: tuple[int, int], becomes: list[tuple[int, int]]
) -> None:
    """Two for each, and some for all else; no more than a person lets a process have."""
    asked = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits)
    monkeypatch.setattr(resource, "setrlimit", lambda _, new: asked.append(new))
    moving_files._make_room(10)
    assert asked == becomes


def test_a_copy_that_was_killed_leaves_nothing_when_the_team_is_removed(
    home: Path, url: str, server: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows of a copy that was never in charge go with the team."""
    filled(home, monkeypatch, mail=3, history=3)

    def die(*_arguments: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(moving, "_words", die)
    process = crowd.start(until_killed, home, url, tmp_path / "ready")
    process.join()
    assert server.ask("select name from pro0.teams") == [("alpha",)]
    assert Store(home).team("alpha").tasks.read()
    Store(home).discard("alpha", "uid-alpha", ended=NOW)
    assert server.ask("select count(*) from pro0.documents") == [(0,)]
    [archive] = Store(home).archives()
    assert Store(archive.path).team("alpha").tasks.read().tasks


def test_what_was_kept_goes_with_the_team(
    home: Path, url: str, server: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(home, monkeypatch, mail=3, history=3)
    go(home, url)
    go(home, "files")
    Store(home).discard("alpha", "uid-alpha")
    assert server.ask("select count(*) from pro0.teams") == [(0,)]
    assert Store(home).names() == []


def test_a_team_that_runs_is_refused(home: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    team = filled(home, monkeypatch, mail=1, history=1)
    before = contents(home)
    lease = team.documents.lease()
    assert lease.take("lead")
    with pytest.raises(Refused, match="alpha is not copied: its lead runs") as refused:
        go(home, url)
    assert (refused.value.code, refused.value.hint) == ("live_sessions", "pro0 team stop alpha")
    lease.drop()
    assert contents(home) == before
    go(home, url)
    lease = Store(home).team("alpha").documents.lease()
    assert lease.take("lead")
    with pytest.raises(Refused, match="its lead runs"):
        go(home, "files")
    lease.drop()


def test_another_team_of_that_name_is_left_alone(home: Path, url: str, tmp_path: Path, server: Postgres) -> None:
    another = TeamConfig(name="alpha", created_at=NOW, uid="another", project="/")
    there = Store(tmp_path / "other").create(another, Wanted(), url=url)
    make_team(home)
    before = contents(home)
    with pytest.raises(Refused, match="there is another team alpha in postgresql:") as refused:
        go(home, url)
    assert (refused.value.code, refused.value.hint) == ("conflict", "choose another database; nothing was changed")
    assert contents(home) == before
    assert not (home / "teams" / "alpha" / "store.json").exists()
    assert there.config.read().uid == "another"
    with pytest.raises(Refused, match="there is another"):
        in_database(home, "alpha", url).contents("uid-alpha").fill((), ())
    assert server.ask("select uid from pro0.teams") == [("another",)]


def test_one_database_at_a_time(home: Path, url: str, server: Postgres) -> None:
    make_team(home)
    go(home, url)
    other = server.url()
    with pytest.raises(Refused, match="alpha is in another database") as refused:
        go(home, other)
    assert refused.value.hint == "first copy it to files: pro0 store copy alpha files"
    go(home, "files")
    with pytest.raises(Refused, match="another database still holds an earlier copy of alpha") as refused:
        go(home, other)
    assert refused.value.hint == "pro0 store copy alpha files --remove-source"
    go(home, "files", remove_source=True)
    go(home, other)
    assert pointer_in(home / "teams" / "alpha")


@pytest.mark.parametrize("made_anew", [False, True], ids=["dropped", "made anew"])
def test_an_old_database_that_is_gone_is_forgotten_by_force(home: Path, server: Postgres, made_anew: bool) -> None:
    """One made anew has nothing of the team; for one that is dropped a person says that it is gone for good."""
    make_team(home)
    go(home, url := server.url())
    go(home, "files")
    server.lose(server.latest, made_anew=made_anew)
    said = ["alpha is in files already"]
    if made_anew:
        assert go(home, "files", remove_source=True) == said
    else:
        with pytest.raises(Unwritable, match="does not exist") as raised:
            go(home, "files", remove_source=True)
        way = "if it is gone for good: pro0 store copy alpha files --remove-source --force"
        assert str(raised.value.hint).endswith(way)
        forgotten = copy_store(Store(home), "alpha", "files", quietly, remove_source=True, force=True)
        assert forgotten == [*said, f"rows of alpha may be left in {url}"]
    go(home, other := server.url())
    pointer = pointer_in(home / "teams" / "alpha")
    assert pointer
    assert pointer.url == other


def test_a_lead_that_another_machine_has_there_is_in_the_way(home: Path, url: str, tmp_path: Path) -> None:
    make_team(home)
    go(home, url)
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "teams" / "alpha" / "logs").mkdir(parents=True)
    (elsewhere / "teams" / "alpha" / "store.json").write_bytes((home / "teams/alpha/store.json").read_bytes())
    go(home, "files")
    before = contents(home)
    lease = Store(elsewhere).team("alpha").documents.lease()
    assert lease.take("lead")
    with pytest.raises(Refused, match="is held by a lead elsewhere"):
        go(home, url)
    lease.drop()
    assert contents(home) == before


def test_a_server_that_is_not_there_changes_nothing(home: Path, tmp_path: Path) -> None:
    make_team(home)
    before = contents(home)
    with pytest.raises(Unwritable, match=r"^the store's server cannot be reached: \S") as away:
        go(home, f"postgresql:///db?host={tmp_path}")
    assert away.value.hint == "is it up, and does psql reach it? nothing was changed"
    assert contents(home) == before
    assert not (home / "teams" / "alpha" / "store.json").exists()


@contextmanager
def without_room(url: str) -> Iterator[None]:
    """Let the server take no event: an error in the middle of the copy."""
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute(
            "create or replace function public.fail() returns trigger language plpgsql as "
            "$$ begin raise exception using errcode = 'disk_full', message = 'could not extend file'; end $$"
        )
        owner.execute("create trigger fail before insert on pro0.events execute function public.fail()")
        try:
            yield
        finally:
            owner.execute("drop trigger fail on pro0.events")


def test_a_server_that_is_full_changes_nothing(
    home: Path, url: str, server: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(home, monkeypatch, mail=3, history=3)
    before = contents(home)
    go(home, url)
    go(home, "files")
    kept = server.ask("select name, data from pro0.documents order by name")
    with without_room(url), pytest.raises(Unwritable, match="could not extend file") as full:
        go(home, url)
    assert full.value.hint == "free some space"
    assert contents(home) == before
    assert server.ask("select name, data from pro0.documents order by name") == kept
    go(home, "files", remove_source=True)
    with without_room(url), pytest.raises(Unwritable):
        go(home, url)
    assert not (home / "teams" / "alpha" / "store.json").exists()


@pytest.mark.skipif(not (may_mount() and shutil.which("setpriv")), reason="a small disk needs root and unshare")
def test_a_server_whose_disk_gets_full_changes_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    team = filled(home, monkeypatch, mail=3, history=3)
    (large := team.paths.tasks / "archive").mkdir()
    (large / "000001.json").write_bytes(random.Random(1).randbytes(30 << 20))
    before = contents(home)
    disk = Path(tempfile.mkdtemp(prefix="pro0-disk-", dir="/tmp"))
    try:
        with postgres(disk=disk) as own:
            with psycopg.connect(own.url("postgres"), autocommit=True) as owner:
                owner.execute(f"create tablespace small location '{disk}'".encode())
                owner.execute("create database small tablespace small")
            with pytest.raises(Unwritable, match="No space left on device") as full:
                go(home, own.url("small"))
            assert full.value.hint == "free some space"
            assert "\n" not in full.value.message
            assert contents(home) == before
            assert not (home / "teams" / "alpha" / "store.json").exists()
    finally:
        disk.rmdir()


def test_a_disk_that_is_full_changes_nothing(home: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(home, monkeypatch, mail=3, history=3)
    go(home, url, remove_source=True)
    before = rows(home)
    for number in (1, 5, 12):
        fault = fault_at(number, fail_with(errno.ENOSPC), ("write",))
        with fault, pytest.raises(Unwritable, match="ENOSPC"):
            go(home, "files")
        assert rows(home) == before
        assert contents(home) == {}
        assert not (home / "tasks" / "alpha").exists()
    go(home, "files")
    assert contents(home) == before


def waits(home: Path, act: Callable[[TeamStore], object], said: Path) -> None:
    team = Store(home).team("alpha")
    said.with_suffix(".ready").touch()
    wait_until(said.with_suffix(".go").exists, STUCK, "it may go on")
    try:
        act(team)
    except Pro0Error as error:
        said.write_text(f"{type(error).__name__}: {error.message} ({error.code}; {error.hint})")
    else:
        said.write_text("done")


@pytest.mark.parametrize("killed", [False, True], ids=["", "killed after the switch"])
@pytest.mark.parametrize("back", [False, True], ids=["there", "back"])
def test_who_has_opened_the_old_place_changes_nothing_there(
    home: Path, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, back: bool, killed: bool
) -> None:
    """A change that is acknowledged is never left behind: it is in the new place, or it is refused."""
    filled(home, monkeypatch, mail=3, history=3)
    if killed:
        for kind in (FileContents, RowContents):
            monkeypatch.setattr(kind, "set_aside", lambda _self: None)
    if back:
        go(home, url)
    acts: dict[str, Callable[[TeamStore], object]] = {
        "task": lambda team: tasks.create(human(team), [Draft(title="late")]),
        "mail": lambda team: team.mailbox("w1").post(
            Notice(id="late", from_="human", to="w1", content="x"), lambda: NOW
        ),
        "comment": lambda team: tasks.comment(human(team), "task-1", "late"),
        "state": lambda team: set_state(team, "w1", State.IDLE),
    }
    processes = {name: crowd.start(waits, home, act, tmp_path / name) for name, act in acts.items()}
    for name in acts:
        wait_until((tmp_path / f"{name}.ready").exists, STUCK, "it has opened the team")
    before = in_charge(home)
    real, target = moving._fill, "files" if back else url

    def fill(*arguments: object) -> None:
        for name in acts:
            (tmp_path / f"{name}.go").touch()
        time.sleep(0.5)  # they wait for the locks by now, or come later
        assert not [name for name in acts if (tmp_path / name).exists()]
        real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(moving, "_fill", fill)
    go(home, target)
    crowd.all_end_well(processes.values(), STUCK)
    said = {(tmp_path / name).read_text() for name in acts}
    refused = "Refused: alpha has just been moved; nothing was changed (conflict; try again)"
    assert (
        said == {refused}
        if killed
        else {text.partition(":")[0] for text in said} <= {"NotFound", "StoreError", "Refused"}
    )
    assert in_charge(home) == before
    if killed:
        assert (rows(home, url) if back else contents(home)) == before, "nothing was written to the old place"


@pytest.mark.parametrize("back", [False, True], ids=["there", "back"])
def test_who_opened_a_team_before_it_moved_changes_nothing(home: Path, url: str, back: bool) -> None:
    """Even where the source could not be moved aside; a pointer that says the same anew is in nobody's way."""
    team = make_team(home, "w1", url=url if back else "")
    pointer = File(team.paths.team, STORE, StorePointer)
    pointer.create(StorePointer(url=url if back else "", uid="uid-alpha"))
    set_state(team, "w1", State.IDLE)
    pointer.create(StorePointer(url="" if back else url, uid="uid-alpha"))
    with pytest.raises(Refused, match=r"^alpha has just been moved; nothing was changed$") as moved:
        set_state(team, "w1", State.WORKING)
    assert (moved.value.code, moved.value.hint) == (ErrorCode.CONFLICT, "try again")
    assert [state.state for state in team.runtime.read().seats] == [State.IDLE]


def test_who_waits_for_a_copy_and_for_whom_a_copy_waits_is_told_by_whom(
    home: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    team = make_team(home, "w1", url=url)
    there = in_database(home, "alpha", url).contents("uid-alpha")
    monkeypatch.setattr(server_module, "PATIENCE", 1.5)
    with there.held(), pytest.raises(StoreError, match=rf"is held by pid {os.getpid()} \(copy team alpha\)") as waiting:
        set_state(team, "w1", State.IDLE)
    assert waiting.value.code == "lock_timeout"
    by = rf"is held by pid {os.getpid()} \(hold it\)"
    with team.wanted.change("hold it"), pytest.raises(StoreError, match=by) as waiting:
        go(home, "files")
    assert waiting.value.code == "lock_timeout"
    assert rows(home)
    assert contents(home) == {}


def test_a_change_meanwhile_leaves_it_where_it_was(home: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A place that nobody could hold, since it was made meanwhile."""
    team = filled(home, monkeypatch, mail=3, history=3)
    real = moving._with_progress

    def shown(*arguments: object) -> Iterator[str]:
        yield from real(*arguments)  # type: ignore[arg-type]
        comments = team.comments("task-9")
        comments.place.make()
        with comments.change("a comment") as change:
            change.value = Comments(comments=(Comment(id="c", at=NOW, author="human", text="meanwhile"),))

    monkeypatch.setattr(moving, "_with_progress", shown)
    with pytest.raises(StoreError, match=r"alpha was changed during the copy; it stays where it was$") as noticed:
        go(home, url)
    assert noticed.value.hint == "try again"
    assert Store(home).team("alpha").comments("task-9").read().comments
    assert not (home / "teams" / "alpha" / "store.json").exists()


@pytest.mark.parametrize("what", ["document", "event"])
def test_a_copy_that_differs_is_noticed(
    home: Path, server: Postgres, url: str, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """And taken back."""
    filled(home, monkeypatch, mail=3, history=3)
    before = contents(home)
    with psycopg.connect(url, autocommit=True) as owner:
        in_database(home, "alpha", url).contents("uid-alpha").prepare()
        spoil = {
            "document": "new.data = new.data || 'x'::bytea" if what == "document" else "",
            "event": "new.line = new.line || 'x'::bytea",
        }[what]
        owner.execute(
            f"create function public.spoil() returns trigger language plpgsql as "
            f"$$ begin {spoil}; return new; end $$".encode()
        )
        table = {"document": "documents", "event": "events"}[what]
        owner.execute(
            f"create trigger spoil before insert on pro0.{table} for each row execute function public.spoil()".encode()
        )
    with pytest.raises(StoreError, match=r"differs? in the copy; the team stays where it was$") as noticed:
        go(home, url)
    assert noticed.value.hint == "try again"
    assert contents(home) == before
    assert server.ask("select name from pro0.teams") == []


def test_a_link_in_a_team_is_refused(home: Path, url: str, tmp_path: Path) -> None:
    make_team(home, "w1")
    box = home / "mailboxes" / "alpha" / "w1"
    box.rename(tmp_path / "elsewhere")
    box.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(EnvironmentMissing, match="is a symbolic link, which is not followed") as refused:
        go(home, url)
    assert refused.value.code == ErrorCode.UNSAFE_PATH
    assert not (home / "teams" / "alpha" / "store.json").exists()


@pytest.mark.parametrize("name", ["tasks/../../x.json", "teams/store.json", "teams/environment.json"])
def test_a_row_of_no_document_is_written_nowhere(home: Path, url: str, server: Postgres, name: str) -> None:
    """A name from a database that others share leads nowhere but to a team's own places."""
    make_team(home)
    go(home, url)
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("insert into pro0.documents (team, name, data) select id, %s, 'x' from pro0.teams", (name,))
    assert not is_document(name)
    with pytest.raises(StoreError, match=r"is not the name of a team document$") as refused:
        go(home, "files")
    assert refused.value.code == ErrorCode.STORE_CORRUPT
    pointer = pointer_in(home / "teams" / "alpha")
    assert pointer
    assert pointer.url == url
    Store(home).discard("alpha", "uid-alpha", ended=NOW)
    assert not [*home.rglob("x.json")]


@pytest.mark.parametrize(
    "key", ["teams/config.json", "mailboxes/w1/archive/000001.json", "tasks/tasks.json.corrupt-20260101T000000Z"]
)
def test_names_of_documents(key: str) -> None:
    assert is_document(key)
