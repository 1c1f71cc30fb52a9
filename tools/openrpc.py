"""Write docs/openrpc.json and the tables of docs/rpc.md: every method, from the table of methods."""

import json
import re
from pathlib import Path
from typing import Any

from pro0.errors import BadInput, Pro0Error, TimedOut
from pro0.rpc.calls import CODES, FIRST_CODE
from pro0.rpc.discovery import document
from pro0.rpc.table import NOT_SERVED

DOCS = Path(__file__).parents[1] / "docs"
DOCUMENT = DOCS / "openrpc.json"
PAGE = DOCS / "rpc.md"
_PART = re.compile(r"(<!-- (\w+), made by make schemas -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def text() -> str:
    """Return the text of the OpenRPC document."""
    return json.dumps(document(), indent=1) + "\n"


def page(before: str) -> str:
    """Return the page with its tables made anew."""
    made = {"methods": _methods(), "codes": _codes(), "missing": _missing()}
    return _PART.sub(lambda part: f"{part[1]}\n{made[part[2]]}\n{part[4]}", before)


def _methods() -> str:
    found: Any = document()["methods"]
    rows = [
        f"| {_named(one)} | {_parameters(one)} | {_type(one['result']['schema'])} | {_callers(one)} |" for one in found
    ]
    return "\n".join(["| method | parameters | result | who |", "|---|---|---|---|", *rows, ""])


def _named(method: Any) -> str:
    return f"`{method['name']}`"


def _parameters(method: Any) -> str:
    return ", ".join(one["name"] + ("" if one["required"] else "?") for one in method["params"])


def _type(schema: Any) -> str:
    if reference := schema.get("$ref"):
        return str(reference.rpartition("/")[2])
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    if choices := schema.get("anyOf"):
        return " or ".join(_type(one) for one in choices)
    return str(schema.get("type", "any"))


def _callers(method: Any) -> str:
    said = ", ".join(who.replace("_", " ") for who in method.get("x-callers", ["anyone"]))
    return f"{said}; a verdict" if method.get("x-verdict") else said


def _codes() -> str:
    kinds: list[type[Pro0Error]] = [Pro0Error, *Pro0Error.__subclasses__()]
    by_code = {kind.exit_code: kind.__doc__ for kind in sorted(kinds, key=lambda kind: kind.exit_code)}
    rows = [f"| {CODES.get(code, FIRST_CODE - code)} | {code} | {about} |" for code, about in by_code.items()]
    assert CODES.keys() == {BadInput.exit_code, TimedOut.exit_code}
    return "\n".join(["| error | exit code | what it means |", "|---|---|---|", *rows, ""])


def _missing() -> str:
    rows = [f"| `{name}` | {why} |" for name, why in sorted(NOT_SERVED.items())]
    return "\n".join(["| operation | instead, or why not |", "|---|---|", *rows, ""])


def main() -> None:
    """Write both."""
    DOCUMENT.write_text(text(), encoding="utf-8")
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print("docs/openrpc.json, docs/rpc.md")


if __name__ == "__main__":
    main()
