"""A lead that a guard starts: no child of the guard, with nothing of it, and whatever is in the way is said."""

import errno
import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pro0.guard import detached
from tests.faults import fail_with, fault_at
from tests.waiting import STUCK, wait_until

START = """
import json, os, signal, sys
from pro0.guard import agent, detached
agent.become_subreaper()
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
signal.signal(signal.SIGUSR2, signal.SIG_IGN)
before = os.getpid(), len(os.listdir("/dev/fd")), signal.pthread_sigmask(signal.SIG_BLOCK, ())
detached.start(*json.loads(sys.argv[1]))
print(before == (os.getpid(), len(os.listdir("/dev/fd")), signal.pthread_sigmask(signal.SIG_BLOCK, ())))
try:
    print("still there:", os.waitpid(-1, os.WNOHANG))
except ChildProcessError:
    print("no child")
"""
TELL = """
import json, os, signal, sys
told = {
    "cwd": os.getcwd(),
    "env": {name: value for name, value in os.environ.items() if name != "LC_CTYPE"},
    "nothing": os.path.samestat(os.fstat(0), os.stat(os.devnull)),
    "one": os.path.samestat(os.fstat(1), os.fstat(2)),
    "open": len(os.listdir("/dev/fd")),
    "masked": len(signal.pthread_sigmask(signal.SIG_BLOCK, ())),
    "usr2": signal.getsignal(signal.SIGUSR2).name,
    "session": os.getsid(0),
}
print("a word of the lead", flush=True)
with open(sys.argv[1] + ".new", "w") as file:
    json.dump(told, file)
os.rename(sys.argv[1] + ".new", sys.argv[1])
"""


def start(argv: list[str], cwd: Path, errors: Path) -> None:
    """Start a program as a guard does, in a process of its own, which goes on as it was."""
    words = json.dumps([argv, str(cwd), {"X": "ü"}, str(errors)])
    done = subprocess.run([sys.executable, "-c", START, words], capture_output=True, text=True, input="", timeout=STUCK)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\nno child\n", "")


def told(tmp_path: Path, cwd: Path, errors: Path) -> dict[str, Any]:
    """Return what a program tells that was started so."""
    place = tmp_path / "told"
    start([sys.executable, "-IS", "-c", TELL, str(place)], cwd, errors)
    wait_until(place.exists, STUCK, "it has told")
    found = json.loads(place.read_text())
    assert isinstance(found, dict)
    return found


def test_it_has_nothing_of_the_guards(tmp_path: Path) -> None:
    errors = tmp_path / "errors"
    errors.write_text("before\n")
    found = told(tmp_path, tmp_path, errors)
    assert found.pop("session") != os.getsid(0)
    assert found == {
        "cwd": str(tmp_path),
        "env": {"X": "ü"},
        "nothing": True,
        "one": True,
        "open": 4,
        "masked": 0,
        "usr2": "SIG_DFL",
    }
    assert errors.read_text() == "before\na word of the lead\n"


def test_its_log_is_private(tmp_path: Path) -> None:
    told(tmp_path, tmp_path, tmp_path / "errors")
    assert stat.S_IMODE((tmp_path / "errors").stat().st_mode) == 0o600
    assert (tmp_path / "errors").read_text() == "a word of the lead\n"


@pytest.mark.parametrize("cwd", ["none", "file"])
def test_without_its_folder_it_is_somewhere_else(tmp_path: Path, cwd: str) -> None:
    (tmp_path / "file").touch()
    assert told(tmp_path, tmp_path / cwd, tmp_path / "errors")["cwd"] == "/"


CANNOT = {
    "no program": ("/no/such/program", "[Errno 2] No such file or directory: '/no/such/program'"),
    "no text": ("/no/\ud800", ""),
    "no word": ("a\0b", ""),
}


@pytest.mark.parametrize("what", CANNOT)
def test_what_cannot_be_started_is_said_in_its_log(tmp_path: Path, what: str) -> None:
    errors = tmp_path / "errors"
    program, why = CANNOT[what]
    for _ in range(2):
        start([program], tmp_path, errors)
    lines = errors.read_text().splitlines()
    assert len(lines) == 2
    assert all(line.startswith("pro0 guard: the lead cannot be started: ") for line in lines)
    assert all(line.endswith(why) for line in lines)
    assert stat.S_IMODE(errors.stat().st_mode) == 0o600


def test_a_system_without_room_for_another_process_leaves_nothing_open(tmp_path: Path) -> None:
    """The guard tries again, and may do so as often as it likes."""
    before = len(os.listdir("/dev/fd"))
    with fault_at(1, fail_with(errno.EAGAIN), ("fork",)), pytest.raises(BlockingIOError):
        detached.start([sys.executable, "-c", ""], str(tmp_path), {}, str(tmp_path / "errors"))
    assert len(os.listdir("/dev/fd")) == before


@pytest.mark.parametrize("kind", ["a link", "a pipe", "a folder", "nowhere"])
def test_a_log_that_is_none_keeps_nobody(tmp_path: Path, kind: str) -> None:
    """Nothing is written through a link, nor waited for: the guard goes on."""
    errors = tmp_path / ("none/errors" if kind == "nowhere" else "errors")
    if kind == "a link":
        errors.symlink_to(tmp_path / "letter")
    elif kind == "a pipe":
        os.mkfifo(errors)
    elif kind == "a folder":
        errors.mkdir()
    start([sys.executable, "-IS", "-c", "print('x')"], tmp_path, errors)
    for program, _ in CANNOT.values():
        start([program], tmp_path, errors)
    assert not (tmp_path / "letter").exists()
