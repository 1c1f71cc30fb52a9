"""Links, pipes, sockets and folders in the place of files: refused, not followed, not waited for (check 30, 31)."""

import os
import random
import shutil
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from tests.cli.conftest import Pro0, tree
from tests.conftest import Result
from tests.hostile.furnished import Furnished, furnish
from tests.hostile.names import BYTES, NAMES
from tests.waiting import STUCK, wait_until

SECONDS = STUCK
"""A call that waits for a pipe would never end; a machine that is busy takes its time."""


def link_to_file(place: Path, victim: Path) -> None:
    place.symlink_to(victim / "file")


def link_to_folder(place: Path, victim: Path) -> None:
    place.symlink_to(victim)


def dangling(place: Path, victim: Path) -> None:
    place.symlink_to(victim / "nothing")


def ring(place: Path, victim: Path) -> None:
    place.symlink_to(place)


def pipe(place: Path, victim: Path) -> None:
    os.mkfifo(place)


def listener(place: Path, victim: Path) -> None:
    here = os.open(place.parent, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"/proc/self/fd/{here}/{place.name}" if os.path.isdir("/proc/self/fd") else str(place))
    os.close(here)


def folder(place: Path, victim: Path) -> None:
    place.mkdir()


def device(place: Path, victim: Path) -> None:
    try:
        os.mknod(place, stat.S_IFCHR | 0o600, os.makedev(1, 5))
    except PermissionError:
        place.symlink_to("/dev/zero")


ODD: dict[str, Callable[[Path, Path], None]] = {
    "link to a file": link_to_file,
    "link to a folder": link_to_folder,
    "dangling link": dangling,
    "ring": ring,
    "pipe": pipe,
    "socket": listener,
    "folder": folder,
    "device": device,
}
PLACES = [
    *("pro0", "pro0/teams", "pro0/tasks", "pro0/mailboxes", "pro0/teams/alpha", "pro0/tasks/alpha"),
    *("pro0/mailboxes/alpha", "pro0/mailboxes/alpha/human", "pro0/.lock"),
    *(f"pro0/teams/alpha/{name}" for name in ("config.json", "wanted.json", "runtime.json", ".lock", "lead.lock")),
    *(f"pro0/teams/alpha/{name}" for name in ("events.jsonl", "logs", "sessions", "environment.json")),
    *("pro0/teams/alpha/logs/lead.jsonl", "pro0/teams/alpha/logs/lead.err", "pro0/teams/alpha/logs/w1.log"),
    *("pro0/tasks/alpha/tasks.json", "pro0/tasks/alpha/.lock", "pro0/tasks/alpha/task-1"),
    *("pro0/mailboxes/alpha/human/messages.json", "pro0/mailboxes/alpha/human/.lock"),
]
READING = [
    "team status",
    "team list",
    "team logs",
    "member list",
    "member peek w1",
    "task list",
    "task show 1",
    "doctor",
]
READING += ["inbox --all", "team wait --timeout 0", "config"]
WRITING = ["task create x", "task comment 1 x", "send human x", "broadcast x", "team pause", "task claim 2", "inbox"]
WRITING += ["team cleanup alpha --force", "team start beta --detach --mode headless"]
CODES = {0, 1, 2, 3, 4, 5, 6, 124}
"""Where what is odd does not matter to a command, it may do its work."""
CASES = [*product(PLACES, ODD, [*READING, *WRITING])]
FAILED_ONCE = [
    ("pro0/tasks/alpha", "pipe", "team cleanup alpha --force"),
    ("pro0/teams/alpha/logs/w1.log", "folder", "member peek w1"),
]


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """What is outside, and stays as it is."""
    place = tmp_path / "victim"
    (place / "alpha" / "sessions").mkdir(parents=True)
    for name in ("file", "config.json", "messages.json", "alpha/tasks.json", "alpha/sessions/x.json"):
        (place / name).write_text("{}")
        (place / name).chmod(0o640)
    place.chmod(0o755)
    return place


