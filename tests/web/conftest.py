"""Servers of a page, and browsers at them."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pro0.store.teams import TeamStore
from tests.conftest import let_scripts
from tests.teams import make_team
from tests.waiting import STUCK
from tests.web.browsers import Browser

LINE = "the page of your teams: "


class Server:
    """`pro0 web` as a process of its own."""

    def __init__(self, home: Path, *options: str) -> None:
        self.home = home
        command = [sys.executable, "-m", "pro0", "web", "--no-open", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout
        assert select.select([self.process.stdout], [], [], STUCK)[0], "it says no address"
        line = self.process.stdout.readline()
        assert line.startswith(LINE), (line, self.process.poll() is not None and self.process.stderr)
        self.url = line.removeprefix(LINE).strip()

    def end(self, number: int = signal.SIGINT) -> tuple[int, str, str]:
        """End it by a signal and return its exit code and what it said."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=STUCK)
        return self.process.returncode, out, err


@pytest.fixture
def team(home: Path) -> TeamStore:
    """A team with a lead agent and two teammates, whose person lets scripts give verdicts: tests have no terminal."""
    let_scripts(home)
    return make_team(home, "lead", "w1", "w2")


@pytest.fixture
def serve(team: TeamStore) -> Iterator[Callable[..., Server]]:
    """Start servers: `serve("--port", "8042")`."""
    running: list[Server] = []

    def start(*options: str) -> Server:
        running.append(Server(team.paths.home, *options))
        return running[-1]

    yield start
    for server in running:
        if server.process.poll() is None:
            server.end(signal.SIGKILL)
        for stream in (server.process.stdout, server.process.stderr):
            assert stream
            stream.close()


@pytest.fixture
def browser(serve: Callable[..., Server]) -> Iterator[Browser]:
    """A paired browser that may do all."""
    with_all = Browser(serve().url)
    assert with_all.pair().status == 200
    yield with_all
    with_all.close()


@pytest.fixture
def another(browser: Browser, cli: Callable[..., object]) -> Iterator[Callable[[str], Browser]]:
    """Pair another browser with certain rights: `another("look")`."""
    paired: list[Browser] = []

    def pair(rights: str) -> Browser:
        done = subprocess.run(
            [sys.executable, "-m", "pro0", "web", "pair", "--rights", rights],
            capture_output=True,
            text=True,
            timeout=STUCK,
            env=os.environ,
        )
        assert done.returncode == 0, done.stderr
        paired.append(Browser(done.stdout.strip()))
        assert paired[-1].pair(name=rights).status == 200
        return paired[-1]

    yield pair
    for one in paired:
        one.close()
