"""Cables pulled, machines rebooted, a laptop asleep, a lead killed, at drawn moments, while members work there."""

import json
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest

from pro0.model.runtime import State
from pro0.model.task import Status
from pro0.rules.lead import revival
from pro0.rules.tasks.acts import Act
from tests.crash.lanes import LANES, SOAK, counted
from tests.e2e.conftest import Team
from tests.leftovers import processes_under
from tests.machines.apart import Apart
from tests.machines.test_story import nothing_left_on, stored
from tests.waiting import wait_until

pytestmark = pytest.mark.machines

WORKERS = {"w1": "build1", "w2": "build2", "w3": "build3", "w4": "build1", "w5": "build2", "w6": "build3"}
READS = "while true; do pro0 inbox --wait 600 >> got; done"
WORK = """
id={number}-$$-$(date +%N); echo "$id" >> "$HOME/ran"; sleep 0.3
pro0 send human "$id" && echo "$id" >> "$HOME/sent"
"""
DRAWN = ("cut", "cut", "asleep", "lead killed", "reboot")
"""What is done, drawn: half of the time a machine is out of reach."""
AHEAD = 12
"""Tasks that wait to be taken, at least."""
SHORT, LONG = (0.1, 3.0), (3.0, 20.0)
"""Seconds of a cut or a sleep: half of them end before anybody can notice."""
TEN_MINUTES = 600.0
"""Seconds of one cut in the whole soak."""
BACK = 5.0
"""Seconds from the mended cable until each member is in reach."""
PATIENCE = 240.0


class Faults:
    """What is done to a team and its machines, and what came of it."""

    def __init__(self, team: Team, machines: dict[str, Apart], dice: random.Random) -> None:
        self._team, self._machines, self._dice = team, machines, dice
        self._store = stored(team)
        self.rebooted = set[str]()
        self.back: list[float] = []
        self.letters = 0
        self._killed: list[datetime] = []
        self._numbers = 0

    def ways(self) -> dict[str, Callable[[float], None]]:
        return {"cut": self.cut, "asleep": self.sleep, "lead killed": self.kill_lead, "reboot": self.reboot}

    def cut(self, seconds: float) -> None:
        """Pull one machine's plug for a while; its members are in reach soon after, whoever they are."""
        machine = self._dice.choice(list(self._machines.values()))
        machine.cut()
        time.sleep(seconds)
        was_noticed = bool(self._in_state(State.UNREACHABLE))
        machine.mend()
        self._in_reach(measured=was_noticed)

    def sleep(self, seconds: float) -> None:
        """Let everything of home stand still, as a laptop that is closed does."""
        stopped = [left.process for left in processes_under(self._team.home.parent) if self._is_home(left.process)]
        for number, pause in ((signal.SIGSTOP, seconds), (signal.SIGCONT, 0.0)):
            for process in stopped:
                with suppress(psutil.NoSuchProcess):
                    process.send_signal(number)
            time.sleep(pause)
        self._in_reach()

    def kill_lead(self, _seconds: float) -> None:
        """Kill the lead; a guard starts the next one, but not more often than a lead may come back by itself."""
        while len(revival.lately(self._killed, datetime.now(UTC))) >= revival.LIMIT:
            time.sleep(1)
        lead = self._team.json("team", "status")["lead"]["pid"]
        os.kill(lead, signal.SIGKILL)
        wait_until(lambda: self._has_another_lead(lead), PATIENCE, "there is another lead", every=0.2)
        self._killed.append(datetime.now(UTC))  # by now: when it came back is what counts

    def reboot(self, _seconds: float) -> None:
        """Take one machine down with all that runs on it, and start its members again."""
        name = self._dice.choice(["build2", "build3"])
        self._machines[name].stop()
        self._machines[name].start()
        members = [member for member, place in WORKERS.items() if place == name]
        self.rebooted |= set(members)
        wait_until(lambda: set(members) <= self._in_state(State.CRASHED), PATIENCE, "their end is known", every=0.2)
        for member in members:
            self._team("member", "restart", member)

    def feed(self) -> None:
        """See to it that there is work, and a letter for who reads."""
        open_tasks = [task for task in self._store.tasks.read().tasks if task.status is Status.PENDING]
        if len(open_tasks) < AHEAD:
            drafts = []
            for _ in range(AHEAD):
                self._numbers += 1
                drafts.append({"title": f"task {self._numbers}", "run": WORK.format(number=self._numbers)})
            self._team("task", "create", "-f", "-", stdin=json.dumps(drafts))
        self.letters += 1
        self._team("send", "reader", f"letter {self.letters} to you")

    def incarnations(self) -> dict[str, str]:
        return {seat.agent_id: seat.incarnation for seat in self._store.runtime.read().seats}

    def _in_state(self, state: State) -> set[str]:
        return {seat.agent_id for seat in self._store.runtime.read().seats if seat.state is state}

    def _in_reach(self, *, measured: bool = False) -> None:
        began = time.monotonic()
        wait_until(lambda: not self._in_state(State.UNREACHABLE), PATIENCE, "all are in reach", every=0.05)
        if measured:
            self.back.append(time.monotonic() - began)
        gone = {name for name in self._in_state(State.CRASHED) if name not in self.rebooted}
        assert not gone, f"{gone} are taken for dead"

    def _has_another_lead(self, pid: int) -> bool:
        lead = self._team.json("team", "status")["lead"]
        return str(lead["state"]) == "running" and lead["pid"] != pid

    def _is_home(self, process: psutil.Process) -> bool:
        """Return True for a process that runs at home, and is none of the machines'."""
        with suppress(psutil.Error, OSError):
            return process.name() != "unshare" and Path(f"/proc/{process.pid}/ns/pid").readlink() == _OWN
        return False


