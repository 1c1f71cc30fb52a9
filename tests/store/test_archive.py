"""An archive holds what a removed team did, nothing that is secret or alive, and says so (issue 14, build 8)."""

import errno
import os
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

from pro0.errors import EnvironmentMissing, NotFound, StoreError, Unwritable
from pro0.model.team import Environment
from pro0.ops.team import archives
from pro0.store import health
from pro0.store.files import delete
from pro0.store.paths import ARCHIVES, NEW, TRASH
from pro0.store.removal import archive, trees
from pro0.store.teams import Store
from tests.faults import MUTATING, contents, fail_with, fault_at
from tests.store.test_teams import config
from tests.teams import NOW, files, make_team

pytestmark = pytest.mark.usefixtures("no_sync")
FOLDERS = 7
"""An archive is begun with so many: that of all archives, its own, and five below."""
PLACE = "archive/alpha.{}.uid-alpha"


def place(ended: datetime = NOW) -> str:
    return PLACE.format(ended.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ"))


def litter(home: Path) -> None:
    """Put beside the documents what no archive may keep."""
    team = home / "teams" / "alpha"
    for name in ("environment.json", "ports.json", "announced.json", "lead.lock", "rpc.sock", ".lock", ".tmp-x"):
        (team / name).write_text("a secret")
    for name in ("sessions/inc-1.json", "sessions/inc-1.start.json", "logs/w1.log", "logs/lead.jsonl", "logs/lead.err"):
        (team / name).parent.mkdir(exist_ok=True)
        (team / name).write_text("a secret")
    for name in ("events.jsonl", "events-000001.jsonl", "logs/runner.run.jsonl", "usage.json", "troubles.json"):
        (team / name).write_text("what was done")


def test_it_holds_the_documents_and_nothing_secret(home: Path) -> None:
    team = make_team(home, "w1")
    litter(home)
    before = {path: path.read_bytes() for path in (home / "tasks").rglob("*.json")}
    Store(home).discard("alpha", "uid-alpha", NOW)
    assert team.exists() is False
    found = {name for name in files(home / place()) if (home / place() / name).is_file()}
    assert {name for name in found if name.startswith("teams/")} == {
        f"teams/alpha/{name}"
        for name in (
            *("config.json", "wanted.json", "runtime.json", "usage.json", "troubles.json"),
            *("events.jsonl", "events-000001.jsonl", "logs/runner.run.jsonl"),
        )
    }
    assert not [name for name in found if "a secret" in (home / place() / name).read_text()]
    for path, data in before.items():
        assert (home / place() / path.relative_to(home)).read_bytes() == data
    folders = [path for path in (home / "archive", *(home / "archive").rglob("*")) if path.is_dir()]
    assert not any(path.stat().st_mode & 0o077 for path in folders)
    assert not [*health.half_done(home), *health.ownerless(home)]
    assert Store(home).names() == []


def test_two_of_one_name_are_told_apart_by_their_end(home: Path) -> None:
    store = Store(home)
    for hours in (0, 2):
        make_team(home, "w1")
        store.discard("alpha", "uid-alpha", NOW + timedelta(hours=hours))
    last, first = archives.find(store, "alpha")
    assert last.ended - first.ended == timedelta(hours=2)
    assert archives.find(store, "alpha", archives.utc(NOW)[:13]) == [first]
    with pytest.raises(NotFound, match="no archive of alpha ended at '1999'") as other:
        archives.find(store, "alpha", "1999")
    assert archives.utc(NOW) in str(other.value.hint)
    archives.forget(store, [first])
    assert store.archives() == [last]
    archives.forget(store, [last])
    assert not (home / "archive").exists()
    with pytest.raises(NotFound, match="there is no archive of alpha"):
        archives.find(store, "alpha")


def test_what_is_no_archive_is_no_archive(home: Path) -> None:
    for name in ("x", "alpha.2026.u", "alpha.20269999T000000Z.u", f"{NEW}alpha.20260101T000000Z.u", f"{TRASH}x"):
        (home / "archive" / name).mkdir(parents=True)
    assert Store(home).archives() == []


@pytest.mark.parametrize("odd", ["link", "file"])
def test_a_place_that_is_unfit_keeps_the_team(home: Path, tmp_path: Path, odd: str) -> None:
    team = make_team(home, "w1")
    (tmp_path / "elsewhere").mkdir()
    (home / "archive").symlink_to(tmp_path / "elsewhere") if odd == "link" else (home / "archive").touch()
    with pytest.raises(EnvironmentMissing, match=r"archive is not a folder of yours$") as unfit:
        Store(home).discard("alpha", "uid-alpha", NOW)
    assert (unfit.value.code, unfit.value.hint) == ("unsafe_path", "move it away")
    assert team.exists()
    Store(home).discard("alpha", "uid-alpha")
    assert not team.exists()


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EROFS])
def test_without_room_for_a_folder_the_team_stays_whole(home: Path, code: int) -> None:
    """At whichever folder the disk is full; without an archive the team goes all the same."""
    team = make_team(home, "w1")
    before = files(home)
    for at in range(1, FOLDERS + 1):
        with fault_at(at, fail_with(code), ("mkdir",)), pytest.raises(Unwritable):
            Store(home).discard("alpha", "uid-alpha", NOW)
        assert files(home) - {"archive"} == before
        (home / "archive").rmdir() if at > 1 else None
    with fault_at(None, fail_with(code), ("mkdir",)):
        Store(home).discard("alpha", "uid-alpha")
    assert not team.exists()


