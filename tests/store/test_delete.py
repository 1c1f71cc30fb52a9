"""Whatever stands in a place is deleted at once: no pipe is waited for, no link is followed (reliability 30, 31)."""

import os
from pathlib import Path

import pytest

from pro0.engine.opening.briefs import Briefs
from pro0.store.files import delete
from tests.hostile.test_paths import ODD
from tests.teams import make_team


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """What links lead to."""
    folder = tmp_path / "victim"
    folder.mkdir()
    (folder / "file").write_text("kept")
    return folder


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("within", ["", "in a folder"])
def test_it_is_gone_and_what_it_leads_to_is_not(odd: str, within: str, tmp_path: Path, victim: Path) -> None:
    place = tmp_path / "place"
    if within:
        place.mkdir()
    ODD[odd](place / within, victim)
    delete(place)
    assert not os.path.lexists(place)
    assert (victim / "file").read_text() == "kept"
    delete(place)


@pytest.mark.parametrize("odd", ODD)
def test_what_an_agent_is_started_with_takes_the_place_of_anything(odd: str, home: Path, victim: Path) -> None:
    """The lead would wait for a pipe there for ever."""
    team = make_team(home, "w1")
    ODD[odd](team.paths.agent_folder("inc-w1"), victim)
    Briefs(team, team.config.read()).write_agent_files("inc-w1", {"settings.json": b"{}"}, {})
    assert (team.paths.agent_folder("inc-w1") / "settings.json").read_bytes() == b"{}"
    assert (victim / "file").read_text() == "kept"
