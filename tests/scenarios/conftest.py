"""Whole teams, headless and in tmux, with a short grace."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.crew import Crew, crew

MODES = ("headless", "tmux")


@pytest.fixture
def brief(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of a team that ends fast, and whose lead comes back only when a test says so."""
    monkeypatch.setenv("PRO0_END_GRACE_SECONDS", "1")
    monkeypatch.setenv("PRO0_REVIVE_LEAD", "0")
    monkeypatch.setenv("PRO0_POLL_INTERVAL_MS", "1000")


@pytest.fixture(params=MODES)
def alpha(request: pytest.FixtureRequest, brief: None, home: Path, tmp_path: Path) -> Iterator[Crew]:
    """A team with a lead and without members."""
    with crew(home, tmp_path, request.param) as made:
        made.lead()
        yield made
