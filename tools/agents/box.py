"""Run a command in a box where it reaches nothing but 127.0.0.1 and sees no other process, home or setting.

`python -m tools.agents.box [--keep FOLDER] COMMAND ...`: what is written to FOLDER stays; everything else is gone with
the box. Linux only; as root, or where a user may make namespaces.
"""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from tools.agents.install import MISSING, ROOT, cache, folder, installed, node

PROGRAMS = ("setpriv", "unshare", "mount", "pivot_root")
NAMESPACES = ("--net", "--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child", "--propagation", "private")
HOME = "/box"


class NoBox(Exception):
    """A box cannot be made here; the text says why."""


def command(argv: list[str], keep: Path | None = None) -> list[str]:
    """Return the command line that runs `argv` in a box; the box ends with the process that started it."""
    shown = [ROOT, Path(sys.base_prefix), cache(), *_node()]
    words = [str(mount_point()), str(keep or ""), *(str(path) for path in shown), "--", *argv]
    as_root = () if os.geteuid() == 0 else ("--map-root-user",)
    inside = [sys.executable, "-m", "tools.agents.inside", *words]
    return ["setpriv", "--pdeathsig", "KILL", "unshare", *as_root, *NAMESPACES, *inside]


def environment() -> dict[str, str]:
    """Return the environment of a process in the box, which is all that it knows of the outside."""
    agents = [folder(agent) / "bin" for agent in installed()]
    own = [Path(sys.executable).parent, *(prefix / "bin" for prefix in _node())]
    system = ("/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin")
    return {
        "PATH": os.pathsep.join(map(str, (*agents, *own, *system))),
        "HOME": HOME,
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "SHELL": "/bin/sh",
    }


def mount_point() -> Path:
    """Return an empty folder; each box mounts its own root over it, visible to that box alone."""
    point = cache() / "root"
    point.mkdir(parents=True, exist_ok=True)
    return point


def check() -> None:
    """Raise NoBox, saying why, where no box can be made."""
    if not sys.platform.startswith("linux"):
        raise NoBox("the box for real agents needs Linux")
    if missing := [name for name in PROGRAMS if not shutil.which(name, path=_search())]:
        raise NoBox(f"the box for real agents needs {', '.join(missing)} (util-linux)")
    done = subprocess.run(command(["true"]), env=environment(), cwd=ROOT, capture_output=True, text=True, timeout=60)
    if done.returncode:
        why = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise NoBox(f"the box for real agents needs root, or user namespaces that a user may make: {why}")


def run(argv: list[str], keep: Path | None = None) -> int:
    """Run a command in a box and return its exit code; nothing of it is left."""
    check()
    with subprocess.Popen(command(argv, keep), env=environment(), cwd=ROOT) as process:
        signal.signal(signal.SIGTERM, lambda *_: process.kill())
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        return process.wait()


def main(argv: list[str]) -> int:
    """Run the command named in the arguments in a box; return its exit code."""
    keep = None
    if argv[:1] == ["--keep"] and len(argv) > 2:
        keep = Path(argv[1]).resolve()
        keep.mkdir(parents=True, exist_ok=True)
        argv = argv[2:]
    if not argv or argv[0].startswith("-"):
        print((__doc__ or "").split("`")[1], file=sys.stderr)
        return 2
    try:
        return run(argv, keep)
    except NoBox as error:
        print(f"agents: {error}", file=sys.stderr)
        return MISSING


def _node() -> list[Path]:
    found = node()
    return [found.parents[1]] if found else []


def _search() -> str:
    return os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
