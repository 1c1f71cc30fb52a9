"""Looking at the store: everything that should not be is found, nothing else is, and nothing is changed by it."""

import errno
import os
import re
import signal
import socket
import stat
import time
from collections.abc import Callable, Iterator
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
from filelock import lock_descriptor

from pro0.errors import StoreError
from pro0.store import health
from pro0.store.health import Loose
from pro0.store.lease import Lease
from pro0.store.lock import locked
from pro0.store.paths import ASIDE, LEASE, LOCK, LOGS, NEW, TRASH
from tests import crowd
from tests.faults import count, fail_with, fault_at
from tests.waiting import wait_until

OLD = time.time() - health.STALE - 60
OURS = ("config.json", "events.jsonl", ".lock", "lead.lock", "w1.log", "lead.err", f"tasks.json{ASIDE}20260101T000000Z")
NOT_OURS = (
    "notes.txt",
    "json",
    ".tmp-x",
    f".tmp-{'0' * 31}",
    f".tmp-{'0' * 32}0",
    f".tmp-{'g' * 32}",
    "x.json~",
    "x.lock.old",
)
LISTING = ("listdir", "scandir")


def put(path: Path, mode: int = 0o600, *, old: bool = False) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    path.chmod(mode)
    if old:
        os.utime(path, (OLD, OLD))
    return path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with the teams alpha and beta, all of it as it should be."""
    place = tmp_path / "home"
    for top in ("teams", "tasks", "mailboxes"):
        for team in ("alpha", "beta"):
            (place / top / team).mkdir(parents=True)
    for folder in (place, *place.rglob("*")):
        folder.chmod(0o700)
    return place


def test_the_folders_of_a_home_and_of_a_team(home: Path) -> None:
    assert health.folders(home) == [home / top for top in ("teams", "tasks", "mailboxes", "archive")]
    assert health.folders(home, "beta") == [home / top / "beta" for top in ("teams", "tasks", "mailboxes")]


def test_everything_is_walked_and_no_link_is_followed(home: Path, tmp_path: Path) -> None:
    put(tmp_path / "outside" / "file")
    put(home / "teams" / "alpha" / "config.json")
    (home / "tasks" / "link").symlink_to(tmp_path / "outside")
    found = [str(path.relative_to(home)) for path, status in health.walk(home / "teams", home / "tasks", home / "gone")]
    assert found == [
        *("teams", "teams/alpha", "teams/beta", "teams/alpha/config.json"),
        *("tasks", "tasks/alpha", "tasks/beta", "tasks/link"),
    ]
    assert all(stat.S_ISLNK(status.st_mode) == (path.name == "link") for path, status in health.walk(home))


@pytest.mark.parametrize(("name", "ours"), [*((name, True) for name in OURS), *((name, False) for name in NOT_OURS)])
def test_what_is_ours(home: Path, name: str, ours: bool) -> None:
    path = put(home / "teams" / "alpha" / name)
    assert health.is_ours(path, path.lstat()) is ours
    path.unlink()
    path.symlink_to(home / "x.json")
    assert not health.is_ours(path, path.lstat())


def test_a_temporary_file_and_a_folder_are_ours(home: Path) -> None:
    path = put(home / f".tmp-{'0a' * 16}")
    assert health.is_ours(path, path.lstat())
    assert health.is_ours(home, home.lstat())


MODES = {0o600: False, 0o644: True, 0o640: True, 0o602: True, 0o400: True, 0o200: True, 0o700: False}


@pytest.mark.parametrize("mode", MODES)
def test_modes_of_files(home: Path, mode: int) -> None:
    """Reliability 32: nobody else may read or write, the owner may do both."""
    path = put(home / "teams" / "alpha" / "config.json", mode)
    put(home / "teams" / "alpha" / "notes.txt", 0o666)
    assert list(health.loose(home)) == ([Loose(path, mode, 0o600)] if MODES[mode] else [])


@pytest.mark.parametrize(("mode", "wrong"), [(0o700, False), (0o755, True), (0o600, True), (0o710, True)])
def test_modes_of_folders(home: Path, mode: int, wrong: bool) -> None:
    (home / "teams").chmod(mode)
    assert list(health.loose(home)) == ([Loose(home / "teams", mode, 0o700)] if wrong else [])


def test_what_is_not_ours_to_change_is_named_as_foreign(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(home / "teams" / "config.json", 0o644)
    assert list(health.foreign(home)) == []
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert list(health.loose(home)) == []
    assert set(health.foreign(home)) == {home, *home.rglob("*")}


@pytest.mark.parametrize("mode", [0o644, 0o000, 0o400])
def test_a_mode_is_tightened(home: Path, mode: int) -> None:
    path = put(home / "teams" / "config.json", mode)
    (found,) = health.loose(home)
    health.tighten(found)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(health.loose(home)) == []


def refuse(*_: object, **__: object) -> int:
    raise PermissionError(errno.EACCES, "Permission denied")


def test_what_cannot_be_opened_is_tightened_by_its_name(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, other = put(home / "config.json", 0o000), put(home / "other", 0o640)
    monkeypatch.setattr(os, "open", refuse)
    health.tighten(Loose(path, 0, 0o600))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.unlink()
    path.symlink_to(other)
    health.tighten(Loose(path, 0, 0o600))
    assert stat.S_IMODE(other.stat().st_mode) == 0o640


def test_what_has_become_a_link_is_not_tightened(home: Path) -> None:
    other = put(home / "other", 0o640)
    (home / "config.json").symlink_to(other)
    with pytest.raises(OSError, match="symbolic"):
        health.tighten(Loose(home / "config.json", 0o644, 0o600))
    assert stat.S_IMODE(other.stat().st_mode) == 0o640


def test_links_in_the_place_of_folders(home: Path) -> None:
    (home / "tasks" / "link").symlink_to(home / "teams")
    (home / "tasks" / "dangling").symlink_to(home / "nothing")
    (home / "tasks" / "to a file").symlink_to(put(home / "file"))
    assert list(health.linked(home)) == [home / "tasks" / "link"]


def test_what_an_agent_has_for_a_session_is_its_own(home: Path) -> None:
    """Gemini CLI has a home of links there; a team may be called as the folder of sessions is.

    A team in a database has no config.json here, and that of another one may be lost.
    """
    put(home / "teams" / "alpha" / "config.json")
    teams = {"alpha", "beta", "sessions"}
    for team in teams:
        own = home / "teams" / team / "sessions" / "i-1" / "home"
        own.mkdir(parents=True)
        put(own / "settings.json", 0o644)
        (own / "link").symlink_to(home / "tasks")
        (home / "teams" / team / "link").symlink_to(home / "tasks")
    assert set(health.linked(home)) == {home / "teams" / team / "link" for team in teams}
    assert "settings.json" not in {entry.path.name for entry in health.loose(home)}
    assert "home" not in {path.name for path, _ in health.walk(home / "teams")}
    (home / "teams" / "alpha" / "sessions" / "i-2").symlink_to(home / "tasks")
    assert home / "teams" / "alpha" / "sessions" / "i-2" in list(health.linked(home))


def test_temporary_files_that_nobody_works_on(home: Path) -> None:
    names = ["0" * 32, "a" * 32]
    for name in names:
        put(home / "teams" / f".tmp-{name}", old=name == "0" * 32)
    put(home / "teams" / ".tmp-mine", old=True)
    (home / "teams" / f".tmp-{'1' * 32}").mkdir()
    os.utime(home / "teams" / f".tmp-{'1' * 32}", (OLD, OLD))
    assert list(health.temporary(home)) == [home / "teams" / f".tmp-{'0' * 32}"]


def test_launch_files_that_no_guard_has_read(home: Path) -> None:
    old = put(home / "i-1.start.json", old=True)
    put(home / "i-2.start.json")
    put(home / "i-3.json", old=True)
    (home / "i-4.start.json").symlink_to(old)
    assert list(health.launches(home)) == [("i-1", old)]


def test_the_age_at_which_something_is_stale(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(home / "i.start.json")
    now = path.stat().st_mtime
    monkeypatch.setattr(time, "time", lambda: now + 60.0)
    assert list(health.launches(home)) == []
    monkeypatch.setattr(time, "time", lambda: now + 60.1)
    assert list(health.launches(home)) == [("i", path)]


def test_teams_that_are_half_there(home: Path) -> None:
    for name in (f"{TRASH}old.uid", f"{NEW}young", ".other"):
        (home / "teams" / name).mkdir()
    assert list(health.half_done(home)) == [
        ("young", home / "teams" / f"{NEW}young"),
        ("old", home / "teams" / f"{TRASH}old.uid"),
    ]
    assert list(health.half_done(home / "nowhere")) == []


def test_folders_without_a_team(home: Path) -> None:
    """Those of a team that is half there will be seen to with it."""
    (home / "teams" / f"{TRASH}old.uid").mkdir()
    for name in ("old", "ghost", "No Name", f"alpha{ASIDE}x"):
        (home / "tasks" / name).mkdir()
    (home / "mailboxes" / "ghost").mkdir()
    assert list(health.ownerless(home)) == [home / "tasks" / "ghost", home / "mailboxes" / "ghost"]


def test_a_listing_that_fails_makes_no_team_seem_gone(home: Path) -> None:
    """Unknown is never "none": whoever asks moves aside what belongs to no team."""
    for name in ("tasks/alpha", "archive", f"teams/{TRASH}old.uid", "tasks/old", "mailboxes/old"):
        (home / name).mkdir(exist_ok=True)
    for look in (health.half_done, health.ownerless):
        expected = list(look(home))
        for number, call in enumerate(count(lambda look=look: list(look(home)), LISTING), 1):  # type: ignore[misc]
            with fault_at(number, fail_with(errno.EIO), LISTING), pytest.raises(StoreError, match="EIO") as failed:
                list(look(home))
            assert call.about in failed.value.message
        assert list(look(home)) == expected


def test_locks_and_those_that_nobody_can_take(home: Path) -> None:
    team = home / "teams" / "alpha"
    good = [put(team / LOCK), put(team / LEASE)]
    put(team / "other.lock")
    (home / "tasks" / "alpha" / LOCK).mkdir()
    (home / LOCK).symlink_to(good[0])
    assert list(health.locks(home, *health.folders(home))) == [home / LOCK, *good, home / "tasks" / "alpha" / LOCK]
    assert list(health.odd_locks(home, home / "tasks")) == [home / LOCK, home / "tasks" / "alpha" / LOCK]
    assert list(health.odd_locks(team)) == []


Holding = Callable[..., BaseProcess]


@pytest.fixture
def holding(tmp_path: Path) -> Iterator[Holding]:
    """Start a process that does something with a folder, and goes on holding what it has taken."""
    started: list[BaseProcess] = []

    def start(act: Callable[[Path, Path], None], folder: Path) -> BaseProcess:
        ready = tmp_path / "ready"
        started.append(crowd.start(act, folder, ready))
        wait_until(ready.exists, 20, "it is held")
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.join()


def hold_the_lock(folder: Path, ready: Path) -> None:
    with locked(folder, "hold it"):
        ready.touch()
        time.sleep(600)


def hold_the_lease(folder: Path, ready: Path) -> None:
    lease = Lease(folder)
    assert lease.take("lead alpha")
    ready.touch()
    time.sleep(600)


def test_a_lock_that_is_held_names_its_holder(home: Path, holding: Holding) -> None:
    assert health.held(home / LOCK) is None
    assert not (home / LOCK).exists()
    process = holding(hold_the_lock, home)
    found = health.held(home / LOCK)
    assert found
    assert (found.path, found.pid, found.stopped) == (home / LOCK, process.pid, False)
    assert re.fullmatch(rf"pid {process.pid} \(hold it, since \d\d:\d\d:\d\d\)", found.by)
    os.kill(process.pid or 0, signal.SIGSTOP)
    wait_until(lambda: (found := health.held(home / LOCK)) and found.stopped, 10, "it is seen to be stopped")


def test_a_lease_that_is_held_names_its_holder(home: Path, holding: Holding) -> None:
    (home / LOGS).mkdir()
    process = holding(hold_the_lease, home)
    found = health.held(home / LEASE)
    assert found
    assert found.pid == process.pid
    day = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"
    assert re.fullmatch(rf"pid {process.pid} \(lead alpha, pro0 [\d.]+, since {day}\)", found.by)
    process.kill()
    process.join()
    assert health.held(home / LEASE) is None


@pytest.mark.parametrize(
    ("text", "by", "pid"),
    [
        (b"", "an unknown process", 0),
        (b"nobody knows", "nobody knows", 0),
        (b'{"pid": 12, "version": "1"}', '{"pid": 12, "version": "1"}', 12),
        (b"pid 1234567890 (x)", "pid 1234567890 (x)", 0),
        (b"pid 123456789 (x)", "pid 123456789 (x)", 123456789),
    ],
)
def test_whatever_stands_in_a_lock(home: Path, text: bytes, by: str, pid: int) -> None:
    path = put(home / LOCK)
    with path.open("rb+") as file:
        assert lock_descriptor(file.fileno(), blocking=False)
        file.write(text)
        file.flush()
        found = health.held(path)
    assert found == health.Held(path, by, pid, False)


MOMENT = time.mktime((2026, 1, 2, 3, 4, 5, 0, 0, -1))
LEASE_LINE = '{"pid": 12, "start": "1", "bootId": "b", "version": "1.2", "why": "lead"}'
ODD_LINE = '{"pid": [12], "version": "1.2", "why": "lead"}'


@pytest.mark.parametrize(
    ("text", "by"),
    [
        (LEASE_LINE, "pid 12 (lead, pro0 1.2, since 2026-01-02 03:04:05)"),
        (f"{LEASE_LINE}\nof an older one\n", "pid 12 (lead, pro0 1.2, since 2026-01-02 03:04:05)"),
        (ODD_LINE, ODD_LINE),
    ],
)
def test_since_when_a_lease_is_held(home: Path, text: str, by: str) -> None:
    path = put(home / LEASE)
    path.write_text(text)
    os.utime(path, (MOMENT, MOMENT))
    with path.open() as file:
        assert lock_descriptor(file.fileno(), blocking=False)
        assert (health.held(path) or health.Held(path, "", 0, False)).by == by


def test_what_is_no_lock_is_held_by_nobody(home: Path, tmp_path: Path) -> None:
    other = put(tmp_path / "other")
    (home / LOCK).symlink_to(other)
    with other.open() as elsewhere:
        assert lock_descriptor(elsewhere.fileno(), blocking=False)
        assert health.held(other)
        assert health.held(home / LOCK) is None
    (home / LOCK).unlink()
    os.mkfifo(home / LOCK)
    assert health.held(home / LOCK) is None
    (home / LOCK).unlink()
    (home / LOCK).mkdir()
    assert health.held(home / LOCK) is None
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(home / "socket"))
    assert health.held(home / "socket") is None
    assert health.held(other / LOCK) is None


@pytest.mark.parametrize("code", [errno.EMFILE, errno.EACCES, errno.EIO])
@pytest.mark.parametrize("call", ["open", "fstat", "pread"])
def test_a_lock_that_cannot_be_looked_at_is_not_free(home: Path, call: str, code: int) -> None:
    """Unknown is never "nobody": whoever asks acts where nobody is."""
    path, before = put(home / LOCK), len(os.listdir("/dev/fd"))
    with path.open() as file:
        assert lock_descriptor(file.fileno(), blocking=False)
        with fault_at(None, fail_with(code), (call,)), pytest.raises(StoreError) as told:
            health.held(path)
    assert told.value.message == f"cannot use {path}: {os.strerror(code)} ({errno.errorcode[code]})"
    assert len(os.listdir("/dev/fd")) == before


def test_a_lock_that_may_not_be_written_is_looked_at(home: Path) -> None:
    """As on a file system that can only be read by now."""
    path = put(home / LOCK)
    for by in (None, health.Held(path, "an unknown process", 0, False)):
        with path.open() as file, fault_at(1, fail_with(errno.EROFS), ("open",)):
            assert by is None or lock_descriptor(file.fileno(), blocking=False)
            assert health.held(path) == by


def test_where_there_are_no_locks_nothing_is_known(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_descriptor: int, *, blocking: bool) -> bool:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(health, "lock_descriptor", fail)
    with pytest.raises(StoreError, match="No locks available"):
        health.held(put(home / LOCK))
    assert health.flock_works(home) == "No locks available"


def test_whether_locks_work(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reliability 79"""
    before = len(os.listdir("/dev/fd"))
    assert health.flock_works(home) == ""
    assert health.flock_works(home / "nowhere") == "No such file or directory"
    assert health.flock_works(put(home / "file")) == "Not a directory"
    descriptor = os.open(home, os.O_RDONLY)
    assert lock_descriptor(descriptor, blocking=False)
    assert health.flock_works(home) == ""
    os.close(descriptor)
    monkeypatch.setattr(health, "lock_descriptor", lambda _descriptor, *, blocking: True)
    assert health.flock_works(home) == "two holders have the same lock"
    with fault_at(2, fail_with(errno.EMFILE), ("open",)):
        assert health.flock_works(home) == "Too many open files"
    assert len(os.listdir("/dev/fd")) == before


