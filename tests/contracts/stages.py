"""A place to play for every backend: how its sessions are opened, and how the outside world treats them."""

import os
import shlex
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec.structs import replace

from pro0 import resources
from pro0.model.runtime import Exit, Handle, Launch, Report
from pro0.sessions.backend import Backend, Opening, Place
from pro0.sessions.headless import Headless
from pro0.sessions.in_process import InProcess
from pro0.sessions.iterm2.backend import ITerm2
from pro0.sessions.memory import InMemory
from pro0.sessions.tmux.backend import Tmux
from tests.contracts.stand_in import StandIn
from tests.waiting import STUCK, wait_until

SECONDS = STUCK

RECORDER = """
import os, sys, termios, tty
tty.setraw(0)
with open(sys.argv[1], "ab", buffering=0) as record:
    os.write(1, b"\\x1b[?2004hready\\r\\n")
    while data := os.read(0, 4096):
        record.write(data)
"""
"""A program that asks for bracketed paste and writes down every byte that arrives."""

PERSONS_SETTINGS = """
set -g base-index 1
setw -g pane-base-index 1
setw -g synchronize-panes on
setw -g remain-on-exit on
setw -g allow-rename on
setw -g mode-keys vi
set -g renumber-windows on
set -g default-command 'exec false'
set -g default-shell /bin/sh
set -g history-limit 50
"""

PERSONS_SESSIONS = """
new-session -d -x 200 -y 50 -s team -n pro0-team cat - ';' split-window -t =team: cat - ';'
new-session -d -s team-2 -n pro0-team cat - ';' new-session -d -s pro0-team -n team cat -
"""


def incarnations(handles: tuple[Handle, ...]) -> set[str]:
    return {handle.incarnation for handle in handles}


class Stage:
    """A backend, a place, and what a test may do to sessions from outside."""

    real = True
    """Sessions are processes."""
    terminal = True
    """Sessions have a terminal, so that they can be nudged, and a server that can die."""
    knows_programs = True
    """A program that cannot be started is known before anybody is."""
    history = True
    """What has scrolled away can be looked at, and a long line is one line."""
    refuses_keys = True
    """Keys that the program does not take are refused."""

    def __init__(self, backend: Backend, folder: Path) -> None:
        self.backend = backend
        self.folder = folder
        self.place = Place(team="team", uid=uuid.uuid4().hex, project=folder)
        self.sessions = folder / "sessions"
        self.sessions.mkdir(mode=0o700, exist_ok=True)

    def opening(self, *argv: str, title: str = "worker") -> Opening:
        return Opening(str(uuid.uuid4()), title, argv, self.folder / "logs" / f"{uuid.uuid4().hex}.log")

    def sleepers(self, number: int) -> list[Opening]:
        return [self.opening("sh", "-c", f"echo here is {n}; exec sleep 600", title=f"w-{n}") for n in range(number)]

    def open(self, number: int) -> tuple[Handle, ...]:
        """Open some sessions that say "here is N" and stay."""
        return self.start(self.sleepers(number))

    def start(self, openings: list[Opening]) -> tuple[Handle, ...]:
        return self.backend.open(self.place, openings)

    def recorder(self) -> tuple[Handle, Callable[[], bytes]]:
        """Open a session that records what arrives, and return how to read that."""
        record = self.folder / f"{uuid.uuid4().hex}.record"
        (handle,) = self.start([self.opening(sys.executable, "-c", RECORDER, str(record))])
        self.shows(handle, "ready")
        return handle, record.read_bytes

    def shows(self, handle: Handle, text: str) -> None:
        wait_until(lambda: text in self.backend.peek(handle, 20), SECONDS, f"{handle.pane} shows {text!r}")

    def die(self, handle: Handle) -> None:
        """End a session from outside."""
        os.kill(handle.pid, signal.SIGKILL)

    def ending(self, handle: Handle) -> Exit | None:
        """Return how a session ended, as its guard reports."""
        return msgspec.json.decode((self.sessions / f"{handle.incarnation}.json").read_bytes(), type=Report).exit

    def only_alive(self, handles: tuple[Handle, ...], expected: set[str]) -> None:
        wait_until(lambda: self.backend.alive(handles) == expected, SECONDS, f"alive are only {expected}")

    def world(self) -> list[str]:
        """Return everything that a failed opening might leave: panes, servers."""
        return [self.bystanders(), *sorted(map(str, Path(os.environ["TMUX_TMPDIR"]).glob("*/*")))]

    def bystanders(self) -> str:
        """Return all that is not ours and must stay as it is."""
        return ""

    def leave(self) -> None:
        """End everything."""
        self.backend.dismantle(self.place)


def guarded(stage: Stage, plain: Opening, argv: tuple[str, ...], grace: float = 0.3) -> Opening:
    """Return the opening of a guard for a program."""
    launch = Launch(
        agent_id="ann",
        incarnation=plain.incarnation,
        team=stage.place.team,
        team_uid=stage.place.uid,
        argv=argv,
        cwd=str(stage.folder),
        env={"PATH": os.environ["PATH"]},
        report=str(stage.sessions / f"{plain.incarnation}.json"),
        grace=grace,
        terminal=stage.backend.terminal(stage.place, plain.incarnation),
    )
    file = stage.sessions / f"{plain.incarnation}.start.json"
    file.write_bytes(msgspec.json.encode(launch))
    return replace(plain, argv=resources.guard_argv(file))


