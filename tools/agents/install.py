"""Install the real agent programs, at pinned versions, into a folder of their own outside the checkout.

`python -m tools.agents.install [AGENT ...]` says in one line per agent what it did, and exits 6 when one cannot be had.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
PINNED = {
    "claude": ("@anthropic-ai/claude-code", "2.1.197"),
    "codex": ("@openai/codex", "0.169.0"),
    "opencode": ("opencode-ai", "1.18.33"),
    "pi": ("@mariozechner/pi-coding-agent", "0.73.1"),
    "gemini": ("@google/gemini-cli", "0.61.0"),
}
OLDEST_NODE = 20
MISSING = 6
"""The exit code of pro0 for what the environment lacks."""


class Unavailable(Exception):
    """An agent, or what it needs, cannot be had; the text says which and why."""


def cache() -> Path:
    """Return the folder in which the programs live, for every checkout of this user."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pro0" / "agents"


def folder(agent: str) -> Path:
    """Return where an agent's pinned version is, or will be."""
    return cache() / f"{agent}-{PINNED[agent][1]}"


def program(agent: str) -> Path:
    """Return the program of an agent's pinned version."""
    return folder(agent) / "bin" / agent


def installed() -> list[str]:
    """Return the agents whose pinned version is there."""
    return [agent for agent in PINNED if program(agent).exists()]


def install(agent: str) -> None:
    """Bring an agent's pinned version into the cache; all of it, or nothing."""
    package, version = PINNED[agent]
    with tempfile.TemporaryDirectory(dir=cache(), prefix=f".{agent}-") as name:
        done = subprocess.run(
            ["npm", "install", "--prefix", name, "--no-audit", "--no-fund", "--no-save", f"{package}@{version}"],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        link = Path(name) / "bin" / agent
        link.parent.mkdir()
        link.symlink_to(Path("..", "node_modules", ".bin", agent))
        if done.returncode or not link.exists():
            raise Unavailable(f"{agent} cannot be had: {_why(done.stderr)}")
        shutil.rmtree(folder(agent), ignore_errors=True)
        Path(name).rename(folder(agent))
    _works(agent)


def need_node() -> None:
    """Make sure of node and npm, installing the system's packages where that needs no password."""
    for command, package in (("node", "nodejs"), ("npm", "npm")):
        if not shutil.which(command):
            subprocess.run([ROOT / "tools" / "install", package], check=False)
        if not shutil.which(command):
            raise Unavailable(f"{command} is missing: install {OLDEST_NODE} or newer of node, with npm")
    said = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    if int(said.removeprefix("v").split(".")[0]) < OLDEST_NODE:
        raise Unavailable(f"node is {said}, too old: install {OLDEST_NODE} or newer")


def main(agents: list[str]) -> int:
    """Install what is missing of the agents named, of all by default; return the exit code."""
    if unknown := [agent for agent in agents if agent not in PINNED]:
        _say(f"no such agent: {', '.join(unknown)}; there are {', '.join(PINNED)}")
        return 2
    with _alone():
        missing = [agent for agent in agents or PINNED if not program(agent).exists()]
        had = [_had(agent) for agent in missing] if not missing or _had_node() else [False]
    return 0 if all(had) else MISSING


def _had_node() -> bool:
    try:
        need_node()
    except Unavailable as error:
        _say(str(error))
        return False
    return True


def _had(agent: str) -> bool:
    _say(f"installing {' '.join(PINNED[agent])}")
    try:
        install(agent)
    except Unavailable as error:
        _say(str(error))
        return False
    return True


def _works(agent: str) -> None:
    done = subprocess.run(
        [program(agent), "--version"], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120
    )
    if done.returncode:
        shutil.rmtree(folder(agent))
        raise Unavailable(f"{agent} does not run here: {_why(done.stderr or done.stdout)}")


def _why(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("npm warn")]
    return next((line for line in lines if line.startswith("npm error")), lines[-1] if lines else "it says nothing")


@contextmanager
def _alone() -> Iterator[None]:
    cache().mkdir(parents=True, exist_ok=True)
    with open(cache() / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _say(text: str) -> None:
    print(f"agents: {text}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
