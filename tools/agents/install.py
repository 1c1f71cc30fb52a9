"""Install the real agent programs, at pinned versions, into a folder of their own outside the checkout.

`python -m tools.agents.install [AGENT ...]` says in a line per agent what it did. It exits 6 if one is unavailable.
AGENT_VERSIONS="claude=2.1.246 pi=1.6.0" takes other versions.
"""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache as once
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]


class Package(NamedTuple):
    """A package of the registry; `needs` lists the dependencies to install with it, None for all."""

    name: str
    version: str
    needs: tuple[str, ...] | None = None


PINNED = {
    "claude": Package("@anthropic-ai/claude-code", "2.1.330"),
    "codex": Package("@openai/codex", "0.169.0"),
    "opencode": Package("opencode-ai", "1.18.33"),
    "pi": Package("@earendil-works/pi-coding-agent", "1.5.2", needs=("jiti@2.7.0",)),
    "gemini": Package("@google/gemini-cli", "0.61.0"),
}
NODE = Package("node", "24.21.0")
"""The node to install where the system's own is too old."""
OLDEST_NODE = (22, 19)
MISSING = 6
"""The exit code of pro0 for what the environment lacks."""


class Unavailable(Exception):
    """An agent, or something it needs, cannot be installed; the text says which and why."""


def cache() -> Path:
    """Return the folder in which the programs live, for every checkout of this user."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pro0" / "agents"


def folder(agent: str) -> Path:
    """Return the folder of an agent's pinned version, installed or not."""
    return cache() / f"{agent}-{_package(agent).version}"


def program(agent: str) -> Path:
    """Return the program of an agent's pinned version."""
    return folder(agent) / "bin" / agent


def installed() -> list[str]:
    """Return the agents with an installed pinned version."""
    return [agent for agent in PINNED if program(agent).exists()]


def install(agent: str) -> None:
    """Install an agent's pinned version into the cache, completely or not at all."""
    with tempfile.TemporaryDirectory(dir=cache(), prefix=f".{agent}-") as name:
        package = _package(agent)
        why = _npm_install(package, Path(name)) if package.needs is None else _unpack(package, Path(name))
        link = Path(name) / "bin" / agent
        link.parent.mkdir(exist_ok=True)
        if not link.is_symlink():
            link.symlink_to(Path("..", "node_modules", ".bin", agent))
        if why or not link.exists():
            raise Unavailable(f"{agent} cannot be had: {why or 'its package has no such program'}")
        shutil.rmtree(folder(agent), ignore_errors=True)
        Path(name).rename(folder(agent))
    _works(agent)


def node() -> Path | None:
    """Return the node that agents run with: the system's when it is new enough, else the pinned one, if it is there."""
    found = shutil.which("node")
    if found and _version(found) >= OLDEST_NODE:
        return Path(found).resolve()
    return program(NODE.name) if program(NODE.name).exists() else None


def need_node() -> None:
    """Ensure that npm and a new enough node are there; install them where that needs no password."""
    for command, package in (("node", "nodejs"), ("npm", "npm")):
        if not shutil.which(command):
            subprocess.run([ROOT / "tools" / "install", package], check=False)
        if not shutil.which(command):
            raise Unavailable(f"{command} is missing: install {_dotted(OLDEST_NODE)} or newer of node, with npm")
    if not node():
        _say(f"installing node {NODE.version}: the system's is older than {_dotted(OLDEST_NODE)}")
        install(NODE.name)


def _npm_install(package: Package, to: Path) -> str:
    """Install a package with its dependencies; return why that failed, empty for success."""
    what = package.needs or (f"{package.name}@{package.version}",)
    done = _npm("install", "--prefix", str(to), "--no-audit", "--no-fund", "--no-save", *what)
    return _why(done.stderr) if done.returncode else ""


def _unpack(package: Package, to: Path) -> str:
    """Unpack a bundled package, and install what it needs; return why that failed, empty for success."""
    done = _npm("pack", "--json", "--pack-destination", str(to), f"{package.name}@{package.version}")
    if done.returncode:
        return _why(done.stderr)
    for archive in to.glob("*.tgz"):
        subprocess.run(["tar", "-xzf", archive, "-C", to], check=True)
    programs = json.loads((to / "package" / "package.json").read_bytes())["bin"]
    (to / "bin").mkdir()
    for name, path in programs.items():
        (to / "package" / path).chmod(0o755)
        (to / "bin" / name).symlink_to(Path("..", "package", path))
    return _npm_install(package, to) if package.needs else ""


def _npm(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["npm", *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)


def _package(name: str) -> Package:
    """Return the package to install; raises Unavailable when AGENT_VERSIONS names an unknown agent."""
    if name == NODE.name:
        return NODE
    others = dict(word.partition("=")[::2] for word in os.environ.get("AGENT_VERSIONS", "").split())
    if unknown := others.keys() - PINNED.keys():
        raise Unavailable(f"AGENT_VERSIONS names no agent: {', '.join(sorted(unknown))}")
    return PINNED[name]._replace(version=others.get(name) or PINNED[name].version)


@once
def _version(node: str) -> tuple[int, ...]:
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    return tuple(map(int, said.removeprefix("v").split(".")))


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def main(agents: list[str]) -> int:
    """Install the missing ones of the named agents, or of all agents; return the exit code."""
    if unknown := [agent for agent in agents if agent not in PINNED]:
        _say(f"no such agent: {', '.join(unknown)}; there are {', '.join(PINNED)}")
        return 2
    with _alone():
        try:
            missing = [agent for agent in agents or PINNED if not program(agent).exists()]
        except Unavailable as error:
            _say(str(error))
            return 2
        had = [_had(agent) for agent in missing] if not missing or _had_node() else [False]
        for name in filter(lambda name: program(name).exists(), (NODE.name, *(agents or PINNED))):
            folder(name).chmod(0o755)  # in the box another user runs it
    return 0 if all(had) else MISSING


def _had_node() -> bool:
    try:
        need_node()
    except Unavailable as error:
        _say(str(error))
        return False
    return True


def _had(agent: str) -> bool:
    package = _package(agent)
    _say(f"installing {package.name} {package.version}")
    try:
        install(agent)
    except Unavailable as error:
        _say(str(error))
        return False
    return True


def _works(agent: str) -> None:
    beside = [str(path.parent) for path in (node(),) if path]
    done = subprocess.run(
        [program(agent), "--version"],
        env=os.environ | {"PATH": os.pathsep.join((*beside, os.environ.get("PATH", os.defpath)))},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=120,
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
