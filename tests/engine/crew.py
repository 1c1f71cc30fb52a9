"""A team with a real lead and real sessions, for tests: driven through operations, ended by identity."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec.structs import replace

from pro0 import processes
from pro0.engine import outcomes
from pro0.engine.places import backend_of, place_of
from pro0.errors import Pro0Error
from pro0.model.caller import THE_HUMAN
from pro0.model.message import Message
from pro0.model.runtime import Process, Report, SeatState, State
from pro0.model.task import SETTLED, Draft, Task
from pro0.model.team import Display, OutsideAgent
from pro0.ops.context import TEAM_UID, clock
from pro0.ops.tasks import tasks
from pro0.ops.team import members, progress, teams
from pro0.ops.team.members import SeatDraft
from pro0.processes import table
from pro0.processes.arguments import arguments
from pro0.sessions.iterm2 import it2
from pro0.store import paths
from pro0.store.paths import HOME_VARIABLE
from pro0.store.teams import Store
from tests.e2e.machines import sessions
from tests.sshd import Machine
from tests.waiting import STUCK, wait_until

PATIENCE = STUCK
"""Seconds: the machine may be busy with something else."""


class Crew:
    """The team alpha."""

    def __init__(self, home: Path, project: Path, mode: str, machine: Machine | None = None) -> None:
        self.store = Store(home)
        self.project = project
        self.machine = machine
        session = it2.own_session(os.environ) if mode == "iterm2" else ""
        home_of_it = teams.Home("alpha", project, Display(mode=mode, mode_reason="a test", iterm2_session=session))
        self.context = teams.create(self.store, THE_HUMAN, home_of_it)
        self.team = self.context.team
        self.config = self.team.config.read()
        self.shown: list[str] = []
        self.leads: list[subprocess.Popen[bytes]] = []
        self.seen: set[Process] = set()

    # The lead

    def lead(self, *program: str) -> "subprocess.Popen[bytes]":
        """Start a lead, with a program that may stand in for pro0, and wait until it has signed in."""
        with open(self.team.paths.logs / "lead.err", "ab") as errors:
            process = subprocess.Popen(
                [*(program or (sys.executable, "-I", "-m", "pro0")), "lead", self.team.name],
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                env=os.environ | {"PRO0_LEAD": "1", HOME_VARIABLE: str(self.store.home)},
                start_new_session=True,
            )
        self.leads.append(process)
        me = processes.identify(process.pid)
        wait_until(lambda: self.team.record.read().lead == me, PATIENCE, "the lead has signed in")
        return process

    def log(self) -> str:
        """What the lead has logged."""
        return (self.team.paths.logs / "lead.jsonl").read_text()

    # Members

    def spawn(self, *drafts: SeatDraft | str) -> list[SeatState]:
        """Start members and wait until they are up."""
        asked = [SeatDraft(name=draft) if isinstance(draft, str) else draft for draft in drafts]
        if self.machine:
            asked = [replace(draft, host=self.machine.name) for draft in asked]
        up = outcomes.started(self.team, members.spawn(self.context, asked, 10), self.shown.append)
        self.remember()
        return up

    def state(self, name: str) -> SeatState:
        """What is recorded of a member."""
        return next(state for state in self.team.runtime.read().seats if state.agent_id == name)

    def reaches(self, name: str, *states: State, seconds: float = PATIENCE) -> SeatState:
        """Wait until a member is in one of these states."""
        wait_until(lambda: self.state(name).state in states, seconds, f"{name} is {states}")
        return self.state(name)

    def report(self, name: str) -> Report:
        """What a member's guard says."""
        found = self.team.report(self.state(name).incarnation)
        assert found
        return found

    def report_there(self, name: str) -> Report:
        """What the guard says that has a member's agent, which may be another than the one here."""
        if self.machine is None:
            return self.report(name)
        hosted = self.team.hosted(self.state(name).incarnation)
        assert hosted
        place = paths.hosted(self.machine.home / "pro0", hosted.there) / paths.HOSTED_REPORT
        return msgspec.json.decode(place.read_bytes(), type=Report)

    @property
    def place(self) -> Path:
        """Where members begin."""
        return self.machine.home if self.machine else self.project

    def pids(self) -> dict[str, tuple[int, int]]:
        """Guard and agent of every member."""
        return {
            state.agent_id: (state.guard.pid, state.agent.pid)
            for state in self.team.runtime.read().seats
            if state.guard and state.agent
        }

    # Tasks and mail

    def give(self, *drafts: Draft) -> list[str]:
        """Make tasks and return their ids."""
        return [task.id for task in tasks.create(self.context, drafts)]

    def task(self, id: str) -> Task:
        """A task as it is now."""
        return tasks.show(self.context, id)

    def settled(self, *ids: str, seconds: float = PATIENCE) -> list[Task]:
        """Wait until tasks are over and return them."""
        wait_until(lambda: all(self.task(id).status in SETTLED for id in ids), seconds, f"{ids} are over")
        return [self.task(id) for id in ids]

    def at_rest(self, seconds: float) -> progress.Progress:
        """Wait until nothing moves any more (rulings 3.19)."""
        wait_until(lambda: not progress.progress(self.context).moving, seconds, "nothing moves")
        return progress.progress(self.context)

    def mail(self, name: str = "lead") -> list[Message]:
        """What a mailbox holds."""
        return list(self.team.mailbox(name).head.read().messages)

    def notices(self, word: str) -> list[str]:
        """What the lead address was told with this word in it."""
        return [message.content for message in self.mail() if word in message.content]

    def led(self) -> None:
        """Let this process stand for an agent of the person's that leads: it reads the lead address."""
        with self.team.wanted.change("lead") as change:
            me = processes.identify(os.getpid())
            assert me
            agent = OutsideAgent(incarnation="outside-1", process=me, since=clock())
            change.value = replace(change.value, outside=agent)

    # Ends

    def stop(self, *, timeout: float = PATIENCE, force: bool = False) -> None:
        """Stop the team and wait for it."""
        wanted = teams.stop(self.context, timeout=timeout, force=force)
        assert wanted.stop
        outcomes.stopped(self.team, wanted.stop, self.shown.append)

    def shut_down(self, name: str, *, timeout: float = PATIENCE, force: bool = False) -> SeatState:
        """End one member and wait for it."""
        seat = members.shutdown(self.context, name, timeout=timeout, force=force)
        state = outcomes.shut_down(self.team, seat, self.shown.append)
        assert state, f"the seat of {name} is gone"
        return state

    def remember(self) -> None:
        """Note the guards that are known now, to be ended at last."""
        for state in self.team.runtime.read().seats if self.team.exists() else ():
            if state.guard:
                self.seen.add(state.guard)

    def left(self) -> list[Process]:
        """Whoever belongs to the team and lives."""
        self.remember()
        tagged = processes.tagged(TEAM_UID, [self.config.uid])[self.config.uid]
        there = [processes.identify(one.pid) for one in sessions(self.machine)] if self.machine else []
        return [*tagged, *(guard for guard in self.seen if processes.alive(guard)), *filter(None, there)]

    def leads_of_others(self) -> list[Process]:
        """The processes of this home, whoever has started them."""
        return tagged_with(self.store.home)

    def newborn(self) -> list[Process]:
        """Guards of this home by what they were called with: of one that a killed lead has just started none knows."""
        return called_for(self.store.home)

    def clean(self) -> None:
        """End everything that is left."""
        for lead in self.leads:
            lead.send_signal(signal.SIGKILL)
            lead.wait()
        try:
            processes.end(lambda: [*self.left(), *self.leads_of_others(), *self.newborn()], 0)
        finally:
            try:
                backend_of(self.config).dismantle(place_of(self.team, self.config))
            except Pro0Error as error:
                self.shown.append(str(error))


