"""The exit codes of the program, from its error classes, and of each command, from its own help."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click

from pro0 import errors
from pro0.errors import Pro0Error

SENTENCE_END = re.compile(r"(?<=[.])\s+(?=[A-Z-])")
NOT_WRAPPED = "\b"
DECLARED: dict[str, frozenset[int]] = {
    name: frozenset(codes)
    for name, codes in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")).items()
}
"""Command → its exit codes. Any command may also end with 1, by a fault of pro0, and with 130, by an interrupt."""
ANY = frozenset({1, 130})
CODE_NAMED = re.compile(r"\bexit \d", re.IGNORECASE)


def exit_codes() -> Iterator[tuple[str, str]]:
    """Yield each exit code with what it means."""
    yield "0", "The act is done."
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, Pro0Error):
            above = [parent.exit_code for parent in kind.__bases__ if issubclass(parent, Pro0Error)]
            if kind.exit_code not in above:
                yield str(kind.exit_code), kind.code.meaning
    yield "130", "The person interrupted the act."


def own_exit_codes(command: click.Command) -> str:
    """Return the sentences of a command's help and of its options that name an exit code."""
    return " ".join(sentence for sentence in _sentences(command) if CODE_NAMED.search(sentence))


def _sentences(command: click.Command) -> Iterator[str]:
    for paragraph in (command.help or "").split("\n\n"):
        if not paragraph.startswith(NOT_WRAPPED):
            yield from SENTENCE_END.split(" ".join(paragraph.split()))
    for parameter in command.params:
        if isinstance(parameter, click.Option) and parameter.help:
            yield f"{parameter.opts[-1]}: {parameter.help}"