def seen(place: Path) -> list[tuple[str, int, int, int]]:
    """What a folder is, with modes and times."""
    found = [place, *sorted(place.rglob("*"))]
    return [(str(p), (s := p.lstat()).st_mode, s.st_size, s.st_mtime_ns) for p in found]


def try_it(place: str, odd: str, command: str, cli: Callable[..., Result], full: Furnished, victim: Path) -> Result:
    """Put something odd in a place and run a command."""
    target = full.home.parent / place
    if target.is_dir() and not target.is_symlink():
        target.rename(target.with_name(f"{target.name}-aside"))
    else:
        target.unlink(missing_ok=True)
    ODD[odd](target, victim)
    before = seen(victim)
    called = cli(*command.split(), cwd=full.home.parent / "project", seconds=SECONDS, env={"PRO0_REVIVE_LEAD": "0"})
    assert called.code in CODES, called
    assert "Traceback" not in called.err
    assert "internal error" not in called.err
    assert seen(victim) == before
    return called


def drawn(number: int) -> list[tuple[str, str, str]]:
    """Return some of all cases."""
    return random.Random(30).sample(CASES, number)


@pytest.mark.parametrize(("place", "odd", "command"), [*FAILED_ONCE, *drawn(14)], ids=str)
def test_what_is_odd_is_refused(
    place: str, odd: str, command: str, cli: Callable[..., Result], full: Furnished, victim: Path
) -> None:
    """30"""
    try_it(place, odd, command, cli, full, victim)


@pytest.mark.soak
@pytest.mark.parametrize(("place", "odd"), [*product(PLACES, ODD)], ids=str)
def test_everything_odd_is_refused(
    place: str, odd: str, cli: Callable[..., Result], full: Furnished, victim: Path
) -> None:
    """30: with every command."""
    target = full.home.parent / place
    for command in (*READING, *WRITING):
        try_it(place, odd, command, cli, full, victim)
        shutil.rmtree(target) if target.is_dir() and not target.is_symlink() else target.unlink(missing_ok=True)
        for left in ("pro0", "pro0-aside"):
            shutil.rmtree(full.home.parent / left, ignore_errors=True)
        furnish(full.home, full.home.parent / "project")


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("place", ["pro0", "pro0/teams", "pro0/tasks", "pro0/mailboxes"])
def test_an_unsafe_home_is_refused_by_everything(
    place: str, odd: str, pro0: Pro0, full: Furnished, victim: Path
) -> None:
    """30: exit 6, and what a link leads to is neither changed nor made stricter."""
    if odd == "folder":
        return
    target = full.home.parent / place
    target.rename(target.with_name("aside"))
    ODD[odd](target, victim)
    before = seen(victim)
    for command in ("team status", "team list", "task create x", "team start beta --detach", "team cleanup alpha"):
        called = pro0(*command.split())
        assert called.code == 6, (command, called)
        assert '"unsafe_path"' in pro0(*command.split(), "--json").err or "cleanup" in command
    assert seen(victim) == before


def test_a_home_of_somebody_else_is_refused(pro0: Pro0, full: Furnished) -> None:
    """32"""
    if os.geteuid():
        pytest.skip("only root can give a folder away")
    os.chown(full.home, 12345, 12345)
    assert pro0("task", "create", "x").code == 6
    assert pro0("team", "status").code == 6