_OWN = Path("/proc/self/ns/pid").readlink()


@pytest.mark.parametrize("lane", LANES)
def test_nothing_is_lost_or_done_twice(team: Team, machines: dict[str, Apart], lane: str) -> None:
    """Issue 19, must show 2: no false death, no double claim, no message lost or doubled, back within five seconds."""
    dice = random.Random(19)
    members = [word for name, place in WORKERS.items() for word in ("-m", f"{name}=shell@{place}")]
    team("team", "start", "alpha", "--detach", "--mode", "in-process", "--lead", "none", *members)
    team("member", "spawn", "reader", "--host", "build1", "--", "sh", "-c", READS)
    faults, done = Faults(team, machines, dice), Counter[str]()
    before = faults.incarnations()
    number = 200 if lane == SOAK else 10
    for turn in range(number):
        faults.feed()
        time.sleep(dice.random() * 2)
        long = lane == SOAK and turn == number // 2
        act = "cut" if long else dice.choice(DRAWN)
        faults.ways()[act](TEN_MINUTES if long else dice.uniform(*dice.choice((SHORT, LONG))))
        done[act] += 1
    team.until(lambda: all(task["status"] == "completed" for task in team.tasks().values()), "all is done", PATIENCE)
    place = machines["build1"].home / "got"
    team.until(lambda: f"letter {faults.letters} to you" in place.read_text(), "all letters are read", PATIENCE)
    after = faults.incarnations()
    assert {name for name in before if before[name] != after[name]} <= faults.rebooted
    read = Counter(line.strip() for line in place.read_text().splitlines() if " to you" in line)
    assert read == Counter(f"letter {number} to you" for number in range(1, faults.letters + 1))
    assert double_claims(team) == []
    begun, sent = ids(machines, "ran"), ids(machines, "sent")
    got = Counter(text for text in team.mail() if text in begun)
    assert sent <= set(got), "a message was lost"
    assert max(got.values()) == 1, "a message was doubled"
    assert max(faults.back, default=0.0) < BACK, faults.back
    print(f"in reach again after {', '.join(f'{seconds:.1f}' for seconds in sorted(faults.back))} s")
    for act, times in done.items():
        counted(lane, "machines", act, times)
    team("team", "stop", "--timeout", "30", "--force")
    team("team", "cleanup", "alpha")
    nothing_left_on(team, machines)


def ids(machines: dict[str, Apart], name: str) -> set[str]:
    """What the commands of tasks have noted on all machines."""
    places = [machine.home / name for machine in machines.values()]
    return {line for place in places if place.exists() for line in place.read_text().split()}


def double_claims(team: Team) -> list[str]:
    """The tasks that were claimed while another had them, or were not completed once."""
    odd = []
    for task in stored(team).tasks.read().tasks:
        acts = [entry.act for entry in task.history if entry.act in (Act.CLAIM, Act.DIED, Act.COMPLETE)]
        lives = [*acts[:-2][::2], *acts[:-2][1::2]]
        deaths = len(acts) // 2 - 1
        if acts[-2:] != [Act.CLAIM, Act.COMPLETE] or lives != [Act.CLAIM] * deaths + [Act.DIED] * deaths:
            odd.append(f"{task.id}: {acts}")
    return odd
