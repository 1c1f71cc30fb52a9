"""pro0, killed by itself at one step: `dying.py FOLDER pro0 ARGUMENT...`; its role is `lead`, or `cli` for the rest.

FOLDER/victim says who dies and where: "cli 17", or "cli 0" for nobody. Steps (tests.faults.STEPS) count from the moment
when FOLDER/armed is there; FOLDER/steps tells how many there were. Only the first process of that role dies: who takes
its place finds FOLDER/claimed.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from pro0 import resources
from pro0.cli.main import main
from tests.faults import STEPS, Call, Shim, kill_before


class Steps:
    """The fault of a shim: it writes the number of each step down, and kills at the chosen one."""

    def __init__(self, folder: Path, at: int) -> None:
        self.armed_by = folder / "armed"
        self._at = at
        self._seen = os.open(folder / "steps", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._write = os.pwrite

    def armed(self) -> bool:
        """Say whether steps count yet."""
        return self.armed_by.exists()

    def step(self, shim: Shim, name: str, real: Call, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        """Take one step, the last one if it is chosen."""
        number = len(shim.seen)
        self._write(self._seen, f"{number} {name}".ljust(60).encode(), 0)
        return (kill_before if number == self._at else _go_on)(shim, name, real, args, kwargs)


def _go_on(_shim: Shim, _name: str, real: Call, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
    return real(*args, **kwargs)


def claim(folder: Path) -> bool:
    """Say whether this process is the one to die."""
    try:
        os.close(os.open(folder / "claimed", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError:
        return False
    return True


def run(folder: Path, arguments: list[str]) -> int:
    """Be pro0, as the victim or as another; a lead that is started from here is told of the plan."""
    victim, at = (folder / "victim").read_text().split()
    role = "lead" if arguments[0] == "lead" else "cli"
    program = [sys.executable, __file__, str(folder), "pro0"]

    def lead_argv(team: str, *, revived: bool = False) -> tuple[str, ...]:
        return (*program, "lead", team, *(("--revived",) if revived else ()))

    resources.lead_argv = lead_argv
    if role != victim or not claim(folder):
        return main(arguments)
    steps = Steps(folder, int(at))
    with Shim(STEPS, None, steps.step, steps.armed):
        return main(arguments)


if __name__ == "__main__":
    sys.exit(run(Path(sys.argv[1]), sys.argv[3:]))
