"""Every requirement has its line in tests/rows.toml, and what the line names is there."""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests import rows
from tests.house.source import ROOT, functions

FOUND = rows.rows()
NUMBER = re.compile(r"\d\.\d+")
NAMED = re.compile(r"behaviour \d\.\d+(?:(?:, | and | to )\d\.\d+)*")
FOREIGN = re.compile(r"\b(?:[Rr]ulings? \d|S00\d\b|AC-\d\d|PRD\b)")
RULES = set(re.findall(r"^(\d\.\d+) \*\*", rows.PAGE.read_text(encoding="utf-8"), re.MULTILINE))


@cache
def named_in(path: Path) -> frozenset[str]:
    """Return the names of the tests in a file; none when it is not there."""
    if not path.is_file():
        return frozenset()
    return frozenset(one.name for one in functions(ast.parse(path.read_bytes())) if one.name.startswith("test_"))


def is_there(test: str) -> bool:
    """Say whether a test exists, or a file that has tests."""
    path, _, name = test.partition("::")
    named = named_in(ROOT / path)
    return name in named if name else bool(named)


def sources() -> Iterator[tuple[Path, str]]:
    """Yield every module of pro0 with its text."""
    for path in sorted((ROOT / "pro0").rglob("*.py")):
        yield path, path.read_text(encoding="utf-8")


def named_rules(texts: Iterable[tuple[Path, str]]) -> set[str]:
    """Return the rules that texts name: `behaviour 3.6`, or several behind the word."""
    return {rule for _, text in texts for match in NAMED.finditer(text) for rule in NUMBER.findall(match[0])}


def found_ids() -> Iterator[tuple[Path, list[str]]]:
    """Yield the modules of pro0 that name a requirement."""
    yield from ((path, named) for path, text in sources() if (named := FOREIGN.findall(text)))


def test_every_requirement_stands_once_and_in_order() -> None:
    assert list(FOUND) == rows.ids()


def test_every_line_says_what_it_rests_on() -> None:
    assert not [id for id, value in FOUND.items() if not rows.kind(value)]


def test_every_test_that_is_named_is_there() -> None:
    named = {test for value in FOUND.values() if isinstance(value, list) for test in value}
    assert not sorted(test for test in named if not is_there(test))


def test_every_rule_that_is_named_is_there() -> None:
    named = {value.removeprefix("rule: ") for value in map(str, FOUND.values()) if value.startswith("rule: ")}
    assert not sorted(named - RULES)


def test_every_rule_that_the_code_names_is_there() -> None:
    assert not sorted(named_rules(sources()) - RULES)


def test_the_code_names_no_requirement() -> None:
    """Their documents are no part of the project; the page is."""
    assert not [f"{path.relative_to(ROOT)}: {named[0]}" for path, named in found_ids()]


def test_the_page_has_the_present_count() -> None:
    assert rows.COUNTED.findall(rows.PAGE.read_text(encoding="utf-8")) == [rows.counted(FOUND)], "run `make rows`"


@pytest.mark.parametrize(
    ("value", "kind"),
    [(["tests/x.py"], "shown"), ("rule: 3.6", "rule"), ("open: a gap", "open"), ([], ""), ("3.6", "")],
)
def test_what_a_line_says(value: str | list[str], kind: str) -> None:
    assert rows.kind(value) == kind


@pytest.mark.parametrize("test", ["tests/none.py", "tests/rows.py", "tests/house/test_rows.py::test_none"])
def test_a_test_that_is_not_there_is_found(test: str) -> None:
    assert not is_there(test)


def test_a_test_that_is_there_is_known() -> None:
    assert is_there("tests/house/test_rows.py")
    assert is_there("tests/house/test_rows.py::test_a_test_that_is_there_is_known")


def test_how_a_rule_is_named() -> None:
    text = "(behaviour 3.6), as behaviour 2.1 to 2.16 say, and (behaviour 5.3, 5.4); version 3.11"
    assert named_rules([(Path(), text)]) == {"3.6", "2.1", "2.16", "5.3", "5.4"}