TRACE = "Traceback (most recent call last):\n  File \"x.py\", line 1\nKeyError: 'w1'\n"
FATAL = 'Fatal Python error: Segmentation fault\n\nCurrent thread 0x1 (most recent call first):\n  File "x.py"\n'


@pytest.mark.parametrize(
    ("words", "how"),
    [
        ("", ""),
        ("the lead of alpha ends: its team is gone\n", ""),
        (TRACE, "KeyError: 'w1'"),
        (f"waiting\n{TRACE}", "KeyError: 'w1'"),
        (FATAL, "Fatal Python error: Segmentation fault"),
        (f"{FATAL}Fatal Python error: Aborted\nmore\n", "Fatal Python error: Aborted"),
        (f"{FATAL}{TRACE}", "Fatal Python error: Segmentation fault"),
        (TRACE.replace("w1", "\udcff"), "KeyError: '\N{REPLACEMENT CHARACTER}'"),
    ],
)
def test_how_a_lead_crashed(home: Path, words: str, how: str) -> None:
    """The line that names the error; words that tell of none are none."""
    errors = put(home / "teams" / "alpha" / LOGS / "lead.err")
    errors.write_text(words, errors="surrogateescape")
    assert health.crash(errors) == how


def test_without_last_words_no_lead_crashed(home: Path, tmp_path: Path) -> None:
    """Nor by those behind a link, which anybody may have written."""
    errors = home / "teams" / "alpha" / LOGS / "lead.err"
    assert health.crash(errors) == ""
    errors.parent.mkdir()
    assert health.crash(errors) == ""
    put(tmp_path / "other").write_text(TRACE)
    errors.symlink_to(tmp_path / "other")
    assert health.crash(errors) == ""
