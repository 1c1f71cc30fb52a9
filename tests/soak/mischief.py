"""What is done to a team at work: one thing after the other, chosen at random."""

import random
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import psutil

from pro0 import processes
from pro0.errors import Pro0Error
from pro0.model.runtime import Process
from pro0.ops.context import TEAM_UID
from pro0.store import atomic
from pro0.store.lock import locked
from pro0.store.paths import LEASE, LOCK
from tests.engine.crew import Crew
from tests.scenarios.leads import leader
from tests.soak.band import WORKERS, Band

GARBAGE = b'{"schemaVersion":1,"revision":99999,"tasks":[{"id":'


class Mischief:
    """Chooses, does and counts; `sure` are violations seen on the way."""

    def __init__(self, band: Band, seed: int) -> None:
        self.band = band
        self.crew: Crew = band.crew
        self.random = random.Random(seed)
        self.done: Counter[str] = Counter()
        self.seen: list[str] = []
        self._number = 0

    def some(self, *, spare_the_lead: bool) -> None:
        """Do one thing; what cannot be done just now, since somebody is not there, is left."""
        faults = [fault for fault in FAULTS if not (spare_the_lead and fault.ends_the_lead)]
        [fault] = self.random.choices(faults, [fault.weight for fault in faults])
        with suppress(Pro0Error, ProcessLookupError):
            if fault.act(self):
                self.done[fault.name] += 1

    def victim(self) -> str:
        """Any member."""
        return self.random.choice([seat.agent_id for seat in self.crew.team.wanted.read().seats])

    def command(self) -> list[str]:
        """Some call of the program that changes something, with a text of its own that may come to nothing."""
        self._number += 1
        text = f"killed {self._number}"
        self.band.doubtful.add(text)
        calls = (["send", self.random.choice(WORKERS), text], ["task", "create", text, "--run", "true"])
        return [sys.executable, "-m", "pro0", *self.random.choice(calls), "-t", "alpha"]


def kill_agent(mischief: Mischief) -> bool:
    report = mischief.crew.team.report(mischief.crew.state(mischief.victim()).incarnation)
    return bool(report and report.agent and processes.signal_process(report.agent, signal.SIGKILL))


def kill_guard(mischief: Mischief) -> bool:
    guard = mischief.crew.state(mischief.victim()).guard
    return bool(guard and processes.signal_process(guard, signal.SIGKILL))


def kill_lead(mischief: Mischief) -> bool:
    lead = leader(mischief.crew)
    return bool(lead and processes.signal_process(lead, signal.SIGKILL))


def tmux_server(mischief: Mischief) -> Process | None:
    handle = mischief.crew.state(mischief.victim()).handle
    server = processes.identify(handle.server_pid) if handle and handle.server_pid else None
    with suppress(psutil.Error):
        return server if server and psutil.Process(server.pid).name().startswith("tmux") else None
    return None


def kill_server(mischief: Mischief) -> bool:
    server = tmux_server(mischief)
    return bool(server and processes.signal_process(server, signal.SIGKILL))


def stop_one(mischief: Mischief) -> bool:
    """Stop lead, guard, agent or tmux server for a moment."""
    state = mischief.crew.state(mischief.victim())
    victim = mischief.random.choice((leader(mischief.crew), state.guard, state.agent, tmux_server(mischief)))
    with stopped([victim] if victim else []) as number:
        time.sleep(mischief.random.uniform(0.2, 1.5))
    return number > 0


def suspend(mischief: Mischief) -> bool:
    """Stop everything at once, as a lid that is closed."""
    with stopped(everyone(mischief)):
        time.sleep(1)
    return True


def everyone(mischief: Mischief) -> list[Process]:
    """All processes of the team, its lead too."""
    uid = mischief.crew.config.uid
    return [*processes.tagged(TEAM_UID, [uid])[uid], *mischief.band.guards(), *mischief.crew.leads_of_others()]


@contextmanager
def stopped(victims: Iterable[Process]) -> Iterator[int]:
    """Hold these still; yields how many there were."""
    held = [victim for victim in victims if processes.signal_process(victim, signal.SIGSTOP)]
    try:
        yield len(held)
    finally:
        for victim in held:
            processes.signal_process(victim, signal.SIGCONT)


