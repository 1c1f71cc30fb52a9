"""Looking at sessions and pressing keys, in real panes."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0.model.runtime import Handle
from pro0.model.screen import Screen
from pro0.sessions import backend_named
from pro0.sessions.backend import Opening, Place
from tests.waiting import wait_until

DRAWS = r"""printf '\033]2;a #(touch renamed) title\007'; printf 'plain \033[1;31mred\033[0m\nsecond\n'; cat -v"""


@pytest.fixture
def panes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Handle, ...]]:
    """Two panes of a throw-away team that draw something and then read keys."""
    monkeypatch.setenv("TMUX_TMPDIR", str(tmp_path))
    place, tmux = Place("looks", "uid-1", tmp_path), backend_named("tmux")
    openings = [Opening(f"inc-{n}", f"w{n}", ("/bin/sh", "-c", DRAWS), tmp_path / f"w{n}.log") for n in (1, 2)]
    handles = tmux.open(place, openings)
    yield handles
    tmux.dismantle(place)


def seen(handles: tuple[Handle, ...]) -> dict[str, Screen]:
    return backend_named("tmux").look(handles)


def test_screens_are_seen_with_title_style_and_cursor(panes: tuple[Handle, ...], tmp_path: Path) -> None:
    wait_until(
        lambda: all(screen.rows[:2] == ("plain red", "second") for screen in seen(panes).values()),
        10,
        "the pane shows it",
    )
    screens = seen(panes)
    assert set(screens) == {"inc-1", "inc-2"}
    screen = screens["inc-1"]
    assert screen.title == "a #(touch renamed) title"
    assert screen.cursor == (0, 2)
    assert "\x1b[1m\x1b[31mred" in screen.styled[0]
    assert not (tmp_path / "renamed").exists()


def test_a_pane_that_is_not_ours_is_not_looked_at(panes: tuple[Handle, ...]) -> None:
    stale = [replace(panes[0], pid=1), panes[1]]
    assert set(seen(tuple(stale))) == {"inc-2"}


@pytest.mark.parametrize(("key", "arrives"), [("Enter", "^J"), ("Escape", "^[")])
def test_a_key_arrives_in_its_pane_only(panes: tuple[Handle, ...], key: str, arrives: str) -> None:
    wait_until(lambda: all(screen.rows[1:2] == ("second",) for screen in seen(panes).values()), 10, "the pane shows it")
    tmux = backend_named("tmux")
    assert tmux.nudge(panes[0], "abc", lambda: True)
    assert tmux.press(panes[0], key)  # type: ignore[arg-type]
    assert tmux.nudge(panes[0], "def")
    expected = "def" if key == "Enter" else f"{arrives}def"
    wait_until(lambda: expected in seen(panes)["inc-1"].rows, 10, "the pane shows it")
    assert seen(panes)["inc-2"].rows[2:3] in ((), ("",))


def test_a_line_stays_without_its_enter_when_something_speaks_against_it(panes: tuple[Handle, ...]) -> None:
    wait_until(lambda: seen(panes)["inc-1"].rows[1:2] == ("second",), 10, "the pane shows it")
    assert not backend_named("tmux").nudge(panes[0], "abc", lambda: False)
    wait_until(lambda: seen(panes)["inc-1"].rows[2:3] == ("abc",), 10, "the pane shows it")
    assert "abc" not in seen(panes)["inc-1"].rows[3:]
