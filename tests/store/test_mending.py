"""A sound file in the place of a bad one: the bad one is kept under another name, whenever this ends (issue 3, 3)."""

import errno
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0.errors import EnvironmentMissing, ErrorCode, NotFound, StoreError
from pro0.model.task import TaskList
from pro0.store import atomic, mending
from pro0.store.files import File
from pro0.store.mending import Bad
from pro0.store.paths import ASIDE, LOCK, MOVED
from tests.faults import count, fail_with, fault_at, in_child, kill_after, kill_before

pytestmark = pytest.mark.usefixtures("no_sync")
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
NAME = "tasks.json"
FIRST = f"{NAME}{ASIDE}20260102T030405Z"
SOUND = TaskList(next_id=7)
WAYS = ("bytes", "missing", "link", "folder", "pipe")


def bad(folder: Path, way: str, data: bytes = b"bad") -> Path:
    path = folder / NAME
    path.unlink(missing_ok=True)
    if way == "bytes":
        path.write_bytes(data)
    elif way == "link":
        path.symlink_to("elsewhere")
    elif way == "folder":
        path.mkdir()
    elif way == "pipe":
        os.mkfifo(path)
    return path


def document(folder: Path) -> File[TaskList]:
    return File(folder, NAME, TaskList)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != LOCK)


def again(folder: Path) -> None:
    bad(folder, "bytes")
    mend(folder)


def mend(folder: Path) -> str | None:
    with mending.mending(document(folder), "a test") as found:
        return found.put(SOUND, NOW) if found else "it was sound"


@pytest.mark.parametrize("way", WAYS)
def test_a_file_that_nothing_replaces_is_moved_aside(tmp_path: Path, way: str) -> None:
    bad(tmp_path, way)
    before = names(tmp_path)
    with atomic.folder(tmp_path) as folder:
        kept = mending.put(folder, NAME, None, NOW)
    assert (kept is None) == (way == "missing")
    assert names(tmp_path) == ([kept] if kept else before)
    if way == "bytes":
        assert (kept, (tmp_path / FIRST).read_bytes()) == (FIRST, b"bad")


def test_trouble_is_named(tmp_path: Path) -> None:
    document(tmp_path).create(SOUND)
    assert mending.trouble(document(tmp_path)) is None
    newer = document(tmp_path).path.read_bytes().replace(b'"schemaVersion": 1', b'"schemaVersion": 2')
    assert b'"schemaVersion": 2' in newer
    bad(tmp_path, "bytes", newer)
    assert (found := mending.trouble(document(tmp_path)))
    assert found.code == "newer_schema"
    assert "schemaVersion 2" in found.message
    bad(tmp_path, "bytes")
    assert (found := mending.trouble(document(tmp_path)))
    assert found.code == "store_corrupt"


@pytest.mark.parametrize(
    ("way", "seen"),
    [
        ("bytes", Bad(b"bad", 3, "3 bytes")),
        ("missing", Bad(b"", 0, "missing")),
        ("link", Bad(b"", 0, "a symbolic link to elsewhere, which was not followed")),
        ("folder", Bad(b"", 0, "a folder")),
        ("pipe", Bad(b"", 0, "no regular file")),
    ],
)
def test_what_there_is_in_place_of_a_document(tmp_path: Path, way: str, seen: Bad) -> None:
    bad(tmp_path, way)
    assert mending.remnant(document(tmp_path)) == seen
    assert mending.remnant(document(tmp_path / "gone")) is None


def test_of_a_missing_file_what_was_moved_aside_and_not_replaced(tmp_path: Path) -> None:
    """What was replaced is old: of tasks.json it holds what was deleted since."""
    moved = f"{NAME}{MOVED}20260102T030405Z"
    for name in (FIRST, f"{FIRST}-2", f"x{moved}"):
        (tmp_path / name).write_bytes(b"old, or another's")
    assert mending.remnant(document(tmp_path)) == Bad(b"", 0, "missing")
    (tmp_path / moved).write_bytes(b"first")
    (tmp_path / f"{moved}-2").write_bytes(b"second")
    assert mending.remnant(document(tmp_path)) == Bad(b"second", 0, "missing")
    assert mend(tmp_path) == f"{FIRST}-2-2"
    assert (tmp_path / f"{FIRST}-2-2").read_bytes() == b"second"


