"""Daemons that a person may have: at, cron, sshd, and managers of services; the tests start their own.

Those of the system run in a namespace of mounts, with spools and pid files of their own, so nothing of the machine is
touched; only root can make one. Each is ended by its pid.
"""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from tests.ops.guarded import MOUNTS, refusal
from tests.sshd import SSHD
from tests.waiting import STUCK, wait_until

PACKAGED = ("atd", "cron", "sshd", "node", "man")
"""The daemons, and the programs, that `make services` installs."""
APART = """set -e
mount -t tmpfs none /run
mkdir -p /run/sshd /run/systemd/system
if [ -d /var/spool/cron ]; then
    mount -t tmpfs none /var/spool/cron
    mkdir -m 1730 /var/spool/cron/crontabs
    mkdir -m 1770 /var/spool/cron/atjobs /var/spool/cron/atspool
    touch /var/spool/cron/atjobs/.SEQ
    chown -R daemon:daemon /var/spool/cron/atjobs /var/spool/cron/atspool
fi
for place in /etc/cron.d /etc/cron.hourly; do [ ! -d $place ] || mount -t tmpfs none $place; done
[ ! -f /etc/crontab ] || mount --bind /dev/null /etc/crontab
# cron reads a table only when the second of its folder changes: one of the second of its start would never count
for place in /var/spool/cron/crontabs /etc/cron.d; do [ ! -d $place ] || touch -d 2000-01-01 $place; done
echo apart
exec sleep infinity"""
SYSTEMD = Path("/lib/systemd/systemd")
GROUPS = ("/sys/fs/cgroup/systemd", "/sys/fs/cgroup/unified", "/sys/fs/cgroup")
"""Where a manager of services keeps its control groups; in the newest version only the last is one."""


class Services:
    """What runs here, and the words by which a way asks it."""

    def __init__(self) -> None:
        self.run: set[str] = set()
        self.words: dict[str, str] = {}
        self.why_not = refusal(*MOUNTS) or ("" if os.geteuid() == 0 else "only root can start one beside the machine's")


@contextmanager
def services(at: Path) -> Iterator[Services]:
    """Start every daemon that is installed here; yield which run."""
    made = Services()
    at.mkdir(mode=0o700)
    with ExitStack() as ending:
        if shutil.which("dbus-daemon"):
            _bus(made, at, ending)
        if not made.why_not:
            apart = _started(("unshare", "--mount", "sh", "-c", APART), ending, stdout=subprocess.PIPE)
            assert apart.stdout
            assert apart.stdout.readline() == b"apart\n"
            inside = ("nsenter", f"--mount=/proc/{apart.pid}/ns/mnt")
            made.words["inside"] = " ".join(inside)
            _spools(made, inside, ending)
            _ssh(made, at, inside, ending)
            _manager(made, at, inside, ending)
        yield made


def _spools(made: Services, inside: tuple[str, ...], ending: ExitStack) -> None:
    for name in ("atd", "cron"):
        if shutil.which(name):
            _started((*inside, name, "-f"), ending)
            made.run.add(name)


def _ssh(made: Services, at: Path, inside: tuple[str, ...], ending: ExitStack) -> None:
    if (program := shutil.which("sshd")) is None:
        return
    subprocess.run(("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", at / "key"), check=True)
    with socket.create_server(("127.0.0.1", 0)) as chosen:
        port = chosen.getsockname()[1]
    (at / "sshd_config").write_text(SSHD.format(address="127.0.0.1", port=port, at=at))
    _started((*inside, program, "-D", "-e", "-f", str(at / "sshd_config")), ending, stderr=subprocess.DEVNULL)
    wait_until(lambda: _answers(port), STUCK, "sshd answers", every=0.05)
    unknown = "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
    made.words["ssh"] = f"ssh -F none -i {at}/key -p {port} -o BatchMode=yes {unknown} -tt 127.0.0.1"
    made.run.add("sshd")


def _manager(made: Services, at: Path, inside: tuple[str, ...], ending: ExitStack) -> None:
    """Start a person's own systemd, in control groups of its own: it moves whatever else is in its group."""
    if not SYSTEMD.exists() or not shutil.which("systemd-run"):
        return
    (runtime := at / "runtime").mkdir(mode=0o700)
    groups = _groups(f"pro0-{at.name}-{os.getpid()}")
    ending.callback(_gone, groups)
    enter = "".join(f"echo $$ > {group}/cgroup.procs; " for group in groups)
    start = (*inside, "sh", "-c", f"{enter}exec {SYSTEMD} --user")
    environment = os.environ | {"XDG_RUNTIME_DIR": str(runtime), "HOME": str(at)}
    manager = _started(start, ending, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    socket_of_it = runtime / "systemd" / "private"
    wait_until(lambda: socket_of_it.exists() or manager.poll() is not None, STUCK, "systemd is up", every=0.05)
    if manager.poll() is None:
        made.words["systemd-run"] = f"env XDG_RUNTIME_DIR={runtime} systemd-run --user"
        made.run.add("systemd")


def _bus(made: Services, at: Path, ending: ExitStack) -> None:
    """Start a person's bus, which starts the program of whatever service is asked for."""
    (offered := at / "data" / "dbus-1" / "services").mkdir(parents=True)
    words = ("dbus-daemon", "--session", "--nofork", "--nosyslog", f"--address=unix:path={at}/bus", "--print-address=1")
    environment = os.environ | {"XDG_DATA_HOME": str(at / "data")}
    bus = _started(words, ending, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert bus.stdout
    assert bus.stdout.readline()
    made.words |= {"bus": f"dbus-send --bus=unix:path={at}/bus", "offered": str(offered)}
    made.run.add("dbus-daemon")


def _started(words: tuple[str, ...], ending: ExitStack, **more: object) -> "subprocess.Popen[bytes]":
    process: subprocess.Popen[bytes] = subprocess.Popen(  # type: ignore[call-overload]
        words, stdin=subprocess.DEVNULL, start_new_session=True, **more
    )
    ending.callback(_end, process)
    return process


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(STUCK)
    finally:
        process.kill()
        process.communicate()


def _groups(name: str) -> tuple[Path, ...]:
    places = [Path(place) for place in GROUPS if (Path(place) / "cgroup.procs").exists()]
    made = tuple(place / name for place in places)
    for group in made:
        group.mkdir()
    return made


def _gone(groups: tuple[Path, ...]) -> None:
    """Remove control groups, the inner ones first; those that a process is still leaving go a moment later."""

    def removed() -> bool:
        for group in groups:
            for folder in sorted(group.glob("**/"), key=lambda one: len(one.parts), reverse=True):
                with suppress(OSError):
                    folder.rmdir()
        return not any(group.exists() for group in groups)

    wait_until(removed, STUCK, "no control group is left", every=0.05)


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def must_run(name: str) -> bool:
    """Return whether it has to be here: in CI as root `make services` installs it, where it knows the packages."""
    return bool(os.environ.get("CI")) and os.geteuid() == 0 and name in PACKAGED and bool(shutil.which("apt-get"))
