"""A home in which something is odd: said, never guessed; and a removal takes what it may, and that whole."""

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0.errors import EnvironmentMissing, ErrorCode, NotFound, StoreError
from pro0.store import atomic, teams
from pro0.store.files import add_folder, exists, make_folder
from pro0.store.paths import NEW, TRASH
from pro0.store.places.folder import late as told_late
from pro0.store.removal import trees
from pro0.store.teams import Store, TeamStore
from tests.faults import Call, Fault, Shim, count, fail_with, fault_at
from tests.store.test_teams import BARE, create
from tests.store.test_teams import there as names
from tests.teams import files

pytestmark = pytest.mark.usefixtures("no_sync")

LOOKS = ("stat", "lstat")
"""How a path is looked at: `Path.lstat` is a call of `os.stat` on Python 3.11, and of `os.lstat` on a later one."""


@pytest.fixture
def team(home: Path) -> TeamStore:
    return create(home)


def test_a_team_that_must_be_there(home: Path, team: TeamStore) -> None:
    assert team.require() is team
    with pytest.raises(NotFound) as missing:
        Store(home).team("beta").require()
    assert (missing.value.message, missing.value.hint) == ("there is no team beta", "list them: pro0 team list")


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"name": "beta"}, "it belongs to another team, beta"),
        ({"uid": ""}, "it has no uid, or no project"),
        ({"project": ""}, "it has no uid, or no project"),
    ],
)
def test_a_config_that_is_not_this_teams(team: TeamStore, fields: dict[str, str], why: str) -> None:
    team.config.create(replace(team.config.read(), **fields))
    with pytest.raises(StoreError) as corrupt:
        team.config.read()
    assert (corrupt.value.code, corrupt.value.message) == ("store_corrupt", f"{team.config.path} is corrupt: {why}")


def test_names_of_teams(home: Path) -> None:
    """What begins or ends is none yet, or none any more; no home is no team; an error is no answer."""
    assert Store(home).names() == []
    for name in ("beta", "alpha"):
        create(home, name)
    for name in (f"{TRASH}x.u", f"{NEW}y", "No Name"):
        (home / "teams" / name).mkdir()
    assert Store(home).names() == ["alpha", "beta"]
    said = f"cannot use {home / 'teams'}: .*EIO"
    with pytest.raises(StoreError, match=said), fault_at(None, fail_with(errno.EIO), ("listdir", "scandir")):
        Store(home).names()
    shutil.rmtree(home / "teams")
    (home / "teams").touch()
    assert Store(home).names() == []


def test_a_home_that_is_not_there_is_not_made_by_looking(home: Path) -> None:
    Store(home).check()
    assert Store(home).sweep() == []
    Store(home).discard("alpha", "u")
    assert not home.exists()


