"""Another machine, as far as one machine can be two: a real sshd on 127.0.0.1 with a home of its own.

Its host key, its port and the key that it lets in are its own; nothing of the machine's ssh is read or written.
"""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.waiting import STUCK, wait_until

PATH = f"{os.environ['PATH']}:/usr/sbin"
SSHD = """ListenAddress {address}
Port {port}
HostKey {at}/key
AuthorizedKeysFile {at}/key.pub
PasswordAuthentication no
PermitRootLogin yes
StrictModes no
UsePAM no
PidFile none
"""
"""The settings of a daemon that nobody else's files or logins concern."""
MACHINE = f"""{SSHD}MaxStartups 100
MaxSessions 100
SetEnv HOME={{home}} PRO0_HOME={{home}}/pro0 PATH={{path}}
"""
CLIENT = """Host {name}
  HostName {address}
  Port {port}
  IdentityFile {at}/key
  IdentitiesOnly yes
  UserKnownHostsFile {at}/known
  StrictHostKeyChecking accept-new
  LogLevel ERROR
"""
INSIDE = "mount -t tmpfs none /run && mkdir /run/sshd && exec {words}"
"""Root's sshd wants a folder of the system's; it gets one that nobody else sees."""


class Machine:
    """The other machine: `name` reaches it by the command `ssh`, and its files are below `home`."""

    def __init__(self, at: Path, name: str, address: str = "127.0.0.1", port: int = 0) -> None:
        self.at, self.name = at, name
        self.home = at / "home"
        self.bin = at / "bin"
        self.ssh = f"ssh -F {at}/client"
        self._daemon: subprocess.Popen[bytes] | None = None
        for folder in (at, self.home, self.bin):
            folder.mkdir(mode=0o700)
        subprocess.run(("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", at / "key"), check=True)
        self.address, self.port = address, port or _free_port()
        path = f"{self.bin}:/usr/local/bin:/usr/bin:/bin"
        (at / "sshd").write_text(MACHINE.format(address=address, port=self.port, at=at, home=self.home, path=path))
        (at / "client").write_text(CLIENT.format(name=name, address=address, port=self.port, at=at))

    def install(self, words: str = f'exec {sys.executable} -m pro0 "$@"', first: str = "") -> None:
        """Install pro0 there, or something else of that name; `first` is what its shell does before."""
        program = self.bin / "pro0"
        program.write_text(f"#!/bin/sh\n{first}\n{words}\n")
        program.chmod(0o700)

    def start(self) -> None:
        """Start its sshd, and wait until it answers."""
        words = (str(shutil.which("sshd", path=PATH)), "-D", "-e", "-f", f"{self.at}/sshd")
        if os.geteuid() == 0:
            words = ("unshare", "--mount", "sh", "-c", INSIDE.format(words=" ".join(words)))
        with (self.at / "log").open("ab") as log:
            self._daemon = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until(self._answers, STUCK, "sshd answers", every=0.05)

    def stop(self) -> None:
        """End its sshd: nobody new is let in, and who is in stays."""
        if self._daemon:
            self._daemon.terminate()
            self._daemon.wait(STUCK)
            self._daemon = None

    def _answers(self) -> bool:
        try:
            socket.create_connection((self.address, self.port), 1).close()
        except OSError:
            return False
        return True


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as chosen:
        return int(chosen.getsockname()[1])


def lacks() -> str:
    """Return why there can be no sshd here, "" when there can be one."""
    for name in ("sshd", "ssh", "ssh-keygen"):
        if not shutil.which(name, path=PATH):
            return f"{name} is not installed"
    apart = ("unshare", "--mount", "mount", "-t", "tmpfs", "none", "/run")
    if os.geteuid() == 0 and subprocess.run(apart, capture_output=True, check=False).returncode:
        return "root's sshd needs a folder of the system's, and no namespace may be made here"
    return ""


@contextmanager
def machine(at: Path, name: str = "build1") -> Iterator[Machine]:
    """Make another machine, start it, and end it."""
    made = Machine(at, name)
    try:
        made.start()
        yield made
    finally:
        made.stop()
