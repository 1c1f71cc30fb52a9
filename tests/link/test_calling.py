"""A command below an agent on another machine that cannot reach the end of its own link."""

import errno
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from pathlib import Path

import pytest

from pro0.errors import Refused
from pro0.link import calling
from pro0.link.calling import CONFINED, OVER, ask_home
from pro0.link.streams import ANSWER, ASK, ASK_LIMIT, TAKEN
from pro0.store import paths
from pro0.terminals import protocol
from tests.faults import fail_with, fault_at
from tests.waiting import STUCK, wait_until

NOBODY = 65534
CALL = f"""
import os, sys
from pro0.link.calling import call_home
if os.geteuid() == 0:
    os.setgid({NOBODY}), os.setuid({NOBODY})
sys.exit(call_home(".", ["inbox"]))
"""
"""A caller that may not connect to the socket in its folder: another user, when root runs this."""


def test_a_sandbox_is_named_instead_of_waiting_for_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 19, build 2: Codex runs commands where no socket may be reached."""
    folder = tmp_path / "hosted"
    folder.mkdir(mode=0o711)
    monkeypatch.chdir(folder)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(paths.HOSTED_SOCKET)
        listener.listen()
        Path(paths.HOSTED_SOCKET).chmod(0)
        done = subprocess.run([sys.executable, "-c", CALL], capture_output=True, text=True, check=False, timeout=STUCK)
    assert (done.returncode, done.stderr.strip()) == (Refused.exit_code, f"pro0: {CONFINED}")


class Answering:
    """What answers commands in a folder, each with more than a pipe holds; `taken` is what was taken of it."""

    def __init__(self, folder: Path) -> None:
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(folder / paths.HOSTED_SOCKET))
        self.listener.listen()
        self.taken: list[str] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                with connection, suppress(OSError, protocol.Broken):
                    self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        inbox = protocol.MessageReader(ASK_LIMIT)
        while data := connection.recv(1 << 16):
            for kind, payload in inbox.take(data):
                id = json.loads(payload)["id"]
                if kind == ASK:
                    answer = {"id": id, "code": 0, "out": "x" * (1 << 18) + "\n", "errors": ""}
                    connection.sendall(protocol.packed(ANSWER, answer))
                elif kind == TAKEN:
                    self.taken.append(id)


@pytest.fixture
def answering(tmp_path: Path) -> Iterator[Answering]:
    answering = Answering(tmp_path)
    yield answering
    answering.listener.shutdown(socket.SHUT_RDWR)
    answering.listener.close()


def in_shell(folder: Path, line: str) -> "subprocess.CompletedProcess[str]":
    """Run a line of bash below a session there; `PRO0` in it is the program."""
    words = ("bash", "-o", "pipefail", "-c", line.replace("PRO0", f"{sys.executable} -m pro0"))
    environment = {**os.environ, "PRO0_HOSTED": str(folder)}
    return subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=STUCK)


@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        ("PRO0 task list | true", 1, ""),
        ("PRO0 task list >/dev/full", 1, "pro0: the output cannot be written: No space left on device\n"),
        ("PRO0 task list 2>/dev/full >/dev/full", 1, ""),
        ("PRO0 task list 2>&- >&-", 0, ""),
        ("PRO0 send bob - <&- >/dev/null", 0, ""),
        (
            "PRO0 send bob - 0>/dev/null",
            2,
            "pro0: stdin cannot be read: Bad file descriptor\nhint: give a file or a pipe that can be read: < FILE\n",
        ),
    ],
)
def test_streams_that_take_nothing_are_no_fault_of_the_program(
    line: str, code: int, says: str, answering: Answering, tmp_path: Path
) -> None:
    """A user never sees a traceback (behaviour 3.32): agents write `| head`."""
    done = in_shell(tmp_path, line)
    assert (done.returncode, done.stderr) == (code, says)
    if code == 0:
        wait_until(lambda: answering.taken, STUCK, "it is taken")
    else:
        assert not answering.taken, "mail that was not printed is given again"


def test_a_command_that_nobody_would_take_is_refused(answering: Answering, tmp_path: Path) -> None:
    """It would be told again and again, and wait for ever (behaviour 3.32)."""
    done = in_shell(tmp_path, "head -c 900000 /dev/zero | PRO0 send bob -")
    assert done.returncode == Refused.exit_code
    assert done.stderr == f"pro0: a command of more than {ASK_LIMIT} bytes is too long\n"


def unmounted(folder: Path) -> None:
    """Take the whole home away, which is three folders up."""
    folder.parents[1].rename(folder.parents[2] / "away")


def noted(folder: Path) -> None:
    (folder / paths.HOSTED_OVER).touch()


def as_it_is(_: Path) -> None:
    pass


ENDED = "this session is over"
SEEN: dict[str, tuple[Callable[[Path], object], int, str]] = {
    "its end is noted": (noted, 0, ENDED),
    "its folder is gone": (shutil.rmtree, 0, ENDED),
    "nobody answers": (as_it_is, 0, OVER),
    "its home is away": (unmounted, 0, OVER),
    "no descriptor is free": (as_it_is, errno.EMFILE, OVER),
    "the disk fails": (as_it_is, errno.EIO, OVER),
    "it may not look there": (as_it_is, errno.EACCES, OVER),
}


@pytest.mark.parametrize(("become", "error", "says"), SEEN.values(), ids=SEEN)
def test_a_command_waits_unless_its_session_is_seen_to_be_over(
    become: Callable[[Path], object], error: int, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behaviour 3.32: while its home is away, or cannot be looked at for a moment, the agent goes on."""
    monkeypatch.setattr(calling, "AGAIN", 0.01)
    folder, looks = tmp_path / "home" / "hosted" / "there", iter([False] * 3)
    folder.mkdir(parents=True)
    become(folder)
    calls = ("socket.socket", "open") if error == errno.EMFILE else ("stat",)
    with fault_at(None, fail_with(error), calls) if error else nullcontext():
        answer = ask_home(str(folder), ["inbox"], "", is_over=lambda: next(looks, True))
    assert answer["errors"] == f"pro0: {says}\n"
