"""An archive holds what a removed team did, nothing that is secret or alive, and says so (issue 14, build 8)."""

import errno
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pro0.errors import EnvironmentMissing, NotFound, Unwritable
from pro0.model.team import Environment
from pro0.ops.team import archives
from pro0.store import health
from pro0.store.paths import NEW, TRASH
from pro0.store.removal import archive
from pro0.store.teams import Store
from tests.faults import fail_with, fault_at
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
    with pytest.raises(EnvironmentMissing):
        Store(home).discard("alpha", "uid-alpha", NOW)
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
