"""Looks at paths (`pro0/looking.py`): what is there, what is not, and what nobody can tell now."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pro0 import looking
from tests.faults import fail_with, fault_at

LOOKS = (looking.exists, looking.is_folder, looking.is_file, looking.lexists, looking.is_link)
ABSENT = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EBADF)
UNKNOWN = (errno.EACCES, errno.EIO, errno.ESTALE, errno.EMFILE, errno.ENAMETOOLONG, errno.ENOMEM, errno.ENODEV)
Look = Callable[[str | os.PathLike[str]], bool]
look = pytest.mark.parametrize("look", LOOKS, ids=lambda look: look.__name__)


@pytest.fixture
def places(tmp_path: Path) -> dict[str, Path]:
    """Return a path of each kind, by its name."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe")
    for name, target in (("to folder", "folder"), ("to file", "file"), ("to nothing", "gone"), ("loop", "loop")):
        (tmp_path / name).symlink_to(target)
    names = ("folder", "file", "pipe", "to folder", "to file", "to nothing", "loop", "gone", "file/below", "a\0b")
    return {name: tmp_path / name for name in names}


@pytest.mark.parametrize(
    ("look", "found"),
    [
        (looking.exists, {"folder", "file", "pipe", "to folder", "to file"}),
        (looking.is_folder, {"folder", "to folder"}),
        (looking.is_file, {"file", "to file"}),
        (looking.lexists, {"folder", "file", "pipe", "to folder", "to file", "to nothing", "loop"}),
        (looking.is_link, {"to folder", "to file", "to nothing", "loop"}),
        (looking.is_gone, {"gone", "file/below", "a\0b"}),
    ],
)
def test_a_look_tells_what_is_there(places: dict[str, Path], look: Look, found: set[str]) -> None:
    assert {name for name, path in places.items() if look(path)} == found
    assert {name for name, path in places.items() if look(str(path))} == found


@look
@pytest.mark.parametrize("code", ABSENT, ids=errno.errorcode.__getitem__)
def test_what_is_surely_not_there_is_a_no(places: dict[str, Path], look: Look, code: int) -> None:
    with fault_at(None, fail_with(code), ("stat",)):
        assert not look(places["to file"])
        assert looking.is_gone(places["to file"])


@look
@pytest.mark.parametrize("code", UNKNOWN, ids=errno.errorcode.__getitem__)
def test_an_unknown_answer_is_never_a_no(places: dict[str, Path], look: Look, code: int) -> None:
    """pathlib's own looks answer False here on Python 3.14."""
    with fault_at(None, fail_with(code), ("stat",)):
        with pytest.raises(OSError) as raised:
            look(places["to file"])
        assert not looking.is_gone(places["gone"])
    assert raised.value.errno == code
