"""The stage of a proof: a home of its own, a team of one, its model, and pro0 as a person calls it."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping

from pro0 import looking, processes
from pro0.agents.adapter import Adapter
from pro0.cli.demo.scratch import Scratch
from pro0.cli.prove.model import MARKER, ProofModel
from pro0.cli.prove.pane import MemberPane, NotHeld
from pro0.config import USER_FILE
from pro0.errors import EnvironmentMissing, StoreError
from pro0.git.commands import Git
from pro0.model.runtime import ENDED, Process, SeatState, State
from pro0.scripted_model.server import Provider
from pro0.scripted_model.setups import SETUPS
from pro0.store.paths import HOME_VARIABLE, LEAD_LOG
from pro0.store.teams import Store

TEAM = "proof"
MEMBER = "w1"
PAUSE = 0.1
"""Seconds between two looks."""
STARTING = 3
"""A start may take this many times as long as any other step."""
SHORT = 3.0
"""Seconds to watch for something that must not happen."""
ROOM = 1 << 20
"""Bytes that must fit on a disk, which is full otherwise."""
_OF_THE_MACHINE = (StoreError.exit_code, EnvironmentMissing.exit_code)
KEPT = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "SHELL", "USER", "LOGNAME", "TZ")
"""The variables of the person that a proof gets: none with a key, an address or a setting."""


def broken_off(why: str) -> EnvironmentMissing:
    """Return the error of a proof that this machine cut short."""
    return EnvironmentMissing(f"the proof broke off: {why}", hint="pro0 doctor, then prove it again")


class ProofStage:
    """One team of one member; `patience` is the number of seconds that one step may take."""

    def __init__(self, adapter: Adapter, scratch: Scratch, provider: Provider, patience: float) -> None:
        self.adapter = adapter
        self.patience = patience
        self.model = ProofModel()
        self.provider = provider
        self.project = scratch.project
        self.environment = _environment(adapter.name, scratch, provider)
        self._team = Store(scratch.home).team(TEAM)
        self._letters = 0
        provider.script(MARKER, self.model)

    def begin(self) -> None:
        """Start the team."""
        words = ("--detach", "--mode", "tmux", "--lead", "none", "--permission-mode", "ask")
        self.pro0("team", "start", TEAM, *words, "-m", f"{MEMBER}={self.adapter.name}")

    def pro0(self, *words: str) -> str:
        """Run a pro0 command as a person does, and return its output; raises NotHeld when it fails.

        Raises EnvironmentMissing when this machine is the cause: such a failure says nothing about the agent.
        """
        argv = [sys.executable, "-I", "-m", "pro0", *words]
        try:
            done = subprocess.run(
                argv,
                cwd=self.project,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=4 * self.patience,
            )
        except subprocess.TimeoutExpired as error:
            raise NotHeld(f"pro0 {' '.join(words[:2])} does not end") from error
        if done.returncode:
            lines = done.stderr.strip().splitlines() or ["it fails"]
            reason = next((line for line in lines if line.startswith("pro0: ")), lines[0])
            if done.returncode in _OF_THE_MACHINE:
                raise broken_off(f"pro0 {' '.join(words[:2])}: {reason.removeprefix('pro0: ')}")
            raise NotHeld(f"pro0 {' '.join(words[:2])}: {reason}")
        return done.stdout

    def letter(self, text: str = "") -> str:
        """Send the member a letter, and return its text, by default one that no other letter has."""
        self._letters += 1
        words = text or f"Letter {self._letters} of this proof."
        self.pro0("send", MEMBER, words)
        return words

    def next_number(self) -> int:
        """Return the number of a new step."""
        self._letters += 1
        return self._letters

    def seat(self) -> SeatState:
        """Return the lead's record of the member's session."""
        self.until(lambda: self._team.runtime.read().seats, "it has no session")
        return self._team.runtime.read().seats[0]

    def state(self) -> State:
        """Return the recorded state."""
        return self.seat().state

    def pane(self) -> MemberPane:
        """Return the member's pane."""
        handle = self.seat().handle
        if handle is None:
            raise NotHeld("its pane is not known")
        return MemberPane(handle, self.environment, self.adapter.screens)

    def becomes(self, *states: State) -> None:
        """Wait until the member is seen in one of these states."""
        try:
            self.until(lambda: self.state() in states or self.state() in ENDED - {*states}, "")
            if self.state() not in states:
                raise NotHeld
        except NotHeld as error:
            seat = self.seat()
            rule = f" ({seat.rule})" if seat.rule else ""
            raise NotHeld(
                f"it is {seat.state}{rule}, not {states[0]}; its screen ends with {self._ends_with()}"
            ) from error

    def until(self, met: Callable[[], object], otherwise: str, times: int = 1) -> None:
        """Wait until a condition is true; raises NotHeld with the text `otherwise` when that takes too long."""
        deadline = time.monotonic() + times * self.patience
        while not met():
            if time.monotonic() > deadline:
                raise NotHeld(otherwise)
            time.sleep(PAUSE)

    def never(self, met: Callable[[], object], otherwise: str) -> None:
        """Watch that a condition stays false for a while; raises NotHeld with the text `otherwise` if it does not."""
        deadline = time.monotonic() + SHORT
        while time.monotonic() < deadline:
            if met():
                raise NotHeld(otherwise)
            time.sleep(PAUSE)

    def require_room(self) -> None:
        """Raise EnvironmentMissing when the disk is full: a failed check is then no fault of the agent."""
        probe = self.project.parent / "room"
        try:
            probe.write_bytes(bytes(ROOM))
            probe.unlink()
        except OSError as error:
            raise broken_off(f"nothing can be written to {probe.parent}: {error.strerror}") from error

    def require_understood(self) -> None:
        """Raise EnvironmentMissing when the scripted model could not read a request: the failure may be the model's."""
        if self.provider.faults:
            raise broken_off(f"the scripted model does not understand {self.adapter.name}: {self.provider.faults[0]}")

    def carriers(self) -> set[str]:
        """Return the ways in which the member was told of mail: its own channel, or typed keys."""
        log = self._team.paths.logs / LEAD_LOG
        events = map(json.loads, log.read_text(encoding="utf-8").splitlines()) if looking.exists(log) else ()
        return {str(event["by"]) for event in events if event["event"] == "nudged" and not event["queued"]}

    def session_processes(self) -> list[Process]:
        """Return the processes that run in the member's sessions."""
        tags = {"PRO0_AGENT_ID": MEMBER, "PRO0_TEAM": TEAM, HOME_VARIABLE: self.environment[HOME_VARIABLE]}
        return [process for process, values in processes.having(tags) if values == tags]

    def _ends_with(self) -> str:
        try:
            return repr(self.pane().last_row())
        except (NotHeld, OSError, subprocess.SubprocessError):
            return "nothing that can be seen"


def make(scratch: Scratch, agent: str, provider: Provider) -> None:
    """Make the folder of a proof: the project, and the home and settings of a person who uses this agent."""
    scratch.make()
    scratch.project.mkdir()
    scratch.home.mkdir(mode=0o700)
    (scratch.home / USER_FILE).write_text("verdicts: scripts\n", encoding="utf-8")
    SETUPS[agent](provider.url, scratch.project).write(scratch.user)
    Git(scratch.project).run("init", "--quiet", "--template=")


def _environment(agent: str, scratch: Scratch, provider: Provider) -> Mapping[str, str]:
    """Return the environment of a proof: dummy keys, one address on this machine, and a proxy that leads nowhere."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    local = "127.0.0.1,localhost"
    nowhere = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), provider.url)
    setup = SETUPS[agent](provider.url, scratch.project).environment
    return scratch.environment(kept) | nowhere | {"NO_PROXY": local, "no_proxy": local} | setup
