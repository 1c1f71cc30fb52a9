"""What a person is told when a file cannot be used: the thing, the reason, and one next step (rulings 4)."""

import errno
import os
import stat
from pathlib import Path

import msgspec
import pytest

from pro0.decoding import decoder
from pro0.errors import EnvironmentMissing, NotFound, Pro0Error, StoreError
from pro0.model.task import Comments, TaskList
from pro0.store import files
from pro0.store.files import File, encode, newer, translate
from pro0.store.paths import LOCK
from tests.faults import fail_with, fault_at

SENTENCES: dict[int, tuple[str, str | None]] = {
    errno.ENOSPC: ("No space left on device (ENOSPC)", "free some space"),
    errno.EDQUOT: ("Disk quota exceeded (EDQUOT)", "free some of your quota"),
    errno.EROFS: (
        "Read-only file system (EROFS)",
        "the file system is read-only; choose another PRO0_HOME",
    ),
    errno.EACCES: ("Permission denied (EACCES)", "look at its owner and mode; pro0 needs a folder of your own"),
    errno.ENOLCK: ("No locks available (ENOLCK)", "this file system has no locks; choose another PRO0_HOME"),
    errno.ENOSYS: ("Function not implemented (ENOSYS)", "this file system has no locks; choose another PRO0_HOME"),
    errno.EOPNOTSUPP: (
        f"Operation not supported ({errno.errorcode[errno.EOPNOTSUPP]})",
        "this file system has no locks; choose another PRO0_HOME",
    ),
    errno.EIO: ("Input/output error (EIO)", None),
}


def told(error: OSError, path: Path) -> Pro0Error:
    with pytest.raises(Pro0Error) as raised:
        translate(error, path)
    return raised.value


@pytest.mark.parametrize("code", SENTENCES, ids=lambda code: errno.errorcode[code])
def test_errors_of_the_system(tmp_path: Path, code: int) -> None:
    """Reliability 13, 79"""
    path = tmp_path / "tasks.json"
    why, hint = SENTENCES[code]
    found = told(OSError(code, os.strerror(code)), path)
    assert isinstance(found, StoreError)
    assert (found.message, found.hint, found.code) == (f"cannot use {path}: {why}", hint, "store_error")


def test_an_error_that_has_no_name_is_told_by_its_number(tmp_path: Path) -> None:
    assert told(OSError(4711, "odd"), tmp_path / "x").message == f"cannot use {tmp_path / 'x'}: odd (4711)"


def test_errors_of_our_own_have_no_number(tmp_path: Path) -> None:
    found = told(OSError("tasks.json is too long"), tmp_path / "tasks.json")
    assert found.message == f"cannot use {tmp_path / 'tasks.json'}: tasks.json is too long"
    assert (found.code, found.hint) == ("store_corrupt", None)


@pytest.mark.parametrize("place", ["tasks.json", LOCK, "."])
@pytest.mark.parametrize("code", [errno.ELOOP, errno.ENOTDIR])
def test_a_link_is_named(tmp_path: Path, place: str, code: int) -> None:
    """Reliability 30: the file, its lock, or its folder."""
    folder = tmp_path / "folder"
    folder.mkdir()
    if place == ".":
        folder.rename(tmp_path / "real")
        folder.symlink_to(tmp_path / "real")
    else:
        (folder / place).symlink_to(tmp_path / "other")
    found = told(OSError(code, os.strerror(code)), folder / "tasks.json")
    assert isinstance(found, EnvironmentMissing)
    shown = folder if place == "." else folder / place
    assert (found.message, found.code) == (f"{shown} is a symbolic link, which is not followed", "unsafe_path")
    other = told(OSError(errno.EIO, "x"), folder / "tasks.json")
    assert isinstance(other, StoreError)


@pytest.mark.parametrize("place", ["tasks.json", LOCK])
def test_what_is_no_file_is_named(tmp_path: Path, place: str) -> None:
    os.mkfifo(tmp_path / place)
    found = told(OSError(errno.EIO, "x"), tmp_path / "tasks.json")
    assert isinstance(found, EnvironmentMissing)
    assert found.message == f"{tmp_path / place} is not a regular file"
    assert (found.code, found.hint) == ("unsafe_path", "pro0 doctor")


