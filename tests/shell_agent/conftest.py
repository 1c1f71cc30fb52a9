"""The shell agent as its guard starts it, in a team on disk, without lead or guard."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from pro0 import processes
from pro0.model.caller import THE_HUMAN
from pro0.model.message import Message, MessageType, Notice
from pro0.model.runtime import SeatState, State
from pro0.model.task import Draft, Status, Task
from pro0.model.team import Answer, Seat, ShutdownWish, TeamConfig, Wanted
from pro0.ops.context import INCARNATION, Context, clock, new_id
from pro0.ops.tasks import tasks
from pro0.ops.team import members
from pro0.store.teams import Store
from tests.teams import granted
from tests.waiting import STUCK, wait_until

PATIENCE = STUCK


class Said(msgspec.Struct):
    """One line to the guard."""

    state: State
    task: str | None = None
    note: str = ""


class Desk:
    """One shell agent at work as w1."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.folder = folder
        seat = Seat(agent_id="w1", name="w1", agent="shell")
        config = TeamConfig(name="alpha", created_at=clock(), uid="uid", project=str(folder))
        self.team = Store(home).create(config, Wanted(seats=(seat,)))
        self.team.mailbox("w1").make()
        self.session = SeatState(
            agent_id="w1",
            generation=1,
            incarnation=f"inc-{new_id()}",
            state=State.IDLE,
            since=clock(),
            started_at=clock(),
        )
        self.record(self.session)
        self.human = Context(self.team, THE_HUMAN)
        self.screen = folder / "screen"
        self.process: subprocess.Popen[bytes] | None = None
        self._heard = b""
        self._ears = -1

    def record(self, session: SeatState) -> None:
        """Let runtime.json say this of w1."""
        with self.team.runtime.change("a test") as change:
            change.value = replace(change.value, seats=(session,))

    def start(self, *words: str) -> "subprocess.Popen[bytes]":
        """Start the agent, or what these words of Python are; what is typed for it is `typed`."""
        self._ears, mouth = os.pipe()
        os.set_blocking(self._ears, False)
        identity = members.identity(self.team, self.session) | granted(self.team, "w1")  # there is no guard above it
        environment = os.environ | identity | {"PRO0_STATE_FD": str(mouth)}
        with open(self.screen, "wb") as screen:
            self.process = subprocess.Popen(
                [sys.executable, *(words or ("-I", "-m", "pro0.shell_agent"))],
                stdin=subprocess.PIPE if words else subprocess.DEVNULL,
                stdout=screen,
                stderr=screen,
                cwd=self.folder,
                env=environment,
                pass_fds=(mouth,),
                process_group=0,
            )
        os.close(mouth)
        return self.process

    def give(self, run: str | None, **fields: object) -> str:
        """Make one task and return its id."""
        return tasks.create(self.human, [replace(Draft(title="t", run=run), **fields)])[0].id

    def task(self, id: str) -> Task:
        """A task as it is now."""
        return tasks.show(self.human, id)

    def settled(self, id: str) -> Task:
        """Wait until a task is over and return it."""
        over = (Status.COMPLETED, Status.FAILED)
        wait_until(lambda: self.task(id).status in over, PATIENCE, f"{id} is over; screen: {self.shown()}")
        return self.task(id)

    def shown(self) -> str:
        """All that the agent printed."""
        return self.screen.read_text(errors="replace") if self.screen.exists() else ""

    def shows(self, text: str) -> str:
        """Wait until the agent has printed this."""
        wait_until(lambda: text in self.shown(), PATIENCE, f"{text!r} is shown")
        return self.shown()

    def said(self) -> list[Said]:
        """All that the agent has told its guard so far."""
        try:
            while part := os.read(self._ears, 65536):
                self._heard += part
        except BlockingIOError:
            pass
        return [msgspec.json.decode(line, type=Said) for line in self._heard.splitlines()]

    def says(self, state: State, task: str | None = None) -> None:
        """Wait until this is the last that the agent has told its guard."""
        wait_until(lambda: (s := self.said()) and (s[-1].state, s[-1].task) == (state, task), PATIENCE, f"says {state}")

    def post(self, content: str, type: MessageType = MessageType.MESSAGE) -> None:
        """Put a message into the agent's mailbox."""
        notice = Notice(id=self.human.new_id(), from_="human", to="w1", type=type, content=content)
        self.team.mailbox("w1").post(notice, clock)

    def ask_to_end(self) -> None:
        """Ask as the lead does."""
        wish = ShutdownWish(id="ask-1", by="human", at=clock())
        with self.team.wanted.change("a test") as change:
            change.value = members.with_seat(change.value, replace(change.value.seats[0], shutdown=wish))
        self.post("please", MessageType.SHUTDOWN_REQUEST)

    def answer(self) -> Answer:
        """Wait for the answer to that."""
        found = wait_until(lambda: self.team.wanted.read().seats[0].answer, PATIENCE, "an answer")
        assert found
        return found

    def mail(self) -> list[Message]:
        """What is in the agent's mailbox."""
        return list(self.team.mailbox("w1").head.read().messages)

    def ends(self) -> int:
        """Wait until the agent has ended and return its code."""
        assert self.process
        return self.process.wait(PATIENCE)

    def clean(self) -> None:
        """End whatever is left, by identity."""
        if self.process:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            os.close(self._ears)
        processes.end(lambda: processes.tagged(INCARNATION, [mine := self.session.incarnation])[mine], 0)


@pytest.fixture
def desk(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """A desk whose agent looks every second and gives a second of grace."""
    monkeypatch.setenv("PRO0_POLL_INTERVAL_MS", "1000")
    monkeypatch.setenv("PRO0_END_GRACE_SECONDS", "1")
    folder = tmp_path / "project"
    folder.mkdir()
    made = Desk(home, folder)
    try:
        yield made
    finally:
        made.clean()
