"""The site is built without a warning, is small, fetches nothing, and its search finds words, also from the disk."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.house.source import ROOT
from tests.waiting import STUCK

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(not importlib.util.find_spec("mkdocs"), reason="mkdocs is not here: make docs"),
]
LARGEST = 4_500_000
FETCHED = re.compile(r"<(?:script|img|iframe)[^>]* src=\"?(https?:[^\" >]+)|<link[^>]* href=\"?(https?:[^\" >]+)")
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=STUCK,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return folder


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    program = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if program is None:
        pytest.skip("no Chromium is here: make browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program)
        yield browser
        browser.close()


def test_it_is_small(site: Path) -> None:
    assert sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) < LARGEST


def test_no_page_names_another_server(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert pages
    assert not {(page.name, *found) for page in pages for found in FETCHED.findall(page.read_text(encoding="utf-8"))}


def test_it_is_read_and_searched_from_the_disk(site: Path, chromium: Browser) -> None:
    page = chromium.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.set_default_timeout(STUCK * 1000)
    page.goto(f"{site.as_uri()}/index.html")
    page.fill("input[name=query]", "worktree")
    page.wait_for_selector(".md-search-result__item a")
    assert not [url for url in asked if not url.startswith(("file:", "data:", "blob:", "about:"))]
    page.close()
