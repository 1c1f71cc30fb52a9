"""The tests that are left to the long lane exist."""

from pathlib import Path

import pytest

from tests.sampling import LONG, ONE_IN

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", sorted({*LONG, *ONE_IN}))
def test_what_is_left_to_the_long_lane_is_a_test(name: str) -> None:
    """A test that was renamed would be in the short lane again, and nobody would notice."""
    file, _, function = name.partition("[")[0].partition("::")
    assert f"def {function}(" in (ROOT / file).read_text()
    assert ("[" in name) <= (name in LONG), "a row for several variants names none of them"


def test_one_in_so_many_leaves_some() -> None:
    assert min(ONE_IN.values()) > 1