@contextmanager
def crew(home: Path, folder: Path, mode: str, machine: Machine | None = None) -> Iterator[Crew]:
    """A team without lead and members in a project of its own; with a machine, its members are to be there."""
    project = folder / "project"
    project.mkdir()
    made = Crew(home, project, mode, machine)
    try:
        yield made
    finally:
        made.clean()


def tagged_with(home: Path) -> list[Process]:
    """The processes whose environment names this home."""
    return processes.tagged(HOME_VARIABLE, [str(home)])[str(home)]


def called_for(home: Path) -> list[Process]:
    """The processes of this user whose last argument is a file of this home."""
    called = ((pid, arguments(pid)) for pid in table.own_pids())
    ours = [pid for pid, words in called if words and words[-1].startswith(f"{home}{os.sep}")]
    return [process for pid in ours if (process := processes.identify(pid))]


def kill(process: Process, number: int = signal.SIGKILL) -> None:
    """Signal one process by its identity."""
    assert processes.signal_process(process, number)


def gone(*found: Process) -> Callable[[], bool]:
    """Say whether none of these lives."""
    return lambda: not any(processes.alive(process) for process in found)


def switches(pid: int) -> int:
    """How often the threads of a process have waited."""
    total = 0
    for thread in Path(f"/proc/{pid}/task").iterdir():
        try:
            text = (thread / "status").read_text()
        except (FileNotFoundError, ProcessLookupError):  # a thread that ends meanwhile
            continue
        total += int(text.partition("\nvoluntary_ctxt_switches:")[2].split()[0])
    return total
