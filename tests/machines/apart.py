"""Machines with a network, processes and a host name of their own: namespaces, joined by pairs of virtual cables.

The home is in a network of its own too, which `make test-machines` gives to all tests here.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

from tests.sshd import PATH, Machine
from tests.waiting import STUCK, wait_until

INSIDE = """
read _ # until the cable is there
hostname {name}; ip link set lo up; ip address add {address}/30 dev eth0; ip link set eth0 up
mount -t tmpfs none /run && mkdir /run/sshd && exec "$(command -v sshd)" -D -e -f {at}/sshd
"""
APART = ("unshare", "--net", "--mount", "--pid", "--uts", "--fork", "--kill-child", "--mount-proc")
SKEWED = Path(__file__).parents[1] / "programs" / "skewed.py"


def lacks() -> str:
    """Return why machines cannot be apart here, "" when they can."""
    if not Path("/proc/self/ns/net").exists() or os.geteuid() != 0:
        return "namespaces with cables between them take Linux and root"
    if len(socket.if_nameindex()) > 1:
        return "this is a network of others: make test-machines gives the tests one of their own"
    missing = [name for name in ("ip", "nsenter", "sshd", "ssh", "ssh-keygen") if not shutil.which(name, path=PATH)]
    return f"not installed: {', '.join(missing)}" if missing else ""


class Apart(Machine):
    """One machine apart, number 1 or higher; a clock that is wrong, by seconds, is its own too."""

    def __init__(self, at: Path, name: str, number: int, skew: float = 0.0) -> None:
        super().__init__(at, name, address=f"198.18.{number}.2", port=22)
        self._cable = f"to{number}"
        self._near = f"198.18.{number}.1"
        self._init: subprocess.Popen[bytes] | None = None
        (at / "skew").write_text(str(skew))
        words = f"{SKEWED} {at}/skew pro0" if skew else "-m pro0"
        self.install(f'exec {sys.executable} {words} "$@"')

    def start(self) -> None:
        """Boot, and wait until its sshd answers."""
        inside = INSIDE.format(name=self.name, address=self.address, at=self.at)
        with (self.at / "log").open("ab") as log:
            self._init = subprocess.Popen(
                (*APART, "sh", "-c", inside), stdin=-1, stdout=log, stderr=log, env=os.environ | {"PATH": PATH}
            )
        own = os.readlink("/proc/self/ns/net")
        place = f"/proc/{self._init.pid}/ns/net"
        wait_until(lambda: os.readlink(place) != own, STUCK, f"{self.name} is apart")
        ip("link", "add", self._cable, "type", "veth", "peer", "name", "eth0", "netns", str(self._init.pid))
        ip("address", "add", f"{self._near}/30", "dev", self._cable)
        ip("link", "set", self._cable, "up")
        assert self._init.stdin
        self._init.stdin.write(b"\n")
        self._init.stdin.close()
        wait_until(self._answers, STUCK, f"{self.name} answers", every=0.05)

    def stop(self) -> None:
        """Take it down at once, with all that runs on it; its disk stays."""
        if self._init:
            os.kill(self._first(), signal.SIGKILL)  # the kernel ends all others
            self._init.wait(STUCK)
            self._init = None
            wait_until(lambda: self._cable not in dict(socket.if_nameindex()).values(), STUCK, "the cable is gone")

    def kill(self, pid: int) -> None:
        """Kill one process, by its number there."""
        assert self._init
        words = ("nsenter", "--pid", "--mount", "--target", str(self._first()), "kill", "-9", str(pid))
        subprocess.run(words, check=True, capture_output=True)

    def _first(self) -> int:
        """Return the first process there, by its number here."""
        assert self._init
        [child] = Path(f"/proc/{self._init.pid}/task/{self._init.pid}/children").read_text().split()
        return int(child)

    def cut(self) -> None:
        """Pull the plug: packets get lost, and nobody is told."""
        self._plug("down")

    def mend(self) -> None:
        """Plug it in again."""
        self._plug("up")

    def _plug(self, state: str) -> None:
        assert self._init
        ip("link", "set", "eth0", state, inside=self._init.pid)


def ip(*words: str, inside: int = 0) -> None:
    """Change the network here, or that of a process."""
    there = ("nsenter", "--net", "--target", str(inside)) if inside else ()
    subprocess.run((*there, "ip", *words), check=True, capture_output=True, env=os.environ | {"PATH": PATH})
