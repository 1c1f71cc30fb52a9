"""The box for real agents: what is in it, what it cannot reach, and that nothing of it is left."""

import json
import os
import shlex
import socket
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.living import living
from tests.waiting import STUCK, wait_until
from tools.agents import box
from tools.agents.install import ROOT, cache

LOOK = """
import json, os, pathlib, socket

def tried(address):
    try:
        socket.create_connection(address, timeout=5).close()
    except OSError as error:
        return type(error).__name__
    return "reached"
inside = socket.create_server(("127.0.0.1", 0))
tried(("127.0.0.1", %(port)d))  # the box's own end may happen to have that port, so only the listener can tell
print(json.dumps({
    "networks": [name for _, name in socket.if_nameindex()],
    "inside": tried(inside.getsockname()),
    "outside": tried(("192.0.2.1", 80)),
    "processes": sorted(int(name) for name in os.listdir("/proc") if name.isdigit()),
    "environment": sorted(os.environ),
    "root": sorted(os.listdir("/")),
    "fresh": [sorted(os.listdir(folder)) for folder in (os.environ["HOME"], "/tmp", "/dev/shm", "/dev/pts")],
    "settings": sorted(os.listdir("/etc")),
    "there": pathlib.Path(%(secret)r).exists(),
    "written": os.access(".", os.W_OK),
}))
"""
Boxed = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module", autouse=True)
def _possible(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Boxes can be made here; the folder that they cover is the tests' own, not one in a person's home."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        _check()
        yield


def _check() -> None:
    try:
        box.check()
    except box.NoBox as why:
        pytest.skip(str(why))


@pytest.fixture
def boxed(tmp_path: Path) -> Boxed:
    """Run a command in a box, with an environment outside that has a secret in it."""

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, "-m", "tools.agents.box", *words]
        return subprocess.run(
            argv, cwd=ROOT, env=os.environ | {"SECRET": "x"}, capture_output=True, text=True, timeout=STUCK
        )

    return call


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """Somebody who listens on 127.0.0.1, outside."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


def test_a_box_shows_and_reaches_nothing_of_outside(boxed: Boxed, listener: socket.socket, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("x")
    done = boxed(sys.executable, "-c", LOOK % {"port": listener.getsockname()[1], "secret": str(secret)})
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert (seen["networks"], seen["inside"]) == (["lo"], "reached")
    assert seen["outside"] == "OSError"
    with pytest.raises(BlockingIOError):
        listener.accept()
    assert len(seen["processes"]) == 2
    assert seen["environment"] == ["HOME", "LANG", "PATH", "SHELL", "TERM"]
    assert seen["fresh"] == [[], _of_checkout("/tmp"), _of_checkout("/dev/shm"), ["ptmx"]]
    assert not {"claude-code", "codex", "gemini-cli", "opencode", "resolv.conf"} & set(seen["settings"])
    assert not {"old", "mnt", "srv", "sys", "media"} & set(seen["root"])
    assert (seen["there"], seen["written"]) == (False, False)


def _of_checkout(folder: str) -> list[str]:
    """What the checkout itself must show of a folder, when it lies below it."""
    shown = (ROOT, Path(sys.base_prefix), cache())
    return sorted({path.relative_to(folder).parts[0] for path in shown if path.is_relative_to(folder)})


def test_the_command_ends_as_it_would_outside(boxed: Boxed) -> None:
    assert [boxed("sh", "-c", script).returncode for script in ("exit 0", "exit 3", "kill -9 $$")] == [0, 3, 137]
    assert boxed().returncode == 2


def test_only_what_is_to_be_kept_stays(boxed: Boxed, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    done = boxed("--keep", str(kept), "sh", "-c", f"echo kept > {kept}/a; echo gone > $HOME/b; ls -A {tmp_path}")
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "kept\n")
    assert [path.name for path in tmp_path.rglob("*")] == ["kept", "a"]
    assert not list(box.mount_point().iterdir())


@pytest.mark.skipif(os.geteuid() != 0, reason="a user's own namespace has one user alone")
def test_the_command_is_no_root(boxed: Boxed, tmp_path: Path) -> None:
    """Agents trust root's files more; what an earlier box has kept can be written anew."""
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "a").write_text("before")
    done = boxed("--keep", str(kept), "sh", "-c", f"id -un; echo after > {kept}/a; kill -9 1; cd; pwd")
    assert done.stdout.split() == ["person", "/box"]
    assert "not permitted" in done.stderr
    assert (kept / "a").read_text() == "after\n"


@pytest.mark.parametrize("end", ["by itself", "killed", "terminated"])
def test_nothing_of_a_box_is_left(end: str, tmp_path: Path) -> None:
    """Neither the command nor what it detached, nor a mount, whichever way the box ends."""
    mounts, word = Path("/proc/self/mountinfo").read_text(), uuid.uuid4().hex
    program = f"import time; time.sleep(300) # {word}"
    stays = "true" if end == "by itself" else "sleep 300"
    script = f"setsid -f {sys.executable} -c {shlex.quote(program)}; touch {tmp_path}/up; {stays}"
    argv = [sys.executable, "-m", "tools.agents.box", "--keep", str(tmp_path), "sh", "-c", script]
    with subprocess.Popen(argv, cwd=ROOT) as process:
        wait_until((tmp_path / "up").exists, 30, "the box is up")
        {"killed": process.kill, "terminated": process.terminate}.get(end, process.wait)()
    wait_until(lambda: not running(word), 30, "nothing runs any more")
    assert Path("/proc/self/mountinfo").read_text() == mounts


def running(word: str) -> list[int]:
    return [one.pid for one in living(lambda one: any(word in argument for argument in one.cmdline()))]


def test_the_dead_are_buried(boxed: Boxed) -> None:
    """Orphans that end are no zombies, which a program that waits for their end would take for living."""
    look = "import psutil, time\nwhile len(psutil.pids()) > 2: time.sleep(0.01)"
    done = boxed("sh", "-c", f"setsid -f true; setsid -f sleep 0.2; exec {sys.executable} -c '{look}'")
    assert done.returncode == 0, done.stderr
