"""Agents that ask whether they may trust a folder: a yes harms nothing, and nothing is asked of worktrees."""

import json
from pathlib import Path

import pytest

from pro0.scripted_model.server import Provider
from tests.real_agents.scripts import marker, teammate
from tests.real_agents.team import RealTeam
from tests.repositories import commit

pytestmark = pytest.mark.agents
TRUSTED = "</project_context>"
"""What its model is told only of a folder that it trusts."""


@pytest.fixture
def wary(user: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The HOME of a person whose Gemini CLI trusts no folder yet."""
    monkeypatch.delenv("GEMINI_CLI_TRUST_WORKSPACE")
    return user


def test_gemini_goes_on_when_its_person_trusts_the_folder(wary: Path, team: RealTeam, provider: Provider) -> None:
    """It starts anew then, which it refuses to do with the id of the session that it has begun."""
    provider.script(marker("w1"), teammate())
    team.begin("--lead", "none", w1="gemini")
    team.becomes("w1", "dialog")
    pane = team.pane("w1")
    assert "trust" in pane.screen()
    pane.keys("Enter")
    team.eventually(
        lambda: any(TRUSTED in one.request.opening for one in provider.of(marker("w1"))), "it has begun anew"
    )
    team.becomes("w1", "idle")
    team("send", "w1", "for now")
    team.eventually(lambda: "for now" in team.read("w1"), "it has read its mail")
    team.becomes("w1", "idle")
    before = team.member("w1")
    team("member", "shutdown", "w1", "--force")
    team("member", "restart", "w1")
    team.becomes("w1", "idle")
    assert team.member("w1")["session"] == before["session"] != before["incarnation"]


def test_gemini_trusts_a_worktree_of_a_trusted_project(
    wary: Path, project: Path, team: RealTeam, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = wary / ".gemini" / "trustedFolders.json"
    folders.write_text(json.dumps({str(project): "TRUST_FOLDER"}), encoding="utf-8")
    before = folders.read_bytes()
    provider.script(marker("w1"), teammate())
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "Ann")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "ann@example.org")
    commit(project, "README", "nothing yet")
    team.begin("--lead", "none", "--worktrees", w1="gemini")
    team("send", "w1", "for now")
    team.eventually(lambda: "for now" in team.read("w1"), "it has read its mail")
    team.becomes("w1", "idle")
    assert team.member("w1")["worktree"]
    assert folders.read_bytes() == before