class MemoryStage(Stage):
    real = False
    terminal = False

    def __init__(self, folder: Path) -> None:
        self.memory = InMemory()
        super().__init__(self.memory, folder)

    def open(self, number: int) -> tuple[Handle, ...]:
        handles = super().open(number)
        self.memory.screens |= {handle.incarnation: f"here is {n}" for n, handle in enumerate(handles)}
        return handles

    def die(self, handle: Handle) -> None:
        self.memory.die(handle)


class HeadlessStage(Stage):
    terminal = False

    def __init__(self, folder: Path, backend: Backend | None = None) -> None:
        super().__init__(backend or Headless(), folder)
        self.opened: list[Handle] = []

    def start(self, openings: list[Opening]) -> tuple[Handle, ...]:
        handles = super().start(openings)
        self.opened += handles
        return handles

    def leave(self) -> None:
        for handle in self.opened:
            self.backend.close(handle)
        self.only_alive(tuple(self.opened), set())
        super().leave()


class ITerm2Stage(Stage):
    """A stand-in for iTerm2 that this process finds on its PATH."""

    terminal = False
    """It is no tmux: what its nudges do is told in test_iterm2.py."""

    def __init__(self, folder: Path) -> None:
        super().__init__(ITerm2(), folder)
        self.app = StandIn(folder)
        self._kept = {name: os.environ.get(name) for name in self.app.environment}
        os.environ.update(self.app.environment)
        self.place = replace(self.place, iterm2_session=self.app.session)

    def bystanders(self) -> str:
        return f"{self.app.panes()} {self.app.shows(self.app.stranger)}"

    def leave(self) -> None:
        super().leave()
        self.app.ends()
        for name, value in self._kept.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


class InProcessStage(HeadlessStage):
    """Guards with terminals of their own, and what they are told to start."""

    terminal = True

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, InProcess())
        self.place = replace(self.place, terminals=str(self.sessions))

    def opening(self, *argv: str, title: str = "worker") -> Opening:
        """Return the opening of a guard for this program; a program that cannot be a guard's is opened as it is."""
        plain = super().opening(*argv, title=title)
        if argv[0] not in ("sh", sys.executable):
            return plain
        return guarded(self, plain, argv)


class TmuxStage(Stage):
    """A server of its own."""

    def __init__(self, folder: Path) -> None:
        super().__init__(Tmux(), folder)

    @property
    def socket(self) -> str:
        return f"{os.environ['TMUX_TMPDIR']}/tmux-{os.getuid()}/pro0-{self.place.uid[:8]}"

    def tmux(self, *words: str) -> str:
        """Speak to the server that shows the sessions, as a person would."""
        done = subprocess.run(["tmux", "-u", "-S", self.socket, *words], capture_output=True, text=True, timeout=STUCK)
        assert done.returncode == 0, done.stderr
        return done.stdout.rstrip("\n")

    def kill_server(self, handle: Handle) -> None:
        os.kill(handle.server_pid, signal.SIGKILL)

    def restart_server(self) -> None:
        """Make a killed server possible again."""
        self.backend.dismantle(self.place)


class InsideStage(TmuxStage):
    """A person's tmux with odd settings and names like ours."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        (folder / "person.conf").write_text(PERSONS_SETTINGS)
        self.restart_server()

    @property
    def socket(self) -> str:
        return f"{os.environ['TMUX_TMPDIR']}/tmux-{os.getuid()}/person"

    def restart_server(self) -> None:
        server = ("tmux", "-L", "person", "-f", str(self.folder / "person.conf"))
        subprocess.run([*server, *shlex.split(PERSONS_SESSIONS)], check=True, timeout=STUCK)
        inside = self.tmux("display-message", "-p", "-t", "=team:", "#{socket_path},#{pid},#{session_id}")
        self.place = Place(self.place.team, self.place.uid, self.folder, inside.replace(",$", ","))

    def bystanders(self) -> str:
        form = "#{session_id} #{window_id} #{window_index} #{window_name} #{window_active} #{window_layout} "
        form += "#{pane_id} #{pane_index} #{pane_active} #{pane_pid} #{pane_title} #{pane_in_mode} #{history_size}"
        return self.tmux("list-panes", "-a", "-f", f"#{{!=:#{{@pro0_window}},{self.place.uid}}}", "-F", form)

    def leave(self) -> None:
        subprocess.run(["tmux", "-L", "person", "kill-server"], capture_output=True, timeout=STUCK)


STAGES: dict[str, Callable[[Path], Stage]] = {
    "memory": MemoryStage,
    "headless": HeadlessStage,
    "iterm2": ITerm2Stage,
    "in-process": InProcessStage,
    "tmux": TmuxStage,
    "tmux-inside": InsideStage,
}
