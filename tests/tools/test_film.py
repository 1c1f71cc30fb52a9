"""The film of the README: it is what is shown today, each frame has its time, and it is small and whole."""

import re
from xml.etree import ElementTree

import pytest

from tests.house.source import ROOT
from tests.pictures.comparing import lines_that_differ
from tools.pictures import drawing, film


def test_the_film_in_the_documents_is_small_and_is_shown() -> None:
    text = film.FILM.read_text(encoding="utf-8")
    assert len(text.encode()) < film.LARGEST
    assert "docs/film.svg" in (ROOT / "README.md").read_text(encoding="utf-8")
    said = "".join(part.partition("</text>")[0] for part in text.split("<text")).replace("&quot;", '"')
    assert not [scene.line for scene in film.SCENES if scene.line and scene.line.split()[-1] not in said]


@pytest.mark.soak
def test_the_film_is_what_is_shown() -> None:
    """Issue 18, build 5: whoever changes what it shows makes it anew."""
    kept = film.FILM.read_text(encoding="utf-8")
    differs = lines_that_differ(kept, film.spliced(list(film.played())))
    assert not differs, f"{differs}\nhint: make film, then look at docs/film.svg"


def test_each_frame_is_on_for_its_time_and_one_at_a_time() -> None:
    rows = drawing.rows("\x1b[1mone\x1b[0m two  three", 2)
    made = film.spliced([film.Frame(rows, 1.0), film.Frame(rows, 2.0), film.Frame((), 5.0)])
    places = re.findall(r"([\d.]+)% \{ transform: translateX\((-?[\d.]+)px\) \}", made)
    assert [(float(share), float(at)) for share, at in places] == [(0.0, 0.0), (12.5, -873.6), (37.5, -1747.2)]
    assert "animation: film 8s step-end infinite" in made
    ElementTree.fromstring(made)
    assert made.count('<g id="r0">') == 1  # what stands in two frames is drawn once


def test_a_row_is_drawn_with_its_colours_at_its_columns() -> None:
    (row,) = drawing.rows("\x1b[31mred\x1b[0m   \x1b[7mon\x1b[0m 漢 \x1b[1m<b>\x1b[0m", 1)
    assert [(run.at, run.text, run.bold) for run in row] == [
        (0, "red", False),
        (3, "   ", False),
        (6, "on", False),
        (8, " 漢 ", False),
        (12, "<b>", True),
    ]
    drawn = "".join(drawing.inked(row))
    assert row[2].back
    assert row[2].fill == drawing.GROUND
    assert "&lt;b&gt;" in drawn
    assert f'x="{6 * drawing.CELL:g}"' in drawn
