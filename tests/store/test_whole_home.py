"""The removal of a whole home: what is pro0's goes, what is a person's stays, and an error is told."""

import errno
import os
import shutil
from pathlib import Path

import pytest

from pro0.errors import Refused, StoreError, Unwritable
from pro0.store.paths import ASIDE, LOCK, NEW, QUEUE, TRASH, web, worktrees
from pro0.store.removal import home as whole_home
from pro0.store.removal import trees
from pro0.store.teams import Store
from tests.faults import fail_with, fault_at
from tests.teams import NOW, files, make_team

pytestmark = pytest.mark.usefixtures("no_sync")
SETTINGS = "config.yaml"
OWN_FILES = ("roles.json", "trusted.json", "proofs.json", "pin.json", SETTINGS)
HALF = (f"{NEW}x", f"{TRASH}x", ".tmp-0123", f"roles.json{ASIDE}20260101T000000Z")
OTHERS = ("a letter", "config.yaml.old", "tasks.bak", "teams-of-mine")


@pytest.fixture
def full(home: Path) -> Path:
    """A home with everything that pro0 may leave in it, without a team."""
    for name in ("alpha", "beta"):
        make_team(home, "w1", name=name)
        Store(home).discard(name, f"uid-{name}", NOW)
    for name in (*OWN_FILES, *HALF):
        (home / name).write_text("of pro0")
    for folder in (web(home), home / "layouts", worktrees(home), home / QUEUE):
        folder.mkdir()
    (web(home) / "devices.json").write_text("{}")
    (home / "layouts" / "mine.yaml").write_text("of pro0")
    return home


def test_all_that_pro0_made_goes_with_the_home(full: Path) -> None:
    assert list(whole_home.others(full, SETTINGS)) == []
    assert whole_home.remove(full, SETTINGS) is True
    assert not full.exists()


def test_whoever_waits_for_the_home_is_told_for_what(full: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said, remove = [], trees.remove

    def looks(path: Path) -> None:
        if path.name != LOCK:
            said.append((full / LOCK).read_text())
        remove(path)

    monkeypatch.setattr(trees, "remove", looks)
    whole_home.remove(full, SETTINGS)
    assert all("(uninstall, since " in text for text in said)
    assert said


def test_a_last_look_under_the_lock_keeps_all(full: Path) -> None:
    """Others make teams under that lock: what was not there before it was taken may be there then."""
    before = files(full)

    def look() -> None:
        assert "(uninstall, since " in (full / LOCK).read_text()
        raise Refused("another team is there")

    with pytest.raises(Refused, match="another team"):
        whole_home.remove(full, SETTINGS, look)
    assert files(full) == before


def test_what_others_made_stays_and_is_named(full: Path) -> None:
    """Byte for byte, a folder with all that is in it; so the home stays too."""
    for name in OTHERS[:-1]:
        (full / name).write_text("dear all")
    (full / OTHERS[-1]).mkdir()
    (full / OTHERS[-1] / "roles.json").write_text("dear all")
    kept = {*OTHERS, f"{OTHERS[-1]}/roles.json"}
    assert [path.name for path in whole_home.others(full, SETTINGS)] == sorted(OTHERS)
    assert whole_home.remove(full, SETTINGS) is False
    assert files(full) == kept
    assert {(full / name).read_text() for name in kept if (full / name).is_file()} == {"dear all"}


def test_only_the_file_of_the_settings_in_use_is_pro0s(full: Path) -> None:
    assert [path.name for path in whole_home.others(full, "other.yaml")] == [SETTINGS]


def test_a_worktree_that_stays_keeps_its_folder(full: Path) -> None:
    work = worktrees(full) / "alpha-uid" / "w1"
    work.mkdir(parents=True)
    (work / "work").write_text("unsaved")
    assert whole_home.remove(full, SETTINGS) is False
    assert files(full) == {str(path.relative_to(full)) for path in (*list(work.parents)[:2], work, work / "work")}
    shutil.rmtree(work.parent)
    assert whole_home.remove(full, SETTINGS) is True


def test_a_link_goes_and_what_it_leads_to_stays(full: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "letter").write_text("dear all")
    shutil.rmtree(full / "layouts")
    (full / "layouts").symlink_to(tmp_path / "elsewhere")
    assert whole_home.remove(full, SETTINGS) is True
    assert (tmp_path / "elsewhere" / "letter").read_text() == "dear all"


def test_what_cannot_be_removed_is_told(full: Path) -> None:
    """With what to do; the lock stays to the last, and the next try does the rest."""
    with fault_at(None, fail_with(errno.EROFS), ("unlink", "rmdir")), pytest.raises(Unwritable) as told:
        whole_home.remove(full, SETTINGS)
    assert told.value.message == f"cannot use {full}: Read-only file system (EROFS)"
    assert told.value.hint == "the file system is read-only; choose another PRO0_HOME"
    assert {*OWN_FILES, LOCK} <= files(full)
    assert whole_home.remove(full, SETTINGS) is True


def test_a_home_that_is_not_there_is_told_and_not_made(home: Path) -> None:
    assert list(whole_home.others(home, SETTINGS)) == list(whole_home.foreign(home)) == []
    with pytest.raises(StoreError, match="ENOENT"):
        whole_home.remove(home, SETTINGS)
    assert not home.exists()


def test_what_another_user_owns_is_named_but_for_worktrees(full: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worktree is its repository's; who owns what in it is not for pro0 to say."""
    (worktrees(full) / "work").write_text("of another")
    assert list(whole_home.foreign(full)) == []
    before, own = files(full), os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: own + 1)
    named = {str(path.relative_to(full)) for path in whole_home.foreign(full)}
    assert named == before - {"worktrees", "worktrees/work"}
