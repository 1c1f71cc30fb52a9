"""docs/reference.md is current and whole: what the program has and the page does not name fails here."""

import click
import pytest

from pro0.cli.commands import HIDDEN
from pro0.config import SETTINGS
from pro0.errors import ErrorCode
from pro0.mcp.tools.table import TOOLS
from tests.cli.conftest import commands
from tools import reference

PAGE = reference.PAGE.read_text(encoding="utf-8")
NAMES: dict[str, list[str]] = {
    "command": [
        name
        for name, command in commands()
        if not isinstance(command, click.Group) and not command.hidden and name.removeprefix("pro0 ") not in HIDDEN
    ],
    "setting": [setting.name for setting in SETTINGS],
    "tool": list(TOOLS),
    "error code": [str(code) for code in ErrorCode],
}


def test_it_is_current() -> None:
    assert reference.page() == PAGE, "make reference"


@pytest.mark.parametrize("kind", NAMES)
def test_it_names_each(kind: str) -> None:
    assert len(NAMES[kind]) > 10
    assert [name for name in NAMES[kind] if f"| `{name}` |" not in PAGE] == []


def test_each_error_code_is_raised_somewhere() -> None:
    """A code that nothing raises is a promise that nobody keeps."""
    exits = reference.exits()
    assert [code for code in ErrorCode if not exits.get(code)] == []
