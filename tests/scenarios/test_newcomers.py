"""Newcomers of five kinds: each starts at the README, follows a link, types what stands there, and has it working.

Issue 18, must show 4. The agents are stand-ins that take the documented options of the real ones.
"""

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.crash.lanes import a_few
from tests.scenarios.pages import FENCED, ROOT, blocks, is_typed, settings_of, supposed, typed
from tests.waiting import STUCK

LINK = re.compile(r"\[[^]]+\]\(([^)#]+)[^)]*\)")


class Newcomer(NamedTuple):
    """Whom a path is for: the pages in the order in which the links lead, and what must be true at its end."""

    pages: tuple[str, ...]
    works: Callable[[Path], object]


def archived(project: Path, team: str) -> dict[str, Any]:
    """Return what is kept of a team."""
    shown = typed(f"pro0 team show {team} --archived --json", project)
    assert shown.returncode == 0, shown
    kept: dict[str, Any] = json.loads(shown.stdout)
    return kept


def statuses(project: Path, team: str) -> list[str]:
    return [task["status"] for task in archived(project, team)["tasks"]]


def list_is_done(project: Path) -> None:
    assert statuses(project, "solo") == ["completed", "completed"]


def work_waits_for_a_verdict(project: Path) -> None:
    kept = archived(project, "shop")
    assert {member["agent"] for member in kept["status"]["members"]} >= {"claude", "codex", "shell"}
    assert len(kept["tasks"]) == 3


def job_has_its_report(project: Path) -> None:
    assert "task-1" in (project / "report.txt").read_text()
    assert statuses(project, "ci") == ["completed"]


def own_agent_has_worked(project: Path) -> None:
    assert [(task["title"], task["status"]) for task in archived(project, "mine")["tasks"]] == [
        ("Say hello", "completed")
    ]


NEWCOMERS = {
    "alone with Claude Code": Newcomer(("README.md", "docs/howto/alone.md"), list_is_done),
    "with a mixed team": Newcomer(("README.md", "docs/howto/mixed-team.md"), work_waits_for_a_verdict),
    "in CI": Newcomer(("README.md", "docs/howto/ci.md"), job_has_its_report),
    "with an agent of their own": Newcomer(("README.md", "docs/howto/own-agent.md"), own_agent_has_worked),
}


def leads_on(page: str, following: str) -> bool:
    """Say whether a page has a link to another."""
    found = LINK.findall((ROOT / page).read_text(encoding="utf-8"))
    return (ROOT / following).resolve() in {(ROOT / page).parent.joinpath(target).resolve() for target in found}


@pytest.mark.parametrize("who", a_few(NEWCOMERS, 1))
def test_a_newcomer_ends_with_the_thing_working(who: str, shop: Path, home: Path) -> None:
    pages, works = NEWCOMERS[who]
    assert all(map(leads_on, pages, pages[1:]))
    with (home / "config.yaml").open("a") as settings:
        settings.write(settings_of(pages[-1]))
    for block in filter(is_typed, blocks(pages[-1])):
        done = typed(f"{supposed(block)}\n{block.script}", shop)
        assert done.returncode == 0, (block.script, done.stdout[-2000:], done.stderr[-2000:])
    works(shop)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A clone of this repository, as somebody has it who wants to change something."""
    subprocess.run(["git", "clone", "--quiet", ROOT, tmp_path / "pro0"], check=True)
    return tmp_path / "pro0"


@pytest.mark.soak
def test_a_contributor_changes_something(checkout: Path, home: Path) -> None:
    """The test of what was changed fails, and passes again; what comes before each commit passes."""
    assert leads_on("README.md", "CONTRIBUTING.md")
    first, last = (text for _, text in FENCED.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")))
    assert tried(first, checkout) == 0
    [module] = re.findall(r"a function in `([\w/.]+)`", (checkout / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    text = (checkout / module).read_text()
    again = first.splitlines()[-1]
    (checkout / module).write_text(text.replace("return ", "return not ", 1))
    assert tried(again, checkout) == 1, "its test tells at once"
    (checkout / module).write_text(text)
    assert tried(again, checkout) == 0
    assert tried(last, checkout) == 0


def tried(script: str, folder: Path) -> int:
    kept = {
        name: text for name, text in os.environ.items() if not name.startswith(("PRO0_", "PYTHON", "VIRTUAL", "PYTEST"))
    }
    done = subprocess.run(
        ["sh", "-exc", script], cwd=folder, env=kept, capture_output=True, text=True, timeout=10 * STUCK, check=False
    )
    print(done.stdout[-2000:], done.stderr[-2000:])
    return done.returncode


def test_a_page_that_no_link_leads_to_is_noticed() -> None:
    assert not leads_on("docs/howto/alone.md", "docs/howto/ci.md")
    assert leads_on("docs/howto/alone.md", "docs/howto/run.md")
