"""Where pro0's own files are."""

import sys
import sysconfig
from pathlib import Path

import pytest

from pro0 import resources


def test_the_guards_argv_is_absolute_and_bare() -> None:
    python, *options, program, launch = resources.guard_argv(Path("sessions/x.start.json"))
    assert (python, options) == (sys.executable, ["-I", "-S"])
    assert Path(program).is_file()
    assert Path(program).is_absolute()
    assert launch == str(Path.cwd() / "sessions/x.start.json")


@pytest.mark.parametrize("name", ["layouts", "man"])
def test_what_is_shipped_is_found_in_a_checkout(name: str) -> None:
    assert resources.data(name) == Path(__file__).parents[1] / name


def test_what_is_shipped_is_found_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(resources, "_PACKAGE", tmp_path / "lib" / "pro0")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert resources.data("layouts") == tmp_path / "share" / "pro0" / "layouts"
    assert resources.data("man") == tmp_path / "share" / "man" / "man1"


@pytest.mark.parametrize("environment", [True, False], ids=["below an environment", "of the system's Python"])
def test_what_is_shipped_is_found_where_pip_puts_a_users(
    environment: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """`pip install --user`: what is no module lies in the user's own share, not below the Python."""
    user = sysconfig.get_preferred_scheme("user")
    monkeypatch.setattr(resources, "_PACKAGE", Path(sysconfig.get_path("purelib", user)) / "pro0")
    monkeypatch.setattr(sys, "prefix", str(tmp_path) if environment else sys.base_prefix)
    share = Path(sysconfig.get_path("data", user)) / "share"
    assert resources.data("layouts") == share / "pro0" / "layouts"
    assert resources.data("man5") == share / "man" / "man5"


def test_nothing_else_is_shipped() -> None:
    with pytest.raises(KeyError):
        resources.data("secrets")
