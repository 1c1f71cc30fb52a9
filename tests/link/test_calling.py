"""A command below an agent on another machine that cannot reach the end of its own link."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from pro0.errors import Refused
from pro0.link.calling import CONFINED
from pro0.store import paths
from tests.waiting import STUCK

NOBODY = 65534
CALL = f"""
import os, sys
from pro0.link.calling import call_home
if os.geteuid() == 0:
    os.setgid({NOBODY}), os.setuid({NOBODY})
sys.exit(call_home(".", ["inbox"]))
"""
"""A caller that may not connect to the socket in its folder: another user, when root runs this."""


def test_a_sandbox_is_named_instead_of_waiting_for_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 19, build 2: Codex runs commands where no socket may be reached."""
    folder = tmp_path / "hosted"
    folder.mkdir(mode=0o711)
    monkeypatch.chdir(folder)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(paths.HOSTED_SOCKET)
        listener.listen()
        Path(paths.HOSTED_SOCKET).chmod(0)
        done = subprocess.run([sys.executable, "-c", CALL], capture_output=True, text=True, check=False, timeout=STUCK)
    assert (done.returncode, done.stderr.strip()) == (Refused.exit_code, f"pro0: {CONFINED}")
