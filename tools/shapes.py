"""The recorded shapes of stored files, for each `schemaVersion`: docs/schema/shapes.txt, which `make schemas` extends.

An older home can be read as long as each recorded key still exists, accepts what it accepted, and is not newly
required. Any other change needs a higher SCHEMA_VERSION in `model/stored.py`; then run `make schemas`.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pro0.model.stored import SCHEMA_VERSION
from tools.schemas import STORED, schema

FILE = Path(__file__).parents[1] / "docs" / "schema" / "shapes.txt"
FIRST = "schemaVersion "
REQUIRED = "required"

Shapes = Mapping[str, frozenset[str]]
"""The path of a key, such as `tasks.tasks[].claim.epoch` → the types and words that it accepts, and `required`."""


def shapes() -> Shapes:
    """Return the present shapes."""
    return shapes_of({name: schema(name) for name in STORED})


def shapes_of(schemas: Mapping[str, Mapping[str, Any]]) -> Shapes:
    """Return the shapes that these schemas describe; they are given by name."""
    return {path: frozenset(takes) for name, text in schemas.items() for path, takes in _keys(name, text)}


def _keys(name: str, document: Mapping[str, Any]) -> Iterator[tuple[str, set[str]]]:
    def walk(path: str, part: Mapping[str, Any], above: tuple[str, ...]) -> Iterator[tuple[str, set[str]]]:
        for one in _alternatives(part):
            if (target := one.get("$ref", "").rpartition("/")[2]) in above:
                continue
            whole = document["$defs"][target] if target else one
            below = (*above, target) if target else above
            for key, value in whole.get("properties", {}).items():
                must = {REQUIRED} if key in whole.get("required", ()) else set()
                yield f"{path}.{key}", _takes(value, document["$defs"]) | must
                yield from walk(f"{path}.{key}", value, below)
            for mark, items in (("[]", "items"), ("{}", "additionalProperties")):
                if isinstance(whole.get(items), Mapping):
                    yield from walk(path + mark, whole[items], below)

    return walk(name, document, ())


def _alternatives(part: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [*part.get("anyOf", (part,))]


def _takes(part: Mapping[str, Any], definitions: Mapping[str, Any]) -> set[str]:
    """Return the types of a value, or the words of an enum."""
    takes: set[str] = set()
    for one in _alternatives(part):
        whole = definitions[one["$ref"].rpartition("/")[2]] if "$ref" in one else one
        takes |= {str(word) for word in whole.get("enum", ())} or {str(whole.get("type", "any"))}
    return takes


def broken(before: Shapes, now: Shapes) -> list[str]:
    """Return the reasons why an older file is no longer valid."""
    told = []
    for path, takes in before.items():
        if path not in now:
            told.append(f"{path} is gone")
        elif lost := takes - now[path] - {REQUIRED, "any"}:
            told.append(f"{path} no longer takes {', '.join(sorted(lost))}")
    for path, takes in now.items():
        parent_is_known = path.rpartition(".")[0].removesuffix("[]").removesuffix("{}") in {*before, *STORED}
        if REQUIRED in takes - before.get(path, frozenset()) and parent_is_known:
            told.append(f"{path} must be there now, and older files lack it")
    return told


def recorded() -> tuple[int, Shapes]:
    """Return the recorded version and its shapes."""
    first, *lines = FILE.read_text(encoding="utf-8").splitlines()
    rows = (line.split(" ", 1) for line in lines)
    return int(first.removeprefix(FIRST)), {path: frozenset(takes.split("|")) for path, takes in rows}


def text_of(shapes: Shapes) -> str:
    """Return the content of the file for the shapes of this version."""
    rows = (f"{path} {'|'.join(sorted(takes))}" for path, takes in sorted(shapes.items()))
    return "\n".join((f"{FIRST}{SCHEMA_VERSION}", *rows)) + "\n"


def extended() -> Shapes:
    """Return the shapes to record: the present ones, and those removed without a new version, so that a test fails."""
    version, before = recorded()
    now = dict(shapes())
    if version == SCHEMA_VERSION:
        for path, takes in before.items():
            now[path] = takes | (now.get(path, frozenset()) - {REQUIRED})
    return now


def main() -> None:
    """Record the shapes."""
    FILE.write_text(text_of(extended()), encoding="utf-8")
    print(f"{len(extended())} keys of stored files in {FILE.name}; broken: {len(broken(recorded()[1], shapes()))}")


if __name__ == "__main__":
    main()
