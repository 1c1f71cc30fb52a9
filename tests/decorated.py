"""Lets mutmut make mistakes in functions with a decorator too, which it leaves alone: `locked`, `File.change`.

Its trampoline stands below the decorators, which are applied once, to it; original and mistakes are plain functions
beside it. A property, which mypy lets nobody decorate, is given a method of its own to call.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import libcst as cst
import libcst.matchers as m
from mutmut.mutation import file_mutation

Arranged = tuple[Sequence[Any], Sequence[Any], Sequence[Any], Sequence[str]]
OWN = ("staticmethod", "classmethod")
"""What mutmut knows how to handle."""
LEFT_ALONE = ("overload", "setter", "deleter")
"""A promise of types without a body; and a second function of the same name."""

_skips = file_mutation.MutationVisitor._skip_node_and_children
_arranged = file_mutation.function_trampoline_arrangement


def mutate_them() -> None:
    """From now on, in this process and in those that it forks."""
    visitor: Any = file_mutation.MutationVisitor
    visitor._skip_node_and_children = _skips_this
    file_mutation.function_trampoline_arrangement = _arranged_below


def names(function: cst.FunctionDef) -> list[str]:
    """Return the last word of each decorator's name."""
    called = [
        one.decorator.func if isinstance(one.decorator, cst.Call) else one.decorator for one in function.decorators
    ]
    return [one.attr.value if isinstance(one, cst.Attribute) else getattr(one, "value", "") for one in called]


def _skips_this(visitor: Any, node: cst.CSTNode) -> bool:
    if isinstance(node, cst.FunctionDef) and not {*OWN, *LEFT_ALONE}.intersection(names(node)):
        if node in visitor._enum_creation_hooks:
            return True
        node = node.with_changes(decorators=())
    return bool(_skips(visitor, node))


def _arranged_below(function: cst.FunctionDef, mutants: Iterable[Any], class_name: str | None) -> Arranged:
    declared, (called, *others), assigned, made = _arranged(function, mutants, class_name)
    if not function.decorators or set(OWN).intersection(names(function)):
        return declared, [called, *others], assigned, made
    plain = [one.with_changes(decorators=(), leading_lines=()) for one in others]
    return declared, [*_called(called, names(function)), *plain], assigned, made


def _called(function: Any, decorators: list[str]) -> list[Any]:
    if "property" not in decorators:
        return [function]
    *outer, trampoline = function.decorators
    name = f"of_{function.name.value}"
    asks = cst.parse_statement(f"return self.{name}()")
    shown = function.with_changes(decorators=outer, body=cst.IndentedBlock([asks]))
    asked = function.with_changes(decorators=[trampoline], name=cst.Name(name), leading_lines=())
    return [asked, shown] if m.matches(trampoline.decorator, m.Call()) else [function]
