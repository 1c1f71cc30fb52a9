"""The write path: in this order, and whole or not at all, whichever call fails."""

import errno
import os
from pathlib import Path

import pytest

from pro0.store import atomic
from tests.faults import (
    ERRORS,
    Call,
    Shim,
    count,
    fail_with,
    fault_at,
    kill_after,
    kill_before,
    points,
    temporary_files,
    write_short,
)

OLD, NEW = b"old" * 1000, b"new" * 5000
CALLS = ("open", "write", "fsync", "close", "rename", "unlink")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "file").write_bytes(OLD)
    return tmp_path


def write(place: Path) -> None:
    with atomic.folder(place) as folder:
        atomic.replace(folder, "file", NEW)


def test_the_order_of_calls(place: Path) -> None:
    """Reliability 15: data before the name, the name before the acknowledgement."""
    seen = count(lambda: write(place), CALLS)
    assert [call.name for call in seen] == ["open", "open", "write", "fsync", "close", "rename", "fsync", "close"]
    assert seen[1].about.startswith(".tmp-")
    assert seen[2].about == seen[3].about == seen[4].about
    assert seen[6].about == seen[7].about != seen[3].about
    assert (place / "file").read_bytes() == NEW


def test_a_file_is_private_from_its_first_moment(place: Path) -> None:
    """Reliability 32."""
    before = os.umask(0)
    try:
        with atomic.folder(place) as folder:
            atomic.replace(folder, "fresh", NEW)
            with atomic.subfolder(folder, "sub"):
                pass
    finally:
        os.umask(before)
    assert (place / "fresh").stat().st_mode & 0o777 == 0o600
    assert (place / "sub").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("code", ERRORS, ids=lambda code: errno.errorcode[code])
def test_whichever_call_fails_the_old_file_stays(place: Path, code: int) -> None:
    """Reliability 13: byte for byte, no temporary file; only the last sync comes after the change, and says so."""
    for number, call in enumerate(count(lambda: write(place), CALLS), 1):
        (place / "file").write_bytes(OLD)
        changed = number >= 7
        said: OSError | None = None
        with fault_at(number, fail_with(code), CALLS):
            try:
                write(place)
            except OSError as error:
                said = error
        if number < 8:  # then the folder is closed, which can lose nothing
            assert said is not None
            assert said.errno == code
        assert ("after the change" in str(said)) == (number == 7)
        assert (place / "file").read_bytes() == (NEW if changed else OLD), call
        assert not temporary_files(place)


@pytest.mark.parametrize("number", range(1, 9))
def test_a_short_write_is_gone_on_with(place: Path, number: int) -> None:
    """Reliability 14."""
    with fault_at(number, write_short, CALLS):
        write(place)
    assert (place / "file").read_bytes() == NEW


@pytest.mark.parametrize("fault", [kill_before, kill_after])
def test_wherever_it_is_killed_the_file_is_whole(place: Path, fault: object) -> None:
    """Reliability 11."""

    def prepare() -> object:
        for left in temporary_files(place):
            left.unlink()
        (place / "file").write_bytes(OLD)
        return lambda: write(place)

    for point in points(prepare, fault, CALLS):  # type: ignore[arg-type]
        assert (place / "file").read_bytes() in (OLD, NEW), point
        assert len(temporary_files(place)) <= 1


def test_late_writes_follow_a_renamed_folder(tmp_path: Path) -> None:
    """Rulings 3.10: a late write brings nothing back."""
    place, away = tmp_path / "place", tmp_path / "away"
    place.mkdir()
    with atomic.folder(place) as folder:
        place.rename(away)
        atomic.replace(folder, "file", NEW)
        assert (away / "file").read_bytes() == NEW
        (away / "file").unlink()
        away.rmdir()
        for act in (lambda: atomic.replace(folder, "file", NEW), lambda: atomic.subfolder(folder, "sub").__enter__()):
            with pytest.raises(FileNotFoundError):
                act()
    assert list(tmp_path.iterdir()) == []


