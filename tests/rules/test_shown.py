"""What a terminal gets for a need or a patch, as pure rules."""

import pytest

from pro0.model.need import Need, NeedKind
from pro0.model.runtime import State
from pro0.rules import desktop, patch
from pro0.rules.screens.words import RULE, Words

WORDS = Words(source="log", place="kind", states={"work": State.WORKING, "end": State.IDLE, "note": None})


KITTY = "\x1b]99;i=pro0-89c3b07e:d=0:p=title;pro0\x1b\\\x1b]99;i=pro0-89c3b07e:d=1:p=body;w1 asks, now\x1b\\"


@pytest.mark.parametrize(
    ("names", "sequence"),
    [
        (["xterm-kitty"], KITTY),
        (["xterm", "WezTerm"], "\x1b]777;notify;pro0;w1 asks, now\x1b\\"),
        (["xterm", "iTerm2"], "\x1b]9;pro0: w1 asks, now\x1b\\"),
        (["tmux-256color", "iTerm2"], ""),
        (["dumb"], ""),
    ],
)
def test_each_terminal_gets_the_notice_that_it_knows(names: list[str], sequence: str) -> None:
    assert desktop.sequence(names, "pro0", "w1 asks;\nnow") == sequence


def test_no_notice_takes_the_place_of_another() -> None:
    """A terminal shows one notice for each id."""
    ids = {desktop.sequence(["kitty"], "pro0", text).partition(":")[0] for text in ("w1 asks", "w2 asks")}
    assert len(ids) == 2


def test_a_terminal_rings_only_for_new_needs() -> None:
    needs = [Need(id=id, kind=NeedKind.QUESTION, subject="w1", what=id, command="pro0 needs") for id in ("a", "b")]
    iterm = {"TERM": "xterm", "LC_TERMINAL": "iTerm2"}
    assert desktop.rung(iterm, "pro0", needs, ("a",)) == f"\a\x1b]9;pro0: {needs[1].sentence}\x1b\\"
    assert desktop.rung(iterm, "pro0", needs, ("a", "b")) == ""


@pytest.mark.parametrize("variable", ["TERM", "TERM_PROGRAM", "LC_TERMINAL"])
def test_a_terminal_is_known_by_any_of_its_names(variable: str) -> None:
    need = Need(id="a", kind=NeedKind.QUESTION, subject="w1", what="a", command="pro0 needs")
    names = {"TERM": "xterm", "LANG": "iTerm2", variable: "iTerm2"}
    assert desktop.rung(names, "pro0", [need], ()) == f"\a\x1b]9;pro0: {need.sentence}\x1b\\"
    assert desktop.rung(names | {variable: ""}, "pro0", [need], ()) == "\a"


def test_a_patch_line_is_a_text_and_has_the_colour_of_its_whole() -> None:
    assert "\x1b" not in patch.as_text(b"+a\x1b[2J\n")
    assert patch.coloured("+a") == "\x1b[32m+a\x1b[0m"
    assert patch.coloured("rest", like="-a") == "\x1b[31mrest\x1b[0m"
    assert patch.coloured(" a") == " a"


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ((0, 0, 0, 0, 0), ""),
        ((1, 1, 2, 3, 0), "1 commit, 1 file, +2 -3"),
        ((2, 0, 0, 0, 1), "2 commits, 1 file not committed"),
    ],
)
def test_the_size_of_work_in_words(sizes: tuple[int, int, int, int, int], words: str) -> None:
    assert patch.summary(*sizes) == words


@pytest.mark.parametrize(
    ("kinds", "last"),
    [
        (["work", "end"], ("end", State.IDLE)),
        (["work", "new"], ("work", State.WORKING)),
        (["end", "new"], ("new", State.UNKNOWN)),
        (["note"], None),
    ],
)
def test_the_last_entry_that_tells_a_state_counts(kinds: list[str], last: tuple[str, State] | None) -> None:
    assert WORDS.state_entry(kinds, lambda kind: kind) == last


def test_a_word_that_is_not_known_makes_a_reading_that_says_so() -> None:
    reading = WORDS.reading("brand\n new", "s")
    assert (reading.state, reading.rule, reading.note, reading.session) == (State.UNKNOWN, RULE, "brand new", "s")
    assert WORDS.meaning(7) is State.UNKNOWN
