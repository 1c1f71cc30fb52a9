"""Teams with a short grace."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.crew import Crew, crew


@pytest.fixture
def alpha(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Crew]:
    """A headless team without lead and members."""
    monkeypatch.setenv("PRO0_END_GRACE_SECONDS", "1")
    monkeypatch.setenv("PRO0_REVIVE_LEAD", "0")  # a test that kills a lead says when the next one comes
    with crew(home, tmp_path, "headless") as made:
        yield made
