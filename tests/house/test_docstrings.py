"""The first line of a docstring stands alone; that there is one, ruff sees to."""

import ast
from collections.abc import Iterator

import pytest

from tests.house.source import Modules, package, sample

LONGEST = 120


def broken(modules: Modules) -> Iterator[str]:
    """Yield docstrings of modules, classes and functions whose first line is not whole."""
    for name, tree in modules.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and (
                why := fault(ast.get_docstring(node))
            ):
                yield f"{name}:{getattr(node, 'lineno', 1)} {getattr(node, 'name', 'module')}: {why}"


def fault(text: str | None) -> str:
    """Return what is wrong with a docstring, empty for nothing."""
    if text is None:
        return ""
    first, _, rest = text.partition("\n")
    if not first.endswith((".", "?")):
        return f"the first line is not a sentence: {first!r}"
    if rest and not rest.startswith("\n"):
        return "the first line runs on into the next"
    return "the first line is too long" if len(first) > LONGEST else ""


def test_first_lines_are_sentences() -> None:
    problems = list(broken(package()))
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize(
    "text", ["No stop", "It runs\n    on and on.", "It runs.\n    On and on.", "", f"{'Long ' * 30}."]
)
def test_a_broken_docstring_is_found(text: str) -> None:
    assert list(broken(sample(a=f'def f():\n    """{text}"""'))) or text == ""
    assert list(broken(sample(a=f'class C:\n    def f():\n        """{text}"""'))) or text == ""
    assert fault(text)


def test_a_whole_docstring_passes() -> None:
    assert not list(broken(sample(a='"""One. Two."""\ndef f():\n    """Say (x).\n\n    More.\n    """\ndef g(): ...')))
