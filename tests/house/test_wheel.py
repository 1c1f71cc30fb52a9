"""What people install: the package, its man pages and its layouts, and nothing of the house."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.house.source import ROOT
from tests.waiting import STUCK


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, timeout=STUCK)
    assert done.returncode == 0, done.stderr
    [wheel] = folder.glob("*.whl")
    return set(zipfile.ZipFile(wheel).namelist())


def files(folder: str, pattern: str) -> set[str]:
    return {path.name for path in (ROOT / folder).glob(pattern)}


def test_every_module_is_shipped_and_marked_as_typed(shipped: set[str]) -> None:
    modules = {str(path.relative_to(ROOT)) for path in (ROOT / "pro0").rglob("*.py")}
    assert modules | {"pro0/py.typed"} <= shipped


@pytest.mark.parametrize(
    ("folder", "pattern", "place"),
    [
        ("man", "*.1", "share/man/man1/"),
        ("man5", "*.5", "share/man/man5/"),
        ("man7", "*.7", "share/man/man7/"),
        ("layouts", "*.yaml", "share/pro0/layouts/"),
    ],
)
def test_pages_and_layouts_are_shipped(shipped: set[str], folder: str, pattern: str, place: str) -> None:
    assert {Path(name).name for name in shipped if f".data/data/{place}" in name} >= files(folder, pattern)


def test_nothing_else_is_shipped(shipped: set[str]) -> None:
    tops = {name.split("/")[0] for name in shipped}
    assert {top for top in tops if not top.startswith("pro0-")} == {"pro0"}
    assert any(name.endswith("licenses/LICENSE") for name in shipped)
