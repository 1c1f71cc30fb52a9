"""Values and rules are pure: no clock, disk, process, network or randomness in model/ and rules/."""

import ast
from collections.abc import Iterator

import pytest

from tests.house.source import Modules, imports, package, room_of, sample

PURE = {"model", "rules"}
ALLOWED = {
    "bisect",
    "collections",
    "collections.abc",
    "dataclasses",
    "datetime",
    "difflib",
    "enum",
    "fractions",
    "functools",
    "graphlib",
    "hashlib",
    "heapq",
    "itertools",
    "math",
    "msgspec",
    "operator",
    "re",
    "string",
    "textwrap",
    "types",
    "typing",
    "unicodedata",
}
FORBIDDEN_CALLS = {"open", "print", "input", "exec", "eval", "compile", "breakpoint", "__import__", "import_module"}
CLOCKS = {"now", "utcnow", "today", "fromtimestamp"}


def impure(modules: Modules) -> Iterator[str]:
    """Yield what makes a module of the pure rooms impure."""
    for name, tree in modules.items():
        if room_of(name) in PURE:
            yield from (
                f"{name}:{line} imports {target}" for target, line in imports(name, modules) if not fits(target)
            )
            yield from (f"{name}:{node.lineno} {why}" for node, why in acts(tree))


def fits(target: str) -> bool:
    return (
        target in ALLOWED
        or target.startswith("msgspec.")
        or target in {"pro0.errors", "pro0.decoding"}
        or room_of(target) in PURE
    )


def acts(tree: ast.Module) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.Global():
                yield node, "changes a global"
            case ast.Call(func=ast.Name(id=called)) if called in FORBIDDEN_CALLS:
                yield node, f"calls {called}"
            case ast.Call(func=ast.Attribute(attr=clock)) if clock in CLOCKS:
                yield node, f"reads the clock or the time zone: {ast.unparse(node)}"
            case ast.Attribute(value=ast.Name(id="datetime" | "date"), attr=clock) if clock in CLOCKS:
                yield node, f"names the clock: {ast.unparse(node)}"
            case ast.Call(func=ast.Attribute(attr="astimezone"), args=[], keywords=[]):
                yield node, "reads the time zone"


def test_model_and_rules_are_pure() -> None:
    problems = list(impure(package()))
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize(
    "source",
    [
        "import os",
        "import time",
        "def f():\n    import random",
        "from uuid import uuid4",
        "import pathlib",
        "from pro0.store import paths",
        "from pro0 import __version__",
        "from datetime import datetime\nx = datetime.now()",
        "from datetime import datetime\nx = datetime.utcnow",
        "from datetime import datetime as d\nx = d.now()",
        "from datetime import date\nx = date.today()",
        "x = when.astimezone()",
        "x = open('f')",
        "print(1)",
        "__import__('os')",
        "def f():\n    global x\n    x = 1",
    ],
)
def test_an_impure_line_is_found(source: str) -> None:
    assert list(impure(sample(rules__board=source)))
    assert not list(impure(sample(store__files=source)))


def test_pure_lines_pass() -> None:
    source = (
        "import re, msgspec\nfrom datetime import datetime, UTC\nfrom pro0.errors import BadInput\n"
        "from pro0.model import task\nx = when.astimezone(UTC)\ndef f(request): return request.now"
    )
    assert not list(impure(sample(model__task="", rules__board=source)))
