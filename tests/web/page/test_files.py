"""The files of the page: small, whole, with a hash for what others wrote, and true to the tables of the program."""

import gzip
import hashlib
import json
import re
import tomllib
from pathlib import Path

import pytest

from pro0.model.need import NeedKind
from pro0.rpc.table import METHODS
from pro0.terminals.colours import _TABLE
from tests.house.source import ROOT

PAGE = ROOT / "pro0/web/page"
VENDOR = PAGE / "vendor"
LINES = 200
COMPRESSED = 350_000
TONES = {"31": "red", "32": "green", "36": "cyan", "1;33": "asks", "2": "dim"}
"""SGR numbers → the name of that colour on the page."""
OF_THE_HOME = {"agent.list", "home.show", "team.list", "team.start", "device.list", "device.revoke", "layout.list"}
"""Methods that are served for no single team."""


def own(*suffixes: str) -> list[Path]:
    return [path for path in sorted(PAGE.rglob("*.*")) if path.suffix in suffixes and VENDOR not in path.parents]


def of_others() -> dict[str, dict[str, str]]:
    return tomllib.loads((VENDOR / "vendor.toml").read_text(encoding="utf-8"))


def test_all_files_together_are_small() -> None:
    sizes = {path.name: len(gzip.compress(path.read_bytes())) for path in PAGE.rglob("*") if path.is_file()}
    assert sum(sizes.values()) <= COMPRESSED, sizes


def test_what_others_wrote_is_as_the_table_says() -> None:
    table = of_others()
    assert {path.name for path in VENDOR.iterdir()} == {*table, "vendor.toml", "LICENSES.txt"}
    for name, about in table.items():
        assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == about["sha256"], name
        assert set(about) == {"package", "version", "licence", "member", "integrity", "sha256"}
    licences = (VENDOR / "LICENSES.txt").read_text(encoding="utf-8")
    assert all(f"{about['package']}\n=" in licences for about in table.values())


@pytest.mark.parametrize("path", own(".js", ".css"), ids=lambda path: path.name)
def test_a_module_is_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LINES


@pytest.mark.parametrize("path", [*own(".js"), *sorted(VENDOR.glob("*.js"))], ids=lambda path: path.name)
def test_every_import_is_a_file_that_has_the_name(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for names, place in re.findall(r"^import (?:\{([^}]*)\}|\w+)?(?: from )?\"([^\"]+)\";", text, re.MULTILINE):
        target = (path.parent / place).resolve()
        assert place.startswith("."), place
        assert target.is_file(), place
        if VENDOR not in target.parents:
            exported = set(re.findall(r"^export (?:async )?(?:function|class|const) (\w+)", target.read_text(), re.M))
            assert {name.strip() for name in names.split(",") if name.strip()} <= exported, place


@pytest.mark.parametrize("path", own(".js", ".html", ".svg"), ids=lambda path: path.name)
def test_texts_of_others_cannot_become_markup(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    words = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc|javascript:"
    assert not re.search(words, text)
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=\"", text), "inline code or style"
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text), "something from elsewhere"


def test_the_manifest_names_files_that_are_there() -> None:
    manifest = json.loads((PAGE / "manifest.webmanifest").read_text(encoding="utf-8"))
    for icon in manifest["icons"]:
        assert (PAGE / icon["src"]).is_file()
    for place in re.findall(r'(?:href|src)="([^"]+)"', (PAGE / "index.html").read_text(encoding="utf-8")):
        assert (PAGE / place).is_file(), place


def test_every_module_is_asked_for_at_once() -> None:
    """One round trip instead of one for each floor of imports."""
    preloaded = set(re.findall(r'modulepreload" href="([^"]+)"', (PAGE / "index.html").read_text(encoding="utf-8")))
    modules = {str(path.relative_to(PAGE)) for path in PAGE.rglob("*.js")}
    assert preloaded == modules - {"app.js", "vendor/xterm.js"}


def test_every_method_that_the_page_calls_exists() -> None:
    methods = set(METHODS) | OF_THE_HOME
    for path in own(".js"):
        named = re.findall(r"(?:call\(|=> \[|act\([^,]+, )\"([a-z]+(?:\.[a-z_]+)+)\"", path.read_text(encoding="utf-8"))
        assert set(named) <= methods, (path.name, sorted(set(named) - methods))


def words() -> str:
    return (PAGE / "data/words.js").read_text(encoding="utf-8")


def test_needs_have_the_order_and_the_kinds_of_the_program() -> None:
    [listed] = re.findall(r"URGENCY = \[(.*?)\]", words(), re.DOTALL)
    assert re.findall(r'"([^"]+)"', listed) == [kind.value for kind in NeedKind]
    [answers] = re.findall(r"ANSWERS = \{\n(.*?)^\};", (PAGE / "data/answers.js").read_text(), re.DOTALL | re.M)
    answered = set(re.findall(r'^  "?([a-z][a-z ]*)"?:', answers, re.MULTILINE))
    assert answered == {kind.value for kind in NeedKind} - {"limit"}


def test_colours_mean_the_same_as_on_the_command_line() -> None:
    tones = {
        word: tone
        for tone, listed in re.findall(r"^  (\w+): \[(.*?)\]", words(), re.MULTILINE | re.DOTALL)
        for word in re.findall(r'"([^"]+)"', listed)
    }
    assert set(tones.values()) == set(TONES.values())
    here = {word: TONES[numbers] for word, numbers in _TABLE.items() if word in tones}
    assert {word: tones[word] for word in here} == here
    assert tones["in_progress"] == TONES[_TABLE["in progress"]]
    states = {
        "crashed",
        "failed",
        "unresponsive",
        "unreachable",
        "error",
        "working",
        "starting",
        "stopping",
        "waiting",
        "dialog",
    }
    assert states <= set(here)
