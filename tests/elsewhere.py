"""The same tests with members on another machine: a mode such as `tmux@build1` says that theirs is build1.

Most of them are in the soak: each session there takes a third of a second of a processor, and so does each command of
pro0 that is asked for there. The short lane has those that a table names.
"""

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import sshd
from tests.sshd import Machine

HOST = "build1"
MODES = (f"in-process@{HOST}", f"tmux@{HOST}")
"""Without a terminal at home no member is there."""


class Placed(NamedTuple):
    """A mode, and the machine that it names."""

    mode: str
    machine: Machine | None

    @property
    def shown(self) -> str:
        """Return how members are shown at home."""
        return mode_here(self.mode)

    @property
    def host(self) -> str:
        """Return the name of the members' machine, "" for this one."""
        return self.machine.name if self.machine else ""


def is_elsewhere(mode: str) -> bool:
    """Say whether a mode has its members on another machine."""
    return mode.endswith(f"@{HOST}")


def mode_here(mode: str) -> str:
    """Return how the members of a mode are shown at home."""
    return mode.partition("@")[0]


@contextmanager
def machine_for(mode: str, folder: Path, patch: pytest.MonkeyPatch) -> Iterator[Machine | None]:
    """Have the machine that a mode asks for, and let pro0 reach it: None when all are at home."""
    if not is_elsewhere(mode):
        yield None
        return
    if lacking := sshd.lacks():
        pytest.skip(lacking)
    with sshd.machine(folder / HOST, HOST) as made:
        made.install()
        patch.setenv("PRO0_SSH", made.ssh)
        yield made


def has_members_there(item: pytest.Item) -> bool:
    """Say whether a test has a parameter that is such a mode."""
    parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return any(isinstance(value, str) and is_elsewhere(value) for value in parameters)


def leave_to_the_soak(items: list[pytest.Item], folder: Path, short: Collection[tuple[str, str]]) -> None:
    """Mark the tests below a folder that have members elsewhere, but for (test, part of its id) of the short lane."""
    below = f"{folder}{os.sep}"
    for item in items:
        if has_members_there(item) and str(item.path).startswith(below):
            name, _, id = item.name.partition("[")
            if not any(name == test and part in id for test, part in short):
                item.add_marker(pytest.mark.soak)
