"""One public class name stands for one thing, everywhere in pro0."""

import ast
from collections import defaultdict

from tests.house.source import Modules, package, sample

EXCEPTIONS = {
    "Launch": "the guard's mirror of model.runtime.Launch, since msgspec would cost each guard 45 ms",
    "Revival": "the guard's mirror of model.runtime.Revival",
    "Terminal": "the guard's mirror of model.runtime.Terminal",
}


def shared_names(modules: Modules) -> dict[str, list[str]]:
    """Return the names of public classes that several modules define, each with these modules."""
    homes: dict[str, list[str]] = defaultdict(list)
    for module, tree in modules.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(module)
    return {name: modules for name, modules in homes.items() if len(modules) > 1}


def test_a_public_class_name_stands_for_one_thing() -> None:
    shared = shared_names(package())
    assert not {name: modules for name, modules in shared.items() if name not in EXCEPTIONS}
    assert not set(EXCEPTIONS) - set(shared), "an exception that is no longer needed"
    assert all(sorted(shared[name])[0] == "pro0.guard.launch" for name in EXCEPTIONS)
    assert all(len(shared[name]) == 2 for name in EXCEPTIONS)


def test_a_shared_name_is_noticed() -> None:
    assert shared_names(sample(a="class Row: ...", b="class Row: ...\nclass _Line: ...", c="class _Line: ...")) == {
        "Row": ["pro0.a", "pro0.b"]
    }
