"""Processes that a person owns and that look like a team's: each in one way, made as a table from the team's own.

None of them was started by a guard, and that alone counts: whatever ends the team must leave every one as it is.
"""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

import psutil

from pro0 import processes, resources
from pro0.model.runtime import Process
from pro0.processes.arguments import arguments
from tests.waiting import STUCK

SLEEP = str(shutil.which("sleep"))
LONG = "3600"
DISGUISED = Path(__file__).parent / "programs" / "disguised.py"
NONE: Mapping[str, str] = {}
NAMES = ("pro0", "python3", "claude", "tmux: server")
"""What the kernel calls the processes of a team."""
FAMILY = {
    "a job of the shell": "{sleep} & echo $!",
    "nohup": "nohup {sleep} >/dev/null 2>&1 & echo $!",
    "setsid": "setsid {sleep} & echo $!",
    "its parent is gone": "({sleep} & echo $!)",
}
"""What a shell starts that took `pro0 member env`; each line prints a pid."""


class Seat(NamedTuple):
    """A member as the system shows it."""

    name: str
    incarnation: str
    guard: Process
    agent: Process

    def variables(self) -> dict[str, str]:
        """Return what its agent was started with."""
        return psutil.Process(self.agent.pid).environ()


class LookAlikes:
    """A person's processes, by what is like the team's about them."""

    def __init__(self, home: Path, project: Path, folder: Path, stack: ExitStack) -> None:
        self.home, self.project, self.folder = home, project, folder
        self.found: dict[str, Process] = {}
        self._stack = stack
        self._theirs = {name: text for name, text in os.environ.items() if not name.startswith("PRO0_")}
        self._bin = folder / "names"
        self._bin.mkdir()

    def ended(self) -> list[str]:
        """Return what those were like that are no more."""
        return [what for what, process in self.found.items() if not processes.alive(process)]

    def add(self, what: str, pid: int) -> None:
        """Note one that runs."""
        found = processes.identify(pid)
        assert found, what
        assert what not in self.found, what
        self._stack.callback(processes.signal_process, found, 9)
        self.found[what] = found

    def start(
        self, what: str, *argv: str, program: str = SLEEP, cwd: str | None = None, has: Mapping[str, str] = NONE
    ) -> None:
        """Start one, without any variable of pro0 but these."""
        called = argv or ("sleep", LONG)
        self._popen(what, called, program, self._theirs | dict(has), cwd)

    def disguised(self, what: str, argv: list[str], has: Mapping[str, str] = NONE) -> None:
        """Start one that shows exactly these arguments."""
        size = sum(len(os.fsencode(word)) + 1 for word in argv)
        fill = "x" * (size - len("p -IS - ") - 1)
        environment = self._theirs | dict(has) | {"DISGUISE": "\n".join(argv)}
        self._python(what, ["p", "-IS", "-", fill], environment)
        assert arguments(self.found[what].pid) == argv

    def listening(self, what: str, path: Path) -> None:
        """Start one that listens at this path."""
        self._python(what, ["p", "-IS", "-"], self._theirs | {"LISTEN": str(path)})

    def family(self, name: str) -> None:
        """Take `pro0 member env` of a member in a shell, as the guide says, and start a few things from there."""
        pro0 = f"PRO0_HOME={shlex.quote(str(self.home))} {shlex.quote(sys.executable)} -I -m pro0"
        taken = f'said=$({pro0} member env {name} -t alpha) && eval "$said" || exit'
        lines = [taken, *(line.format(sleep=f"sleep {LONG}") for line in FAMILY.values()), "echo $$; read _"]
        shell = self._popen(
            f"took env of {name}", ("sh", "-c", "\n".join(lines)), "/bin/sh", self._theirs, self.project
        )
        assert shell.stdout
        for what in FAMILY:
            self.add(f"took env of {name}: {what}", int(shell.stdout.readline()))
        assert int(shell.stdout.readline()) == shell.pid

    def _python(self, what: str, argv: list[str], environment: dict[str, str]) -> None:
        child = self._popen(what, argv, os.path.realpath(sys.executable), environment, None)
        assert child.stdin
        assert child.stdout
        child.stdin.write(DISGUISED.read_text())
        child.stdin.close()
        assert child.stdout.readline() == "here\n", what

    def _popen(
        self, what: str, argv: Sequence[str], program: str, environment: dict[str, str], cwd: "str | Path | None"
    ) -> "subprocess.Popen[str]":
        pipe = subprocess.PIPE
        child = subprocess.Popen(
            argv, executable=program, env=environment, cwd=cwd or self.folder, stdin=pipe, stdout=pipe, text=True
        )
        self._stack.callback(_reap, child)
        self.add(what, child.pid)
        return child


def surround(alikes: LookAlikes, seats: Sequence[Seat], lead: Process, uid: str) -> None:
    """Start one for each way of being like this team that needs no pane."""
    of_variables(alikes, seats, lead)
    for seat in seats:
        alikes.family(seat.name)
    of_places(alikes, seats)
    if sys.platform == "linux":
        of_arguments(alikes, seats, lead)
    for name in NAMES:
        program = alikes.folder / "names" / name
        program.symlink_to(SLEEP)
        alikes.start(f"called {name}", program=str(program), has={"PRO0_TEAM_UID": uid})


