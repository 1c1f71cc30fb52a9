"""Ten members at work for as long as it takes: who gives them tasks and mail, and who brings back whoever has ended."""

import os
import random
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from pro0 import processes
from pro0.engine.opening.environment import start_environment
from pro0.engine.opening.launch import ensure_lead
from pro0.errors import Pro0Error
from pro0.model.runtime import Process
from pro0.model.task import SETTLED, Draft
from pro0.ops.mail import messages
from pro0.ops.seats import roster
from pro0.ops.tasks import tasks
from pro0.ops.team import members, teams
from pro0.ops.team.members import SeatDraft
from pro0.store.lease import Lease
from tests.engine.crew import Crew
from tests.programs import agent
from tests.scenarios.leads import leader

WORKERS = ("w1", "w2", "w3", "w4", "w5", "w6", "w7")
MISFITS = {"deaf": "deaf", "crash": "crash", "flood": "flood"}
"""Command members and how they misbehave (tests.programs.agent); with the workers they are ten."""
BACKLOG = 20
"""Open tasks, above which no more are given."""
MAIL_EVERY = 8
"""Every so many tasks, one has its worker send mail through the program."""


class Band:
    """A team under load. `given`, `sent` and `doubtful` say what must, or may, be there in the end."""

    def __init__(self, crew: Crew, log: Path, seed: int) -> None:
        self.crew = crew
        self.log = log
        log.touch()
        self.given: list[str] = []
        self.sent: dict[str, list[str]] = {name: [] for name in WORKERS}
        self.doubtful: set[str] = set()
        """Texts and titles of what was asked for by a program that was killed, or that heard of an error."""
        self.alone = 0.0
        """The longest time without a lead while there was a guard, in seconds."""
        self.resumed = 0
        """How often a person had to resume the team."""
        self._random = random.Random(seed)
        self._number = 0
        self._open: deque[str] = deque()
        self._leaderless: float | None = None

    def start(self) -> None:
        """Bring lead and members up, in an environment that guards can start leads in."""
        with self.crew.team.environment.change("a test") as change:
            change.value = replace(change.value, variables=start_environment(os.environ))
        self.crew.lead()
        program = (sys.executable, "-S", agent.__file__)
        misfits = [SeatDraft(name=name, agent="command", argv=(*program, mode)) for name, mode in MISFITS.items()]
        self.crew.spawn(*WORKERS, *misfits)

    # Work

    def work(self, over: threading.Event) -> None:
        """Give tasks and send mail until it is over."""
        while not over.wait(0.2):
            self._look_at_open()
            if len(self._open) < BACKLOG:
                self._give(self._random.randint(1, 4))
            self._send()

    def _look_at_open(self) -> None:
        with suppress(Pro0Error):
            settled = {task.id for task in tasks.list_tasks(self.crew.context) if task.status in SETTLED}
            self._open = deque(id for id in self._open if id not in settled)

    def _give(self, many: int) -> None:
        drafts = [self._draft() for _ in range(many)]
        try:
            made = self.crew.give(*drafts)
        except Pro0Error:
            self.doubtful |= {draft.title for draft in drafts}
        else:
            self.given += made
            self._open.extend(made)

    def _draft(self) -> Draft:
        self._number += 1
        run = self._run(f"sleep {self._random.choice((0, 0.1, 0.5))}")
        if self._number % MAIL_EVERY == 0:
            to = self._random.choice(WORKERS)
            run = self._run(f'pro0 send {to} "mail $PRO0_TASK_ID" && {self._say(f"sent-{to}")}')
        return Draft(title=f"task number {self._number}", run=run)

    def _run(self, work: str) -> str:
        """A command that says when it begins and ends, whatever its agent may write."""
        return f"ulimit -S -f unlimited; {self._say('begin')}; {work}; {self._say('end')}; echo did $PRO0_TASK_ID"

    def _say(self, what: str) -> str:
        return f"echo {what} $PRO0_TASK_ID $PRO0_INCARNATION >> {self.log}"

    def _send(self) -> None:
        self._number += 1
        to, text = self._random.choice(WORKERS), f"letter {self._number}"
        try:
            messages.send(self.crew.context, to, text)
        except Pro0Error:
            self.doubtful.add(text)
        else:
            self.sent[to].append(text)

    # What a person would do

    def care(self, over: threading.Event) -> None:
        """Bring members and lead back until it is over."""
        while not over.wait(0.3):
            with suppress(Pro0Error):
                self.bring_back()

    def bring_back(self) -> None:
        """Restart who has ended; resume the team when no guard is there to do it, or the guards have given up."""
        self.crew.remember()
        known = roster(self.crew.team)
        for seat in known.wanted.seats:
            if known.ended(seat.agent_id):
                members.restart(self.crew.context, seat.agent_id)
        if leader(self.crew):
            self._leaderless = None
            return
        now = time.monotonic()
        self._leaderless = self._leaderless or now
        holder = Lease(self.crew.team.paths.team).read()
        if self.guards() and not (holder and holder.rests):
            self.alone = max(self.alone, now - self._leaderless)
            return
        self.resume()

    def resume(self) -> None:
        """Make sure that there is a lead."""
        self.resumed += 1
        teams.resume(self.crew.context)
        ensure_lead(self.crew.team)

    def guards(self) -> list[Process]:
        """The living guards."""
        seats = self.crew.team.runtime.read().seats
        return [seat.guard for seat in seats if seat.guard and processes.alive(seat.guard)]

    def all_up(self) -> bool:
        """Say whether everyone who should be there is, and has nothing to do."""
        with suppress(Pro0Error):
            self.bring_back()
            known = roster(self.crew.team)
            return not any(known.ended(seat.agent_id) for seat in known.wanted.seats) and bool(leader(self.crew))
        return False
