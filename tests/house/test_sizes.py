"""Small files, small functions."""

import ast
import statistics
from collections.abc import Iterator

from tests.house.source import Function, Modules, functions, package, path_of, sample

FILE_LINES = 300
BODY_LINES = 40
MEDIAN = 6


def body_lines(function: Function) -> int:
    """Return the lines from a function's first statement to its last, its docstring left out; 0 for a mere promise."""
    body = [node for node in function.body if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))]
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def long_bodies(modules: Modules) -> Iterator[str]:
    for name, tree in modules.items():
        for function in functions(tree):
            if (lines := body_lines(function)) > BODY_LINES:
                yield f"{name}:{function.lineno} {function.name} has {lines} lines"


def median_body(modules: Modules) -> float:
    return statistics.median(filter(None, (body_lines(f) for tree in modules.values() for f in functions(tree))))


def test_no_file_is_long() -> None:
    lengths = {name: len(path_of(name).read_text(encoding="utf-8").splitlines()) for name in package()}
    long = {name: lines for name, lines in lengths.items() if lines > FILE_LINES}
    assert not long, long


def test_no_function_is_long() -> None:
    problems = list(long_bodies(package()))
    assert not problems, "\n".join(problems)


def test_the_median_function_is_short() -> None:
    assert median_body(package()) <= MEDIAN


def test_lines_are_counted_without_docstring_and_promises() -> None:
    text = (
        'def f():\n    """Say.\n\n    More.\n    """\n    x = 1\n\n    return (\n        x\n    )\n'
        'def g():\n    """Promise."""\n    ...'
    )
    f, g = functions(sample(a=text)["pro0.a"])
    assert (body_lines(f), body_lines(g)) == (5, 0)
    assert median_body(sample(a=text)) == 5


def test_a_long_function_is_found() -> None:
    def of(lines: int) -> Modules:
        return sample(a="class C:\n  def f(self):\n" + "    x = 1\n" * lines)

    assert list(long_bodies(of(BODY_LINES + 1))) == [f"pro0.a:2 f has {BODY_LINES + 1} lines"]
    assert not list(long_bodies(of(BODY_LINES)))
