"""What every test may use: a fresh home, the program, and a net that nothing slips through."""

import compileall
import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis.strategies import none

import pro0
from pro0.store.paths import LEAD_ERRORS
from tests import exits, memory
from tests.crash.lanes import now_running
from tests.leftovers import end, still_under
from tests.pages import enlarge
from tests.postgres import Postgres, postgres, require
from tests.repositories import repository_in
from tests.sampling import leave_to_soak
from tests.waiting import STUCK

SHORT = Path("/tmp")
"""Sockets live here: the path of a unix socket has 108 bytes on Linux, 104 on macOS."""

ENDING = 60.0
"""Seconds in which what is ending when the last test is over may end, before it counts as left."""


class Result(NamedTuple):
    """How a call of the program ended."""

    code: int
    out: str
    err: str


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Hear HUP and INT, and let what is started hear them, also when run by nohup or in the background of a script."""
    settings.register_profile("patient", deadline=None)  # the machine may be busy with something else
    settings.load_profile("patient")
    keep_in_memory(config)
    if not hasattr(config, "workerinput"):
        compile_program()
    for number, usual in ((signal.SIGHUP, signal.SIG_DFL), (signal.SIGINT, signal.default_int_handler)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let counts know for which lane they are."""
    now_running(item)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave to the long lane what is long, before the lane is chosen."""
    leave_to_soak(items)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage among modules and tests: none of it is any, and looking took two fifths of collecting them.

    Later looks, and those of the thousands of forks, leave all that out too; and forks copy it in large pages.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        # Hypothesis looks for the holder of its random numbers, and would not find it once frozen. It keeps no database
        # here: a project that cannot be written to, as in the box of the agents, has no place for one.
        settings(database=None)(given(none())(lambda _: None))()
        gc.freeze()
        gc.enable()
        enlarge()


def compile_program() -> None:
    """Compile it once: with PYTHONDONTWRITEBYTECODE each of the thousands of calls would do that for itself."""
    compileall.compile_dir(Path(pro0.__file__).parent, quiet=2)


def keep_in_memory(config: pytest.Config) -> None:
    """Let the files of a run lie in memory; its workers are told by it where."""
    if config.option.basetemp is None:
        closing = ExitStack()
        config.add_cleanup(closing.close)
        if folder := closing.enter_context(memory.folder()):
            config.option.basetemp = folder / "run"


@pytest.fixture(scope="session", autouse=True)
def short_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a short path, and the net: what runs below it or the temp folder at the end fails the session."""
    for name in list(os.environ):
        if name.startswith(("PRO0_", "TMUX")) or name == "PYTHONUNBUFFERED":
            del os.environ[name]
    folder = Path(tempfile.mkdtemp(prefix="pro0-", dir=SHORT))
    yield folder
    ours = (tmp_path_factory.getbasetemp(), folder)
    try:
        if left := still_under(*ours, seconds=ENDING):
            end(left)
            pytest.fail("tests left processes alive:\n" + "\n".join(str(process) for process in left), pytrace=False)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def home(tmp_path: Path, short_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A PRO0_HOME that does not exist yet, with a HOME of its own and no identity of any session.

    A lead that crashes fails the test, though it is revived and nothing else may show it.
    """
    user, sockets = tmp_path / "user", Path(tempfile.mkdtemp(dir=short_folder))
    user.mkdir()
    monkeypatch.setenv("HOME", str(user))
    monkeypatch.setenv("PRO0_HOME", str(tmp_path / "pro0"))
    monkeypatch.setenv("TMUX_TMPDIR", str(sockets))
    yield tmp_path / "pro0"
    errors = [path.read_text(errors="replace") for path in tmp_path.rglob(LEAD_ERRORS) if path.is_file()]
    assert [text for text in errors if "Traceback" in text or "Fatal Python error" in text] == []


def let_scripts(home: Path) -> None:
    """Let the person of a home have said that verdicts need no terminal: tests have none."""
    home.mkdir(mode=0o700, exist_ok=True)
    with (home / "config.yaml").open("a") as settings:
        settings.write("verdicts: scripts\n")


@pytest.fixture
def scripts(home: Path) -> None:
    """A person who lets programs without a terminal give verdicts."""
    let_scripts(home)


@pytest.fixture(scope="session")
def server() -> Iterator[Postgres]:
    """A PostgreSQL server for all tests of this process; in CI it must be there."""
    require()
    with nullcontext(Postgres.shared) if Postgres.shared else postgres() as running:
        yield running


@pytest.fixture(scope="session")
def database(server: Postgres) -> str:
    """The URL of a database for teams of all tests."""
    return server.url()


@pytest.fixture
def project(tmp_path: Path, home: Path) -> Path:
    """A repository with one commit."""
    folder = tmp_path / "project"
    folder.mkdir()
    return repository_in(folder)


@pytest.fixture
def in_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A git that keeps the refs and logs of new repositories in tables, as version 3 does by itself."""
    tried = subprocess.run(("git", "init", "-q", "--ref-format=reftable", tmp_path / "tried"), capture_output=True)
    if tried.returncode:
        pytest.skip("this git keeps refs in files alone")
    monkeypatch.setenv("GIT_DEFAULT_REF_FORMAT", "reftable")


def program(
    *arguments: str,
    stdin: str = "",
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
    seconds: float = STUCK,
) -> Result:
    """Call the program as a person does, in this process's environment."""
    script = Path(sys.executable).with_name("pro0")
    words = [str(script)] if script.exists() else [sys.executable, "-m", "pro0"]
    done = subprocess.run(
        [*words, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        cwd=cwd,
        env=os.environ | (env or {}),
        timeout=seconds,
    )
    exits.hold(arguments, done.returncode)
    return Result(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def cli(home: Path) -> Callable[..., Result]:
    """The program as a person calls it: `cli("task", "list", cwd=…)` gives code, out and err."""
    return program


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Workers of `-n auto`: three for each processor, since most tests wait for others most of their time."""
    return max(2, min(8, 3 * (os.cpu_count() or 1)))