def corrupt(mischief: Mischief) -> bool:
    """Put garbage in a document's place for a moment; nobody may overwrite it."""
    team = mischief.crew.team
    paths = [team.tasks.path, team.wanted.path, team.runtime.path, team.config.path]
    path = mischief.random.choice([*paths, *(team.mailbox(name).head.path for name in WORKERS)])
    good = swap(path, GARBAGE)
    time.sleep(mischief.random.uniform(0.1, 1))
    if swap(path, good) != GARBAGE:
        mischief.seen.append(f"{path} was corrupt, and was overwritten")
    return True


def swap(path: Path, data: bytes) -> bytes:
    """Replace a document under its lock, and return what it was."""
    with locked(path.parent, "a test") as folder:
        before = atomic.read(folder, path.name, 1 << 26)
        atomic.replace(folder, path.name, data)
    return before


def repair(mischief: Mischief) -> bool:
    """Kill the lead, lose runtime.json, and let `doctor --repair` make it anew; nobody may be ended by that."""
    if not kill_lead(mischief):
        return False
    path = mischief.crew.team.runtime.path
    before = workers(mischief)
    good = swap(path, GARBAGE)
    done = subprocess.run(
        [sys.executable, "-m", "pro0", "doctor", "--repair", "--yes", "-t", "alpha"], capture_output=True, text=True
    )
    if "Traceback" in done.stderr:
        mischief.seen.append(done.stderr)
    if atomic_read(path) == GARBAGE:  # a guard was faster, and its lead cannot be repaired under
        swap(path, good)
    elif gone := [guard.pid for guard in before if not processes.alive(guard)]:
        mischief.seen.append(f"guards {gone} are gone after a repair: {done.stdout}")
    mischief.band.resume()
    return True


def workers(mischief: Mischief) -> list[Process]:
    """The living guards of those who do not end by themselves."""
    seats = mischief.crew.team.runtime.read().seats
    return [s.guard for s in seats if s.agent_id in WORKERS and s.guard and processes.alive(s.guard)]


def atomic_read(path: Path) -> bytes:
    with atomic.folder(path.parent) as folder:
        return atomic.read(folder, path.name, 1 << 26)


def fill_disk(mischief: Mischief) -> bool:
    """Let lead, guards and agents write to no file for a moment; who is started meanwhile inherits that."""
    lead, seats = leader(mischief.crew), mischief.crew.team.runtime.read().seats
    agents = [seat.agent for seat in seats if seat.agent and processes.alive(seat.agent)]
    before = [*agents, *mischief.band.guards(), *([lead] if lead else [])]
    limit(before, 0)
    time.sleep(mischief.random.uniform(0.2, 1))
    for _ in range(3):
        limit((*before, *everyone(mischief)), resource.RLIM_INFINITY)
    return True


def limit(victims: Iterable[Process], size: int) -> None:
    for victim in victims:
        with suppress(ProcessLookupError):
            resource.prlimit(victim.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def unlink_lock(mischief: Mischief) -> bool:
    paths = mischief.crew.team.paths
    locks = [paths.team / LEASE, *(folder / LOCK for folder in (paths.team, paths.tasks, paths.mailbox("w1")))]
    mischief.random.choice(locks).unlink(missing_ok=True)
    return True


def kill_command(mischief: Mischief) -> bool:
    """Start the program, and kill it somewhere on its way."""
    with subprocess.Popen(mischief.command(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        time.sleep(mischief.random.uniform(0.05, 0.6))
        process.kill()
    return process.returncode == -signal.SIGKILL


class Fault(NamedTuple):
    """One kind of mischief; `act` says whether it was done."""

    name: str
    act: Callable[[Mischief], bool]
    weight: int = 3
    ends_the_lead: bool = False


FAULTS = (
    Fault("agent killed", kill_agent),
    Fault("guard killed", kill_guard),
    Fault("lead killed", kill_lead, 3, ends_the_lead=True),
    Fault("tmux server killed", kill_server, 1),
    Fault("one stopped for a moment", stop_one, 4),
    Fault("all stopped for a moment", suspend, 1),
    Fault("a document corrupt for a moment", corrupt, 4),
    Fault("runtime.json lost, doctor --repair", repair, 1, ends_the_lead=True),
    Fault("disk full for a moment", fill_disk, 2),
    Fault("a lock file deleted", unlink_lock, 2),
    Fault("a command killed on its way", kill_command, 4),
)
