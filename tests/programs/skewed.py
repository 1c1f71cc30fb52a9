"""pro0 whose clock of the wall is wrong, by the seconds in FILE, read at every look: `skewed.py FILE pro0 WORDS`.

The words are `lead TEAM`, or those of pro0 on another machine. The guards and shell agents of that lead go wrong with
it, as `skewed.py FILE guard PROGRAM LAUNCH`, which is how a guard is known, and `skewed.py FILE agent`.
Only that clock is wrong; what counts the seconds since the machine came up goes on as if nothing had happened.
"""

import sys
import time
from datetime import UTC, datetime, timedelta, tzinfo

_right = time.time
_file = ""


class Skewed(datetime):
    """Datetimes whose now is wrong."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        return datetime.now(tz or UTC) + timedelta(seconds=_offset())


def _offset() -> float:
    with open(_file) as file:
        return float(file.read())


def guard(arguments: list[str]) -> int:
    """Be a guard; it never comes back from that."""
    from pro0.guard.run import main

    main(arguments)
    return 1


def agent(_: list[str]) -> int:
    """Be a shell agent."""
    _be_wrong()
    from pro0.shell_agent.__main__ import main

    return main()


def pro0(arguments: list[str]) -> int:
    """Be pro0, as a lead, whose guards and shell agents are wrong too."""
    _be_wrong()
    from pathlib import Path

    from msgspec.structs import replace

    from pro0 import resources
    from pro0.agents import shell
    from pro0.agents.adapter import Invocation
    from pro0.cli.main import entry

    program = (sys.executable, __file__, _file)

    def guard_argv(launch: Path) -> tuple[str, ...]:
        return (*program, "guard", str(resources.GUARD), str(launch))

    resources.guard_argv = guard_argv
    right = shell.SHELL.call
    wrong = Invocation(argv=(*program, "agent"))
    shell.SHELL = replace(shell.SHELL, call=lambda brief: right(brief) if brief.seat.host else wrong)
    sys.argv = ["pro0", *arguments]
    return entry()


def _be_wrong() -> None:
    from pro0.ops import context

    context.datetime = Skewed  # type: ignore[attr-defined]


ROLES = {one.__name__: one for one in (guard, agent, pro0)}

if __name__ == "__main__":
    _file, role = sys.argv[1:3]
    sys.path.append(__file__.rpartition("/tests/")[0])
    time.time = lambda: _right() + _offset()
    sys.exit(ROLES[role](sys.argv[3:]))
