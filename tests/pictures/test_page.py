"""The pictures of the page in the documents are what the page shows today. Issue 18, build 5."""

import re

import pytest
from playwright.sync_api import Page

from tests.pictures.comparing import compare, lines_that_differ
from tools.pictures import page as pictures
from tools.pictures.page import Shot

BOX = re.compile(r"\[(-?\d+) (-?\d+) (\d+) (\d+)\]")
NEAR = 2
"""Points by which a box may be elsewhere or larger; in twenty runs none was."""


def test_each_picture_is_the_one_that_was_written_down() -> None:
    """A picture alone, or its words alone, cannot be changed."""
    kept = pictures.kept()
    assert [*kept] == [shot.name for shot in pictures.SHOTS]
    assert {path.stem for path in pictures.FOLDER.glob("*.png")} == {*kept}
    assert {shot.name: pictures.fingerprint(shot) for shot in pictures.SHOTS} == {
        name: mark for name, (mark, _) in kept.items()
    }


@pytest.mark.soak
def test_the_pictures_are_what_the_page_shows() -> None:
    kept = pictures.kept()

    def check(shot: Shot, page: Page) -> None:
        hint = f"hint: make screenshots, then look at docs/screens/{shot.name}.png"
        compare(kept[shot.name][1], lambda: pictures.listed(page), hint, difference)

    with pictures.visiting() as (browser, stage, address):
        pictures.tour(browser, stage, address, pictures.SHOTS, check)


def difference(kept: str, shown: str) -> str:
    """Return the lines that differ; boxes may be a little off, and count only where letters are as wide."""
    ours, theirs = kept.splitlines(), shown.splitlines()
    if ours[:1] != theirs[:1]:
        ours, theirs = ([BOX.sub("", line) for line in lines[1:]] for lines in (ours, theirs))
    if len(ours) == len(theirs):
        theirs = [old if near(old, new) else new for old, new in zip(ours, theirs, strict=True)]
    return lines_that_differ("\n".join(ours), "\n".join(theirs))


def near(one: str, other: str) -> bool:
    """Return True when two lines say the same, at about the same place."""
    boxes = [[int(number) for box in BOX.findall(line) for number in box] for line in (one, other)]
    if BOX.sub("", one) != BOX.sub("", other) or len(boxes[0]) != len(boxes[1]):
        return False
    return all(abs(ours - theirs) <= NEAR for ours, theirs in zip(*boxes, strict=True))


@pytest.mark.parametrize(
    ("shown", "differs"),
    [
        ('h1 "Board" [16 85 79 29] red', False),
        ('h1 "Board" [17 84 81 29] red', False),
        ('h1 "Board" [19 85 79 29] red', True),
        ('h1 "Boards" [16 85 79 29] red', True),
        ('h1 "Board" [16 85 79 29] green', True),
        ('h1 "Board" [16 85 79 29] red\nb "new" [0 0 1 1] red', True),
        ("", True),
    ],
)
def test_what_differs_is_found(shown: str, differs: bool) -> None:
    head = "letters 340\n"
    assert bool(difference(f'{head}h1 "Board" [16 85 79 29] red\n', f"{head}{shown}\n")) == differs


def test_where_letters_have_another_width_boxes_do_not_count() -> None:
    assert not difference('letters 340\nh1 "Board" [16 85 79 29] red', 'letters 300\nh1 "Board" [16 85 60 29] red')
    assert difference('letters 340\nh1 "Board" [16 85 79 29] red', 'letters 300\nh1 "Bread" [16 85 60 29] red')
