"""A plugin of pytest for `make mutants`: the shortest tests first, since the first that fails is enough."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

DURATIONS = Path("mutmut-stats.json")
"""Where mutmut, which runs the tests in its own folder, writes how long each of them took."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests in order; one that mutmut has not timed yet comes first."""
    if DURATIONS.exists():
        seconds: Mapping[str, float] = json.loads(DURATIONS.read_bytes())["duration_by_test"]
        items.sort(key=lambda item: seconds.get(item.nodeid, 0.0))
