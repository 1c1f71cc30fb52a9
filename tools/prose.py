"""How a page reads, in figures: `python -m tools.prose README.md docs/*.md`. Code, tables and headings do not count."""

import math
import re
import statistics
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

FENCED = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
LAID_OUT = re.compile(r"\s*(#|\||!\[|<|---)")
MARKUP = re.compile(r"[`*_]|!?\[([^\]]*)\]\([^)]*\)")
SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
MARK = re.compile(r"[;:](?=\s)")
TWO_IN_A_LINE = re.compile(r"(?<=[a-z)`*\"][.!?])\s+(?=[A-Z`*\[])")


class Figures(NamedTuple):
    """How long the sentences and the paragraphs of a page are."""

    sentences: int
    mean: float
    p90: int
    marks: float
    """`;` and `:` per 100 sentences."""
    paragraph: int
    """Words in the longest paragraph."""

    def __str__(self) -> str:
        return (
            f"{self.sentences} sentences of {self.mean:.1f} words, p90 {self.p90}; "
            f"{self.marks:.0f} `;` and `:` per 100; longest paragraph {self.paragraph} words"
        )


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a page, without markup."""
    blocks = re.split(r"\n\s*\n", FENCED.sub("", text))
    prose = [block for block in blocks if block.strip() and not LAID_OUT.match(block) and not _is_code(block)]
    return [MARKUP.sub(r"\1", " ".join(block.split())) for block in prose]


def _is_code(block: str) -> bool:
    return all(line.startswith("    ") for line in block.splitlines())


def sentences(text: str) -> list[str]:
    """Return the sentences of a page that have more than two words."""
    return [part for block in paragraphs(text) for part in SENTENCE_END.split(block) if len(part.split()) > 2]


def figures(text: str) -> Figures:
    """Measure a page."""
    lengths = sorted(len(sentence.split()) for sentence in sentences(text)) or [0]
    blocks = paragraphs(text)
    return Figures(
        len(lengths),
        statistics.mean(lengths),
        lengths[math.ceil(len(lengths) * 0.9) - 1],
        100 * sum(len(MARK.findall(block)) for block in blocks) / len(lengths),
        max((len(block.split()) for block in blocks), default=0),
    )


def crowded(text: str) -> list[str]:
    """Return the lines of the source that hold more than one sentence."""
    lines = FENCED.sub("", text).splitlines()
    return [line for line in lines if not LAID_OUT.match(line) and TWO_IN_A_LINE.search(line)]


def longest(pages: Mapping[str, str], number: int = 10) -> list[tuple[int, str, str]]:
    """Return the longest sentences of some pages, with their lengths and pages."""
    every = [(len(sentence.split()), name, sentence) for name, text in pages.items() for sentence in sentences(text)]
    return sorted(every, reverse=True)[:number]


def main() -> None:
    """Print the figures of each page that is named, then the ten longest sentences of them all."""
    pages = {name: Path(name).read_text(encoding="utf-8") for name in sys.argv[1:]}
    for name, text in pages.items():
        print(f"{name}: {figures(text)}")
    for length, name, sentence in longest(pages):
        print(f"{length} words, {name}: {sentence}")


if __name__ == "__main__":
    main()
