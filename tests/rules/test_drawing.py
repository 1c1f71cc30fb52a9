"""How a screen is cut: what stands above, the menu or the input box, the foot; row by row."""

import pytest

from pro0.model.screen import Screen
from pro0.rules.screens.drawing import LAST, Block, Frame, Parts, cut, ending

EDGED = Frame(prompt=r"^❯(?:\s|$)", edge=r"^─{4}", top=r"^═{4}", hints="Try ")
FLOORED = Frame(prompt=r"^┃ ?", floor=r"^╹", hints="Ask ")
RULED = Frame(prompt=r"^", edge=r"^─{4}", edges_alike=r"^─{4}")
PLAIN = Frame(prompt=r"^> ?", foot=r"^ *model")
EDGE = "────"
MENU = ("Allow it?", "❯ 1. Yes", "  2. No", "Enter to confirm")


def blocks(*found: tuple[int, str]) -> tuple[Block, ...]:
    return tuple(Block(first, tuple(rows.split("|"))) for first, rows in found)


CUT: dict[str, tuple[Frame, tuple[str, ...], Parts]] = {
    "an empty screen": (EDGED, ("", "  ", ""), Parts()),
    "an ended program": (EDGED, ("● said", "Pane is dead (status 1)"), Parts()),
    "a box between edges": (
        EDGED,
        ("● said", "", "● more", "of it", "", EDGE, "❯ one", "  two ", EDGE, "  foot", "", "  low", ""),
        Parts(
            above=blocks((0, "● said"), (2, "● more|of it")),
            box="typed",
            rim=EDGE,
            text="one two",
            foot=("  foot", "  low"),
        ),
    ),
    "rows right above a box between edges": (
        EDGED,
        ("● said", EDGE, "❯", EDGE),
        Parts(above=blocks((0, "● said")), box="empty", rim=EDGE),
    ),
    "the lowest two edges count": (
        EDGED,
        (EDGE, "❯ old", EDGE, "● said", EDGE, "❯ new", EDGE),
        Parts(above=blocks((0, f"{EDGE}|❯ old|{EDGE}|● said")), box="typed", rim=EDGE, text="new"),
    ),
    "a ruled line in a draft is no edge": (
        RULED,
        ("said", EDGE * 2, "one", EDGE, "", EDGE * 2, "foot"),
        Parts(above=blocks((0, "said")), box="typed", rim=EDGE * 2, text=f"one {EDGE}", foot=("foot",)),
    ),
    "an edge is as wide as the other, whatever its letters": (
        RULED,
        ("said", f"{EDGE} 你 ─", "", EDGE * 2 + "─", "foot"),
        Parts(above=blocks((0, "said")), box="empty", rim=f"{EDGE} 你 ─", foot=("foot",)),
    ),
    "a ruled line in a draft whose own edge is out of sight": (
        RULED,
        ("one", EDGE, "", EDGE * 2, "foot"),
        Parts(above=blocks((0, f"one|{EDGE}")), foot=(EDGE * 2, "foot")),
    ),
    "nothing between two edges": (EDGED, ("a", "", EDGE, EDGE), Parts(above=blocks((0, "a")), foot=(EDGE, EDGE))),
    "no prompt between two edges": (EDGED, (EDGE, "x", EDGE), Parts(foot=(EDGE, "x", EDGE))),
    "one edge": (
        EDGED,
        ("a", "", "b", "", EDGE, "❯ x"),
        Parts(above=blocks((0, "a"), (2, "b")), foot=(EDGE, "❯ x")),
    ),
    "no box at all": (PLAIN, ("a", "b", "", "c"), Parts(above=blocks((0, "a|b")), foot=("c",))),
    "shades are empty rows": (
        PLAIN,
        ("a", "▄▄▄▄", "> x", "▀▀▀▀", "foot"),
        Parts(above=blocks((0, "a")), box="typed", text="x", foot=("foot",)),
    ),
    "a box below its prompt ends at the last empty row": (
        PLAIN,
        ("a", "> one", "", "two", "", "b", "c"),
        Parts(above=blocks((0, "a")), box="typed", text="one two", foot=("b", "c")),
    ),
    "a box below its prompt without a foot": (
        PLAIN,
        ("a", "", "> one", "two"),
        Parts(above=blocks((0, "a")), box="typed", text="one two"),
    ),
    "a box whose foot follows at once": (
        PLAIN,
        ("a", "> one", "model x", "", "older", "model y"),
        Parts(above=blocks((0, "a")), box="typed", text="one", foot=("model x", "older", "model y")),
    ),
    "a foot of an older size stands above": (
        PLAIN,
        ("model old", "", "> one", "", "model x"),
        Parts(above=blocks((0, "model old")), box="typed", text="one", foot=("model x",)),
    ),
    "two empty rows, the lower right above the foot": (
        PLAIN,
        ("> one", "", "two", "", "model x"),
        Parts(box="typed", text="one two", foot=("model x",)),
    ),
    "an empty row right above the foot": (
        PLAIN,
        ("> one", "", "model x", "left"),
        Parts(box="typed", text="one", foot=("model x", "left")),
    ),
    "a box on a floor, whose last row names the model": (
        FLOORED,
        ("a", "", "┃ old", "b", "┃", "┃ one", "┃ two", "┃ model", "╹▀▀▀▀▀▀▀", "  foot"),
        Parts(above=blocks((0, "a"), (2, "┃ old|b")), box="typed", text="one two", foot=("  foot",)),
    ),
    "a floor without a box": (FLOORED, ("a", "╹▀▀"), Parts(foot=("a", "╹▀▀"))),
    "a box at the top of the screen": (
        FLOORED,
        ("┃ one", "┃ model", "╹▀▀▀▀▀▀▀"),
        Parts(box="typed", text="one"),
    ),
    "what stands beside a box on a floor is not in it": (
        FLOORED,
        ("┃ one  beside", "┃ model", "╹▀▀▀▀"),
        Parts(box="typed", text="one"),
    ),
    "a hint": (EDGED, (EDGE, "❯ Try this", EDGE), Parts(box="empty", rim=EDGE, text="Try this")),
    "a hint in the midst of it is typed": (EDGED, (EDGE, "❯ I Try", EDGE), Parts(box="typed", rim=EDGE, text="I Try")),
    "a line that is typed like a chosen one": (
        EDGED,
        (EDGE, "❯ 1. first", EDGE, "Enter to submit"),
        Parts(box="typed", rim=EDGE, text="1. first", foot=("Enter to submit",)),
    ),
    "a box of three rows on a floor": (
        FLOORED,
        ("┃ one", "┃ two", "┃ model", "╹▀▀▀▀▀▀▀"),
        Parts(box="typed", text="one two"),
    ),
    "a menu below its top": (
        EDGED,
        ("● said", "════ ", *MENU),
        Parts(above=blocks((0, "● said|════")), menu=MENU, chosen=MENU[1]),
    ),
    "a menu without a top": (
        EDGED,
        ("● said", "", *MENU),
        Parts(menu=("● said", *MENU), chosen=MENU[1]),
    ),
    "a menu of an agent whose menus have no top": (
        PLAIN,
        ("a", "════", *MENU),
        Parts(menu=("a", "════", *MENU), chosen=MENU[1]),
    ),
    "a menu below an edge needs no keys": (
        EDGED,
        (EDGE, *MENU[:3]),
        Parts(menu=(EDGE, *MENU[:3]), chosen=MENU[1]),
    ),
    "no menu: without keys and edge": (PLAIN, MENU[:3], Parts(foot=MENU[:3])),
    "no menu: an input box is below it": (
        PLAIN,
        (*MENU, "> "),
        Parts(above=blocks((0, "|".join(MENU))), box="empty"),
    ),
    "no menu: the keys are above it": (PLAIN, (MENU[3], *MENU[:3]), Parts(foot=(MENU[3], *MENU[:3]))),
    "no menu: a box between edges is below it": (
        EDGED,
        (*MENU, EDGE, "❯", EDGE),
        Parts(above=blocks((0, "|".join(MENU))), box="empty", rim=EDGE),
    ),
}


