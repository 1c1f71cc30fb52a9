"""Every page: its links lead somewhere, and the site has a place for it."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.house.source import ROOT
from tools.prose import crowded, figures, longest

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"^ *```.*?^ *```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def anchors(text: str) -> set[str]:
    """Return what `#` may name on a page, by the rule that GitHub and the site share."""
    headings = HEADING.findall(re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL))
    return {re.sub(r"[^\w\s-]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def broken(page: Path, text: str) -> Iterator[str]:
    """Yield the relative links of a page that lead nowhere."""
    for target in LINK.findall(CODE.sub("", text)):
        path, _, anchor = target.partition("#")
        if "://" in target:
            continue
        there = (page.parent / path).resolve() if path else page
        if not there.exists():
            yield f"{target}: there is no such file"
        elif anchor and anchor not in anchors(text if there == page else there.read_text(encoding="utf-8")):
            yield f"{target}: there is no such heading"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    assert not list(broken(page, page.read_text(encoding="utf-8")))


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "b.md").write_text("# There is `one`\n")
    text = (
        "# Here\n[1](b.md#there-is-one) [2](#here) [3](c.md) [4](b.md#no) [5](#no) `[6](no.md)`\n```\n[7](no.md)\n```\n"
    )
    page = tmp_path / "a.md"
    page.write_text(text)
    assert [fault.split(":")[0] for fault in broken(page, text)] == ["c.md", "b.md#no", "#no"]


def leaves(nav: object) -> Iterator[str]:
    match nav:
        case str():
            yield nav
        case list() | dict():
            for item in nav.values() if isinstance(nav, dict) else nav:
                yield from leaves(item)


def test_the_site_has_a_place_for_every_page() -> None:
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    placed = [name for name in leaves(nav) if (ROOT / "docs" / name).exists()]
    missing = {name_of(page).removeprefix("docs/") for page in PAGES if page.parent != ROOT} - set(placed)
    assert not missing, f"name them under nav in mkdocs.yml: {sorted(missing)}"
    assert len(placed) == len(set(placed))
    assert all((ROOT / "docs" / name).exists() or (ROOT / name).exists() for name in leaves(nav))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_page_is_read_with_ease(page: Path) -> None:
    """Issue 18, must show 3."""
    text = page.read_text(encoding="utf-8")
    read = figures(text)
    assert max(read.mean / 15, read.p90 / 26, read.marks / 25, read.paragraph / 60) <= 1, read
    assert not crowded(text), "one sentence a line"


def test_a_dense_page_is_found() -> None:
    assert figures("A long one: " + "word " * 70 + "ends.").paragraph > 60
    assert crowded("One is here. Two is here.")
    code = "    - said(one); more(two): three\n    + no sentence of any page\n"
    assert figures(f"One is here.\n\n{code}") == figures("One is here.")
    assert figures(code.replace("    ", "  ")).marks > 25, "what is not set in so far is read"
    assert longest({"a": "Three words here. Two more words here.", "b": "x"}, 1) == [(4, "a", "Two more words here.")]


@pytest.mark.parametrize(
    ("heading", "names"),
    [
        ("Files and locks", ("store/files.py", "wanted.json")),
        ("A new way to show sessions", ("pro0/sessions/", "BACKENDS", "contract suite")),
        ("A new operation", ("pro0/ops/", "pro0/mcp/tools/", "@tool")),
        ("A new agent", ("pro0/agents/", "PROGRAMS", "adapter.py")),
    ],
)
def test_the_page_for_developers_says_how_to_extend_pro0(heading: str, names: tuple[str, ...]) -> None:
    """S004-126: architecture, how files are shared, new displays, new tools; what it names is there."""
    page = (ROOT / "docs" / "developer.md").read_text(encoding="utf-8")
    assert "(../ARCHITECTURE.md)" in page
    part = page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    assert [name for name in names if name not in part] == []
    for name in re.findall(r"`(pro0/[\w/.]+)`", part):
        assert (ROOT / name).exists(), name
