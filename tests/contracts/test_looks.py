"""Looking at sessions and pressing keys, in real panes."""

import pytest
from msgspec.structs import replace

from pro0.model.runtime import Handle
from pro0.model.screen import Screen
from pro0.rules.screens.escapes import Style, painted
from tests.contracts.stages import TmuxStage
from tests.waiting import STUCK, wait_until

DRAWS = r"""printf '\033]2;a #(touch renamed) title\007'; printf 'plain \033[1;31mred\033[0m\nsecond\n'; cat -v"""
pytestmark = pytest.mark.parametrize("terminal", ["tmux", "tmux@build1"], indirect=True)


@pytest.fixture
def panes(terminal: TmuxStage) -> tuple[Handle, ...]:
    """Two panes that draw something and then read keys."""
    handles = terminal.start([terminal.opening("/bin/sh", "-c", DRAWS) for _ in range(2)])
    for handle in handles:
        terminal.shows(handle, "second")
    return handles


def seen(terminal: TmuxStage, handle: Handle) -> Screen:
    return terminal.backend.look([handle])[handle.incarnation]


def test_screens_are_seen_with_title_style_and_cursor(terminal: TmuxStage, panes: tuple[Handle, ...]) -> None:
    screens = terminal.backend.look(panes)
    assert set(screens) == {handle.incarnation for handle in panes}
    screen = screens[panes[0].incarnation]
    assert screen.rows[:2] == ("plain red", "second")
    # tmux 3.7 and newer put "_" for the "#" of a program, where a program would run.
    assert screen.title in ("a #(touch renamed) title", "a _(touch renamed) title")
    assert screen.cursor == (0, 2)
    assert "\x1b[1m\x1b[31mred" in screen.styled[0].replace("38;5;1", "31")
    assert not list(terminal.folder.rglob("renamed"))


TABS = r"""printf '\033]2;C:\\one\\\\two\007one\ttwo\n\t漢\tx\n\033[31m漢\033[0m\t|\nend'; cat"""
STOPS = r"""printf '\033[3g\033[1;6H\033H\rits\town'; cat"""


def test_tabs_and_backslashes_are_seen_as_the_program_meant_them(terminal: TmuxStage) -> None:
    """tmux 3.6 and newer print tabs as tabs; 3.7 and newer keep a backslash of a title as two."""
    handle, other = terminal.start([terminal.opening("/bin/sh", "-c", shows) for shows in (TABS, STOPS)])
    terminal.shows(handle, "end")
    terminal.shows(other, "own")
    screen = seen(terminal, handle)
    assert screen.title == r"C:\one\\two"
    assert screen.rows[:3] == ("one     two", "        漢      x", "漢      |")
    assert terminal.backend.peek(handle, 4).split("\n") == [*screen.rows[:4]]
    assert seen(terminal, other).rows[0] == "its  own"


LINES = r"""printf '\033[1;31mred\nred too\033[0m\n\033(0lqk\nx x\033(B plain x\n\n\033[2mdim\n\ndim too\033[0m\n'
cat"""


def test_a_screen_is_seen_whole_and_each_row_with_its_own_styles(terminal: TmuxStage) -> None:
    """A browser draws each row by itself, and a row that is missing moves the cursor."""
    handle = terminal.start([terminal.opening("/bin/sh", "-c", LINES)])[0]
    terminal.shows(handle, "dim too")
    screen = seen(terminal, handle)
    assert len(screen.rows) == len(screen.styled) == int(terminal.tmux("display-message", "-p", "#{pane_height}"))
    assert screen.rows[:9] == ("red", "red too", "┌─┐", "│ │ plain x", "", "dim", "", "dim too", "")
    assert screen.cursor == (0, 8)
    styles = [cells[0].style if cells else Style() for cells in (next(painted([row])) for row in screen.styled)]
    assert [style.dim for style in styles[:9]] == [False] * 5 + [True, False, True, False]
    assert [style.colour[-1:] for style in styles[:3]] == ["1", "1", ""]


def test_a_pane_that_is_not_ours_is_not_looked_at(terminal: TmuxStage, panes: tuple[Handle, ...]) -> None:
    assert set(terminal.backend.look([replace(panes[0], pid=1), panes[1]])) == {panes[1].incarnation}


@pytest.mark.parametrize(("key", "arrives"), [("Enter", "^J"), ("Escape", "^[")])
def test_a_key_arrives_in_its_pane_only(terminal: TmuxStage, panes: tuple[Handle, ...], key: str, arrives: str) -> None:
    first, other = panes
    assert terminal.backend.nudge(first, "abc", lambda: True)
    assert terminal.backend.press(first, key)  # type: ignore[arg-type]
    assert terminal.backend.nudge(first, "def")
    expected = "def" if key == "Enter" else f"{arrives}def"
    wait_until(lambda: expected in seen(terminal, first).rows, STUCK, "the pane shows it")
    assert seen(terminal, other).rows[2:3] in ((), ("",))


def test_a_line_stays_without_its_enter_when_something_speaks_against_it(
    terminal: TmuxStage, panes: tuple[Handle, ...]
) -> None:
    first, _ = panes
    assert not terminal.backend.nudge(first, "abc", lambda: False)
    wait_until(lambda: seen(terminal, first).rows[2:3] == ("abc",), STUCK, "the pane shows it")
    assert "abc" not in seen(terminal, first).rows[3:]
