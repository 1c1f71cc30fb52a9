"""The film of the README: each scene has its time, and the picture is small and whole."""

import re
from xml.etree import ElementTree

from tests.house.source import ROOT
from tools import film

SVG = "{http://www.w3.org/2000/svg}"


def test_the_film_in_the_documents_has_every_scene_and_is_small() -> None:
    text = film.FILM.read_text(encoding="utf-8")
    scenes = [part.get("id") for part in ElementTree.fromstring(text).findall(f"{SVG}svg")]
    assert scenes == [f"scene{number}" for number in range(len(film.SCENES))]
    assert len(text.encode()) < film.LARGEST
    assert "docs/film.svg" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert not re.search(r"(?:src|href)=\"(?!#)|@import|url\((?!#)", text), "a picture that loads nothing"


def test_one_scene_is_shown_at_any_time() -> None:
    made = film.spliced(["one", "two", "three"], [1.0, 2.0, 5.0])
    begins = re.findall(r"hidden \} ([\d.]+)%, ([\d.]+)% \{ visibility: visible", made)
    assert [(round(float(a)), round(float(b))) for a, b in begins] == [(0, 12), (13, 38), (38, 100)]
    assert [word in made for word in ("one", "two", "three")] == [True] * 3
