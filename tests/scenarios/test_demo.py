"""The demo as a person meets it: whole, interrupted, broken; never anything left behind."""

import fcntl
import json
import os
import pty
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from pro0.cli.demo.plan import MEMBERS
from tests.cli.test_outputs import fits
from tests.leftovers import processes_under
from tests.waiting import STUCK, wait_until

FOLDER = re.compile(r"/tmp/pro0-demo-\w+")
ESCAPE = "\x1b["
HOSTILE = {
    "PRO0_TEAM": "alpha",
    "PRO0_AGENT_ID": "w1",
    "PRO0_INCARNATION": "00000000-0000-4000-8000-000000000000",
    "PRO0_TEAMMATE_MODE": "tmux",
    "TMUX": "/nowhere/socket,1,0",
    "GIT_DIR": "/nowhere",
    "GIT_INDEX_FILE": "/nowhere/index",
    "PYTHONPATH": "/nowhere",
}
"""What a session of pro0 inside tmux inside a git hook would hand down."""
PROGRAM = (sys.executable, "-m", "pro0", "demo")

BROKEN = """
import sys
from functools import partial
from msgspec.structs import replace
from pro0.cli.demo import plan, story
from pro0.cli.main import main

tasks = [replace(task, run="exit 3") if task.title == "test words.py" else task for task in plan.TASKS]
story.perform = partial(story.perform, tasks=tasks)
sys.exit(main(["demo", "--mode", "headless"]))
"""

DROPPED = """
import os, signal, sys, weakref

class Dying:
    pass

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == where:
            sys.stderr.write(f"during the import of {name}\\n")
            dying = Dying()
            reference = weakref.ref(dying, lambda _: os.kill(os.getpid(), signal.SIGINT))
            del dying

where = sys.argv.pop()
sys.meta_path.insert(0, Finder())
from pro0.cli.main import entry
sys.exit(entry())
"""
"""Interrupts itself once, where Python drops what that raises: in a callback, as the locks of imports have them too."""
IN_A_TEXT = """
import sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "pro0.sessions.headless":
            sys.stderr.write("in a text\\n")
            exec("import signal; signal.raise_signal(signal.SIGINT)")

sys.meta_path.insert(0, Finder())
from pro0.cli.main import entry
sys.exit(entry())
"""
"""Interrupts itself while `exec` runs a text, as in the making of a dataclass."""
DURING_A_WAIT = """
import signal, sys, threading

def interrupted(condition, state):
    threading.Condition._acquire_restore = restore
    sys.stderr.write("during a wait\\n")
    signal.raise_signal(signal.SIGINT)

restore, threading.Condition._acquire_restore = threading.Condition._acquire_restore, interrupted
from pro0.cli.main import entry
sys.exit(entry())
"""
"""Interrupts itself once, where Python makes another error of it: its lock is not taken again, and then released."""
FROM_ITS_FIRST_LINE = """
import sys
from pro0.cli.main import entry
sys.stderr.write("begun\\n")
sys.exit(entry())
"""
"""Until there Python alone would have to keep an interrupt."""


class Demo(NamedTuple):
    """A demo that runs, and where its progress can be read."""

    process: "subprocess.Popen[str]"
    progress: Path
    user: Path

    def said(self) -> str:
        """Return the progress so far."""
        return self.progress.read_text(encoding="utf-8")

    def end(self, seconds: float) -> tuple[int, str]:
        """Wait for its end; return its exit code and what is on stdout."""
        out, _ = self.process.communicate(timeout=seconds)
        return self.process.returncode, out

    def leaves_nothing(self) -> None:
        """Check that nothing of it is left."""
        nothing_is_left(self.said(), self.user)


def nothing_is_left(progress: str, user: Path) -> None:
    """Check that no process, socket or file is left, neither in the demo's folder nor in the person's home."""
    for folder in map(Path, FOLDER.findall(progress)):
        assert not folder.exists()
        assert not processes_under(folder)
    assert list(user.iterdir()) == []
    assert not Path(os.environ["PRO0_HOME"]).exists()


