"""What somebody gets who installs pro0: a wheel in an environment of its own, with all that belongs to it."""

import os
import re
import subprocess
import sys
import sysconfig
from importlib.metadata import requires
from pathlib import Path
from subprocess import PIPE, STDOUT
from urllib.request import urlopen

import pytest
from packaging.requirements import Requirement

from pro0 import __version__
from tests.waiting import STUCK
from tools import build_hooks, install_size

Called = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install_size.wheel(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program in a clean environment, which borrows the libraries of this one."""
    place = tmp_path_factory.mktemp("clean") / "env"
    program = install_size.install(wheel, place, words=("--no-deps", "--no-index"))
    [packages] = place.glob("lib/python*/site-packages")
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib"))
    return program


def call(program: Path, *words: str, home: Path, at: Path) -> Called:
    """Call the installed program from a folder that is no clone, without this environment's variables."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PRO0_", "PYTHON", "VIRTUAL"))}
    environment = kept | {"PRO0_HOME": str(home)}
    return subprocess.run([program, *words], cwd=at, env=environment, capture_output=True, text=True, timeout=STUCK)


def test_it_says_its_version_its_commit_and_how_it_was_installed(installed: Path, home: Path, tmp_path: Path) -> None:
    told = call(installed, "--version", home=home, at=tmp_path)
    known = build_hooks.commit_of(install_size.ROOT)
    commit = f"commit {known[:12]}, " if known else ""
    assert (told.returncode, told.stdout) == (0, f"pro0 {__version__} ({commit}pip)\n"), told


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("man", "team", "start"), "pro0-team-start"),
        (("man", "layout"), "layouts of teams"),
        (("completion", "bash"), "_PRO0_COMPLETE"),
        (("config", "--long"), "PRO0_MAX_TEAMMATES"),
        (("uninstall", "--show"), "-m pip uninstall pro0"),
        (("task", "create", "--help"), "Examples:"),
    ],
)
def test_what_belongs_to_it_is_there(
    words: tuple[str, ...], said: str, installed: Path, home: Path, tmp_path: Path
) -> None:
    called = call(installed, *words, home=home, at=tmp_path)
    assert (called.returncode, said in called.stdout) == (0, True), called


def test_its_pages_are_where_man_looks(installed: Path) -> None:
    manual = installed.parents[1] / "share" / "man"
    assert all((manual / f"man{page[-1]}" / page).is_file() for page in ("pro0.1", "pro0-config.5", "pro0-hooks.7"))


def test_the_version_stands_in_two_places_and_is_one() -> None:
    assert f'\nversion = "{__version__}"\n' in (install_size.ROOT / "pyproject.toml").read_text()


def test_the_addresses_come_from_one_place(tmp_path: Path) -> None:
    package = tmp_path / "pro0"
    package.mkdir()
    for address, names in (("", set()), ("https://h/p", {"Homepage", "Source", "Issues", "Changelog"})):
        (package / "__init__.py").write_text(f'REPOSITORY = "{address}"\n')
        metadata: dict[str, dict[str, str]] = {}
        build_hooks.AddressHook(str(tmp_path), {}).update(metadata)
        assert set(metadata["urls"]) == names
        assert all(url.startswith(address) for url in metadata["urls"].values())


BROUGHT = {
    "": "click filelock libtmux markdown-it-py mdurl msgspec psutil pygments pyyaml rich",
    "view": "cffi pycparser pyghostty",
    "web": "anyio click h11 idna segno starlette typing-extensions uvicorn websockets",
}
"""All that an installation may bring along, and what each extra adds."""


def needed(name: str, extra: str = "") -> set[str]:
    """The names of all that a distribution needs here."""
    asked = (Requirement(text) for text in requires(name) or ())
    names = {
        one.name.lower().replace("_", "-") for one in asked if not one.marker or one.marker.evaluate({"extra": extra})
    }
    return names.union(*map(needed, names))


@pytest.mark.skipif(sys.platform != "linux", reason="macOS watches files with another library")
@pytest.mark.parametrize("extra", BROUGHT)
def test_an_installation_brings_nothing_else_along(extra: str) -> None:
    """Issue 15, must show 7."""
    assert not needed("pro0", extra) - set(f"{BROUGHT['']} {BROUGHT[extra]}".split())


@pytest.mark.soak
@pytest.mark.parametrize(("extra", "limit"), [("", 35), ("view", 45)])
def test_an_installation_is_small(extra: str, limit: int, wheel: Path, tmp_path: Path) -> None:
    """Issue 15, must show 7: MiB, all that pip puts on the disk."""
    place = tmp_path / "env"
    install_size.install(wheel, place, extra)
    assert sum(install_size.by_distribution(place).values()) <= install_size.size_of(place) <= limit


def serves(program: Path, home: Path, at: Path) -> None:
    """Start the page, ask it for its first file, and end it."""
    environment = os.environ | {"PRO0_HOME": str(home)}
    with subprocess.Popen(
        [program, "web", "--no-open"], cwd=at, env=environment, stdout=PIPE, stderr=STDOUT, text=True
    ) as server:
        try:
            assert server.stdout
            address = next(found[0] for line in server.stdout if (found := re.search(r"http://[^\s#]+", line)))
            with urlopen(address, timeout=STUCK) as answer:
                assert answer.status == 200
        finally:
            server.terminate()


@pytest.mark.soak
@pytest.mark.parametrize("extra", ["", "view,web"])
def test_everything_works_as_pip_installs_it(extra: str, wheel: Path, home: Path, tmp_path: Path) -> None:
    program = install_size.install(wheel, tmp_path / "env", extra)
    shown = call(program, "demo", "--mode", "headless", home=home, at=tmp_path)
    assert shown.returncode == 0, shown.stdout[-2000:] + shown.stderr[-2000:]
    if extra:
        serves(program, home, tmp_path)
    else:
        refused = call(program, "web", home=home, at=tmp_path)
        assert (refused.returncode, "not installed here" in refused.stderr) == (6, True), refused
    assert call(program, "doctor", home=home, at=tmp_path).returncode in (0, 6)
