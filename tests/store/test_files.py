"""What is wrong with a file is said, and the file stays as it is (AC-65, reliability 13, 23, 25, 26, 27, 30)."""

import errno
import os
import random
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0.errors import BadInput, EnvironmentMissing, NotFound, StoreError, Unwritable
from pro0.model.message import Notice, Segment
from pro0.model.stored import Document
from pro0.model.task import Comment, Comments, Task, TaskList
from pro0.store.files import SIZE_LIMIT, File, add_links, encode
from pro0.store.paths import QUEUE
from pro0.store.teams import Store, TeamStore
from tests.crash.lanes import a_few
from tests.faults import ERRORS, MUTATING, contents, count, fail_with, fault_at, temporary_files, write_short
from tests.store.raw import all_of, data_of, drop, put
from tests.teams import NOW, make_team, set_state

Kinds = dict[str, Callable[[TeamStore], File]]  # type: ignore[type-arg]
KINDS: Kinds = {
    "config": lambda team: team.config,
    "wanted": lambda team: team.wanted,
    "runtime": lambda team: team.runtime,
    "tasks": lambda team: team.tasks,
    "mailbox": lambda team: team.mailbox("w1").head,
    "comments": lambda team: team.comments("task-1"),
    "segment": lambda team: team.mailbox("w1").sealed(1),
}

pytestmark = pytest.mark.usefixtures("no_sync")


@pytest.fixture
def team(home: Path, kept_at: str) -> TeamStore:
    """A team that has one of each document."""
    made = make_team(home, "w1", url=kept_at)
    with made.tasks.change("fill") as change:
        change.value = TaskList(next_id=2, tasks=(Task(id="task-1", title="t", created_at=NOW),))
    made.comments("task-1").place.make()
    with made.comments("task-1").change("fill") as comments:
        comments.value = Comments(comments=(Comment(id="c", at=NOW, author="human", text="x"),))
    message = made.mailbox("w1").post(Notice(id="m", from_="human", to="w1", content="hello"), lambda: NOW)
    for number in (1, 2):
        put(made.mailbox("w1").sealed(number), encode(Segment(revision=1, messages=(message,))))
    return made