@pytest.fixture
def user(home: Path) -> Path:
    return Path(os.environ["HOME"])


def start(tmp_path: Path, user: Path, *argv: str, env: Mapping[str, str] | None = None) -> Demo:
    progress = tmp_path / "progress"
    with progress.open("w") as stderr:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            cwd=tmp_path,
            env={**os.environ, **(env or {})},
        )
    return Demo(process, progress, user)


def test_it_holds_without_a_terminal_inside_a_session_inside_tmux(tmp_path: Path, user: Path) -> None:
    """Must show 1 and 9: headless, with another session's identity around it, and no git identity."""
    demo = start(tmp_path, user, *PROGRAM, "--mode", "headless", "--json", env=HOSTILE)
    code, out = demo.end(180)
    assert code == 0, demo.said()
    fits(["demo"], out)
    summary = json.loads(out)
    assert summary["held"]
    assert [check["name"] for check in summary["checks"] if not check["held"]] == []
    assert {worker["name"] for worker in summary["members"]} == set(MEMBERS)
    assert sum(len(worker["tasks"]) for worker in summary["members"]) == 12
    assert summary["recovered"]["retakenBy"] not in ("", summary["recovered"]["member"])
    assert ESCAPE not in demo.said() + out
    demo.leaves_nothing()


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """Both ends of a terminal of 100 columns and 30 lines."""
    person, program = pty.openpty()
    fcntl.ioctl(program, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    yield person, program
    os.close(person)


def test_it_holds_on_a_terminal_in_tmux(tmp_path: Path, user: Path, terminal: tuple[int, int]) -> None:
    """Must show 1 and 9: the panel is drawn in place, the way to watch is said, the summary ends it."""
    person, program = terminal
    env = os.environ | {"TERM": "xterm-256color"}
    process = subprocess.Popen(
        [*PROGRAM, "--mode", "tmux"], stdin=program, stdout=program, stderr=program, cwd=tmp_path, env=env
    )
    os.close(program)
    screen = "".join(read(person))
    assert process.wait(STUCK) == 0, screen
    assert "12 of 12 passed" in screen
    assert "tmux -S " in screen
    assert "Ctrl-C ends and removes it all" in screen
    assert ESCAPE in screen
    nothing_is_left(screen, user)


def read(terminal: int) -> Iterator[str]:
    """Yield what comes to a terminal until its program has closed it."""
    while True:
        try:
            data = os.read(terminal, 65536)
        except OSError:  # Linux says so in this way
            return
        if not data:
            return
        yield data.decode(errors="replace")


@pytest.mark.parametrize(
    ("mode", "moment", "number"),
    [
        ("headless", "Lines with $", signal.SIGINT),
        ("tmux", "mode tmux", signal.SIGINT),
        pytest.param("tmux", "takes task-2", signal.SIGHUP, marks=pytest.mark.soak),
        ("headless", "is killed in the middle", signal.SIGTERM),
        pytest.param("tmux", "pro0 team stop", signal.SIGINT, marks=pytest.mark.soak),
    ],
)
def test_interrupted_at_any_moment_it_leaves_nothing(
    tmp_path: Path, user: Path, mode: str, moment: str, number: signal.Signals
) -> None:
    demo = start(tmp_path, user, *PROGRAM, "--mode", mode)
    wait_until(lambda: moment in demo.said() or demo.process.poll() is not None, 120, moment)
    demo.process.send_signal(number)
    code, out = demo.end(60)
    assert code == 130, demo.said()
    assert "interrupted" in demo.said()
    assert out == ""
    demo.leaves_nothing()


@pytest.mark.parametrize(
    "module",
    [
        "pro0.cli.call",
        pytest.param("click.types", marks=pytest.mark.soak),
        "pro0.cli.demo.command",
        pytest.param("pro0.cli.demo.story", marks=pytest.mark.soak),
        pytest.param("rich.table", marks=pytest.mark.soak),
        "pro0.agents.shell",
        "pro0.sessions.headless",
    ],
)
def test_an_interrupt_that_python_drops_is_not_lost(tmp_path: Path, user: Path, module: str) -> None:
    """An interrupt in the first second of the demo was now and then swallowed, and the demo went on to its end."""
    demo = start(tmp_path, user, sys.executable, "-c", DROPPED, "demo", "--mode", "headless", module)
    code, out = demo.end(STUCK)
    assert f"during the import of {module}" in demo.said()
    assert (code, out) == (130, ""), demo.said()
    assert "Traceback" not in demo.said()
    assert "Exception ignored" not in demo.said()
    demo.leaves_nothing()


def test_an_interrupt_in_the_making_of_a_class_has_the_code_of_any_other(tmp_path: Path, user: Path) -> None:
    """`python -m pro0 demo` was now and then ended by the signal itself."""
    (tmp_path / "interrupted.py").write_text(IN_A_TEXT)
    demo = start(tmp_path, user, sys.executable, "-m", "interrupted", "demo", "--mode", "headless")
    assert demo.end(STUCK) == (130, ""), demo.said()
    assert "in a text" in demo.said()
    demo.leaves_nothing()


def test_an_interrupt_during_a_wait_is_no_fault(tmp_path: Path, user: Path) -> None:
    """Now and then the demo said "internal error: release unlocked lock"."""
    demo = start(tmp_path, user, sys.executable, "-c", DURING_A_WAIT, "demo", "--mode", "headless")
    assert demo.end(STUCK) == (130, ""), demo.said()
    assert "during a wait" in demo.said()
    assert "interrupted: ending and removing everything" in demo.said()
    demo.leaves_nothing()


MOMENTS = [pytest.param(number, marks=() if number % 10 == 0 else pytest.mark.soak) for number in range(60)]
"""Sixty in all; each tenth in the short lane."""


@pytest.mark.parametrize("number", MOMENTS)
def test_interrupted_in_its_first_two_seconds_it_leaves_nothing(tmp_path: Path, user: Path, number: int) -> None:
    """At sixty drawn moments, wherever the program is by then."""
    demo = start(tmp_path, user, sys.executable, "-c", FROM_ITS_FIRST_LINE, "demo", "--mode", "headless")
    wait_until(lambda: "begun" in demo.said(), STUCK, "it has begun", every=0.002)
    time.sleep(random.Random(number).uniform(0, 2))
    demo.process.send_signal(signal.SIGINT)
    assert demo.end(STUCK) == (130, ""), demo.said()
    assert "Traceback" not in demo.said()
    demo.leaves_nothing()


def test_a_broken_step_is_named_and_leaves_nothing(tmp_path: Path, user: Path) -> None:
    demo = start(tmp_path, user, sys.executable, "-c", BROKEN)
    code, out = demo.end(120)
    assert code == 1, demo.said()
    assert "task-5, test words.py, failed: exit code 3" in out
    assert "pro0: checks of the demo failed: the story (it broke off at “Work for it”: task-5" in demo.said()
    demo.leaves_nothing()


def test_kept_the_folder_stays_and_is_named(tmp_path: Path, user: Path) -> None:
    """--keep: also of a demo that did not hold; only its processes end."""
    code = BROKEN.replace('"headless"]', '"headless", "--keep"]')
    demo = start(tmp_path, user, sys.executable, "-c", code)
    assert demo.end(120)[0] == 1
    kept = re.search(r"kept: (/tmp/pro0-demo-\w+)", demo.said())
    assert kept
    folder = Path(kept[1])
    assert (folder / "tally" / ".git").is_dir()
    assert not processes_under(folder)
    shutil.rmtree(folder)
    demo.leaves_nothing()