def test_a_removal_without_archive_leaves_none(home: Path) -> None:
    """Also when an earlier try, which was killed, had begun one."""
    make_team(home, "w1")
    archive.begin(home, "alpha", "uid-alpha", NOW)
    assert [name for name, _ in health.half_done(home)] == ["alpha"]
    Store(home).discard("alpha", "uid-alpha")
    assert not (home / "archive").exists()


def test_it_is_read_as_a_team_is(home: Path) -> None:
    team = make_team(home, "w1")
    assert archives.holds_work(team) is False
    team.config.read()
    assert Store(home).create(config("beta"), team.wanted.read(), Environment(variables={"KEY": "secret"}))
    Store(home).discard("alpha", "uid-alpha", NOW)
    (kept,) = Store(home).archives()
    listed = archives.listed(kept)
    assert (listed.name, listed.unread, listed.path) == ("alpha", 0, str(kept.path))
    (kept.path / "tasks" / "alpha" / "tasks.json").write_text("{")
    assert archives.listed(kept).tasks is None
    assert os.listdir(home / "teams") == ["beta"]


def committed(home: Path, name: str = "alpha") -> Path:
    """Return the trash of a team whose removal was interrupted right after the rename that commits it."""
    if not (home / "teams" / name).exists():
        make_team(home, "w1", name=name)
    archive.begin(home, name, f"uid-{name}", NOW)
    return (home / "teams" / name).rename(home / "teams" / f"{TRASH}{name}.uid-{name}")


def test_an_archive_that_cannot_be_finished_keeps_no_other_team(home: Path) -> None:
    """It waits with all that it has, and a new team of its name too; the next sweep finishes it."""
    make_team(home, "w1", name="beta")
    trashes, store = [committed(home, name) for name in ("alpha", "beta")], Store(home)
    before = {path.name: path.read_bytes() for path in (home / "tasks" / "alpha").rglob("*.json")}
    begun = next(path for path in (home / "archive").iterdir() if path.name.startswith(f"{NEW}alpha"))
    (begun / "tasks").rmdir()
    (begun / "tasks").touch()
    make_team(home, "w1", name="gamma")
    assert [kept.name for kept in store.archives()] == ["beta"]
    assert [path.exists() for path in trashes] == [True, False]
    with pytest.raises(StoreError, match=f"cannot use {trashes[0]}: "):
        store.sweep()
    with pytest.raises(StoreError, match=f"cannot use {trashes[0]}: "):
        store.give_up("alpha")
    assert store.sweep("beta") == []
    with pytest.raises(StoreError, match="tasks/alpha"):
        make_team(home, "w1")
    assert not list(health.ownerless(home))
    (begun / "tasks").unlink()
    (begun / "tasks").mkdir()
    assert store.sweep() == ["alpha"]
    kept = store.archives()[0].path / "tasks" / "alpha"
    assert {path.name: path.read_bytes() for path in kept.rglob("*.json")} == before


STUCK = {
    "its tasks": "tasks/.trash-alpha",
    "its mailboxes": "mailboxes/.trash-alpha",
    "what is left of it": "teams/.trash-alpha.uid-alpha",
    "its archive that was never committed": "archive/.new-alpha",
}


