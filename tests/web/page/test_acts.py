"""Each act that the documents ask of the page is done by a test: on a phone and on a desk, and there by keys alone."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.source import ROOT
from tests.web.page.acts import ACTS, SCREENS
from tests.web.page.pages import SIZES

HERE = Path(__file__).parent
WAYS = ("phone", "desk", "phone-keys", "desk-keys")
COLLECT = (sys.executable, "-m", "pytest", "--collect-only", "-m", "soak or not soak", "-p", "no:xdist")


@pytest.fixture(scope="module")
def runs() -> dict[str, set[str]]:
    """Each test of an act, and the ways in which it is run."""
    files = sorted({f"tests/web/page/{test.partition('::')[0]}" for test in ACTS.values()})
    listed = subprocess.run([*COLLECT, *files], capture_output=True, text=True, cwd=ROOT, check=True).stdout
    found: dict[str, set[str]] = {}
    for test, way in re.findall(r"tests/web/page/(test_\w+\.py::test_\w+)\[([a-z-]+)", listed):
        found.setdefault(test, set()).add(
            next((one for one in sorted(WAYS, key=len)[::-1] if way.startswith(one)), way)
        )
    return found


def test_the_ten_screens_of_the_documents_are_there_in_both_sizes() -> None:
    """Issue 16, must show 1."""
    assert len(SCREENS) == 10
    assert all(acts["requirements"] and len(acts) > 1 for acts in SCREENS.values())
    widths = {name: tuple(SIZES[name]["viewport"].values()) for name in ("phone", "desk")}
    assert widths == {"phone": (390, 844), "desk": (1440, 900)}


@pytest.mark.parametrize(("screen", "act"), ACTS)
def test_an_act_is_done_in_both_sizes_and_by_keys_alone(runs: dict[str, set[str]], screen: str, act: str) -> None:
    """Issue 16, must show 1 and 6."""
    assert runs[ACTS[screen, act]] >= set(WAYS)


@pytest.mark.parametrize("screen", SCREENS)
def test_every_requirement_of_a_screen_is_named_by_a_test_of_it(screen: str) -> None:
    """Issue 16, must show 1."""
    named = {id for (of, _), test in ACTS.items() if of == screen for id in ids(docstring(test))}
    listed = SCREENS[screen]["requirements"]
    assert isinstance(listed, list)
    assert set(listed) <= named


def docstring(test: str) -> str:
    """Return what a test says of itself."""
    file, _, name = test.partition("::")
    tree = ast.parse((HERE / file).read_text(encoding="utf-8"))
    [found] = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name]
    return ast.get_docstring(found) or ""


def ids(text: str) -> list[str]:
    """Return the requirements that a text names, such as "S000-023, 024, S001-138"."""
    lists = re.findall(r"(S\d{3})-(\d{3}(?:, \d{3})*)", text)
    return [f"{document}-{number}" for document, numbers in lists for number in numbers.split(", ")]


def test_ids_are_read_as_they_are_written() -> None:
    assert ids("S000-023, 024, S001-138: nothing else, 2 of 041.") == ["S000-023", "S000-024", "S001-138"]
