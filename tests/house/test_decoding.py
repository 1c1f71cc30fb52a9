"""One place prepares types for msgspec, since two threads must not (`pro0/decoding.py`)."""

import ast
from collections.abc import Iterator

import pytest

from tests.house.source import Modules, package, sample

PREPARING = {"msgspec.json.Decoder", "msgspec.convert", "msgspec.msgpack.decode", "msgspec.yaml.decode"}
PLACE = "pro0.decoding"


def elsewhere(modules: Modules) -> Iterator[str]:
    """Yield what prepares a type outside the one place."""
    for name, tree in modules.items():
        for node in ast.walk(tree):
            match node:
                case ast.Call(func=called) if ast.unparse(called) in PREPARING and name != PLACE:
                    yield f"{name}:{node.lineno} calls {ast.unparse(called)}"
                case ast.Call(func=called, keywords=[_, *_]) if ast.unparse(called) == "msgspec.json.decode":
                    yield f"{name}:{node.lineno} decodes into a type"
                case ast.ImportFrom(module="msgspec", names=names):
                    yield from (
                        f"{name}:{node.lineno} imports {alias.name}"
                        for alias in names
                        if alias.name in {"convert", "json"}
                    )
                case ast.ImportFrom(module="msgspec.json"):
                    yield f"{name}:{node.lineno} imports from msgspec.json"


def test_types_are_prepared_in_one_place() -> None:
    problems = list(elsewhere(package()))
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize(
    "source",
    [
        "import msgspec\nD = msgspec.json.Decoder(int)",
        "import msgspec\nmsgspec.json.decode(b'1', type=int)",
        "import msgspec\nmsgspec.convert(1, int)",
        "from msgspec.json import decode",
        "from msgspec import convert, Meta",
    ],
)
def test_a_type_prepared_elsewhere_is_found(source: str) -> None:
    assert list(elsewhere(sample(rules__board=source)))
    assert not list(elsewhere({PLACE: ast.parse("import msgspec\nD = msgspec.json.Decoder(int)")}))


def test_json_without_a_type_passes() -> None:
    assert not list(elsewhere(sample(rules__board="import msgspec\nmsgspec.json.decode(b'1')")))
