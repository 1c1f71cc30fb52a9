"""Set-up on machines other than this one: made-up programs on a PATH of their own."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.house.source import ROOT
from tests.waiting import STUCK

REAL = ("env", "dirname", "rm", "touch", "head", "grep", "cat", "mkdir", "sleep")


class Machine:
    """A machine that has only the programs it was given; each writes down how it was called."""

    def __init__(self, root: Path) -> None:
        self.bin, self.log, self.checkout = root / "bin", root / "log", root / "a checkout"
        self.bin.mkdir()
        (self.checkout / "tools").mkdir(parents=True)
        (self.checkout / "pyproject.toml").touch()
        for tool in ("setup", "install"):
            shutil.copy(ROOT / "tools" / tool, self.checkout / "tools" / tool)
        for name in REAL:
            (self.bin / name).symlink_to(shutil.which(name) or name)
        self.has("uname", "echo Linux")
        self.has("id", "echo 1000")

    def has(self, name: str, does: str = "") -> None:
        """Give the machine a program."""
        path = self.bin / name
        path.write_text(f'#!/bin/sh\necho "{name} $*" >> "{self.log}"\n{does}\n')
        path.chmod(0o755)

    def run(self, tool: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.checkout / "tools" / tool, *arguments],
            env={"PATH": str(self.bin), "HOME": str(self.checkout)},
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=STUCK,
        )

    def called(self, *names: str) -> list[str]:
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line for line in lines if line.split()[0] in names]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


PYTHON = """
case "$*" in
    *version_info*11*) {new} ;;
    *"import ensurepip, venv"*) {complete} ;;
    *version_info*) echo 3.12 ;;
    *--version*) echo Python 3.12.1 ;;
    *"-m venv"*) mkdir -p .venv/bin; cp "$0" .venv/bin/python 2>/dev/null || cat "$0" > .venv/bin/python
        /bin/chmod 755 .venv/bin/python ;;
    *print*parents*) cd {checkout} && pwd -P ;;
    *"pip install"*) printf '#!%s/.venv/bin/python\\n' "$PWD" > .venv/bin/pro0 ;;
esac
"""


def python(machine: Machine, new: str = "exit 0", complete: str = "exit 0") -> str:
    return PYTHON.format(new=new, complete=complete, checkout=f'"{machine.checkout}"')


def test_a_fresh_checkout_is_set_up_once(machine: Machine) -> None:
    machine.has("python3", python(machine))
    first = machine.run("setup")
    assert first.returncode == 0, first.stderr
    assert "setup: making .venv with Python 3.12.1" in first.stderr
    calls = [line for line in machine.called("python3") if "install" in line]
    assert any("--editable .[web] --group dev" in line for line in calls)
    assert any("-m compileall -qq pro0" in line for line in machine.called("python3"))
    assert machine.run("setup").stderr == ""
    assert [line for line in machine.called("python3") if "install" in line] == calls


def test_a_changed_pyproject_is_installed_into_the_same_environment(machine: Machine) -> None:
    machine.has("python3", python(machine))
    machine.run("setup")
    stamp = (machine.checkout / ".venv" / ".ready").stat().st_mtime
    os.utime(machine.checkout / "pyproject.toml", (stamp + 5, stamp + 5))
    again = machine.run("setup")
    assert "making" not in again.stderr
    assert "installing" in again.stderr


def test_a_moved_checkout_gets_a_new_environment(machine: Machine) -> None:
    machine.has("python3", python(machine))
    machine.run("setup")
    (machine.checkout / ".venv" / "bin" / "pro0").write_text("#!/elsewhere/.venv/bin/python\n")
    assert "making .venv" in machine.run("setup").stderr


def test_a_newer_python_is_looked_for(machine: Machine) -> None:
    machine.has("python3", python(machine, new="exit 1"))
    machine.has("python3.12", python(machine))
    assert machine.run("setup").returncode == 0
    assert any("-m venv" in line for line in machine.called("python3.12"))


def test_no_python_is_told(machine: Machine) -> None:
    machine.has("python3", python(machine, new="exit 1"))
    done = machine.run("setup")
    assert done.returncode == 6
    assert "setup: no Python 3.11 or newer was found" in done.stderr
    assert "hint: install one" in done.stderr


@pytest.mark.parametrize("root", [True, False])
def test_the_venv_package_is_installed_when_that_needs_no_password(machine: Machine, root: bool) -> None:
    machine.has("python3", python(machine, complete=f'[ -e "{machine.bin}/done" ]'))
    machine.has("apt-get", f'case "$*" in *python3.12-venv) : > "{machine.bin}/done" ;; esac')
    if root:
        machine.has("id", "echo 0")
    done = machine.run("setup")
    assert done.returncode == (0 if root else 6), done.stderr
    assert bool(machine.called("apt-get")) == root
    assert root or "hint: install the package python3.12-venv" in done.stderr


def test_a_failed_installation_is_told_and_tried_again(machine: Machine) -> None:
    machine.has("python3", python(machine).replace("printf", "exit 1; printf"))
    done = machine.run("setup")
    assert done.returncode == 6
    assert "the packages could not be installed" in done.stderr
    assert not (machine.checkout / ".venv" / ".ready").exists()
    assert machine.run("setup").returncode == 6


MANAGERS = {
    "apt-get": "-qq -y -o DPkg::Lock::Timeout=120 install tmux",
    "dnf": "install -q -y tmux",
    "pacman": "-Sy --noconfirm --quiet tmux",
    "apk": "add --quiet tmux",
}


@pytest.mark.parametrize("program", MANAGERS)
@pytest.mark.parametrize("sudo", [True, False])
def test_a_package_is_installed_without_a_password(machine: Machine, program: str, sudo: bool) -> None:
    if sudo:
        machine.has("sudo", 'shift; exec "$@"')
        (machine.bin / "true").symlink_to(shutil.which("true") or "true")
    else:
        machine.has("id", "echo 0")
    machine.has(program)
    done = machine.run("install", "tmux")
    assert done.returncode == 0, done.stderr
    assert done.stderr == "setup: installing tmux\n"
    assert machine.called(program) == [f"{program} {MANAGERS[program]}"]


def test_a_package_with_brew_needs_no_root(machine: Machine) -> None:
    machine.has("uname", "echo Darwin")
    machine.has("brew")
    assert machine.run("install", "tmux").returncode == 0
    assert machine.called("brew") == ["brew install --quiet tmux"]


def test_old_package_lists_are_brought_up_to_date(machine: Machine) -> None:
    machine.has("id", "echo 0")
    machine.has("apt-get", f'case "$*" in *update) : > "{machine.bin}/new" ;; *) [ -e "{machine.bin}/new" ] ;; esac')
    assert machine.run("install", "tmux").returncode == 0
    assert [line.split()[-1] for line in machine.called("apt-get")] == ["tmux", "update", "tmux"]


@pytest.mark.parametrize("sudo", [True, False])
def test_a_password_is_never_asked_for(machine: Machine, sudo: bool) -> None:
    machine.has("apt-get")
    if sudo:
        machine.has("sudo", "exit 1")
    done = machine.run("install", "tmux")
    assert done.returncode == 1
    assert "needs a password" in done.stderr
    assert not machine.called("apt-get")
    assert machine.called("sudo") == (["sudo -n true"] if sudo else [])


def test_an_unknown_system_is_told(machine: Machine) -> None:
    machine.has("id", "echo 0")
    done = machine.run("install", "tmux")
    assert done.returncode == 1
    assert "no package manager that is known" in done.stderr
