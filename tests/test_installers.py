"""What people type to install pro0, typed: uv, pipx and pip, from a clone and a wheel, with every Python that is here.

In a scratch home. Then everything that the README says of an installed pro0 is tried (issue 18, must show 6).
"""

import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import termios
import time
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.test_release import serves
from tests.waiting import STUCK
from tools import install_size

pytestmark = pytest.mark.soak
PATIENCE = 6 * STUCK
"""Seconds for one line: pip compiles all that it installs, which takes minutes on a machine that is busy."""
VERSIONS = ("3.11", "3.12", "3.13", "3.14", "3.15")
WITH = {
    "uv": "uv tool install --python {python} {what}",
    "pipx": "pipx install --python {python} {what}",
    "pip": "{python} -m venv ~/env && ~/env/bin/pip install {what}",
}
"""Installer → what is typed."""


class Installed(NamedTuple):
    """A person's home into which pro0 was installed, and the installer's folder."""

    home: Path
    tools: Path

    @property
    def program(self) -> Path:
        found = [folder / "pro0" for folder in (self.home / ".local" / "bin", self.home / "env" / "bin")]
        return next(path for path in found if path.exists())

    @property
    def environment(self) -> dict[str, str]:
        """That person's variables, and none of this environment's."""
        kept = {name: text for name, text in os.environ.items() if not name.startswith(("PRO0_", "PYTHON", "VIRTUAL"))}
        path = os.pathsep.join(map(str, (self.home / ".local" / "bin", self.home / "env" / "bin", self.tools)))
        return kept | {"HOME": str(self.home), "PATH": f"{path}{os.pathsep}{kept['PATH']}", "TERM": "xterm-256color"}

    def type(self, script: str) -> str:
        """Type something as that person, and return what is shown."""
        argv = ["sh", "-c", script]
        typed = subprocess.run(
            argv, cwd=self.home, env=self.environment, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert typed.returncode == 0, (script, typed.stdout[-2000:], typed.stderr[-2000:])
        return typed.stdout + typed.stderr


def pythons() -> Iterator[tuple[str, Path]]:
    """Yield each version of Python that is here, on the PATH or where pyenv puts them."""
    versions = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    for version in VERSIONS:
        places = [
            *versions.glob(f"{version}.*/bin/python{version}"),
            *map(Path, filter(None, [shutil.which(f"python{version}")])),
        ]
        for place in places:
            if subprocess.run([place, "-c", "import venv"], capture_output=True, check=False).returncode == 0:
                yield version, place
                break


HERE = dict(pythons())


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of uv and pipx, installed for this run."""
    place = tmp_path_factory.mktemp("tools") / "env"
    venv.create(place, with_pip=True)
    subprocess.run([place / "bin" / "pip", "install", "--quiet", "uv", "pipx"], check=True, timeout=STUCK)
    return place / "bin"


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What is installed: a clone, and a wheel."""
    folder = tmp_path_factory.mktemp("sources")
    subprocess.run(["git", "clone", "--quiet", install_size.ROOT, folder / "clone"], check=True)
    return {"clone": f"{folder / 'clone'}", "wheel": str(install_size.wheel(folder))}


@pytest.mark.parametrize("version", HERE)
@pytest.mark.parametrize("source", ["clone", "wheel"])
@pytest.mark.parametrize("installer", WITH)
def test_it_is_installed_and_all_of_it_works(
    installer: str, source: str, version: str, tools: Path, sources: dict[str, str], tmp_path: Path
) -> None:
    person = Installed(tmp_path / "home", tools)
    person.home.mkdir()
    person.type(WITH[installer].format(python=HERE[version], what=f"'{sources[source]}[view]'"))
    assert re.fullmatch(rf"pro0 [\d.]+ \((commit \w+, )?{installer}\)\n", person.type("pro0 --version"))
    assert f"python          {version}" in person.type("pro0 doctor || test $? = 6")
    assert "pro0-team-start" in person.type("pro0 man team start")
    for shell in ("bash", "zsh", "fish"):
        assert "_PRO0_COMPLETE" in person.type(f"pro0 completion {shell}")
    assert "12 of 12 passed" in person.type("pro0 demo --mode headless")
    watched(person)
    refused = person.type("pro0 web --no-open; test $? = 6")
    [mend] = [line.removeprefix("hint: ") for line in refused.splitlines() if line.startswith("hint: ")]
    person.type(mend)
    serves(person.program, person.home / ".pro0", tmp_path)
    assert "a terminal draws" in person.type("pro0 doctor || test $? = 6"), "what was there stays"
    removal = person.type("pro0 uninstall --show").splitlines()[-1]
    person.type(removal.replace("uninstall pro0", "uninstall --yes pro0") if installer == "pip" else removal)
    assert not (person.home / ".local" / "bin" / "pro0").exists()
    assert not (person.home / "env" / "bin" / "pro0").exists()


def watched(person: Installed) -> None:
    """Start a team, watch it in one terminal without tmux, open the board, leave, and remove the team."""
    person.type("pro0 team start watched -m w1=shell --mode in-process --detach")
    screen, program = pty.openpty()
    fcntl.ioctl(program, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    streams: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), program)
    attach = [str(person.program), "team", "attach", "watched"]
    with subprocess.Popen(attach, cwd=person.home, env=person.environment, start_new_session=True, **streams) as view:
        os.close(program)
        try:
            for awaited, keys in ((b"w1", b"\x14"), (b"MEMBERS", b"q")):
                shows(screen, awaited)
                os.write(screen, keys)
            while select.select([screen], [], [], STUCK)[0] and drained(screen):
                pass
            assert view.wait(STUCK) == 0
        finally:
            view.kill()
            os.close(screen)
    person.type("pro0 team stop watched --force && pro0 team cleanup watched")


def shows(screen: int, text: bytes) -> None:
    """Wait until a terminal has got a text."""
    seen, end = b"", time.monotonic() + STUCK
    while text not in seen:
        assert select.select([screen], [], [], max(0, end - time.monotonic()))[0], (text, seen[-2000:])
        seen += drained(screen)


def drained(screen: int) -> bytes:
    try:
        return os.read(screen, 65536)
    except OSError:  # its program has closed it
        return b""


def test_the_pythons_that_are_here_are_named() -> None:
    assert f"{sys.version_info.major}.{sys.version_info.minor}" in HERE