def test_a_folder_that_was_moved_aside_and_not_replaced_holds_nothing(tmp_path: Path) -> None:
    """It was in the place of the document; a repair that was killed left none, and the next one makes it."""
    before = len(os.listdir("/dev/fd"))
    (tmp_path / f"{NAME}{MOVED}20260102T030405Z").mkdir()
    assert mending.remnant(document(tmp_path)) == Bad(b"", 0, "missing")
    assert mend(tmp_path)
    assert document(tmp_path).read().next_id == SOUND.next_id
    assert len(os.listdir("/dev/fd")) == before


def test_no_more_is_read_than_is_ever_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mending, "SIZE_LIMIT", 100)
    bad(tmp_path, "bytes", b"x" * 500)
    assert mending.remnant(document(tmp_path)) == Bad(b"x" * 100, 500, "500 bytes")


@pytest.mark.parametrize("way", ["link", "pipe"])
def test_what_takes_the_place_of_a_file_that_is_looked_at(tmp_path: Path, way: str) -> None:
    """A link is not followed, and no pipe is waited for."""
    (tmp_path / "elsewhere").write_bytes(b"another's")
    bad(tmp_path, way)
    with atomic.folder(tmp_path) as folder:
        if way == "link":
            with pytest.raises(OSError, match="symbolic"):
                mending._bytes(folder, NAME)
        else:
            writer = os.open(tmp_path / NAME, os.O_RDWR)
            os.write(writer, b"another's")
            assert mending._bytes(folder, NAME) == b""
            os.close(writer)


@pytest.mark.parametrize("way", ["bytes", "link", "pipe"])
def test_what_is_bad_has_both_its_names_until_the_sound_one_is_there(tmp_path: Path, way: str) -> None:
    """Whenever that ends: and a second try, after a kill, finds the second name."""
    before = bad(tmp_path, way).lstat()
    with atomic.folder(tmp_path) as folder:
        for _ in range(2):
            assert mending.set_aside(folder, NAME, NOW) == FIRST
            assert names(tmp_path) == [NAME, FIRST]
            assert all(os.path.samestat(path.lstat(), before) for path in tmp_path.iterdir())


@pytest.mark.parametrize("way", WAYS)
def test_the_bad_one_is_kept_and_the_sound_one_takes_its_place(tmp_path: Path, way: str) -> None:
    before = bad(tmp_path, way).lstat() if way != "missing" else None
    name = mend(tmp_path)
    assert name == (FIRST if before else None)
    assert document(tmp_path).read() == replace(SOUND, revision=1)
    if before:
        assert os.path.samestat((tmp_path / FIRST).lstat(), before)
    assert names(tmp_path) == sorted({NAME, *([name] if name else [])})
    assert mend(tmp_path) == "it was sound"


def test_bad_ones_of_the_same_second_have_names_of_their_own(tmp_path: Path) -> None:
    for number in range(3):
        bad(tmp_path, "bytes", b"%d" % number)
        assert mend(tmp_path) == (FIRST if not number else f"{FIRST}-{number + 1}")
    assert [(tmp_path / name).read_bytes() for name in names(tmp_path)[1:]] == [b"0", b"1", b"2"]


def test_what_was_moved_aside_and_not_replaced_gets_no_third_name(tmp_path: Path) -> None:
    """As a kill in between leaves it."""
    bad(tmp_path, "bytes")
    os.link(tmp_path / NAME, tmp_path / f"{NAME}{ASIDE}earlier")
    (tmp_path / f"{NAME}{ASIDE}another").write_bytes(b"bad")
    assert mend(tmp_path) == f"{NAME}{ASIDE}earlier"
    assert names(tmp_path) == [NAME, f"{NAME}{ASIDE}another", f"{NAME}{ASIDE}earlier"]