@pytest.mark.parametrize("place", STUCK.values(), ids=STUCK)
def test_what_cannot_be_removed_keeps_nothing_else(home: Path, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """behaviour 3.10: it waits and is named, a start goes on, and the next sweep removes it."""
    store, stuck = Store(home), str(home / place)
    for name in ("alpha", "beta"):
        make_team(home, "w1", name=name)
    for name in ("alpha", "beta"):
        if place.startswith("archive"):
            archive.begin(home, name, f"uid-{name}", NOW)
        else:
            (home / "teams" / name).rename(home / "teams" / f"{TRASH}{name}.uid-{name}")

    def failing(path: Path) -> None:
        if str(path).startswith(stuck):
            raise OSError(errno.EPERM, "Operation not permitted")
        delete(path)

    monkeypatch.setattr(trees, "delete", failing)
    make_team(home, "w1", name="gamma")
    assert {name for name, _ in health.half_done(home)} == {"alpha"}
    for act in (store.sweep, lambda: store.sweep("alpha"), lambda: store.give_up("alpha")):
        with pytest.raises(StoreError, match=rf"cannot use {home / place.partition('.')[0]}.*alpha.*\(EPERM\)"):
            act()
    assert store.sweep("beta") == []
    monkeypatch.undo()
    assert store.sweep() == ["alpha"]
    assert not list(health.half_done(home))
    assert not list(health.ownerless(home))


@pytest.mark.parametrize("kind", ["tasks", "mailboxes"])
def test_what_an_earlier_team_has_left_goes_while_another_has_its_name(
    home: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_team(home, "w1")
    (home / "teams" / "alpha").rename(home / "teams" / f"{TRASH}alpha.uid-alpha")

    def failing(path: Path) -> None:
        if path == home / kind / f"{TRASH}alpha":
            raise OSError(errno.EPERM, "Operation not permitted")
        delete(path)

    monkeypatch.setattr(trees, "delete", failing)
    make_team(home, "w2")
    monkeypatch.undo()
    folders = [home / folder / "alpha" for folder in ("teams", "tasks", "mailboxes")]
    before = [*map(contents, folders)]
    assert (home / kind / f"{TRASH}alpha").exists()
    assert Store(home).sweep() == ["alpha"]
    assert not (home / kind / f"{TRASH}alpha").exists()
    assert [*map(contents, folders)] == before


def test_tasks_and_mail_of_a_later_team_stay_with_it(home: Path) -> None:
    """The name is in use again: what lies under it is not the removed team's."""
    trash = committed(home)
    (home / "teams" / "alpha").mkdir()
    later = {path: path.read_bytes() for kind in ("tasks", "mailboxes") for path in (home / kind).rglob("*.json")}
    archive.complete(home, trash)
    assert {path: path.read_bytes() for path in later} == later
    assert (home / place() / "teams" / "alpha" / "config.json").exists()
    assert os.listdir(home / place() / "tasks") == os.listdir(home / place() / "mailboxes") == []


def test_a_late_writer_replaces_nothing_that_was_moved(home: Path) -> None:
    """Its file comes into the removed team's folder after the first one had been moved, and before the rest."""
    trash = committed(home)
    config = (trash / "config.json").read_bytes()
    (begun,) = (home / "archive").iterdir()
    (trash / "config.json").rename(begun / "teams" / "alpha" / "config.json")
    (trash / "config.json").write_text("late")
    archive.complete(home, trash)
    assert (home / place() / "teams" / "alpha" / "config.json").read_bytes() == config
    assert (home / place() / "tasks" / "alpha" / "tasks.json").exists()


@pytest.mark.parametrize("half", [NEW, TRASH])
def test_a_half_done_archive_is_swept_and_named(home: Path, half: str) -> None:
    """Begun without a removal, or forgotten by half; a whole one stays."""
    team = make_team(home, "w1")
    make_team(home, "w1", name="beta")
    Store(home).discard("beta", "uid-beta", NOW)
    archive.begin(home, "alpha", "uid-alpha", NOW)
    (begun,) = (path for path in (home / "archive").iterdir() if path.name.startswith(NEW))
    begun.rename(begun.with_name(half + begun.name.removeprefix(NEW)))
    assert Store(home).sweep() == ["alpha"]
    assert [kept.name for kept in Store(home).archives()] == ["beta"]
    assert team.exists()
    assert not list(archive.half_done(home))


@pytest.mark.parametrize("kind", ["teams", "tasks", "mailboxes"])
def test_a_place_on_another_file_system_is_unfit(home: Path, kind: str) -> None:
    """No rename leads there."""
    home.mkdir()
    (home / kind).symlink_to("/dev")
    with pytest.raises(EnvironmentMissing) as unfit:
        archive.begin(home, "alpha", "uid-alpha", NOW)
    assert (unfit.value.code, unfit.value.message) == (
        "unsafe_path",
        f"{home / 'archive'} is on another file system than the teams",
    )
    assert unfit.value.hint == "move it beside them"
    assert os.listdir(home / "archive") == []


def test_archives_that_cannot_be_listed_are_not_none(home: Path) -> None:
    make_team(home, "w1")
    Store(home).discard("alpha", "uid-alpha", NOW)
    said = f"cannot use {home}: .*EIO"
    with pytest.raises(StoreError, match=said), fault_at(None, fail_with(errno.EIO), ("listdir", "scandir")):
        Store(home).archives()


def test_an_archive_is_rehearsed_and_leaves_nothing(home: Path) -> None:
    """Behaviour 3.10: where it cannot be begun, cleanup removes nothing."""
    archive.rehearse(home, "alpha", "u", NOW)
    assert not (home / ARCHIVES).exists()
    (home / ARCHIVES).symlink_to(home.parent)
    with pytest.raises((StoreError, EnvironmentMissing)):
        archive.rehearse(home, "alpha", "u", NOW)
    assert list((home / ARCHIVES).glob(f"{NEW}*")) == []


def test_whichever_call_fails_a_removal_of_files_is_not_given_up(home: Path) -> None:
    """Only a database may be given up: a full disk is waited for."""
    for number in count(1):
        name = f"t{number}"
        committed(home, name)
        before = {path.name: path.read_bytes() for path in (home / "tasks" / name).rglob("*.json")}
        with fault_at(number, fail_with(errno.ENOSPC), MUTATING) as shim, suppress(StoreError):
            assert Store(home).give_up(name) == {}
        Store(home).sweep()
        [kept] = [kept for kept in Store(home).archives() if kept.name == name]
        assert {path.name: path.read_bytes() for path in (kept.path / "tasks" / name).rglob("*.json")} == before
        if len(shim.seen) < number:
            break
    assert number > 1
