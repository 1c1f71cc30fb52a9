"""Which agent works on a task that has a session of its own, when nobody has named one."""

from pathlib import Path

import pytest

from pro0.config import USER_FILE
from pro0.model.task import Draft, Policy, Status
from pro0.ops.context import lead_context
from pro0.ops.tasks import tasks
from pro0.ops.work import hiring
from pro0.store.teams import TeamStore
from tests.teams import human, make_team


@pytest.fixture
def team(home: Path) -> TeamStore:
    return make_team(home)


def hired(team: TeamStore, draft: Draft) -> str:
    """The agent of the seat that the lead makes for a task."""
    [task] = tasks.create(human(team), [draft])
    assert task.status is Status.PENDING
    seat = hiring.hire(lead_context(team), task.id, "t1")
    assert seat
    return seat.agent


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    folder.mkdir()
    for name in names:
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


DISPATCHED = Draft(title="t", policy=Policy.DISPATCH)


@pytest.mark.parametrize(
    ("installed", "draft", "agent"),
    [
        pytest.param(["gemini", "codex"], DISPATCHED, "codex", id="a worker: the first that is installed"),
        pytest.param([], DISPATCHED, "shell", id="none is installed"),
        pytest.param(["codex"], Draft(title="t", policy=Policy.DISPATCH, run="true"), "shell", id="a command"),
        pytest.param(
            ["codex"], Draft(title="t", policy=Policy.SUPERVISED), "shell", id="a tree, which may be commands"
        ),
        pytest.param(["codex"], Draft(title="t", policy=Policy.DISPATCH, agent="pi"), "pi", id="the one asked for"),
    ],
)
def test_who_works(
    installed: list[str], draft: Draft, agent: str, team: TeamStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path / "bin", monkeypatch, *installed)
    assert hired(team, draft) == agent


def test_the_setting_comes_before_what_is_installed(
    team: TeamStore, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path / "bin", monkeypatch, "claude")
    (home / USER_FILE).write_text("taskAgent: opencode\n")
    assert hired(team, DISPATCHED) == "opencode"
