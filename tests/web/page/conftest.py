"""The page in a real Chromium, at a real server, with a team that a lead leads.

Server and team are a module's, the browser is that of all modules here.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from pro0.ops.team.members import SeatDraft
from tests.conftest import let_scripts
from tests.engine.crew import Crew, crew
from tests.repositories import repository_in
from tests.waiting import STUCK
from tests.web.conftest import Server
from tests.web.page.acts import KEYS, is_for_nobody
from tests.web.page.keys import use_keys
from tests.web.page.lateness import LATE
from tests.web.page.on_disk import OnDisk
from tests.web.page.pages import SIZES, Shown

TALKS = "printf 'I am ready\\n'; exec sleep 86400"
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")

HERE = Path(__file__).parent
OUR_HOME = os.environ["HOME"]
RUNNING: list[Browser] = []
CLOSING = ExitStack()
"""What ends the running browser."""


@pytest.fixture(scope="module")
def chromium() -> Browser:
    """The distribution's browser; without one these tests fail in CI, and are passed over elsewhere."""
    if not RUNNING:
        program = next(filter(None, map(shutil.which, CHROMIUM)), None)
        if program is None:
            (pytest.fail if os.environ.get("CI") else pytest.skip)("no Chromium is here: make browser")
        with pytest.MonkeyPatch.context() as patch:
            # It outlives a team that was made before it, and the search for processes of that team.
            for name in ("PRO0_HOME", "TMUX_TMPDIR"):
                patch.delenv(name, raising=False)
            patch.setenv("HOME", OUR_HOME)
            playwright = CLOSING.enter_context(sync_playwright())
            RUNNING.append(CLOSING.enter_context(playwright.chromium.launch(executable_path=program)))
        CLOSING.callback(RUNNING.clear)
    return RUNNING[0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Generator[None, None, None]:
    """Keep the browser for the next module here, and no longer: its driver's event loop runs in this thread."""
    try:
        return (yield)
    finally:
        if nextitem is None or HERE not in nextitem.path.parents:  # tests elsewhere run event loops of their own
            CLOSING.close()


@pytest.fixture(scope="module")
def mode() -> str:
    """Where the sessions of the team are shown."""
    return "headless"


@pytest.fixture(scope="module")
def alpha(tmp_path_factory: pytest.TempPathFactory, short_folder: Path, mode: str) -> Iterator[Crew]:
    """A team with a lead and a member that is a program, in a repository."""
    folder = tmp_path_factory.mktemp("team")
    home = folder / "pro0"
    with pytest.MonkeyPatch.context() as patch:
        (folder / "user").mkdir()
        patch.setenv("HOME", str(folder / "user"))
        patch.setenv("PRO0_HOME", str(home))
        patch.setenv("TMUX_TMPDIR", tempfile.mkdtemp(dir=short_folder))
        patch.setenv("PRO0_END_GRACE_SECONDS", "1")
        patch.setenv("PRO0_REVIVE_LEAD", "0")
        let_scripts(home)
        with crew(home, folder, mode) as made:
            repository_in(made.project)
            made.lead()
            made.spawn(SeatDraft(name="ada", agent="command", argv=("sh", "-c", TALKS)))
            yield made


@pytest.fixture(scope="module")
def server(alpha: Crew) -> Iterator[Server]:
    """`pro0 web` for that team's home."""
    running = Server(alpha.store.home)
    yield running
    running.end()


@pytest.fixture(scope="module")
def screens(chromium: Browser, server: Server, alpha: Crew) -> Iterator[Callable[[str], Shown]]:
    """A paired page in each size that is asked for."""
    opened: dict[str, Shown] = {}

    def screen(size: str) -> Shown:
        if size not in opened:
            options = SIZES[size]
            context = chromium.new_context(viewport=options["viewport"], has_touch=options["touch"])
            context.set_default_timeout(STUCK * 1000)
            opened[size] = Shown(context.new_page(), pairing(alpha), LATE or ("late" if size == "late" else ""))
        return opened[size]

    yield screen
    for shown in opened.values():
        shown.page.context.close()


LONG_WAYS = ("desk", "late", f"phone{KEYS}", f"desk{KEYS}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what is done by keys alone and is no act of the documents: those tests are about something else."""
    items[:] = [item for item in items if not (isinstance(item, pytest.Function) and _is_for_nobody(item))]


def _is_for_nobody(item: pytest.Function) -> bool:
    callspec = getattr(item, "callspec", None)
    return is_for_nobody(item.path.name, item.originalname, callspec.params.get("shown", "") if callspec else "")


@pytest.fixture(params=["phone", *(pytest.param(way, marks=pytest.mark.soak) for way in LONG_WAYS)])
def shown(request: pytest.FixtureRequest, screens: Callable[[str], Shown]) -> Iterator[Shown]:
    """The page in one size, or on a late phone; nothing that it must not do was done when the test is over."""
    size: str = request.param
    screen = screens(size.removesuffix(KEYS))
    screen.hand_out()
    with pytest.MonkeyPatch.context() as patch:
        if size.endswith(KEYS):
            use_keys(patch)
        yield screen
    assert not screen.troubles


@pytest.fixture
def page(shown: Shown) -> Page:
    """The page of that size, as the browser's driver has it."""
    return shown.page


def pairing(alpha: Crew | OnDisk, *options: str) -> str:
    """Return the address with a code for one more browser."""
    command = [sys.executable, "-m", "pro0", "web", "pair", *options]
    environment = os.environ | {"PRO0_HOME": str(alpha.store.home)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=STUCK, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