@pytest.mark.parametrize("place", ["", "teams", "tasks", "mailboxes"])
@pytest.mark.parametrize("kind", ["file", "link", "others"])
def test_a_home_that_is_no_folder_of_ones_own(
    home: Path, tmp_path: Path, place: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reliability 30, 32"""
    home.parent.mkdir(exist_ok=True)
    if place:
        home.mkdir()
    path = home / place
    what = {
        "file": "is not a folder",
        "link": "is a symbolic link, which is not followed",
        "others": "belongs to another user",
    }[kind]
    if kind == "file":
        path.touch()
    elif kind == "link":
        (tmp_path / "real").mkdir()
        path.symlink_to(tmp_path / "real")
    else:
        path.mkdir()
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(EnvironmentMissing) as unsafe:
        Store(home).check()
    assert unsafe.value.code == "unsafe_path"
    shown = home if kind == "others" else path
    assert unsafe.value.message == f"{shown} {what}"
    assert unsafe.value.hint == ("choose another PRO0_HOME" if kind == "others" else "move it away")


def test_an_error_while_the_home_is_looked_at(home: Path, team: TeamStore) -> None:
    with pytest.raises(StoreError, match=r"cannot use .*teams.*EIO"), fault_at(2, fail_with(errno.EIO), LOOKS):
        Store(home).check()


@pytest.mark.parametrize("mode", [0o755, 0o701, 0o740, 0o777])
def test_a_mode_that_is_too_open_is_tightened(home: Path, team: TeamStore, mode: int) -> None:
    home.chmod(mode)
    teams.check_owner(home)
    assert home.stat().st_mode & 0o777 == 0o700


def test_an_owner_is_checked_before_anything_is_made(
    home: Path, team: TeamStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(EnvironmentMissing) as refused:
        teams.check_owner(home)
    assert (refused.value.message, refused.value.code) == (f"{home} belongs to another user", "unsafe_path")
    assert refused.value.hint == "choose another PRO0_HOME"


def test_half_a_team_beside_a_whole_one_takes_nothing_of_it(home: Path, team: TeamStore) -> None:
    """A team that was made again while an older one of its name was being removed."""
    (home / "teams" / f"{NEW}alpha").mkdir()
    (home / "teams" / f"{TRASH}beta.u").mkdir()
    (home / "tasks" / "beta").mkdir()
    (home / "tasks" / "beta" / "tasks.json").touch()
    before = names(home)
    assert Store(home).sweep() == ["alpha", "beta"]
    assert names(home) == before - {
        *(f"teams/{NEW}alpha", f"teams/{TRASH}beta.u"),
        *("tasks/beta", "tasks/beta/tasks.json"),
    }
    assert Store(home).sweep() == []


def test_a_team_is_gone_with_all_it_had(home: Path, team: TeamStore) -> None:
    team.paths.task("task-1").mkdir()
    Store(home).discard("alpha", "u1")
    assert names(home) == BARE


@pytest.mark.parametrize("act", ["create", "discard"])
def test_an_error_that_comes_after_the_change_says_so(home: Path, act: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The team is there, or gone; whether that outlives a loss of power is not known, or the rest follows later."""
    if act == "discard":
        create(home)
    real = atomic.sync

    def sync(path: Path) -> None:
        if (home / "teams" / "alpha").exists() == (act == "create") and path.name == "teams":
            raise OSError(errno.EIO, "Input/output error")
        real(path)

    monkeypatch.setattr(atomic, "sync", sync)
    late = {"create": "a power loss may undo it", "discard": "the next cleanup removes the rest"}[act]
    with pytest.raises(StoreError, match=f"Input/output error, after the change: {late} .EIO."):
        create(home) if act == "create" else Store(home).discard("alpha", "u1")
    assert Store(home).team("alpha").exists() == (act == "create")


def test_a_look_that_fails_after_the_change_says_so(home: Path, team: TeamStore) -> None:
    error = StoreError("it is", code=ErrorCode.OUTPUT)
    with pytest.raises(StoreError) as late, told_late("so it goes"):
        raise error
    assert (late.value.message, late.value.code) == ("it is, after the change: so it goes", "output")


def test_what_cannot_be_changed_is_said_with_its_home(home: Path, team: TeamStore) -> None:
    home.chmod(0o755)
    with pytest.raises(StoreError, match=f"cannot use {home}: .*EIO"), fault_at(1, fail_with(errno.EIO), ("chmod",)):
        Store(home).sweep()


@pytest.mark.parametrize("kind", ["file", "link", "dangling", "tree"])
def test_whatever_stands_there_is_removed(tmp_path: Path, kind: str) -> None:
    """A link is removed, not what it leads to."""
    other, path = tmp_path / "other", tmp_path / "path"
    (other / "below").mkdir(parents=True)
    if kind == "tree":
        shutil.copytree(other, path)
        (path / "below" / "file").touch()
    elif kind == "file":
        path.touch()
    else:
        path.symlink_to(other if kind == "link" else tmp_path / "nowhere")
    trees.remove(path)
    assert files(tmp_path) == {"other", "other/below"}
    trees.remove(path)


def late_writer(times: int, place: Path) -> Fault:
    """Add a file whenever the folder is about to be removed, so many times."""
    left = [times]

    def write(_shim: Shim, _name: str, real: Call, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        if left[0]:
            left[0] -= 1
            (place / f"late-{left[0]}").touch()
        return real(*args, **kwargs)

    return write


@pytest.mark.parametrize(("times", "gone"), [(3, True), (60, False)])
def test_late_writers_are_outlasted_but_not_for_ever(tmp_path: Path, times: int, gone: bool) -> None:
    path = tmp_path / "path"
    path.mkdir()
    with fault_at(None, late_writer(times, path), ("rmdir",)):
        if gone:
            trees.remove(path)
        else:
            with pytest.raises(OSError, match="not empty"):
                trees.remove(path)
    assert path.exists() != gone


def test_a_folder_is_put_away_whole(tmp_path: Path) -> None:
    """Renamed first, with what an earlier try had left of it."""
    path, trash = tmp_path / "alpha", tmp_path / f"{TRASH}alpha"
    for folder in (path, trash):
        folder.mkdir()
        (folder / "file").touch()
    calls = [call.name for call in count(lambda: trees.put_away(path), ("rename", "fsync"))]
    assert calls == ["rename", "fsync", "fsync"]
    assert files(tmp_path) == set()
    trees.put_away(path)
    trees.put_away(tmp_path / "gone" / "alpha")
    assert files(tmp_path) == set()


def test_entries_of_what_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "a").touch()
    assert trees.entries(tmp_path) == [tmp_path / "a", tmp_path / "b"]
    assert trees.entries(tmp_path / "a") == trees.entries(tmp_path / "gone") == []


def test_folders_are_made_for_good(tmp_path: Path) -> None:
    """Reliability 15: each new one is synced in the one above; private from the start."""
    before = os.umask(0)
    try:
        calls = count(lambda: make_folder(tmp_path / "a" / "b"), ("mkdir", "fsync"))
    finally:
        os.umask(before)
    assert [call.name for call in calls] == ["mkdir", "fsync", "mkdir", "fsync"]
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "a", tmp_path / "a" / "b")} == {0o700}
    assert count(lambda: make_folder(tmp_path / "a"), ("mkdir", "fsync")) == []


