"""The box, a scripted provider, and a home with each agent set up; no real agent runs outside the box."""

import os
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pro0.scripted_model.server import Provider
from pro0.scripted_model.setups import SETUPS
from tests.conftest import Result, let_scripts
from tests.real_agents.team import RealTeam
from tests.real_agents.terminal import Terminal


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the number of messages be chosen that each agent gets in the long lane."""
    parser.addoption("--letters", default=200, type=int, help="messages to each real agent in the long lane")


@pytest.fixture(autouse=True)
def boxed(request: pytest.FixtureRequest) -> None:
    """Refuse to start a real agent where it could reach anything but this machine."""
    if request.node.get_closest_marker("agents") and [name for _, name in socket.if_nameindex()] != ["lo"]:
        pytest.fail("tests of real agents run in the box only: make test-agents", pytrace=False)


@pytest.fixture
def provider() -> Iterator[Provider]:
    """A provider without scripts yet."""
    with Provider().serving() as provider:
        yield provider


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A git repository with nothing in it."""
    folder = tmp_path / "project"
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


@pytest.fixture
def user(home: Path, provider: Provider, project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The HOME of a person who has set up every agent for the provider."""
    folder = Path(os.environ["HOME"])
    for setup in (make(provider.url, project) for make in SETUPS.values()):
        setup.write(folder)
        for name, value in setup.environment.items():
            monkeypatch.setenv(name, value)
    return folder


@pytest.fixture
def team(user: Path, cli: Callable[..., Result], home: Path, project: Path, provider: Provider) -> Iterator[RealTeam]:
    """A team of a person who has set up every agent, and lets programs give verdicts; removed afterwards."""
    let_scripts(home)
    team = RealTeam(cli, project, home, provider)
    yield team
    team.end()


@pytest.fixture
def terminal(home: Path) -> Iterator[Terminal]:
    """A terminal that is closed afterwards."""
    terminal = Terminal()
    yield terminal
    terminal.close()
