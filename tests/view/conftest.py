"""Teams that are shown in-process."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.crew import Crew, crew


@pytest.fixture
def alpha(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Crew]:
    """A team with a lead and without members."""
    monkeypatch.setenv("PRO0_END_GRACE_SECONDS", "1")
    monkeypatch.setenv("PRO0_REVIVE_LEAD", "0")
    with crew(home, tmp_path, "in-process") as made:
        made.lead()
        yield made
