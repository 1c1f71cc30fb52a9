"""Every backend on a stage of its own; tmux is needed, and its absence is an error, never a skip."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contracts.stages import STAGES, Stage
from tests.waiting import STUCK

SECONDS = STUCK
LINE = "pro0: 2 unread messages; run `pro0 inbox` #(touch X) $HOME -R"


@pytest.fixture(autouse=True, scope="module")
def _tmux_is_there() -> None:
    if not shutil.which("tmux"):
        pytest.fail("these tests need tmux: install it", pytrace=False)


@pytest.fixture(params=STAGES)
def stage(request: pytest.FixtureRequest, home: Path, tmp_path: Path) -> Iterator[Stage]:
    yield from _played(request.param, tmp_path)


@pytest.fixture(params=["tmux", "tmux-inside"])
def terminal(request: pytest.FixtureRequest, home: Path, tmp_path: Path) -> Iterator[Stage]:
    yield from _played(request.param, tmp_path)


def _played(name: str, folder: Path) -> Iterator[Stage]:
    stage = STAGES[name](folder)
    try:
        yield stage
    finally:
        stage.leave()