@pytest.mark.parametrize("what", CUT)
def test_a_screen_is_cut(what: str) -> None:
    frame, rows, parts = CUT[what]
    assert cut(frame, Screen(rows=rows)) == parts


@pytest.mark.parametrize(("more", "menu"), [(0, True), (1, False)])
def test_what_scrolled_up_is_no_menu(more: int, menu: bool) -> None:
    """From its chosen line to the end a menu has only so many rows that are not empty."""
    rows = ("❯ 1. Yes", *("x", "") * (PLAIN.menu_height - 2 + more), "Enter to confirm")
    assert (cut(PLAIN, Screen(rows=rows)).menu is not None) is menu


CURSOR = Frame(prompt=r"^> ?", holds_cursor=True, hints="Ask")


@pytest.mark.parametrize(("row", "box"), [(0, "none"), (1, "typed"), (2, "typed"), (3, "none")])
def test_a_box_without_the_cursor_is_covered(row: int, box: str) -> None:
    rows = ("said", "> one", "two", "", "foot")
    assert cut(CURSOR, Screen(rows=rows, cursor=(0, row))).box == box
    assert cut(PLAIN, Screen(rows=rows, cursor=(0, row))).box == "typed"
    assert cut(CURSOR, Screen(rows=rows)).box == "typed"


