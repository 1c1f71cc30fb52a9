"""Stages whose programs run on another machine: a guard at home with the link as its program, and one guard there."""

import uuid
from collections.abc import Callable
from pathlib import Path

from pro0 import resources
from pro0.decoding import decode
from pro0.engine import hosts
from pro0.model.runtime import Handle, Hosted, Report, State
from pro0.sessions.backend import Opening
from pro0.store import paths
from pro0.store.files import File
from tests.contracts.stages import InProcessStage, InsideStage, Stage, TmuxStage, guarded
from tests.e2e.machines import called_with, sessions
from tests.sshd import Machine
from tests.waiting import STUCK, wait_until

GRACE = 0.3
SCROLLS = "for i in range(300): print('line', i)\nprint('x' * 500)\ninput()"
"""A program whose lines do not fit its screen, and that ends with a line typed."""


def left_on_a_screen(columns: int, lines: int) -> list[str]:
    """Return the rows that this program leaves on a screen of this size, with its cursor in the last row."""
    wide = ["x" * columns] * (500 // columns) + ["x" * (500 % columns)] * bool(500 % columns)
    return [*(f"line {number}" for number in range(300 - (lines - 1 - len(wide)), 300)), *wide]


class Elsewhere(Stage):
    """Sessions on another machine keep what a backend promises, but for what is theirs by nature.

    - `knows_programs`: home cannot look whether a program is there. So it starts, and ends with the reason.
    - `history`: rows that were never shown at home are there alone, and a long line is as many rows as it takes. So a
      look back has what the screen has.
    - `refuses_keys`: home takes every key, and what the agent there does not take is lost there.
    - `die`: who kills the guard at home does not end the session there. It ends when that machine is asked to.
    """

    knows_programs = False
    history = False
    refuses_keys = False

    def __init__(self, folder: Path, machine: Machine) -> None:
        self.machine = machine
        super().__init__(folder)  # type: ignore[call-arg, arg-type]  # the stage beside it takes a folder

    def opening(self, *argv: str, title: str = "worker") -> Opening:
        """Return the opening of a guard for the link, which is to start this program there."""
        plain = Stage.opening(self, title=title)
        record = self.sessions / f"{plain.incarnation}.host.json"
        hosted = Hosted(
            agent_id="ann",
            incarnation=plain.incarnation,
            there=str(uuid.uuid4()),
            host=self.machine.name,
            ssh=self.machine.ssh,
            team=self.place.team,
            project=str(self.folder),
            argv=argv,
            first_state=State.RUNNING,
            grace=GRACE,
        )
        File(record.parent, record.name, Hosted).create(hosted)
        return guarded(self, plain, resources.link_argv(record), GRACE + 10)

    def shows(self, handle: Handle, text: str) -> None:
        """Wait until a session shows a text, in as many rows as it takes."""
        wait_until(lambda: text in self.backend.peek(handle, 20).replace("\n", ""), STUCK, f"it shows {text!r}")

    def hosted(self, handle: Handle) -> Hosted:
        """Return what home has asked that machine for."""
        return File(self.sessions, f"{handle.incarnation}.host.json", Hosted).read()

    def report_there(self, handle: Handle) -> Report:
        """Return what the guard there reports."""
        place = paths.hosted(self.machine.home / "pro0", self.hosted(handle).there) / paths.HOSTED_REPORT
        return decode(place.read_bytes(), Report)

    def world(self) -> list[str]:
        return [*super().world(), *(str(process.pid) for process in sessions(self.machine))]

    def leave(self) -> None:
        """End everything here, then there as a lead does it; nothing is left on either machine."""
        super().leave()
        wait_until(lambda: not called_with(str(self.sessions)), STUCK, "no guard and no link is left")
        for record in self.sessions.glob("*.host.json"):
            hosts.end(File(record.parent, record.name, Hosted).read())
            record.unlink()
        wait_until(lambda: not sessions(self.machine), STUCK, "nothing runs there")
        assert not called_with(f"{self.machine.at}/client")


class InProcessElsewhere(Elsewhere, InProcessStage):
    """In terminals of guards."""


class TmuxElsewhere(Elsewhere, TmuxStage):
    """In a tmux server of its own."""


class InsideElsewhere(Elsewhere, InsideStage):
    """In a person's tmux."""


ELSEWHERE: dict[str, Callable[[Path, Machine], Elsewhere]] = {
    "in-process@build1": InProcessElsewhere,
    "tmux@build1": TmuxElsewhere,
    "tmux-inside@build1": InsideElsewhere,
}
