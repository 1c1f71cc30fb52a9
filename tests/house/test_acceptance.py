"""Every acceptance case is named in the test that shows it; what is not built yet is said here, and only that."""

import re
from collections.abc import Iterable, Iterator

import pytest

from tests.house.source import ROOT

CASES = range(1, 96)
NOT_YET: dict[int, str] = {}
"""Why a case is shown nowhere; a case that is shown may not stand here."""
_NAMED = re.compile(r"AC-(\d\d)(?: to AC-(\d\d))?")


def named(texts: Iterable[str]) -> set[int]:
    """Return the cases that texts name: AC-07, or AC-25 to AC-28."""
    return {case for text in texts for match in _NAMED.finditer(text) for case in _span(match)}


def sources() -> Iterator[str]:
    return (path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py") if path.name != OWN)


def test_every_case_is_named_or_said_to_be_missing() -> None:
    shown = named(sources())
    assert not sorted(set(CASES) - shown - set(NOT_YET)), "these cases are shown by no test"
    assert not sorted(shown & set(NOT_YET)), "these are shown by now: take them off the list"
    assert shown | set(NOT_YET) <= set(CASES), "there are no such cases"


@pytest.mark.parametrize(
    ("text", "cases"),
    [("AC-07: it", {7}), ("AC-25 to AC-28, AC-30", {25, 26, 27, 28, 30}), ("AC-7, ac-08, S001-079", set())],
)
def test_how_a_case_is_named(text: str, cases: set[int]) -> None:
    assert named([text]) == cases


def _span(match: re.Match[str]) -> range:
    return range(int(match[1]), int(match[2] or match[1]) + 1)


OWN = "test_acceptance.py"