@pytest.mark.parametrize(
    ("cursor", "box"), [((0, 1), "empty"), ((2, 1), "empty"), ((3, 1), "empty"), ((4, 1), "typed"), ((9, 0), "empty")]
)
def test_words_of_a_hint_are_typed_when_the_cursor_stands_behind_their_beginning(
    cursor: tuple[int, int], box: str
) -> None:
    assert cut(CURSOR, Screen(rows=("said", "> Ask me", "more", ""), cursor=None)).box == "empty"
    frame = Frame(prompt=r"^> ?", hints="Ask")
    assert cut(frame, Screen(rows=("said", "> Ask me", "more", ""), cursor=cursor)).box == box


def styled(*rows: str) -> Screen:
    plain = tuple(row.replace("\x1b[2m", "").replace("\x1b[0m", "").replace("\x1b[36m", "") for row in rows)
    return Screen(rows=plain, styled=rows)


@pytest.mark.parametrize(
    ("row", "box"),
    [
        ("> \x1b[2many words\x1b[0m", "empty"),
        ("> \x1b[2many\x1b[0m words", "typed"),
        ("> any words", "typed"),
        ("> Ask me", "typed"),
        ("> \x1b[36mAsk me\x1b[0m", "empty"),
        ("> \x1b[36mAsk\x1b[0m me", "typed"),
        ("> \x1b[2mAsk\x1b[0m\x1b[36m me\x1b[0m", "empty"),
    ],
)
def test_how_it_is_drawn_tells_a_hint_from_a_draft(row: str, box: str) -> None:
    """Dim text is a hint whatever it says; known words are one in the colour of hints."""
    frame = Frame(prompt=r"^> ?", hints="Ask", hint_colours=("36",))
    assert cut(frame, styled("said", row, "", "\x1b[2mfoot\x1b[0m")).box == box
    assert cut(frame, styled("said", "> \x1b[36mAsk\x1b[0m", row.removeprefix("> "), "", "foot")).box == box


ENDINGS: dict[str, tuple[Frame, tuple[str, ...], str]] = {
    "all of it, when nothing was typed": (PLAIN, ("a", "", "b", "> x"), "a\nb"),
    "since the last line typed": (PLAIN, ("> make", "old", "> test", "new", "", "more", "> "), "new\nmore"),
    "nothing since": (PLAIN, ("old", "> test", "", "> "), ""),
    "without a known prompt": (Frame(prompt=""), ("a", "> b", "", "foot"), "a\n> b"),
    "a menu's rows are none of it": (EDGED, ("❯ test", "new", "════", *MENU), "new\n════"),
    "an empty screen": (PLAIN, ("", ""), ""),
    "the last rows only": (
        PLAIN,
        (*(f"row {number}" for number in range(LAST + 5)), "> "),
        "\n".join(f"row {number}" for number in range(5, LAST + 5)),
    ),
}


@pytest.mark.parametrize("what", ENDINGS)
def test_what_a_program_has_shown_last(what: str) -> None:
    frame, rows, shown = ENDINGS[what]
    assert ending(frame, Screen(rows=rows)) == shown
