"""Servers as agents start them: processes that are spoken to in lines."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.mcp.served import Served

Serve = Callable[..., Served]


@pytest.fixture
def serve(home: Path, tmp_path: Path) -> Iterator[Serve]:
    """Start a server: `serve(PRO0_AGENT_ID="w1", …)`; it ends with the test."""
    started: list[Served] = []

    def start(*options: str, **variables: str) -> Served:
        started.append(Served(tmp_path, options, variables))
        return started[-1]

    yield start
    for served in started:
        served.kill()
