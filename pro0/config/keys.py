"""Strict YAML loading: a repeated key in one mapping is an error, and so is half a character.

PyYAML alone would silently take the last of the values. It would also keep the surrogate pairs of JSON as two halves,
which no file and no program accepts.
"""

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import yaml

SHOWN = 60
"""The longest part of a key in an error message, in characters."""


def strict(loader: Any) -> Any:
    """Return a loader class; it raises ConstructorError, with the place, for a repeated key or half a character."""
    return type("Strict", (loader,), {"construct_mapping": _once(loader), "construct_scalar": _whole(loader)})


def _whole(loader: Any) -> Any:
    def construct_scalar(self: Any, node: "yaml.ScalarNode") -> object:
        text = loader.construct_scalar(self, node)
        try:
            return text.encode("utf-16", "surrogatepass").decode("utf-16") if isinstance(text, str) else text
        except UnicodeDecodeError:
            import yaml

            complaint = "a text holds half a character (a lone surrogate)"
            raise yaml.constructor.ConstructorError(None, None, complaint, node.start_mark) from None

    return construct_scalar


def _once(loader: Any) -> Any:
    def construct_mapping(self: Any, node: "yaml.MappingNode", deep: bool = False) -> object:
        import yaml

        earlier = set[Hashable]()
        for name, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            key = self.construct_object(name, deep=True)
            if isinstance(name, yaml.ScalarNode) and key in earlier:
                complaint = f"the key {str(key)[:SHOWN]!r} occurs twice"
                raise yaml.constructor.ConstructorError(None, None, complaint, name.start_mark)
            if isinstance(name, yaml.ScalarNode):
                earlier.add(key)
        return loader.construct_mapping(self, node, deep)

    return construct_mapping
