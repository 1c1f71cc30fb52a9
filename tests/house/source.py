"""The package as the tests of the house see it: module names and syntax trees."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
Modules = dict[str, ast.Module]
Function = ast.FunctionDef | ast.AsyncFunctionDef
LAZY = re.compile(r"(pro0(?:\.\w+)+):\w+")
"""An entry of a lazy table, "module:VALUE"."""


@cache
def package() -> Modules:
    """Return every module of pro0 by its dotted name; nobody changes them."""
    return {name_of(path): ast.parse(path.read_bytes()) for path in sorted((ROOT / "pro0").rglob("*.py"))}


def sample(**sources: str) -> Modules:
    """Return made-up modules for testing a checker: `sample(model__task="import os")`."""
    return {f"pro0.{name.replace('__', '.')}": ast.parse(text) for name, text in sources.items()}


def name_of(path: Path) -> str:
    """Return the dotted name of a module from its path."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def path_of(name: str) -> Path:
    """Return the path of a module of pro0."""
    folder = ROOT.joinpath(*name.split("."))
    return folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")


def room_of(name: str) -> str:
    """Return the room of a module: `store` of pro0.store.paths, empty for pro0 itself."""
    return name.partition(".")[2].partition(".")[0]


def imports(name: str, modules: Modules) -> Iterator[tuple[str, int]]:
    """Yield what a module imports, anywhere in it, with the line; a module of ours by its full name."""
    for node in ast.walk(modules[name]):
        match node:
            case ast.Import(names=names):
                yield from ((alias.name, node.lineno) for alias in names)
            case ast.ImportFrom(names=names):
                base = _base(node, name)
                for alias in names:
                    whole = f"{base}.{alias.name}"
                    yield (whole if whole in modules else base), node.lineno
            case ast.Call(func=called, args=[ast.Constant(value=str(target)), *_]):
                if ast.unparse(called).endswith(("import_module", "__import__")):
                    yield target, node.lineno


def lazy(name: str, modules: Modules) -> Iterator[tuple[str, int]]:
    """Yield the modules that a lazy table names."""
    for node in ast.walk(modules[name]):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and (match := LAZY.fullmatch(node.value)):
            yield match[1], node.lineno


def functions(tree: ast.Module) -> Iterator[Function]:
    """Yield every function and method, nested ones too."""
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def docstrings(tree: ast.Module) -> set[int]:
    """Return the ids of the nodes that are text for people: strings that stand alone."""
    return {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}


def strings(tree: ast.Module) -> Iterator[ast.Constant]:
    """Yield every string that the program uses, docstrings left out."""
    quiet = docstrings(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in quiet:
            yield node


def _base(node: ast.ImportFrom, name: str) -> str:
    if not node.level:
        return node.module or ""
    parts = name.split(".")
    package = parts if path_of(name).name == "__init__.py" else parts[:-1]
    kept = package[: len(package) - node.level + 1]
    return ".".join([*kept, *([node.module] if node.module else [])])