@pytest.mark.parametrize("kind", ["newline", "escape", "overridden", "bell", "surrogate"])
def test_a_home_that_cannot_be_shown_is_refused(
    kind: str, pro0: Pro0, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """29"""
    monkeypatch.setenv("PRO0_HOME", str(tmp_path / (NAMES | BYTES)[kind]))
    before = tree(tmp_path)
    for command in ("team status", "team list", "team start alpha --detach", "config", "doctor"):
        assert pro0(*command.split()).code == 2, command
    assert tree(tmp_path) == before


@pytest.mark.parametrize("home", ["../elsewhere", "with space", "deep/er/home", "ü"])
def test_a_home_is_where_it_says(home: str, pro0: Pro0, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRO0_HOME", home)
    furnish((project / home).absolute(), project)
    assert pro0("team", "status").code == 0
    assert pro0("task", "create", "x").code == 0


@pytest.mark.parametrize("where", ["git pipe", "git sparse", "git NUL", "git ring", "settings pipe", "settings device"])
def test_a_hostile_checkout_stops_nobody(where: str, cli: Callable[..., Result], home: Path, tmp_path: Path) -> None:
    """30: what lies in a project is somebody else's."""
    project = tmp_path / "project"
    (project / ".pro0").mkdir(parents=True)
    git, settings = project / ".git", project / ".pro0" / "config.yaml"
    match where:
        case "git pipe":
            os.mkfifo(git)
        case "git sparse":
            with git.open("wb") as file:
                file.truncate(1 << 30)
        case "git NUL":
            git.write_bytes(b"gitdir: a\0b")
        case "git ring":
            git.write_text("gitdir: ring")
            (project / "ring").symlink_to("ring")
        case "settings pipe":
            os.mkfifo(settings)
        case "settings device":
            settings.symlink_to("/dev/zero")
    furnish(home, tmp_path)
    for command in ("team status", "config", "task list"):
        called = cli(*command.split(), cwd=project, seconds=SECONDS)
        assert called.code in (0, 2, 3), called
        assert "internal error" not in called.err


def test_cleanup_deletes_nothing_outside(pro0: Pro0, full: Furnished, victim: Path) -> None:
    """31: links inside a team are removed, never what they lead to."""
    before = seen(victim)
    for place in ("sessions/link", "logs/link", "link"):
        (full.team.paths.team / place).symlink_to(victim)
    for link in (full.team.paths.tasks / "task-9", full.team.paths.mailboxes / "w9"):
        link.symlink_to(victim)
    assert pro0("team", "cleanup", "alpha", "--force").code == 0
    assert not full.team.paths.team.exists()
    assert seen(victim) == before


SAME = [pytest.param(mask, marks=pytest.mark.soak) for mask in (0o022, 0o077)]
"""What a umask of 0 leaves closed to others, these do too."""


@pytest.mark.parametrize("mask", [0, *SAME], ids=oct)
def test_the_modes_of_a_life(home: Path, tmp_path: Path, mask: int) -> None:
    """32: nothing below the home is anybody else's at any moment, whatever the umask."""
    script = (
        "import os, subprocess, sys; os.umask(int(sys.argv[1], 8))\n"
        "for words in sys.argv[2:]: subprocess.run([sys.executable, '-m', 'pro0', *words.split('|')], check=True)"
    )
    life = ["team|start|alpha|--detach|--mode|headless|-m|w1=shell", "task|create|x|--run|true", "send|w1|hello"]
    life += ["team|wait|--timeout|20", "task|comment|1|x", "team|stop|--force|--timeout|5", "team|cleanup|alpha"]
    living = subprocess.Popen([sys.executable, "-c", script, f"{mask:o}", *life], cwd=tmp_path)
    loose: set[str] = set()

    def over() -> bool:
        nonlocal loose
        loose |= open_to_others(home)
        return living.poll() is not None

    wait_until(over, 120, "the life of a team")
    assert not loose
    assert living.returncode == 0


def open_to_others(home: Path) -> set[str]:
    """What below a home others may do anything with."""
    found = set()
    for base, folders, files in os.walk(home):
        for name in (".", *folders, *files):
            path = Path(base, name)
            try:
                status = path.lstat()
            except FileNotFoundError:
                continue
            if status.st_mode & 0o077 and not stat.S_ISLNK(status.st_mode):
                found.add(f"{path} {stat.filemode(status.st_mode)}")
    return found
