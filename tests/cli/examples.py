"""The examples of every help and of the documents, taken apart as a shell would."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from tests.cli.conftest import commands

ROOT = Path(__file__).parents[2]
_INNER = re.compile(r"\$\(([^()]*)\)")
_ENDS = frozenset({"|", "||", "&&", ";", "&"})


def of_the_helps() -> Iterator[tuple[str, str]]:
    """Yield every command that has examples with each of them."""
    for name, command in commands():
        for said in (command.help or "").partition("Examples:")[2].splitlines():
            if said.strip():
                yield name, said.strip()


def of_a_document(name: str) -> Iterator[str]:
    """Yield every line of a block, and every piece between backticks, that begins with the program."""
    text = (ROOT / name).read_text()
    for number, part in enumerate(re.split(r"^ *```.*$", text, flags=re.MULTILINE)):
        lines = part.splitlines() if number % 2 else map(str.strip, re.findall(r"`([^`]+)`", part))
        yield from (line.rstrip() for line in lines if line.startswith("pro0 "))


def calls(line: str) -> Iterator[list[str]]:
    """Yield the words of each call of the program in a line of shell, those inside $( ) too."""
    for inner in _INNER.findall(line):
        yield from calls(inner)
    lexer = shlex.shlex(_INNER.sub("1", line), posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    words: list[str] = []
    for word in [*lexer, ";"]:
        if word not in _ENDS:
            words.append(word)
            continue
        while words and re.fullmatch(r"\w+=\S*", words[0]):
            words.pop(0)
        if words and words[0] == "pro0":
            redirected = next((at for at, one in enumerate(words) if one in ("<", ">")), len(words))
            yield words[1:redirected]
        words = []
