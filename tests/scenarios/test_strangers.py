"""Pids that were given out again: who has one now is never signalled (issue 3, must show 10; anchors 51).

In a pid namespace of its own, where the next pid can be chosen; this takes root, or user namespaces.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import elsewhere
from tests.crash.lanes import LANES, SOAK, counted
from tests.programs import recycled
from tests.waiting import STUCK

ROUNDS = {SOAK: 20}
NAMESPACE = ("unshare", *(() if os.geteuid() == 0 else ("--user", "--map-root-user")), "--pid", "--fork")
OWN_PROC = ("--mount-proc", "--kill-child")


def possible() -> bool:
    """Say whether this system lets a test choose pids."""
    try:
        look = subprocess.run([*NAMESPACE, *OWN_PROC, "test", "-w", "/proc/sys/kernel/ns_last_pid"])
    except OSError:
        return False
    return look.returncode == 0


@pytest.mark.parametrize("lane", LANES)
@pytest.mark.parametrize("mode", ["headless", elsewhere.MODES[0]])
def test_who_has_the_pids_now_hears_nothing(
    home: Path, tmp_path: Path, lane: str, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not possible():
        pytest.skip("pids cannot be chosen here")
    monkeypatch.setenv("PRO0_END_GRACE_SECONDS", "1")
    monkeypatch.setenv("PRO0_REVIVE_LEAD", "0")
    strangers = 0
    for number in range(ROUNDS.get(lane, 1)):
        folder = tmp_path / str(number)
        folder.mkdir()
        argv = [*NAMESPACE, *OWN_PROC, sys.executable, recycled.__file__, str(folder), mode]
        environment = os.environ | {"PRO0_HOME": str(folder / "pro0")}
        done = subprocess.run(argv, capture_output=True, text=True, timeout=STUCK, env=environment)
        assert done.returncode == 0, done.stderr
        strangers += int(done.stdout.split()[0])
    counted(lane, "strangers", "all", strangers)
