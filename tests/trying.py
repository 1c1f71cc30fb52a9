"""A plugin of pytest that tries mutants: it collects the tests once, and forks for each mutant.

Run by `tests.mutation` in the folder of the mutants. One pass without any mistake says which tests reach which function
and how long each takes; a mutant is then tried by the tests that reach it, the shortest first, until one fails.
"""

import json
import mmap
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest
from mutmut.mutation.trampoline import set_mutant_under_test
from mutmut.state import state

from tests.postgres import Postgres, is_here, postgres
from tests.verdicts import KILLED, LIVES, NO_TEST, Verdicts

REACHED = Path("reached.json")
NOTICED = Path("noticed.txt")
"""Which test has noticed which mutant, the last of a mutant being the last try."""
NAMES, CHILDREN = "MUTANTS_TO_TRY", "MUTANTS_AT_ONCE"
PATIENCE, SLOWER = 10, 5
"""A test may take so many seconds, and so many times what it took without a mistake: then it hangs."""

ALL_PROCESSES = "tests/processes/"
"""Tests that look at all processes there are, and so would find those of another try."""
ENOUGH = 20
"""A mutant that lives through so many seconds of tests counts as alive, whatever longer ones would say."""


class Reach(NamedTuple):
    """What one test reaches of the mutated functions, and its time in seconds."""

    seconds: float
    functions: list[str]
    only_forked: list[str]
    """Those that only processes forked from it reach; for what goes wrong there it may wait until it is ended."""


class Hit(set[str]):
    """The functions that this process reaches; a byte of shared memory tells of those that forked ones reach."""

    def __init__(self, functions: Iterable[str]) -> None:
        super().__init__()
        self._places = {function: place for place, function in enumerate(sorted(functions))}
        self._memory = mmap.mmap(-1, len(self._places))

    def add(self, function: str) -> None:
        """Note that a function is reached: without a call of the system, since tests make those fail."""
        super().add(function)
        self._memory[self._places[function]] = 1

    def clear(self) -> None:
        """Forget all."""
        super().clear()
        self._memory[:] = bytes(len(self._places))

    def functions(self) -> tuple[list[str], list[str]]:
        """Return what was reached here, and what only by forked processes, in order."""
        reached = {function for function, place in self._places.items() if self._memory[place]}
        return sorted(self), sorted(reached - self)


def pytest_runtestloop(session: pytest.Session) -> bool:
    """Try the mutants instead of running the tests."""
    if not _is_known() and os.waitpid(forked(lambda: _look(session), quiet=False), 0)[1]:
        pytest.exit("no mutant was tried", returncode=1)
    reached = {name: Reach(*found) for name, found in json.loads(REACHED.read_bytes()).items()}
    by_function: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    spent: defaultdict[str, float] = defaultdict(float)
    items = sorted(session.items, key=lambda one: reached[one.nodeid].seconds)
    found = [(item, function) for item in items for function in reached[item.nodeid].functions]
    found += [(item, function) for item in items for function in reached[item.nodeid].only_forked]
    for item, function in found:
        if spent[function] < ENOUGH:
            spent[function] += reached[item.nodeid].seconds
            by_function[function].append(item)
    _try_all(session, by_function, {name: one.seconds for name, one in reached.items()})
    return True


def _is_known() -> bool:
    """Return whether nothing has changed since the last look."""
    files = (path for folder in ("pro0", "tests") for path in Path("..", folder).rglob("*.py"))
    return REACHED.exists() and all(path.stat().st_mtime < REACHED.stat().st_mtime for path in files)


def _look(session: pytest.Session) -> int:
    """Run every test without a mistake, and write down what each of them reaches."""
    set_mutant_under_test("stats")
    hit = state()._stats = Hit({one.name.rpartition("__mutmut_")[0] for one in Verdicts(Path())})
    reached: dict[str, Reach] = {}
    for item, following in pairs(session.items):
        hit.clear()
        start = time.monotonic()
        failed = session.testsfailed
        item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.testsfailed > failed:
            print(f"\nfails without any mistake: {item.nodeid}")
        reached[item.nodeid] = Reach(time.monotonic() - start, *hit.functions())
    if not session.testsfailed:
        REACHED.write_text(json.dumps(reached))
    return int(session.testsfailed > 0)