def test_a_linked_folder_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(OSError), atomic.folder(tmp_path / "link"):
        pass


def test_a_file_is_not_opened_as_a_folder(place: Path) -> None:
    with pytest.raises(NotADirectoryError), atomic.folder(place / "file"):
        pass


@pytest.mark.parametrize("kind", ["file", "link"])
def test_a_temporary_file_is_always_a_new_one(place: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reliability 30: whoever guesses its name cannot make a writer write elsewhere."""
    monkeypatch.setattr(os, "urandom", bytes)
    guessed = place / f".tmp-{'00' * 16}"
    (place / "victim").write_bytes(OLD)
    if kind == "link":
        guessed.symlink_to("victim")
    else:
        os.link(place / "victim", guessed)
    with pytest.raises(FileExistsError):
        write(place)
    assert (place / "victim").read_bytes() == (place / "file").read_bytes() == OLD
    assert os.path.lexists(guessed)


def test_a_file_is_read_in_one_go(place: Path) -> None:
    """Of a file that does not change meanwhile: one call for all of it, one that finds its end."""
    (place / "file").write_bytes(b"x" * 300_000)
    with atomic.folder(place) as folder:
        calls = count(lambda: atomic.read(folder, "file", 300_000), ("open", "read", "close"))
    assert [call.name for call in calls] == ["open", "read", "read", "close"]


def test_a_file_may_have_another_mode(place: Path) -> None:
    with atomic.folder(place) as folder:
        atomic.replace(folder, "file", NEW, mode=0o664)
    assert (place / "file").stat().st_mode & 0o777 == 0o664


def test_what_need_not_last_is_not_synced(place: Path) -> None:
    def quickly() -> None:
        with atomic.folder(place) as folder:
            atomic.replace(folder, "file", NEW, durable=False)

    assert "fsync" not in [call.name for call in count(quickly, CALLS)]
    assert (place / "file").read_bytes() == NEW


def test_the_first_error_is_told_when_cleaning_up_fails_too(place: Path) -> None:
    def fail(_shim: Shim, name: str, _real: Call, _args: tuple[object, ...], _kwargs: dict[str, object]) -> object:
        raise OSError(errno.ENOSPC if name == "rename" else errno.EIO, name)

    with pytest.raises(OSError, match="rename"), fault_at(None, fail, ("rename", "unlink")):
        write(place)
    assert (place / "file").read_bytes() == OLD
    assert len(temporary_files(place)) == 1


def test_an_error_after_the_change_says_so(place: Path) -> None:
    with pytest.raises(OSError) as late, fault_at(2, fail_with(errno.EIO), ("fsync",)):
        write(place)
    assert (late.value.errno, late.value.strerror) == (
        errno.EIO,
        "Input/output error, after the change: a power loss may undo it",
    )
    assert (place / "file").read_bytes() == NEW


def test_a_folder_in_a_folder_is_made_for_good(place: Path) -> None:
    def into() -> None:
        with atomic.folder(place) as folder, atomic.subfolder(folder, "sub") as sub:
            atomic.replace(sub, "file", NEW)

    names = [call.name for call in count(into, ("mkdir", "open", "fsync"))]
    assert names == ["open", "mkdir", "fsync", "open", "open", "fsync", "fsync"]
    names = [call.name for call in count(into, ("mkdir", "open", "fsync"))]
    assert names == ["open", "mkdir", "open", "open", "fsync", "fsync"]
    assert (place / "sub" / "file").read_bytes() == NEW


def test_nothing_is_handed_to_programs_that_are_started(place: Path) -> None:
    with atomic.folder(place) as folder, atomic.subfolder(folder, "sub") as sub:
        assert not os.get_inheritable(folder)
        assert not os.get_inheritable(sub)


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "long"])
def test_only_a_regular_file_is_read_and_only_so_much(place: Path, kind: str) -> None:
    """Reliability 27, 30."""
    path = place / "file"
    if kind != "long":
        path.unlink()
    if kind == "link":
        path.symlink_to(place / "other")
        (place / "other").write_bytes(OLD)
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    why = {
        "link": "symbolic links",
        "long": f"file has {len(OLD)} bytes, more than {len(OLD) - 1}",
    }
    before = len(os.listdir("/dev/fd"))
    with (
        atomic.folder(place) as folder,
        pytest.raises(OSError, match=why.get(kind, "file is not a regular file")),
    ):
        atomic.read(folder, "file", len(OLD) - 1)
    assert len(os.listdir("/dev/fd")) == before


def test_a_regular_file_is_read_whatever_its_mode(place: Path) -> None:
    (place / "file").chmod(0o777)
    with atomic.folder(place) as folder:
        assert atomic.read(folder, "file", len(OLD)) == OLD


def test_a_file_of_the_limit_is_read(place: Path) -> None:
    with atomic.folder(place) as folder:
        assert atomic.read(folder, "file", len(OLD)) == OLD


def test_a_file_that_grows_meanwhile_is_read_whole(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with atomic.folder(place) as folder:
        (place / "file").write_bytes(b"x" * 200_000)
        real = os.fstat
        monkeypatch.setattr(os, "fstat", lambda descriptor: os.stat_result((*real(descriptor)[:6], 3, 0, 0, 0)))
        assert atomic.read(folder, "file", 10) == b"x" * 200_000


def open_files() -> int:
    return len(os.listdir("/dev/fd"))


def test_trying_for_room_changes_nothing(place: Path) -> None:
    """It does all that a replacement does, under another name, which it removes."""

    def attempt() -> None:
        with atomic.folder(place) as folder:
            atomic.try_room(folder, NEW)

    names = [call.name for call in count(attempt, CALLS)]
    assert names == ["open", "open", "write", "fsync", "close", "rename", "fsync", "unlink", "close"]
    assert os.listdir(place) == ["file"]
    for number in range(3, 5):
        with fault_at(number, fail_with(errno.ENOSPC), CALLS), pytest.raises(OSError) as full:
            attempt()
        assert full.value.errno == errno.ENOSPC
        assert os.listdir(place) == ["file"]
    assert (place / "file").read_bytes() == OLD


@pytest.mark.parametrize("data", [b"", b"short", OLD, NEW], ids=["empty", "short", "as long", "longer"])
def test_a_file_is_overwritten_where_it_is(place: Path, data: bytes) -> None:
    """The same file under every name of it, never shorter, and without a file beside it."""
    os.link(place / "file", place / "other name")
    before = open_files()
    with atomic.folder(place) as folder:
        calls = count(lambda: atomic.overwrite(folder, "file", data), CALLS)
    assert [call.name for call in calls] == ["open", "fsync", "close"]
    assert (place / "other name").read_bytes() == data + b" " * (len(OLD) - len(data))
    assert open_files() == before


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "nothing"])
def test_only_a_regular_file_is_overwritten(place: Path, kind: str) -> None:
    """Reliability 27, 30: nobody is written to through a link or a pipe, and nothing is made."""
    path, reader = place / "file", -1
    path.rename(place / "victim")
    if kind == "link":
        path.symlink_to("victim")
    elif kind == "pipe":
        os.mkfifo(path)
        reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    elif kind == "folder":
        path.mkdir()
    why = {"link": "symbolic links", "pipe": "not a regular file", "folder": "directory", "nothing": "No such file"}
    before = open_files()
    with atomic.folder(place) as folder, pytest.raises(OSError, match=why[kind]):
        atomic.overwrite(folder, "file", NEW)
    assert open_files() == before
    assert (place / "victim").read_bytes() == OLD
    assert os.path.lexists(path) is (kind != "nothing")
    if kind == "pipe":
        assert os.read(reader, 1) == b""
        os.close(reader)
