"""The link at home and an `ssh` that says what a test wants: what becomes of the session, and what is told of it."""

import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from pro0 import __version__
from pro0.link import near as near_module
from pro0.model.runtime import Hosted
from pro0.ssh import NOT_BEGUN
from pro0.store.files import File
from tests.waiting import STUCK, wait_until

OTHER = f"""#!{sys.executable}
import os, sys, time
from pathlib import Path
from pro0.link.streams import *
from pro0.terminals import protocol
here, version = Path(__file__).parent, {__version__!r}
home = Stream(0, 1)
count = len(list(here.glob("call-*"))) + 1
(here / f"call-{{count}}").touch()
def heard(wanted):
    while True:
        for kind, payload in home.read():
            if kind == wanted:
                return protocol.unpacked(payload)
        time.sleep(0.02)
"""
"""The start of such an `ssh`: `count` says how often it was called."""


IMPATIENT = """
import sys
from pro0.link import __main__, near
near.GREETS, near.SILENT = {}, {}
__main__.main(sys.argv[1:])
"""


class Near:
    """One link, its terminal, and what it told its guard."""

    def __init__(
        self,
        folder: Path,
        ssh: str,
        greets: float = near_module.GREETS,
        silent: float = near_module.SILENT,
        *,
        again: bool = False,
    ) -> None:
        self.record = folder / "one.host.json"
        File(folder, self.record.name, Hosted).create(
            Hosted(
                agent_id="bob",
                incarnation="one",
                there="there",
                host="build1",
                ssh=ssh,
                team="alpha",
                project=str(folder),
                argv=("true",),
                again=again,
            )
        )
        self.terminal, inner = pty.openpty()
        self._told, telling = os.pipe()
        os.set_blocking(self._told, False)
        self.process = subprocess.Popen(
            (sys.executable, "-c", IMPATIENT.format(greets, silent), str(self.record)),
            stdin=inner,
            stdout=inner,
            stderr=inner,
            env={**os.environ, "PRO0_STATE_FD": str(telling)},
            pass_fds=(telling,),
            start_new_session=True,
        )
        for descriptor in (inner, telling):
            os.close(descriptor)
        self._text = b""

    def ends(self) -> tuple[int, str]:
        """Wait until it has ended; return its exit code, and what its terminal shows."""
        code, shown = self.process.wait(STUCK), b""
        try:
            while data := os.read(self.terminal, 1 << 16):
                shown += data
        except OSError:
            pass
        return code, shown.decode(errors="replace")

    def notes(self) -> list[str]:
        """Return the notes that it told."""
        try:
            self._text += os.read(self._told, 1 << 16)
        except BlockingIOError:
            pass
        return [str(json.loads(line)["note"]) for line in self._text.splitlines()]


@pytest.fixture
def near(tmp_path: Path) -> Iterator[list[Near]]:
    """The links of a test; none is left."""
    links: list[Near] = []
    yield links
    for link in links:
        link.process.kill()
        link.process.wait()
        os.close(link.terminal)


def other(folder: Path, acts: str) -> str:
    """Return an `ssh` that does this."""
    program = folder / "ssh"
    program.write_text(OTHER + acts)
    program.chmod(0o700)
    return str(program)


@pytest.mark.parametrize(
    ("acts", "says"),
    [
        ("", "no-such-ssh cannot be run: there is no such program"),
        ("home.send(HELLO, {'version': '9.9'}); heard(BEGIN)", f"pro0 9.9 there, {__version__} here"),
        ("os.write(1, b'Welcome to build1\\n'); heard(BEGIN)", "does its shell print something at its start?"),
        ("sys.exit('Permission denied')", "Permission denied"),
        ("sys.stderr.write('pro0: not found\\n'); sys.exit(127)", "pro0 is not installed there"),
    ],
)
def test_a_machine_that_begins_nothing_is_named_with_the_reason(
    acts: str, says: str, near: list[Near], tmp_path: Path
) -> None:
    """A banner or a warning of ssh is no reason (behaviour 3.32)."""
    banner = "sys.stderr.write('Authorized use only\\n'); sys.stderr.flush()\n"
    near.append(link := Near(tmp_path, other(tmp_path, banner + acts) if acts else "no-such-ssh"))
    code, shown = link.ends()
    assert code == NOT_BEGUN
    assert f"build1 cannot be reached: {says}" in shown.replace("it sends what no pro0 sends; ", "")
    assert not link.record.exists()


RETURNS = """
home.send(HELLO, {"version": version})
heard(BEGIN)
if count == 2:
    home.send(REFUSED, {"why": "no space left there"})
    heard(END)  # which never comes: it goes with who holds the connection
home.send(BEGUN, {})
if count > 2:
    home.send(OVER, {"code": 0, "signal": None, "reason": ""})
"""


def test_a_machine_that_cannot_go_on_is_asked_again(near: list[Near], tmp_path: Path) -> None:
    """A cut connection ends nobody, and what keeps the next one from going on is said (behaviour 3.32)."""
    near.append(link := Near(tmp_path, other(tmp_path, RETURNS)))
    assert link.ends()[0] == 0
    notes = [note for note in link.notes() if note]
    assert len(notes) == 2
    assert notes[0].endswith("closed")
    assert notes[1].endswith("no space left there")
    assert notes[0].split(": ")[0] == notes[1].split(": ")[0], "since when it is out of reach"