def cut(data: bytes) -> dict[str, bytes]:
    return {f"cut at {part}/16": data[: len(data) * part // 16] for part in range(1, 16)}


def broken(data: bytes) -> dict[str, bytes]:
    """Ways in which a file can be corrupt."""
    dice = random.Random(7)
    return cut(data) | {
        "empty": b"",
        "NULs": bytes(len(data)),
        "random": dice.randbytes(512),
        "bad UTF-8": data[:20] + b"\xff\xfe" + data[20:],
        "byte order mark": b"\xef\xbb\xbf" + data,
        "a list": b"[]",
        "null": b"null",
        "true": b"true",
        "a text": b'"tasks"',
        "wrong types": b'{"schemaVersion": 1, "revision": "one"}',
        "wrong version": b'{"schemaVersion": "1"}',
        "NaN": b'{"revision": NaN}',
        "nested 100,000 deep": b'{"x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        "an integer of 5,000 digits": b'{"revision": ' + b"9" * 5000 + b"}",
        "trailing garbage": data + b"{}",
        "an empty object": b"{}",
        "no revision": b'{"schemaVersion": 1}',
        "unknown key": data.replace(b"{", b'{"surprise": 1,', 1),
        "lone surrogate": data.replace(b"{", b'{"surprise": "\\ud800",', 1),
        "cut in a character": b'{"surprise": "\xc3',
    }


@pytest.mark.parametrize("kind", KINDS)
def test_a_corrupt_file_is_an_error_and_stays(team: TeamStore, kind: str) -> None:
    """AC-65, reliability 23: never silently empty, by reading or by changing."""
    file = KINDS[kind](team)
    for what, data in broken(data_of(file)).items():
        put(file, data)
        for act in (file.read, file.change("x").__enter__):
            with pytest.raises(StoreError) as raised:
                act()
            assert raised.value.code == "store_corrupt", what
            assert str(file.path) in raised.value.message
            assert len(raised.value.message) < 1000
        assert data_of(file) == data


def test_the_version_comes_first_in_every_document() -> None:
    """So that a newer file is known as such, wherever it was cut."""
    assert len(Document.__subclasses__()) >= 12
    for kind in Document.__subclasses__():
        assert kind.__struct_fields__[:2] == ("schema_version", "revision"), kind


@pytest.mark.parametrize("kind", KINDS)
def test_a_newer_file_is_left_alone(team: TeamStore, kind: str) -> None:
    """Rulings 3.5, reliability 25: known keys can be read, nothing is ever written."""
    file = KINDS[kind](team)
    newer = data_of(file).replace(b'"schemaVersion": 1', b'"schemaVersion": 99')
    put(file, newer)
    assert file.read().schema_version == 99
    with pytest.raises(StoreError, match="99") as raised, file.change("x") as change:
        change.value = replace(change.value)
    assert raised.value.code == "newer_schema"
    strange = newer.replace(b"{", b'{"surprise": 1,', 1)
    cuts = [newer[: newer.index(b"99") + 2 + number] for number in (0, 1, len(newer) // 3)]
    for data in (newer, strange, *cuts):
        put(file, data)
        with pytest.raises(StoreError) as raised, file.change("x") as change:
            change.value = replace(change.value)
        assert raised.value.code == "newer_schema", data
        assert data_of(file) == data


def make_strange(path: Path, what: str, outside: Path) -> None:
    path.unlink(missing_ok=True)
    if what == "link":
        outside.write_bytes(b"{}")
        path.symlink_to(outside)
    elif what == "dangling link":
        path.symlink_to(outside)
    elif what == "fifo":
        os.mkfifo(path)
    elif what == "folder":
        path.mkdir()
    elif what == "a sparse gigabyte":
        with path.open("wb") as file:
            file.truncate(1 << 30)


@pytest.mark.files
@pytest.mark.parametrize("what", ["link", "dangling link", "fifo", "folder", "a sparse gigabyte"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_file_is_refused_unread(team: TeamStore, kind: str, what: str, tmp_path: Path) -> None:
    """Reliability 27, 30: links are not followed, a FIFO does not hang, size is looked at before parsing."""
    file, outside = KINDS[kind](team), tmp_path / "outside"
    make_strange(file.path, what, outside)
    for act in (file.read, file.change("x").__enter__):
        with pytest.raises((StoreError, EnvironmentMissing)) as raised:
            act()
        assert raised.value.exit_code == (6 if "link" in what or what == "fifo" else 5)
    assert not outside.exists() or outside.read_bytes() == b"{}"


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "comments"])
def test_a_missing_file_is_corrupt_not_empty(team: TeamStore, kind: str) -> None:
    """Reliability 26."""
    file = KINDS[kind](team)
    drop(file)
    for act in (file.read, file.change("x").__enter__):
        with pytest.raises(StoreError, match="is missing") as raised:
            act()
        assert raised.value.code == "store_corrupt"
    assert not file.place.holds(file.path.name)


@pytest.mark.files
@pytest.mark.parametrize("dangling", [False, True])
def test_a_linked_team_folder_is_unsafe(team: TeamStore, tmp_path: Path, dangling: bool) -> None:
    """AC-66, reliability 30: exit 6, nothing outside is touched."""
    outside = tmp_path / "outside"
    team.paths.team.rename(outside)
    team.paths.team.symlink_to(tmp_path / "nowhere" if dangling else outside)
    before = contents(outside)
    for file in (team.config, team.wanted, team.runtime):
        for act in (file.read, file.change("x").__enter__):
            with pytest.raises(EnvironmentMissing, match="symbolic link"):
                act()
    assert contents(outside) == before
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.files
def test_a_missing_folder_is_not_found(team: TeamStore) -> None:
    team.paths.tasks.rename(team.paths.tasks.with_name("other"))
    with pytest.raises(NotFound):
        team.tasks.read()
    with pytest.raises(NotFound), team.tasks.change("x"):
        pass
    assert not team.paths.tasks.exists()


def test_a_team_that_is_gone_is_not_found(team: TeamStore) -> None:
    Store(team.paths.home).discard("alpha", "uid-alpha")
    for file in (team.tasks, team.wanted, team.mailbox("w1").head):
        with pytest.raises(NotFound):
            file.read()
        with pytest.raises(NotFound), file.change("x"):
            pass
    with pytest.raises(NotFound):
        team.comments("task-2").place.make()


def test_an_error_inside_a_change_writes_nothing(team: TeamStore) -> None:
    before = all_of(team)
    with pytest.raises(ZeroDivisionError), team.tasks.change("x") as change:
        change.value = replace(change.value, next_id=9 // 0)
    with team.tasks.change("x") as change:
        change.value = change.value
    assert all_of(team) == before


def test_every_write_raises_the_revision(team: TeamStore) -> None:
    before = team.tasks.read().revision
    for count_ in range(1, 4):
        with team.tasks.change("x") as change:
            change.value = replace(change.value, next_id=9 + count_)
        assert team.tasks.read().revision == before + count_


def test_what_could_not_be_read_again_is_not_written(team: TeamStore) -> None:
    """A file beyond the limit of reading would be lost to everybody."""
    before = data_of(team.tasks)
    big = Task(id="task-2", title="t", description="x" * SIZE_LIMIT)
    with pytest.raises(StoreError, match="full") as raised, team.tasks.change("x") as change:
        change.value = replace(change.value, tasks=(*change.value.tasks, big))
    assert raised.value.code == "too_large"
    assert data_of(team.tasks) == before


def test_text_that_is_no_unicode_is_bad_input(team: TeamStore) -> None:
    """Reliability 33."""
    before = all_of(team)
    with pytest.raises(BadInput) as raised, team.tasks.change("x") as change:
        change.value = replace(change.value, tasks=(Task(id="task-2", labels=("\udcff",)),))
    assert raised.value.message == "a text is not valid Unicode"
    assert raised.value.hint == "it holds a lone surrogate; pass UTF-8"
    assert all_of(team) == before


def test_a_corrupt_report_is_an_error(team: TeamStore) -> None:
    assert team.report("inc-w1") is None
    (team.paths.sessions / "inc-w1.json").write_text("{")
    with pytest.raises(StoreError, match="corrupt"):
        team.report("inc-w1")


CHANGES: dict[str, Callable[[TeamStore], object]] = {
    "a task": lambda team: change_a_task(team),
    "a message": lambda team: team.mailbox("w1").post(Notice(id="n", from_="human", to="w1", content="c"), lambda: NOW),
    "a sealing message": lambda team: team.mailbox("w1").post(
        Notice(id="n", from_="human", to="w1", content="c" * 300_000), lambda: NOW
    ),
    "an inbox": lambda team: team.mailbox("w1").hand_out("inc-w1", acknowledge=True),
    "an inbox to acknowledge later": lambda team: team.mailbox("w1").hand_out("inc-w1", acknowledge=False),
    "a state": lambda team: set_state(team, "w1", list(type(team.runtime.read().seats[0].state))[1]),
    "a mailbox": lambda team: team.mailbox("w2").make(),
}


def change_a_task(team: TeamStore) -> None:
    with team.tasks.change("x") as change:
        change.value = replace(change.value, next_id=change.value.next_id + 1)


def counting(team: TeamStore) -> dict[str, bytes]:
    """All that counts: not the leftover of a sealing whose head was not replaced, which nobody reads."""
    sealed = team.mailbox("w1").head.read().sealed
    return {
        name: data
        for name, data in contents(team.paths.home).items()
        if "archive" not in name or int(Path(name).stem) <= sealed
    }


@pytest.mark.parametrize(("what", "code"), a_few(product(CHANGES, ERRORS), 14))
def test_whichever_call_fails_it_is_said_and_nothing_is_changed(home: Path, what: str, code: int) -> None:
    """Reliability 13: every call of every change; only the last sync of a file comes after its change, and says so.

    What is closed without a word is a lock or a folder, to which nothing was written that could be lost; a name that
    cannot be put on a lock, or taken off it, keeps nobody out; who cannot see the line
    of those who wait does without it.
    """
    act = CHANGES[what]
    team = filled(home / "count")
    total = len(count(lambda: act(team), MUTATING))
    team = filled(home / "real")
    start = counting(team)
    for number in range(1, total + 1):
        said = ""
        with fault_at(number, fail_with(code), MUTATING) as shim:
            try:
                act(team)
            except StoreError as error:
                said = error.message
        call = shim.seen[number - 1]
        unsaid = call.name in ("close", "pwrite", "ftruncate") or call == ("open", QUEUE)
        assert errno.errorcode[code] in said or unsaid, (number, call)
        late = unsaid or "after the change" in said
        assert counting(team) == start or late, (number, call)
        assert not temporary_files(home)
        if counting(team) != start:
            team = filled(home / f"real-{number}")
            start = counting(team)
    act(team)


@pytest.mark.parametrize("what", CHANGES)
def test_short_writes_change_nothing_of_what_is_written(home: Path, what: str) -> None:
    """Reliability 14."""
    for number in range(1, 40):
        team = filled(home / str(number))
        with fault_at(number, write_short, MUTATING):
            CHANGES[what](team)
        for kind in ("tasks", "runtime", "mailbox"):
            KINDS[kind](team).read()


def filled(home: Path) -> TeamStore:
    team = make_team(home, "w1")
    team.mailbox("w1").post(Notice(id="m0", from_="human", to="w1", content="hello"), lambda: NOW)
    return team


def test_room_is_tried_for_and_nothing_is_changed(team: TeamStore) -> None:
    before = all_of(team)
    team.tasks.try_room()
    assert all_of(team) == before
    drop(team.tasks)
    with pytest.raises(StoreError):
        team.tasks.try_room()
    assert not team.tasks.place.holds("tasks.json")


@pytest.mark.files
def test_a_disk_without_room_is_said(team: TeamStore) -> None:
    before = contents(team.paths.home)
    for code in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
        with fault_at(1, fail_with(code), ("write",)), pytest.raises(Unwritable, match=errno.errorcode[code]):
            team.tasks.try_room()
    assert contents(team.paths.home) == before


def test_links_are_made_over_what_stands_there(tmp_path: Path) -> None:
    """Those to folders make them, where that can be; another try finds it all done."""
    folder, there, closed = tmp_path / "own", tmp_path / "there" / "deep", tmp_path / "closed"
    closed.touch()
    links = {"a/file": str(tmp_path / "nothing"), "b": f"{there}/", "c": f"{closed}/inside/"}
    folder.mkdir()
    (folder / "b").write_text("stood there")
    for _ in range(2):
        add_links(folder, links)
        assert {name: os.readlink(folder / name) for name in links} == links
        assert there.is_dir()
        assert not (tmp_path / "nothing").exists()
