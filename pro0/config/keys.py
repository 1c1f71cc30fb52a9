"""Strict YAML loading: a repeated key in one mapping is an error. PyYAML alone would silently take the last."""

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import yaml

SHOWN = 60
"""The longest part of a key in an error message, in characters."""


def strict(loader: Any) -> Any:
    """Return a loader class; it raises yaml's ConstructorError, with the place, for a repeated key."""
    return type("Strict", (loader,), {"construct_mapping": _once(loader)})


def _once(loader: Any) -> Any:
    def construct_mapping(self: Any, node: "yaml.MappingNode", deep: bool = False) -> object:
        import yaml

        earlier = set[Hashable]()
        for name, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            key = self.construct_object(name, deep=True)
            if isinstance(name, yaml.ScalarNode) and key in earlier:
                complaint = f"the key {str(key)[:SHOWN]!r} stands twice"
                raise yaml.constructor.ConstructorError(None, None, complaint, name.start_mark)
            if isinstance(name, yaml.ScalarNode):
                earlier.add(key)
        return loader.construct_mapping(self, node, deep)

    return construct_mapping
