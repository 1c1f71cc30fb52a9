"""The pictures of terminals in the documents are what the program shows today. Issue 18, build 5."""

import re
from collections.abc import Callable

import pytest

from tests.pictures.comparing import compare, lines_that_differ
from tools.pictures import stills

WORDS = re.compile(r"<text[^>]*>([^<]*)</text>")


@pytest.mark.parametrize(
    "sitting",
    [pytest.param(each, id=each.mode, marks=pytest.mark.soak if at else ()) for at, each in enumerate(stills.SITTINGS)],
)
def test_the_pictures_are_what_is_shown(sitting: stills.Sitting) -> None:
    stills.sit(sitting, check)


def check(still: stills.Still, picture: Callable[[], str]) -> None:
    """Wait until the terminal shows the picture that is kept."""
    hint = f"hint: make screenshots, then look at docs/{still.name}.svg"
    compare(still.path.read_text(encoding="utf-8"), picture, hint, difference)


def difference(kept: str, shown: str) -> str:
    """Return the words that differ; the lines that do when only their looks differ."""
    words = ["\n".join(WORDS.findall(picture)) for picture in (kept, shown)]
    return lines_that_differ(*words) or lines_that_differ(kept, shown)
