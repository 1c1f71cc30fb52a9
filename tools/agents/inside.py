"""The first process of a box: makes a root with only what is listed here, runs one command, and reaps children.

`python -m tools.agents.inside MOUNT_POINT KEEP SHOWN ... -- COMMAND ...`, started in new namespaces by the box.
"""

import fcntl
import os
import signal
import socket
import struct
import subprocess
import sys
from pathlib import Path

from tools.agents.box import HOME

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
SETTINGS = ("nsswitch.conf", "hosts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives")
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
FRESH = {"tmp": 0o1777, "run": 0o755, "var/tmp": 0o1777, "dev/shm": 0o1777, HOME[1:]: 0o700}
PERSON = 1000
"""The user and group of the command; not root, since agents trust files of root that they refuse from others."""
KNOWN = {"passwd": "root:x:0:0::/:/bin/sh\nperson:x:{0}:{0}::{1}:/bin/sh\n", "group": "root:x:0:\nperson:x:{0}:\n"}
KEPT_FLAGS = {os.ST_NOSUID: "nosuid", os.ST_NODEV: "nodev", os.ST_NOEXEC: "noexec"}
SET_FLAGS = 0x8914
"""SIOCSIFFLAGS of linux/sockios.h."""
UP = 1
"""IFF_UP of linux/if.h."""


def make_root(root: Path, shown: list[Path], keep: Path | None) -> None:
    """Fill a folder with the root of the box: the system and the shown paths are read-only, the rest is new."""
    mount("-t", "tmpfs", "-o", "mode=755", "box", str(root))
    for path in map(Path, SYSTEM):
        if path.is_symlink():
            (root / path.name).symlink_to(path.readlink())
        elif path.exists():
            show(path, root)
    for path in (Path("/etc", name) for name in SETTINGS):
        if path.exists():
            show(path, root)
    for name, text in KNOWN.items():
        (root / "etc" / name).write_text(text.format(PERSON, HOME), encoding="ascii")
    for path in sorted(shown):
        if path.parts[1] not in {"usr", "bin", "lib"} and not any(path.is_relative_to(o) for o in shown if o != path):
            show(path, root)
    if keep:
        show(keep, root, writable=True)
    for name, mode in FRESH.items():
        (root / name).mkdir(parents=True, exist_ok=True)
        (root / name).chmod(mode)
    make_devices(root)
    (root / "proc").mkdir()
    mount("-t", "proc", "proc", str(root / "proc"))


def make_devices(root: Path) -> None:
    """Make /dev with the harmless devices and terminals of its own."""
    for name in DEVICES:
        show(Path("/dev", name), root, writable=True)
    (root / "dev" / "pts").mkdir()
    mount("-t", "devpts", "-o", "newinstance,ptmxmode=0666,mode=620", "devpts", str(root / "dev" / "pts"))
    (root / "dev" / "ptmx").symlink_to("pts/ptmx")
    for name, target in {"fd": "fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"}.items():
        (root / "dev" / name).symlink_to(f"/proc/self/{target}")


def show(path: Path, root: Path, writable: bool = False) -> None:
    """Make a file or folder visible in the box, at the same path as outside."""
    place = root.joinpath(*path.parts[1:])
    if path.is_dir():
        place.mkdir(parents=True, exist_ok=True)
    else:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()
    mount("--bind", str(path), str(place))
    if not writable:
        flags = os.statvfs(place).f_flag
        kept = [word for flag, word in KEPT_FLAGS.items() if flags & flag]
        mount("-o", ",".join(["remount", "bind", "ro", *kept]), str(place))


def mount(*words: str) -> None:
    """Call mount; raises CalledProcessError when it fails."""
    subprocess.run(["mount", *words], check=True)


def move_into(root: Path) -> None:
    """Make a folder the root, and unmount the old root."""
    (root / "old").mkdir()
    os.chdir(root)
    subprocess.run(["pivot_root", ".", "old"], check=True)
    os.chdir("/")
    subprocess.run(["umount", "--lazy", "/old"], check=True)
    Path("/old").rmdir()


def loopback_up() -> None:
    """Bring the interface of 127.0.0.1 up, which is down in a new network namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SET_FLAGS, struct.pack("16sh14x", b"lo", UP))


def has_person() -> bool:
    """Return True when root itself made the box; a user's own namespace has only one user."""
    return int(Path("/proc/self/uid_map").read_text().split()[2]) > PERSON


def give(folder: Path) -> None:
    """Give a folder to the person, with everything that an earlier box left in it."""
    for path in (folder, *folder.rglob("*")):
        os.chown(path, PERSON, PERSON, follow_symlinks=False)


def run(argv: list[str], folder: str) -> int:
    """Run a command, wait for every child that ends meanwhile, and return the command's exit code."""
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        if has_person():
            os.setgroups([])
            os.setresgid(PERSON, PERSON, PERSON)
            os.setresuid(PERSON, PERSON, PERSON)
        os.execvp(argv[0], argv)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        pid, status = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def main(argv: list[str]) -> int:
    """Make the box and run the command in it; return its exit code."""
    border = argv.index("--")
    point, keep, *shown = argv[:border]
    here = str(Path.cwd())
    make_root(Path(point), [Path(path) for path in shown], Path(keep) if keep else None)
    move_into(Path(point))
    loopback_up()
    if has_person():
        for folder in filter(None, (HOME, keep)):
            give(Path(folder))
    return run(argv[border + 1 :], here)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
