"""The pictures of the page in docs/screens: `python -m tools.pictures.page` starts the team and visits each screen.

Each machine draws letters differently, so pictures cannot be compared by their pixels. Their contents are recorded in
docs/screens/shown.txt: each word and control, with its position and its colours.
"""

import hashlib
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect, sync_playwright

from tools.pictures.scenes import at_work
from tools.pictures.stage import PATIENCE, PRO0, PROJECT, ROOT, Stage

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
LINE = "the page of your teams: "
FOLDER = ROOT / "docs" / "screens"
SHOWN = FOLDER / "shown.txt"
LISTING = Path(__file__).with_name("listing.js").read_text(encoding="utf-8")
SIZES: dict[str, ViewportSize] = {"phone": {"width": 390, "height": 844}, "desk": {"width": 1440, "height": 900}}
PLACES = {
    "needs": "needs", "board": "board", "tree": "tree", "task": "tree/task-5", "member": "member/ada@terminal",
    "messages": "messages/ben", "workers": "workers", "roles": "roles", "cost": "cost", "timeline": "timeline",
    "start": "start", "devices": "devices",
}  # fmt: skip
MORE = (
    ("role", "create", "tester", "--prompt", "You write the tests first."),
    ("task", "create", "Read comments", "--requires", "approval", "--assignee", "ada", "-d", "From # on."),
    ("task", "create", "Write the change log", "--parent", "4", "--assignee", "ben"),
    ("task", "create", "Tag the commit", "--parent", "4", "--blocked-by", "7", "--assignee", "ben"),
    ("task", "comment", "5", "Both names are free."),
    ("send", "ben", "Yes, in a chapter of its own."),
)  # fmt: skip


class Shot(NamedTuple):
    """One picture of the page: a screen in a size, by day or by night."""

    name: str
    size: str
    place: str
    scheme: Literal["dark", "light"]


SHOTS = tuple(
    Shot(f"web-{name}-{size}", size, place, "dark" if (at + len(size)) % 2 else "light")
    for size in SIZES
    for at, (name, place) in enumerate(PLACES.items())
)
Take = Callable[[Shot, Page], None]


def main() -> int:
    """Write docs/screens/web-*.png, and record their contents."""
    parts = list[str]()

    def take(shot: Shot, page: Page) -> None:
        shown = settled(page)
        page.screenshot(path=FOLDER / f"{shot.name}.png")
        parts.append(f"# {shot.name} {fingerprint(shot)}\n{shown}")

    FOLDER.mkdir(exist_ok=True)
    with visiting() as (browser, stage, address):
        tour(browser, stage, address, SHOTS, take)
    SHOWN.write_text("\n".join(parts), encoding="utf-8")
    return 0


def fingerprint(shot: Shot) -> str:
    """Return the fingerprint of a picture, from the hash of its file."""
    return hashlib.sha256((FOLDER / f"{shot.name}.png").read_bytes()).hexdigest()[:16]


def kept() -> dict[str, tuple[str, str]]:
    """Return what is recorded: name of a picture → its fingerprint and its content."""
    parts = SHOWN.read_text(encoding="utf-8").removeprefix("# ").split("\n# ")
    heads = [part.partition("\n") for part in parts]
    return {head.split()[0]: (head.split()[1], text) for head, _, text in heads}


@contextmanager
def visiting() -> Iterator[tuple[Browser, Stage, str]]:
    """Yield a browser, the team that it visits, and the page's address with a code."""
    program = next(filter(None, map(shutil.which, CHROMIUM)))
    with at_work("in-process") as stage, sync_playwright() as playwright:
        for words in MORE:
            stage.pro0(*words)
        with served(stage) as address:
            browser = playwright.chromium.launch(executable_path=program)
            yield browser, stage, address
            browser.close()


def tour(browser: Browser, stage: Stage, address: str, shots: tuple[Shot, ...], take: Take) -> None:
    """Pair a browser once, visit each screen, and call `take` for it."""
    first = browser.new_context()
    page = first.new_page()
    page.goto(address)
    expect(page.get_by_role("heading", name="Needs you")).to_be_visible(timeout=PATIENCE * 1000)
    state = first.storage_state()
    first.close()
    for shot in shots:
        with browser.new_context(
            viewport=SIZES[shot.size],
            color_scheme=shot.scheme,
            storage_state=state,
            has_touch=shot.size == "phone",
            locale="en-GB",
            timezone_id="UTC",
            reduced_motion="reduce",
        ) as context:
            context.set_default_timeout(PATIENCE * 1000)
            take(shot, visited(context, f"{address.partition('#')[0]}#/{PROJECT}/{shot.place}", stage))


def visited(context: BrowserContext, address: str, stage: Stage) -> Page:
    """Return a page with this screen; its clock stands at the beginning of the stage, so all ages are short."""
    page = context.new_page()
    page.clock.set_fixed_time(stage.begun)
    page.goto(address)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_text("One moment")).to_have_count(0)
    if "terminal" in address:
        expect(page.locator(".xterm-rows")).to_contain_text("Do you want to proceed?")
    if "timeline" in address:
        page.get_by_label("Who").select_option("human")
    return page


def listed(page: Page) -> str:
    """Return the content of a page, one line for each word or control, with the same times and ids each time."""
    return "".join(f"{line}\n" for line in page.evaluate(LISTING))


def settled(page: Page) -> str:
    """Return the content of a page once it has stopped changing."""
    seen = [""]
    while len(seen) < 5 or len(set(seen[-5:])) > 1:
        page.wait_for_timeout(200)
        seen.append(listed(page))
    return seen[-1]


@contextmanager
def served(stage: Stage) -> Iterator[str]:
    """Serve the page and yield its address with a code."""
    command = [PRO0, "web", "--no-open"]
    server = subprocess.Popen(command, cwd=stage.project, env=stage.environment, stdout=subprocess.PIPE, text=True)
    assert server.stdout
    try:
        yield server.stdout.readline().removeprefix(LINE).strip()
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate()


if __name__ == "__main__":
    sys.exit(main())