@pytest.mark.parametrize("kind", ["file", "folder", "link to a file", "nothing"])
def test_what_is_not_odd(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "tasks.json"
    if kind == "file":
        path.touch()
    elif kind == "folder":
        path.mkdir()
    elif kind == "link to a file":
        (tmp_path / "pipe").touch()
        path.symlink_to(tmp_path / "pipe")
    assert isinstance(told(OSError(errno.EIO, "x"), path), StoreError)


@pytest.mark.parametrize("error", [FileNotFoundError(2, "no"), NotADirectoryError(20, "no"), OSError(5, "no")])
def test_a_folder_that_is_gone_is_not_found(tmp_path: Path, error: OSError) -> None:
    found = told(error, tmp_path / "gone" / "tasks.json")
    if error.errno == errno.EIO:
        assert isinstance(found, StoreError)
    else:
        assert isinstance(found, NotFound)
        assert found.message == f"{tmp_path / 'gone'} does not exist"
    assert isinstance(told(error, tmp_path / "tasks.json"), StoreError)


def document(folder: Path) -> File[TaskList]:
    return File(folder, "tasks.json", TaskList)


LOOK = "it was left as it is; see: pro0 doctor"


def read(file: File[TaskList], data: bytes, hint: str = LOOK) -> str:
    file.path.write_bytes(data)
    with pytest.raises(StoreError) as raised:
        file.read()
    assert raised.value.code == "store_corrupt"
    assert raised.value.hint == hint
    return raised.value.message.removeprefix(f"{file.path} is corrupt: ")


def test_what_is_corrupt_is_said(tmp_path: Path) -> None:
    file = document(tmp_path)
    assert read(file, b"[" * 100_000) == "Expected `object`, got `array`"
    assert read(file, b'{"revision": 0}') == "it has no revision"
    maybe_newer = "it was left as it is; use the newer pro0 if one wrote it, else see: pro0 doctor"
    assert "unknown field `x`" in read(file, b'{"revision": 1, "x": 1}', maybe_newer)


@pytest.mark.parametrize("missing", ["file", "folder"])
def test_what_is_missing_is_said(tmp_path: Path, missing: str) -> None:
    """A file that must be there is corrupt when it is not; one whose folder goes meanwhile is not found."""
    folder = tmp_path / "folder"
    folder.mkdir()
    file = document(folder)
    if missing == "file":
        with pytest.raises(StoreError) as raised:
            file.read()
        assert (raised.value.message, raised.value.code) == (f"{file.path} is missing", "store_corrupt")
        assert raised.value.hint == "pro0 doctor"
    else:
        with file.place.open() as place:
            folder.rename(tmp_path / "elsewhere")
            with pytest.raises(FileNotFoundError):
                file._load(place)


def test_many_tiny_values_are_not_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reliability 27: each takes a hundred times its bytes."""
    monkeypatch.setattr(files, "SMALL", 100)
    monkeypatch.setattr(files, "VALUE_LIMIT", 50)
    assert read(document(tmp_path), b'{"tasks": [' + b"1," * 51 + b"1]}") == "it holds more than 50 values"
    assert "more than" not in read(document(tmp_path), b'{"tasks": [' + b"1," * 40 + b"1]}")
    many = b'{"tasks": [' + b"1," * 51 + b"1]}"
    monkeypatch.setattr(files, "SMALL", len(many))
    assert "more than" not in read(document(tmp_path), many)
    monkeypatch.setattr(files, "SMALL", len(many) - 1)
    assert "more than" in read(document(tmp_path), many)


def test_a_newer_file_is_said_to_be_newer(tmp_path: Path) -> None:
    found = newer(tmp_path, 7)
    assert found.message == f"{tmp_path} has schemaVersion 7; this pro0 writes 1"
    assert (found.code, found.hint) == ("newer_schema", "use the newer pro0 that wrote it")


def test_what_would_be_too_long_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = document(tmp_path)
    file.create(TaskList(next_id=5))
    size = len(encode(file.read()))
    monkeypatch.setattr(files, "SIZE_LIMIT", size)
    with file.change("x") as change:
        change.value = TaskList(next_id=6, revision=1)
    with pytest.raises(StoreError) as full, file.change("x") as change:
        change.value = TaskList(next_id=66, revision=1)
    why = f"it would have {size + 1} bytes, more than {size}"
    assert (full.value.message, full.value.code) == (f"{file.path} is full: {why}", "too_large")
    assert full.value.hint == "nothing was changed"
    assert file.read().next_id == 6


def test_a_document_is_found_or_not(tmp_path: Path) -> None:
    """Nothing is made up: an error is no absence."""
    file = document(tmp_path / "folder")
    assert file.find() is None
    (tmp_path / "folder").mkdir()
    assert file.find() is None
    file.create(TaskList(next_id=3))
    assert file.find() == TaskList(next_id=3, revision=1)
    with pytest.raises(StoreError, match="EIO"), fault_at(1, fail_with(errno.EIO), ("read",)):
        file.find()


def test_a_document_is_created_once(tmp_path: Path) -> None:
    file = document(tmp_path)
    file.create_once(TaskList(next_id=3), "a test")
    file.create_once(TaskList(next_id=4), "a test")
    assert file.read() == TaskList(next_id=3, revision=1)
    file.path.unlink()
    file.path.symlink_to("nowhere")
    file.create_once(TaskList(next_id=4), "a test")
    assert file.path.is_symlink(), "whatever is there is kept"


def test_a_file_that_may_be_absent_has_a_first_value(tmp_path: Path) -> None:
    file = File(tmp_path, "comments.json", Comments, absent=Comments)
    assert file.read() == Comments()
    with file.change("x") as change:
        change.value = msgspec.structs.replace(change.value, comments=())
    assert file.read() == Comments(revision=1)


def test_documents_are_for_people_too() -> None:
    assert encode(TaskList(next_id=2)).startswith(b'{\n "schemaVersion": 1,\n "revision": 0,\n "nextId": 2,\n')
    assert encode(TaskList()).endswith(b'"recalled": []\n}\n')
    assert decoder(TaskList) is decoder(TaskList)


def test_a_pipe_at_the_place_of_a_document_is_a_pipe_still(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "tasks.json")
    with pytest.raises(EnvironmentMissing, match="not a regular file"):
        document(tmp_path).find()
    assert stat.S_ISFIFO((tmp_path / "tasks.json").stat().st_mode)