@pytest.mark.parametrize("error", [OSError(errno.EPERM, "no links here"), NotImplementedError()])
def test_without_second_names_it_is_renamed(tmp_path: Path, error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(os, "link", refuse)
    bad(tmp_path, "bytes")
    assert mend(tmp_path) == FIRST
    assert (tmp_path / FIRST).read_bytes() == b"bad"
    assert names(tmp_path) == [NAME, FIRST]
    for number in range(1, len(count(lambda: again(tmp_path))) + 1):
        for path in tmp_path.iterdir():
            path.unlink()
        bad(tmp_path, "bytes")
        in_child(lambda: mend(tmp_path), number, kill_after)
        if not (tmp_path / NAME).exists():
            assert mending.remnant(document(tmp_path)) == Bad(b"bad", 0, "missing")
        mend(tmp_path)
        assert b"bad" in [(tmp_path / name).read_bytes() for name in names(tmp_path)]
        assert document(tmp_path).read() == replace(SOUND, revision=1)


@pytest.mark.parametrize(
    ("code", "stays"),
    [(ErrorCode.NEWER_SCHEMA, True), (ErrorCode.STORE_CORRUPT, False), (ErrorCode.UNSAFE_PATH, False)],
)
def test_what_is_mended(tmp_path: Path, code: ErrorCode, stays: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a newer pro0 wrote, or what is only out of reach, is not."""
    bad(tmp_path, "bytes")
    monkeypatch.setattr(mending, "trouble", lambda _file: StoreError("it is", code=code))
    with mending.mending(document(tmp_path), "a test") as found:
        assert (found is None) == stays
        assert found is None or found.bad == Bad(b"bad", 3, "3 bytes")


def test_a_folder_that_is_gone_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        mend(tmp_path / "gone")
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(EnvironmentMissing):
        mend(tmp_path / "link")
    assert names(tmp_path) == ["link"]


def test_any_file_or_folder_can_be_moved_aside(tmp_path: Path) -> None:
    assert mending.move_aside(tmp_path / "x", NOW) is None
    for way in WAYS:
        path = bad(tmp_path, way)
        if way != "missing":
            moved = mending.move_aside(path, NOW)
            assert moved
            assert moved.parent == tmp_path
            assert os.path.lexists(moved)
            assert not os.path.lexists(path)
    assert names(tmp_path) == [FIRST, f"{FIRST}-2", f"{FIRST}-3", f"{FIRST}-4"]
    assert mending.move_aside(tmp_path / "gone" / "x", NOW) is None


@pytest.mark.parametrize("fault", [kill_before, kill_after])
def test_wherever_it_is_killed_the_bad_one_is_there(tmp_path: Path, fault: object) -> None:
    bad(tmp_path, "bytes")
    calls = count(lambda: mend(tmp_path))
    for number in range(1, len(calls) + 1):
        for path in tmp_path.iterdir():
            path.unlink()
        bad(tmp_path, "bytes")
        in_child(lambda: mend(tmp_path), number, fault)  # type: ignore[arg-type]
        assert b"bad" in [path.read_bytes() for path in tmp_path.iterdir()], calls[number - 1]
        mend(tmp_path)
        assert names(tmp_path) == [NAME, FIRST]


@pytest.mark.parametrize("act", ["rename", "open", "stat"])
def test_an_error_is_said_and_the_bad_one_stays(tmp_path: Path, act: str) -> None:
    path = bad(tmp_path, "bytes")
    calls = count(lambda: mending.move_aside(path, NOW), (act,))
    assert calls
    for number in range(1, len(calls) + 1):
        bad(tmp_path, "bytes")
        with pytest.raises(OSError, match="Input"), fault_at(number, fail_with(errno.EIO), (act,)):
            mending.move_aside(path, NOW)
        assert path.read_bytes() == b"bad"


def test_what_is_out_of_reach_is_not_taken_for_lost(tmp_path: Path) -> None:
    """An error of the disk may pass: a document made of nothing would not."""
    bad(tmp_path, "bytes")
    with (
        atomic.folder(tmp_path) as folder,
        fault_at(1, fail_with(errno.EIO), ("open",)),
        pytest.raises(OSError, match="Input"),
    ):
        mending.look(folder, NAME)
