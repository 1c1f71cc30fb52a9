"""The page in a browser with a large team: how soon it is there, how smoothly it scrolls, and what one change costs."""

import gzip
import os
import shutil
import statistics
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from playwright.sync_api import Browser, CDPSession, Page, StorageState, sync_playwright

import pro0
from bench.figure import Figure, milliseconds
from bench.scratch import PRO0, TEAM, add_tasks, make_team, world
from pro0.model.task import Changes
from pro0.ops.context import Context
from pro0.ops.tasks import tasks
from pro0.ops.team import members
from pro0.ops.team.members import SeatDraft

TASKS = 1000
SMALL = 10
MEMBERS = 10
LARGE = 50
"""Members of the large team."""
SETTLING = 5.0
IDLE = 30.0
"""Seconds without any activity, in which the ages on the page are redrawn once."""
IDLE_GOAL = 0.1
FILES_GOAL = 350.0
ROUNDS = 7
CHANGES = 40
FRAMES = 150
FRAME_GOAL = 20.0
"""Milliseconds of a frame, at 50 frames a second."""
SLOWER_GOAL = 1.2
OPEN_GOAL = 2.0
PAINT_GOAL = 1000.0
TOLD_GOAL = 150.0
ITEMS = {"tree": ".line", "board": ".card.task", "member": ".cards .card"}
COMPARED = ("tree", "board")
"""The screens that are opened for a small team as well."""
SCROLL = """async (frames) => {
  scrollTo(0, 0);
  const began = performance.now();
  for (let frame = 0; frame < frames; frame++) {
    await new Promise(requestAnimationFrame);
    scrollBy(0, 120);
  }
  return (performance.now() - began) / frames;
}"""


def figures() -> Iterator[Figure]:
    """Measure the screens of a large team beside those of a small one, and beside an empty page."""
    yield Figure("page, all files compressed", _size(), "kB", FILES_GOAL, "kB")
    with world() as folder, ExitStack() as opened:
        large, small = make_team(folder), make_team(folder, name="small")
        with (large.team.paths.home / "config.yaml").open("a") as settings:
            settings.write("verdicts: scripts\n")
        add_tasks(large, TASKS)
        add_tasks(small, SMALL)
        _spawn(large, LARGE)
        command = [str(PRO0), "web", "--no-open"]
        server = opened.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ))
        opened.callback(server.terminate)
        assert server.stdout
        address = server.stdout.readline().partition(": ")[2].strip()
        program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
        browser = opened.enter_context(sync_playwright()).chromium.launch(executable_path=program)
        opened.callback(browser.close)
        page = browser.new_page(viewport={"width": 390, "height": 844})
        page.goto(address)
        page.get_by_role("heading", level=1).wait_for()
        base = address.partition("#")[0]
        counter = page.context.new_cdp_session(page)
        counter.send("Performance.enable", {"timeDomain": "threadTicks"})
        for screen in ITEMS:
            if screen in COMPARED:
                yield _opened(page, base, screen)
            page.goto(f"{base}#/{TEAM}/{screen}")
            yield from _scrolled(page, counter, screen)
        page.goto(f"{base}#/{TEAM}/tree")
        page.locator(ITEMS["tree"]).first.wait_for()
        used = _used(counter)
        shown = sorted(milliseconds(partial(_change, large, page, number)) for number in range(CHANGES))
        yield Figure(f"page, a change of one of {TASKS} tasks, CPU", (_used(counter) - used) / CHANGES, "ms")
        yield Figure("page, a change is shown, 19 in 20", shown[int(CHANGES * 0.95) - 1], "ms", TOLD_GOAL, "ms")
        page.wait_for_timeout(SETTLING * 1000)
        used = _used(counter)
        page.wait_for_timeout(IDLE * 1000)
        yield Figure("page, idle, CPU", (_used(counter) - used) / IDLE / 10, "% of a core", IDLE_GOAL, "% of a core")
        names = _spawn(small, MEMBERS)
        yield _painted(browser, page.context.storage_state(indexed_db=True), f"{base}#/small/member", names)


def _size() -> float:
    """Return the size of all files of the page, each compressed, in kilobytes."""
    folder = Path(pro0.__file__).parent / "web/page"
    return sum(len(gzip.compress(path.read_bytes())) for path in folder.rglob("*") if path.is_file()) / 1000


def _spawn(team: Context, count: int) -> list[str]:
    """Record wanted members in a team without a lead; return their names."""
    names = [f"m{number}" for number in range(count)]
    members.spawn(team, [SeatDraft(name=name, agent="command", argv=("sleep", "9")) for name in names], count)
    return names


def _change(team: Context, page: Page, number: int) -> None:
    tasks.update(team, "task-1", Changes(title=f"changed {number}"))
    page.get_by_text(f"changed {number}", exact=True).wait_for()


def _painted(browser: Browser, paired: StorageState, address: str, names: list[str]) -> Figure:
    """Measure how soon a team is there, in paired browsers without any file of the page."""
    times, floors = [], []
    for _ in range(ROUNDS):
        with browser.new_context(storage_state=paired, viewport={"width": 390, "height": 844}) as context:
            page = context.new_page()
            floors.append(milliseconds(partial(page.goto, address.partition("#")[0] + "manifest.webmanifest")))
        with browser.new_context(storage_state=paired, viewport={"width": 390, "height": 844}) as context:
            page = context.new_page()

            def show(page: Page = page) -> None:
                page.goto(address)
                for name in names:
                    page.get_by_role("main").get_by_role("link", name=name, exact=True).wait_for()

            times.append(milliseconds(show))
    what = f"page, a team of {MEMBERS} is there, cold"
    took, one = statistics.median(times), statistics.median(floors)
    return Figure(what, took, "ms", PAINT_GOAL, "ms", one, "one file of it in a new browser")


def _opened(page: Page, base: str, screen: str) -> Figure:
    """Measure how soon a screen is there, in turn for a large and a small team."""

    def show(team: str) -> None:
        page.goto(f"{base}#/{team}/{screen}")
        page.locator(ITEMS[screen]).first.wait_for()

    times: dict[str, list[float]] = {TEAM: [], "small": []}
    for _ in range(ROUNDS):
        for team, found in times.items():
            page.goto("about:blank")
            found.append(milliseconds(lambda team=team: show(team)))  # type: ignore[misc]
    large, small = (statistics.median(found) for found in times.values())
    return Figure(f"page, {screen} of {TASKS} tasks is there", large, "ms", OPEN_GOAL, "x", small, f"of {SMALL} tasks")


def _scrolled(page: Page, counter: CDPSession, screen: str) -> Iterator[Figure]:
    page.locator(ITEMS[screen]).nth(SMALL).wait_for()
    page.evaluate(SCROLL, FRAMES)
    used = _used(counter)
    took = page.evaluate(SCROLL, FRAMES)
    used = (_used(counter) - used) / FRAMES
    page.goto("data:text/html,<p style='height:200000px'>")
    empty = page.evaluate(SCROLL, FRAMES)
    what = f"page, a frame while {screen} scrolls"
    yield Figure(what, took, "ms", SLOWER_GOAL, "x", empty, "an empty page")
    yield Figure(f"{what}, CPU", used, "ms", FRAME_GOAL, "ms")


def _used(counter: CDPSession) -> float:
    """Return the milliseconds that the page's main thread has worked so far."""
    told = counter.send("Performance.getMetrics")["metrics"]
    [seconds] = [metric["value"] for metric in told if metric["name"] == "TaskDuration"]
    return float(seconds) * 1000
