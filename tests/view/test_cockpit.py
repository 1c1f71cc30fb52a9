"""The board with 500 tasks and 50 members: kept screens, what each key shows, and what one frame costs."""

import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType

import pytest
from msgspec.structs import replace

from pro0.view.bar import title
from pro0.view.board import BoardView
from pro0.view.drawing import columns_of, plain
from pro0.view.keys import Key
from pro0.view.news import News
from tests.hostile.payloads import PAYLOADS
from tests.view.crowded import crowd

CROWD = crowd()
SIZES = ((80, 24), (20, 5))
STEPS = {
    "opened": (),
    "the next that waits": ("n", "n"),
    "answer": ("down", "down", "a", "b", "l", "u", "e"),
    "members": ("tab",),
    "a page on": ("tab", "page-down"),
    "tasks": ("tab", "tab"),
    "the last": ("end",),
    "found": ("/", *"part 77", "enter"),
    "unfolded": ("f", "tab", "tab", "page-down", "page-down", "page-down", "page-down", "page-down", "page-down"),
    "a new task": ("t", *"@w1 write the words", "alt-b", "ctrl-w", "ctrl-e"),
}
KEPT = Path(__file__).with_name("kept")


def press(board: BoardView, look: News, *names: str) -> None:
    for name in names:
        board.press(Key(name.encode(), name), look)


def screen(board: BoardView, look: News, columns: int, lines: int) -> str:
    rows = board.rows(look, columns, lines, "")
    assert len(rows) == lines
    assert all(columns_of(row) <= columns for row in rows)
    return "\n".join(plain(row).rstrip() for row in rows) + "\n"


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("step", STEPS)
def test_the_screens_are_as_they_were_kept(step: str, size: tuple[int, int]) -> None:
    """Must show 6. Whoever changes the board deletes a kept screen; the next run keeps the new one, and fails."""
    board = BoardView()
    screen(board, CROWD, *size)
    press(board, CROWD, *STEPS[step])
    shown = screen(board, CROWD, *size)
    kept = KEPT / f"{step.replace(' ', '-')}-{size[0]}x{size[1]}.txt"
    if not kept.exists():
        kept.write_text(shown, encoding="utf-8")
        pytest.fail(f"{kept.name} is kept now: look at it")
    assert shown == kept.read_text(encoding="utf-8")


def calls(work: Callable[[], object]) -> int:
    """Return how many functions of the program a piece of work calls."""
    count = 0

    def called(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call" and "/pro0/" in frame.f_code.co_filename

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


KEYS = ("down", "page-down", "up", "tab", "n", "end", "page-up", "home", "t", "x", "ctrl-w", "escape", "A", "escape")


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_what_a_key_and_its_frame_cost_does_not_grow_with_the_team(size: tuple[int, int]) -> None:
    """Build 7: counted in calls of functions, key by key."""

    def costs(look: News) -> list[int]:
        board = BoardView()
        board.rows(look, *size, "")

        def frame(name: str) -> None:
            press(board, look, name)
            board.rows(look, *size, "")

        return [calls(partial(frame, name)) for name in KEYS]

    small, large = costs(crowd(50, 150)), costs(CROWD)
    lines = size[1]
    assert all(after <= before + 4 * lines for before, after in zip(small, large, strict=True)), (small, large)
    assert max(large) <= 60 * lines


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
def test_the_title_of_the_terminal_is_the_team_and_numbers(payload: str) -> None:
    """Nothing of a member or a task is in it, and of a team's name only what can be seen."""
    status = CROWD.status
    assert status
    attention = tuple(replace(need, subject=payload, what=payload, why=payload) for need in status.attention)
    members = tuple(replace(member, note=payload, agent_id=payload, name=payload) for member in status.members)
    theirs = replace(CROWD, status=replace(status, attention=attention, members=members))
    assert title(theirs) == title(CROWD)
    assert re.fullmatch("pro0 alpha · [0-9]+ wait", title(CROWD))
    named = title(replace(theirs, status=replace(status, name=payload)))
    assert named.isprintable()
