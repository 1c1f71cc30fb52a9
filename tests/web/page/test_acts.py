"""Each act that the documents ask of the page is done by a test, in both sizes."""

import ast
import tomllib
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SCREENS: dict[str, dict[str, object]] = tomllib.loads((HERE / "acts.toml").read_text(encoding="utf-8"))
ACTS = [(screen, act) for screen, acts in SCREENS.items() for act in acts if act != "requirements"]


def test_the_ten_screens_of_the_documents_are_there() -> None:
    """Issue 16, must show 1."""
    assert len(SCREENS) == 10
    assert all(acts["requirements"] and len(acts) > 1 for acts in SCREENS.values())


@pytest.mark.parametrize(("screen", "act"), ACTS)
def test_an_act_is_done_by_a_test_in_both_sizes(screen: str, act: str) -> None:
    """Issue 16, must show 1: the test is there, and asks for the page that comes in each size."""
    file, _, name = str(SCREENS[screen][act]).partition("::")
    tree = ast.parse((HERE / file).read_text(encoding="utf-8"))
    [test] = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name]
    assert {argument.arg for argument in test.args.args} & {"shown", "page"}
