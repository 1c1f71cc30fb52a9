"""The exit codes of each command: every call of a test is held against the list that the reference is made of."""

import json
import os
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

import click
import pytest

from pro0.cli.call import program
from pro0.cli.lazy import LazyGroup
from tools.exit_codes import ANY, DECLARED

RECORD = os.environ.get("PRO0_TESTS_EXITS")
"""A file that gets a line for every call, for who wants to see which codes tests have seen."""


def command_of(arguments: Sequence[str]) -> str:
    """Return the name in the rows of the command that is called, "" when the words name none."""
    command: click.Command | None = program
    for word in arguments:
        if not isinstance(command, click.Group):
            break
        command = _below(command, word)
    return _names().get(id(command), "")


def _below(group: click.Group, word: str) -> click.Command | None:
    """Return a command of a group, loaded without a change of signals, which only the main thread may make."""
    if not isinstance(group, LazyGroup):
        return group.commands.get(word)
    row = group.rows.get(group.aliases.get(word, word))
    module, _, attribute = row[0].partition(":") if row else ("", "", "")
    return getattr(import_module(module), attribute) if row else None


@cache
def _names() -> dict[int, str]:
    """Return each command's name by its object, which is the same for a second name."""
    named = {}
    for name in DECLARED:
        command: click.Command | None = program
        for word in name.split()[1:]:
            assert isinstance(command, click.Group), name
            command = _below(command, word)
        named[id(command)] = name
    return named


def hold(arguments: Sequence[str], code: int) -> None:
    """Fail when a command ends with a code that its row does not have."""
    path = command_of(arguments)
    if RECORD:
        with Path(RECORD).open("a") as record:
            record.write(json.dumps([path, code, os.environ.get("PYTEST_CURRENT_TEST", "")]) + "\n")
    elif path and code not in DECLARED[path] | ANY:
        pytest.fail(
            f"`{path}` ended with {code}: add that to its row in tools/exit_codes.toml, then make reference man"
        )