def _try_all(session: pytest.Session, by_function: dict[str, list[pytest.Item]], seconds: dict[str, float]) -> None:
    """Try mutant after mutant, some at once, and write down each verdict."""
    verdicts, children = Verdicts(Path()), int(os.environ[CHILDREN])
    with ExitStack() as ends:
        # One for each that runs at once: starting it takes longer than most tests, and some look at all of it.
        count = children if is_here() else 0
        tries = Tries(verdicts, [ends.enter_context(postgres()) for _ in range(count)])
        for name in verdicts.untried(os.environ.get(NAMES, "").split()):
            items = by_function.get(name.rpartition("__mutmut_")[0], [])
            if not items:
                verdicts.put(name, NO_TEST)
                continue
            by_itself = any(item.nodeid.startswith(ALL_PROCESSES) for item in items)
            tries.wait(0 if by_itself else children - 1)
            tries.start(name, lambda name=name, items=items: _try(session, name, items, seconds))  # type: ignore[misc]
            if by_itself:
                tries.wait(0)
        tries.wait(0)


class Tries:
    """The tries that run at once, each in a process with a database server of its own, where there are any."""

    def __init__(self, verdicts: Verdicts, servers: list[Postgres]) -> None:
        self._verdicts = verdicts
        self._free = servers
        self._running: dict[int, tuple[str, Postgres | None]] = {}

    def start(self, name: str, act: Callable[[], int]) -> None:
        """Try one more mutant."""
        server = self._free.pop() if self._free else None

        def with_server() -> int:
            Postgres.shared = server
            return act()

        self._running[forked(with_server)] = name, server

    def wait(self, most: int) -> None:
        """Wait until at most so many are running, and write down what they found."""
        while len(self._running) > most:
            pid, status = os.wait()
            shutil.rmtree(_folder(pid), ignore_errors=True)
            name, server = self._running.pop(pid)
            if server:
                server.forget(pid)
                self._free.append(server)
            code = os.waitstatus_to_exitcode(status)
            self._verdicts.put(name, LIVES if code == 0 else KILLED if code == 1 else code)


def _try(session: pytest.Session, name: str, items: list[pytest.Item], seconds: dict[str, float]) -> int:
    """Run tests against one mutant until one fails, and fails again; whoever hangs is ended by the alarm."""
    set_mutant_under_test(name)
    os.environ["PYTEST_DEBUG_TEMPROOT"] = str(_folder(os.getpid()))
    for item, following in pairs(items):
        if tried_once(session, item, following, seconds[item.nodeid]):
            with NOTICED.open("a") as file:
                file.write(f"{name} {item.nodeid}\n")
            return 1
    return 0


def tried_once(session: pytest.Session, item: pytest.Item, following: pytest.Item | None, seconds: float) -> bool:
    """Return whether a test fails, and fails again."""
    if not all(_fails(session, item, following, seconds) for _ in range(2)):
        return False
    session._setupstate.teardown_exact(None)
    return True


def _fails(session: pytest.Session, item: pytest.Item, following: pytest.Item | None, seconds: float) -> bool:
    session.testsfailed = 0
    signal.alarm(int(PATIENCE + SLOWER * seconds))
    item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
    return session.testsfailed > 0


def _folder(pid: int) -> Path:
    """Return the folder of the temporary files of one try."""
    folder = Path(tempfile.gettempdir(), f"mutant-{pid}")
    folder.mkdir(exist_ok=True)
    return folder


def pairs(items: list[pytest.Item]) -> Iterator[tuple[pytest.Item, pytest.Item | None]]:
    """Return each test with the one that follows it."""
    return zip(items, [*items[1:], None], strict=True)


def forked(act: Callable[[], int], *, quiet: bool = True) -> int:
    """Do something in a child, whose exit code is what it returns; returns the child's pid."""
    if pid := os.fork():
        return pid
    code = 1
    try:
        if quiet:
            nothing = os.open(os.devnull, os.O_WRONLY)
            for descriptor in (1, 2):
                os.dup2(nothing, descriptor)
        code = act()
    finally:
        sys.stdout.flush()
        os._exit(code)
