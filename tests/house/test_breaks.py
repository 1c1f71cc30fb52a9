"""Every break that hostile tests have found has its line in tests/breaks.toml, and what the line names is there."""

import tomllib

import pytest

from tests.house.source import ROOT
from tests.house.test_rows import is_there

BREAKS = tomllib.loads((ROOT / "tests" / "breaks.toml").read_text(encoding="utf-8"))
IDS = [f"reliability-{one}" for one in ("3_1", "3_2", "3_3", "3_4", "3_5", "3_6", *range(7, 15))]
IDS += [f"agents-{size}{number}" for size, many in (("M", 7), ("m", 8)) for number in range(1, many + 1)]
IDS += [*(f"ux-{one}" for one in range(1, 11)), *(f"mission-{one}" for one in ("M1", "M2", "M3", "M3b"))]
IDS += [f"s004-{one}" for one in ("prd", "documents", "rpc", 1, 2, 3, 4, 8)]
IDS += [f"docs-{one}" for one in ("A9", "B1", "B2", "B3", "B4", "E", "F", "G")]
IDS += [*(f"docs-A{one}" for one in range(1, 8)), *(f"landscape-L{one}" for one in range(1, 4))]
"""The findings; one that is several breaks has several lines, which go on behind its id."""


def test_every_finding_has_a_line() -> None:
    assert [id for id in IDS if not any(one == id or one.startswith(f"{id}_") for one in BREAKS)] == []


@pytest.mark.parametrize("id", BREAKS)
def test_a_line_says_what_broke_and_names_tests_that_are_there(id: str) -> None:
    line = BREAKS[id]
    assert set(line) == {"broke", "then", "tests"}
    assert line["broke"].endswith(".")
    assert line["tests"]
    assert [test for test in line["tests"] if "::" not in test or not is_there(test)] == []


@pytest.mark.parametrize("id", BREAKS)
def test_why_they_did_not_pass_is_one_of_three_words(id: str) -> None:
    word, _, file = BREAKS[id]["then"].partition(" ")
    assert word in ("fails", "held", "lacks")
    assert (word == "lacks") is bool(file)
    assert not file or (ROOT / file).is_file()
