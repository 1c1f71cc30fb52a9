"""The look at processes that tests end them by."""

import signal
import subprocess
import sys

import psutil
import pytest

from tests.living import living


def test_a_process_with_the_pid_of_an_earlier_one_can_be_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pids come again within minutes where many tests run, and `psutil.process_iter` remembers who had them."""
    other = psutil.Process()
    with subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"]) as child:
        monkeypatch.setattr(other, "_pid", child.pid)
        monkeypatch.setitem(vars(psutil)["_pmap"], child.pid, other)
        try:
            [process] = living(lambda process: process.pid == child.pid)
            process.kill()
            assert child.wait(10) == -signal.SIGKILL
        finally:
            child.kill()
