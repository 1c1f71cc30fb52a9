"""The meaning of a captured terminal's escapes: letters that are dim, grey, or under a drawn cursor."""

import re
from collections.abc import Container, Iterable, Iterator
from functools import lru_cache

import msgspec

from pro0.model.screen import Screen

_ESCAPE = re.compile(r"\x1b\[([0-9;:]*)m|\x1b\[[0-9;:?]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()].|[\x0e\x0f]")
_SET, _RESET = True, False
_FLAGS = {"2": ("dim", _SET), "22": ("dim", _RESET), "7": ("reverse", _SET), "27": ("reverse", _RESET)}
_LEAD = {"5": 2, "2": 4}
"""Number of parameters of an extended colour after 38 or 48, by its kind: a palette, or red, green and blue."""


class Style(msgspec.Struct, frozen=True):
    """The style of letters, reduced to the parts that distinguish a hint from typed text."""

    dim: bool = False
    reverse: bool = False
    colour: str = ""
    """The SGR parameters of the colour, such as `38;5;248`; empty for the terminal's own."""


class Cell(msgspec.Struct, frozen=True):
    """One letter with its style."""

    text: str
    style: Style


def screen_of(captured: str, title: str = "", cursor: tuple[int, int] | None = None) -> Screen:
    """Return the screen of a captured text, with or without escapes in it."""
    rows = tuple(captured.removesuffix("\n").split("\n"))
    if not _ESCAPE.search(captured):
        return Screen(rows=rows, title=title, cursor=cursor)
    return Screen(rows=tuple(map(plain, rows)), styled=rows, title=title, cursor=cursor)


def plain(row: str) -> str:
    """Return the row without its escapes."""
    return _ESCAPE.sub("", row)


def painted(styled: Iterable[str], only: Container[int] | None = None) -> Iterator[tuple[Cell, ...]]:
    """Yield the letters of each row; rows outside of `only`, if it is given, yield none.

    A style continues into the next row until it changes, as tmux captures it.
    """
    style = Style()
    for number, row in enumerate(styled):
        letters: list[Cell] = []
        position, wanted = 0, only is None or number in only
        for escape in _ESCAPE.finditer(row):
            if wanted:
                letters += (Cell(letter, style) for letter in row[position : escape.start()])
            position = escape.end()
            if escape.group(1) is not None:
                style = _styled(style, escape.group(1))
        if wanted:
            letters += (Cell(letter, style) for letter in row[position:])
        yield tuple(letters)


def grey(colour: str) -> bool:
    """Return True for a colour that terminals use for less important text: not black, white or a hue."""
    match colour.split(";"):
        case ["90"] | ["38", "5", "8"]:
            return True
        case ["38", "5", number]:
            return 240 <= int(number) <= 250
        case ["38", "2", *rgb] if len(rgb) == 3:
            red_green_blue = [int(part) for part in rgb]
            return max(red_green_blue) - min(red_green_blue) <= 24 and 80 <= max(red_green_blue) <= 190
    return False


def hue(colour: str) -> bool:
    """Return True for red, yellow or the like: not the terminal's own colour, black, white or a grey."""
    match colour.split(";"):
        case [basic] if basic:
            return 1 <= int(basic) % 10 <= 6
        case ["38", "5", number]:
            return _hue_of_palette(int(number))
        case ["38", "2", *rgb] if len(rgb) == 3:
            red_green_blue = [int(part) for part in rgb]
            return max(red_green_blue) - min(red_green_blue) > 24
    return False


def _hue_of_palette(number: int) -> bool:
    """Return True for a hue among the 256 colours: 16 basic ones, a cube of 6 x 6 x 6, 24 greys."""
    if number < 16:
        return 1 <= number % 8 <= 6
    cube = number - 16
    return number < 232 and len({cube // 36, cube // 6 % 6, cube % 6}) > 1


@lru_cache(maxsize=512)
def _styled(style: Style, parameters: str) -> Style:
    """Return the style after one SGR sequence; cached, since a screen has few different ones."""
    words = [word for parameter in parameters.split(";") for word in _words(parameter)]
    while words:
        word = words.pop(0)
        if word == "0":
            style = Style()
        elif word in ("38", "48"):
            count = _LEAD.get(words[0], 0) if words else 0
            if word == "38":
                style = msgspec.structs.replace(style, colour=";".join([word, *words[:count]]))
            del words[:count]
        elif word in _FLAGS:
            flag, value = _FLAGS[word]
            style = msgspec.structs.replace(style, **{flag: value})
        elif word == "39" or (len(word) == 2 and word[0] in "39" and word[1] in "01234567"):
            style = msgspec.structs.replace(style, colour="" if word == "39" else word)
    return style


def _words(parameter: str) -> list[str]:
    """Split `38:2::1:2:3` into the words of the older form; drop other parameters with colons as irrelevant here."""
    words = [str(int(word)) for word in parameter.split(":") if word] or ["0"]
    return words if ":" not in parameter or words[0] in ("38", "48") else []
