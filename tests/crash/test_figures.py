"""The tables of docs/faults.md: what was not counted in this checkout is not lost from them."""

from pathlib import Path

import pytest

from tests.crash import figures, lanes
from tests.scenarios import figures as ways
from tests.soak import figures as teams

OLD = """
| what | `make test` | `make soak` |
| --- | --- | --- |
| kills | 10 kills | 500 kills |
| words | 3 words | the same |
| gone | 1 | 2 |
"""
NEW = """| what | `make test` | `make soak` |
| --- | --- | --- |
| kills | 12 kills | - kills |
| words | - words | the same |
| fresh | - | 7 |"""


def test_what_nobody_has_counted_stays_as_it_was() -> None:
    assert figures.kept(OLD, NEW).splitlines()[2:] == [
        "| kills | 12 kills | 500 kills |",
        "| words | 3 words | the same |",
        "| fresh | - | 7 |",
    ]


def test_a_table_that_is_new_or_has_other_columns_is_written_as_it_is() -> None:
    assert figures.kept("", NEW) == NEW
    assert figures.kept(OLD.replace(" | the same", ""), NEW).splitlines()[3] == "| words | - words | the same |"


@pytest.mark.parametrize(
    ("begin", "rows"), [(figures.BEGIN, figures.ROWS), (teams.BEGIN, teams.ROWS), (ways.BEGIN, ways.ROWS)]
)
def test_where_nothing_was_counted_the_page_stays_as_it_is(
    begin: str, rows: tuple[figures.Row, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """so its rows are also those that the script would write"""
    monkeypatch.setattr(figures, "total", lambda *_: "-")
    page = figures.PAGE.read_text(encoding="utf-8").partition(begin)[2].partition("<!--")[0].strip()
    assert figures.kept(page, figures.table(rows)) == page


def test_a_long_test_counts_for_the_long_lane_whatever_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """A fixture with a long mode makes a test of the short lane long: `make test` does not run it."""
    monkeypatch.setattr(lanes, "COUNTS", tmp_path)
    lanes.counted(lanes.TEST, "acts", "short", 3)
    request.node.add_marker(lanes.SOAK)
    try:
        lanes.counted(lanes.TEST, "acts", "long", 4)
    finally:
        request.node.own_markers.pop()
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.json")) == [
        "soak/acts/long.json",
        "test/acts/short.json",
    ]
