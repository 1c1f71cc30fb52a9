"""The programs of real agents: which are taken, and who may run them."""

import os
import subprocess
import sys
from pathlib import Path

from tools.agents.install import PINNED, ROOT


def install(cache: Path, *agents: str, versions: str = "") -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"XDG_CACHE_HOME": str(cache), "AGENT_VERSIONS": versions}
    words = [sys.executable, "-m", "tools.agents.install", *agents]
    return subprocess.run(words, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=60)


def place(cache: Path, version: str) -> Path:
    """Put a program there that runs, as an earlier installation has left it, for its owner alone."""
    folder = cache / "pro0" / "agents" / f"pi-{version}"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "pi").touch()
    folder.chmod(0o700)
    return folder


def test_in_the_box_somebody_else_may_run_what_is_there(tmp_path: Path) -> None:
    pinned, other = place(tmp_path, PINNED["pi"].version), place(tmp_path, "0.1.2")
    assert install(tmp_path, "pi").returncode == 0
    assert (pinned.stat().st_mode & 0o777, other.stat().st_mode & 0o777) == (0o755, 0o700)
    assert install(tmp_path, "pi", versions="pi=0.1.2").returncode == 0
    assert other.stat().st_mode & 0o777 == 0o755


def test_a_version_of_no_agent_is_one_line(tmp_path: Path) -> None:
    done = install(tmp_path, "pi", versions="pie=0.1.2")
    assert (done.returncode, done.stderr) == (2, "agents: AGENT_VERSIONS names no agent: pie\n")
