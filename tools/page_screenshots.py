"""The pictures of the page in docs/screens: `python -m tools.page_screenshots` starts a small team and visits it."""

import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from playwright.sync_api import BrowserContext, ViewportSize, expect, sync_playwright

from tools.screenshots import PRO0, ROOT, team

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
LINE = "the page of your teams: "
FOLDER = ROOT / "docs/screens"
PHONE: ViewportSize = {"width": 390, "height": 844}
DESK: ViewportSize = {"width": 1440, "height": 900}
SCREENS = {
    "needs": "needs", "board": "board", "tree": "tree", "task": "tree/task-4", "member": "member/tests@terminal",
    "messages": "messages/ben", "workers": "workers", "roles": "roles", "cost": "cost", "timeline": "timeline",
    "start": "start", "devices": "devices",
}  # fmt: skip
MORE = (
    ("role", "create", "tester", "--prompt", "You write the tests first."),
    ("task", "create", "read comments", "--requires", "approval", "-d", "Those that begin with #."),
    ("task", "create", "release 1.0", "-d", "When all that is below it is over."),
    ("task", "create", "write the change log", "--parent", "6"),
    ("task", "create", "tag the commit", "--parent", "6", "--blocked-by", "7"),
    ("task", "create", "compile on the small machine", "--run", "echo no space left; exit 3"),
    ("task", "comment", "4", "Both names are free."),
)  # fmt: skip


def main() -> int:
    """Write docs/screens/web-*.png: every screen on a phone, and on a desk, by day and by night in turn."""
    program = next(filter(None, map(shutil.which, CHROMIUM)))
    FOLDER.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="pro0-", dir="/tmp") as folder,
        team(Path(folder)) as environment,
        sync_playwright() as playwright,
    ):
        for arguments in MORE:
            subprocess.run([PRO0, *arguments], check=True, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
        with served(folder, environment) as address:
            browser = playwright.chromium.launch(executable_path=program)
            first = browser.new_context()
            page = first.new_page()
            page.goto(address)
            expect(page.get_by_role("heading", name="Needs you")).to_be_visible()
            state = first.storage_state()
            for size, viewport in (("phone", PHONE), ("desk", DESK)):
                for number, (name, place) in enumerate(SCREENS.items()):
                    scheme: Literal["dark", "light"] = "dark" if (number + len(size)) % 2 else "light"
                    with browser.new_context(
                        viewport=viewport, color_scheme=scheme, storage_state=state, has_touch=size == "phone"
                    ) as context:
                        photograph(context, f"{address.partition('#')[0]}#/parser/{place}", f"web-{name}-{size}.png")
            browser.close()
    return 0


@contextmanager
def served(folder: str, environment: dict[str, str]) -> Iterator[str]:
    """Serve the page and yield its address with a code."""
    command = [PRO0, "web", "--no-open"]
    server = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)
    assert server.stdout
    try:
        yield server.stdout.readline().removeprefix(LINE).strip()
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate()


def photograph(context: BrowserContext, address: str, name: str) -> None:
    """Write what a screen shows, once it shows it."""
    page = context.new_page()
    page.goto(address)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_text("One moment")).to_have_count(0)
    page.wait_for_load_state("networkidle")
    if "terminal" in address:
        expect(page.locator(".xterm-rows")).to_contain_text("4 passed")
    page.screenshot(path=FOLDER / name)


if __name__ == "__main__":
    sys.exit(main())