def make_it_before(_shim: Shim, _name: str, real: Call, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
    real(*args, **kwargs)
    return real(*args, **kwargs)


def test_a_folder_that_somebody_else_makes_meanwhile(tmp_path: Path) -> None:
    with fault_at(None, make_it_before, ("mkdir",)) as shim:
        make_folder(tmp_path / "a" / "b")
    assert [call.name for call in shim.seen] == ["mkdir", "mkdir"]
    assert (tmp_path / "a" / "b").is_dir()


def test_a_folder_below_what_cannot_be_seen_is_not_looked_for_for_ever(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="EIO"), fault_at(None, fail_with(errno.EIO), ("stat", "lstat")):
        make_folder(tmp_path / "a" / "b")


@pytest.mark.parametrize("make", [make_folder, add_folder], ids=["make", "add"])
def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path, make: Callable[[Path], None]) -> None:
    with pytest.raises(StoreError, match="ENOSPC"), fault_at(1, fail_with(errno.ENOSPC), ("mkdir",)):
        make(tmp_path / "a")
    assert files(tmp_path) == set()


def test_a_folder_is_added_only_where_there_is_one(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        add_folder(tmp_path / "gone" / "a")
    assert files(tmp_path) == set()
    calls = count(lambda: add_folder(tmp_path / "a"), ("mkdir", "fsync"))
    assert [call.name for call in calls] == ["mkdir", "fsync"]
    calls = count(lambda: add_folder(tmp_path / "a"), ("mkdir", "fsync"))
    assert [call.name for call in calls] == ["mkdir", "fsync"], "who made it may have been killed before it was synced"


def test_a_look_that_fails_is_never_a_no(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert exists(tmp_path / "file")
    assert not exists(tmp_path / "gone")
    assert not exists(tmp_path / "file" / "below")
    with pytest.raises(StoreError, match="EACCES"), fault_at(1, fail_with(errno.EACCES), ("stat",)):
        exists(tmp_path / "gone")