def of_variables(alikes: LookAlikes, seats: Sequence[Seat], lead: Process) -> None:
    """Copy environments: whole, one variable alone, all but one; of another member each time."""
    for seat in seats:
        alikes.start(f"all variables of {seat.name}", has=seat.variables())
    alikes.start("all variables of a guard", has=psutil.Process(seats[0].guard.pid).environ())
    alikes.start("all variables of the lead", has=psutil.Process(lead.pid).environ())
    alikes.start("PRO0_LEAD and all variables", has=(seats[0].variables() | {"PRO0_LEAD": "1"}))
    names = [name for name in sorted(seats[0].variables()) if name.startswith(("PRO0_", "TMUX"))]
    for number, name in enumerate(names):
        said = seats[number % len(seats)].variables()
        alikes.start(f"only {name}", has={name: said[name]})
        alikes.start(f"all but {name}", has={other: text for other, text in said.items() if other != name})


def of_places(alikes: LookAlikes, seats: Sequence[Seat]) -> None:
    """Be where the team is: in its folders, with its files open, at sockets beside its own."""
    sessions = alikes.home / "teams" / "alpha" / "sessions"
    places = [alikes.project, alikes.home, sessions, *(psutil.Process(seat.agent.pid).cwd() for seat in seats[:2])]
    for number, place in enumerate(places):
        alikes.start(f"works in place {number}", cwd=str(place), has=seats[0].variables())
    report = shlex.quote(str(sessions / f"{seats[1].incarnation}.json"))
    alikes.start("has a report open", "sh", "-c", f"exec 8<{report}; exec sleep {LONG}", program="/bin/sh")
    alikes.start("names a session", "sh", "-c", "read _", seats[1].incarnation, program="/bin/sh")
    alikes.listening("listens among the sessions", sessions / f"{seats[1].incarnation}.other")
    Path(os.environ["TMUX_TMPDIR"], "tmux-0").mkdir(mode=0o700, exist_ok=True)
    alikes.listening("listens among the servers", Path(os.environ["TMUX_TMPDIR"], "tmux-0", "pro0-0a1b2c3d"))


def of_arguments(alikes: LookAlikes, seats: Sequence[Seat], lead: Process) -> None:
    """Be called exactly as those of the team are, some with their variables too."""
    for seat in seats[:3]:
        alikes.disguised(f"called as the guard of {seat.name}", arguments(seat.guard.pid))
    guard = arguments(seats[1].guard.pid)
    alikes.disguised("called as a guard, with its variables", guard, has=psutil.Process(seats[1].guard.pid).environ())
    alikes.disguised("called as a guard, with its agent's variables", guard, has=seats[1].variables())
    alikes.disguised("called as a guard of another checkout", [*guard[:-2], "/opt/pro0/guard/__main__.py", guard[-1]])
    alikes.disguised("called as an agent", arguments(seats[1].agent.pid), has=seats[1].variables())
    called = arguments(lead.pid)
    alikes.disguised("called as the lead", called)
    alikes.disguised("called as the lead, with its variables", called, has=psutil.Process(lead.pid).environ())
    alikes.disguised("called as a lead that was revived", list(resources.lead_argv("alpha", revived=True)))


def in_panes(alikes: LookAlikes, socket: str, panes: Mapping[str, str], mine: str, uid: str) -> None:
    """Put a person's programs among the panes of a team; `mine` is a target for windows of the person's own."""
    sleep, told = ("sleep", LONG), ("-d", "-P", "-F", "#{pane_id} #{pane_pid}")

    def tmux(*words: str) -> str:
        return subprocess.run(
            ["tmux", "-S", socket, *words], check=True, capture_output=True, text=True, timeout=STUCK
        ).stdout.strip()

    def made(what: str, *words: str) -> str:
        pane, pid = tmux(*words, *told, *sleep).split()
        alikes.add(what, int(pid))
        return pane

    def respawned(what: str, pane: str) -> None:
        tmux("respawn-pane", "-k", "-t", pane, *sleep)
        alikes.add(what, int(tmux("display-message", "-p", "-t", pane, "#{pane_pid}")))

    respawned("in a respawned pane", panes["w5"])
    respawned("in a respawned pane that was moved", panes["w6"])
    tmux("break-pane", "-d", "-s", panes["w6"])
    made("in a window of the person's own", "new-window", "-t", mine)
    made("in a split of a member's pane", "split-window", "-t", panes["w1"])
    tmux(
        "swap-pane", "-d", "-s", made("in a pane swapped with a member's", "new-window", "-t", mine), "-t", panes["w4"]
    )
    tmux("join-pane", "-d", "-s", made("in a pane joined to a member's", "new-window", "-t", mine), "-t", panes["w2"])
    tagged = made("in a pane with all marks of the team's", "new-window", "-t", mine)
    for name in ("@pro0", "@pro0_team", "@pro0_guard", "@pro0_title"):
        tmux("set-option", "-p", "-t", tagged, name, tmux("display-message", "-p", "-t", panes["w4"], f"#{{{name}}}"))
    tmux("set-option", "-w", "-t", tagged, "@pro0_window", uid)


def _reap(child: "subprocess.Popen[str]") -> None:
    child.kill()
    child.wait()
    for stream in (child.stdin, child.stdout):
        with suppress(OSError):
            stream and stream.close()
