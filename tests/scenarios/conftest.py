"""Whole teams, headless and in tmux, with a short grace."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.crew import Crew, crew

MODES = ("headless", "tmux")


@pytest.fixture(params=MODES)
def alpha(
    request: pytest.FixtureRequest, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Crew]:
    """A team with a lead and without members."""
    monkeypatch.setenv("PRO0_END_GRACE_SECONDS", "1")
    monkeypatch.setenv("PRO0_REVIVE_LEAD", "0")  # a test that kills a lead says when the next one comes
    monkeypatch.setenv("PRO0_POLL_INTERVAL_MS", "1000")
    with crew(home, tmp_path, request.param) as made:
        made.lead()
        yield made