def test_a_machine_that_says_nothing_is_tried_again(near: list[Near], tmp_path: Path) -> None:
    """Its ssh lets us in, and its pro0 hangs (behaviour 3.32): on a disk that is gone, for example."""
    silent = "if count != 2: heard(END)\n"  # which never comes: it goes with who holds the connection
    begins = 'home.send(HELLO, {"version": version}); heard(BEGIN); home.send(BEGUN, {})'
    near.append(link := Near(tmp_path, other(tmp_path, silent + begins), greets=1.0))
    code, shown = link.ends()
    assert code == NOT_BEGUN
    assert "build1 cannot be reached: its pro0 has sent nothing for 1 s" in shown
    near.append(link := Near(tmp_path, other(tmp_path, silent + begins), greets=5.0))  # it begins on a busy machine too
    wait_until(lambda: len(list(tmp_path.glob("call-*"))) > 3, STUCK, "it is tried again")
    assert link.notes()[-1].endswith("its pro0 has sent nothing for 5 s")


def test_a_session_from_before_a_restart_of_home_is_never_begun_anew(near: list[Near], tmp_path: Path) -> None:
    """The machine is asked for what began there, however long it is out of reach (behaviour 3.32)."""
    script = """
if count > 2:
    home.send(HELLO, {"version": version})
    again = heard(BEGIN)["again"]
    home.send(OVER, {"code": 5 if again else 6, "signal": None, "reason": ""})
"""
    near.append(link := Near(tmp_path, other(tmp_path, script), again=True))
    assert link.ends()[0] == 5
    notes = [note for note in link.notes() if note]
    assert notes
    assert all("build1 has been out of reach since " in note for note in notes), notes
    assert not any("since :" in note for note in notes)


FALLS_SILENT = """
home.send(HELLO, {"version": version})
heard(BEGIN)
home.send(BEGUN, {})
for _ in range(8 if count == 1 else 0):
    time.sleep(0.5)
    home.send(ALIVE, {})
heard(END)  # which never comes: it goes with who holds the connection
"""


def test_a_machine_that_falls_silent_is_out_of_reach(near: list[Near], tmp_path: Path) -> None:
    """Over a connection that the person shares, ssh itself never says so (behaviour 3.32)."""
    near.append(link := Near(tmp_path, other(tmp_path, FALLS_SILENT), silent=2.0))
    wait_until(lambda: len(list(tmp_path.glob("call-*"))) > 1, STUCK, "it is tried again")
    [note] = [note for note in link.notes() if note]
    assert note.endswith("its pro0 has sent nothing for 2 s")


WITHOUT_SIGNS = """
home.send(HELLO, {"version": version})
heard(BEGIN)
home.send(BEGUN, {})
time.sleep(3)
home.send(OVER, {"code": 0})
"""


def test_a_machine_that_never_gave_a_sign_may_be_silent(near: list[Near], tmp_path: Path) -> None:
    """Its pro0 may be one that gives none."""
    near.append(link := Near(tmp_path, other(tmp_path, WITHOUT_SIGNS), silent=0.5))
    code, _shown = link.ends()
    assert code == 0
    assert len(list(tmp_path.glob("call-*"))) == 1


HANGS = """
import subprocess
with (here / "proxies").open("a") as told:
    told.write(f"{subprocess.Popen(('sleep', '1000')).pid}\\n")
"""
"""What ssh starts to reach a machine, and leaves to a signal that this link's ssh and all below it do not take."""


@pytest.mark.parametrize("hangs", [False, True], ids=["it ends", "it hangs"])
def test_what_ssh_has_started_goes_with_it(near: list[Near], tmp_path: Path, hangs: bool) -> None:
    """Each try to reach a machine would leave one (behaviour 3.32)."""
    ends = "home.send(HELLO, {'version': version}); heard(BEGIN); home.send(BEGUN, {}); home.send(OVER, {'code': 0})"
    acts = f"{HANGS}{ends}\n" + ("time.sleep(1000)\n" if hangs else "")
    near.append(link := Near(tmp_path, other(tmp_path, acts)))
    link.ends()
    started = (tmp_path / "proxies").read_text().split()
    assert len(started) == 1
    wait_until(lambda: not any(map(psutil.pid_exists, map(int, started))), 3.0, "it has gone")


RESIZED = """
home.send(HELLO, {"version": version})
heard(BEGIN)
(here / "begins").touch()
size = heard(protocol.SIZE)
home.send(BEGUN, {})
home.send(OVER, {"code": size["columns"], "signal": None, "reason": ""})
"""


def test_a_size_that_changes_while_it_begins_is_told(near: list[Near], tmp_path: Path) -> None:
    """Its terminal is shown at home (behaviour 3.32): panes get their sizes while the connection is made."""
    near.append(link := Near(tmp_path, other(tmp_path, RESIZED)))
    wait_until((tmp_path / "begins").exists, STUCK, "it begins there")
    fcntl.ioctl(link.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 101, 0, 0))
    link.process.send_signal(signal.SIGWINCH)
    assert link.ends()[0] == 101
