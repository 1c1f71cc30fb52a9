"""A team from a layout: members, windows and tasks as the file says."""

import subprocess
from pathlib import Path

import pytest

from pro0.model.runtime import Runtime
from pro0.store.teams import Store
from tests.e2e.conftest import Team
from tests.waiting import STUCK, wait_until

pytestmark = pytest.mark.usefixtures("scripts")

LAYOUT = """
agent: shell
windows:
  - window_name: front
    layout: even-horizontal
    panes: [ada, ben]
  - window_name: services
    panes:
      - shell_command: sleep 600
        name: server
members: [ada, ben]
tasks:
  - {key: one, title: first, run: "true"}
  - {title: second, run: "true", blocked_by: [one]}
"""


def windows(runtime: Runtime) -> list[str]:
    """Each pane's window and member, as tmux says."""
    handle = next(seat.handle for seat in runtime.seats if seat.handle)
    what = ("list-panes", "-a", "-F", "#{window_name} #{@pro0_title}")
    return sorted(subprocess.check_output(["tmux", "-S", handle.socket, *what], text=True).splitlines())


def test_a_layout_says_who_is_shown_where_and_what_is_done_first(team: Team, home: Path) -> None:
    (team.project / "dev.yaml").write_text(LAYOUT)
    team("team", "start", "alpha", "--detach", "--mode", "tmux", "-l", "dev.yaml")
    team("team", "wait", "--timeout", "60")
    assert [task["status"] for task in team.tasks().values()] == ["completed", "completed"]
    team("inbox")
    wait_until(lambda: "?" not in str(windows(Store(home).team("alpha").runtime.read())), STUCK, "no window is marked")
    shown = windows(Store(home).team("alpha").runtime.read())
    assert shown == ["pro0-alpha-front ada", "pro0-alpha-front ben", "pro0-alpha-services server"]


@pytest.mark.parametrize("place", [".pro0/layouts", ""])
def test_a_layout_is_found_by_its_name(place: str, team: Team, home: Path) -> None:
    folder = team.project / place if place else home / "layouts"
    folder.mkdir(parents=True)
    (folder / "mine.yaml").write_text("members: {ada: shell}\n")
    if place:
        assert "config trust" in team("team", "start", "alpha", "--detach", "-l", "mine", code=4).err
        team("config", "trust")
    team("team", "start", "alpha", "--detach", "--mode", "headless", "-l", "mine")
    assert team.member("ada")["agent"] == "shell"


def test_a_layout_that_is_wrong_makes_nothing(team: Team) -> None:
    (team.project / "bad.yaml").write_text("members: {ada: {agnt: shell}}\n")
    assert "bad.yaml" in team("team", "start", "alpha", "-l", "bad.yaml", code=2).err
    assert "pair" in team("team", "start", "alpha", "-l", "nobody", code=3).err
    assert team.json("team", "list") == []
