"""The names of events in a team's log, read from the calls in the source that write them."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import get_args

from pro0.model.need import Outcome
from pro0.rules.tasks.acts import Act

SOURCE = Path(__file__).parents[1] / "pro0"
WRITER = "log_event"
OUTCOMES = tuple(filter(None, get_args(Outcome)))
"""The ends of a permission request that pro0 did not answer."""


@cache
def events() -> list[str]:
    """Return every name, in order."""
    files = [path for room in ("ops", "web") for path in sorted((SOURCE / room).rglob("*.py"))]
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in files]
    return sorted({name for tree in trees for name in _of_module(tree, trees)})


def _of_module(tree: ast.Module, trees: list[ast.Module]) -> Iterator[str]:
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        for call in _calls(function, WRITER):
            yield from _names(call.args[2], function, tree, trees)


def _names(word: ast.expr, function: ast.FunctionDef, tree: ast.Module, trees: list[ast.Module]) -> Iterator[str]:
    """Yield the possible values of an argument: its constants, or what callers pass for the parameter that it names."""
    match word:
        case ast.Constant(value=str(text)):
            yield text
        case ast.IfExp(body=body, orelse=orelse):
            yield from _names(body, function, tree, trees)
            yield from _names(orelse, function, tree, trees)
        case ast.JoinedStr(values=[ast.Constant(value=str(start)), ast.FormattedValue(value=value)]):
            yield from (f"{start}{rest}" for rest in _names(value, function, tree, trees))
        case ast.Attribute(value=ast.Name(id="Act"), attr=act):
            yield Act[act]
        case ast.Attribute(attr="outcome"):
            yield from OUTCOMES
        case ast.Name(id=name):
            yield from _given(name, function, tree, trees)


def _given(name: str, function: ast.FunctionDef, tree: ast.Module, trees: list[ast.Module]) -> Iterator[str]:
    names = [argument.arg for argument in function.args.args if argument.arg != "self"]
    if name not in names:
        return
    for place in [tree] if function.name.startswith("_") else trees:
        for caller in (node for node in ast.walk(place) if isinstance(node, ast.FunctionDef)):
            for call in _calls(caller, function.name):
                if len(call.args) > names.index(name):
                    yield from _names(call.args[names.index(name)], caller, place, trees)


def _calls(function: ast.FunctionDef, name: str) -> Iterator[ast.Call]:
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Attribute(attr=called) | ast.Name(id=called)) if called == name:
                yield node
