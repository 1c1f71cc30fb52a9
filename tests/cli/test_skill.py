"""`pro0 agent install-skill`."""

import os
from pathlib import Path

import pytest

from pro0 import agents
from pro0.model.agent import AGENTS
from pro0.rules.runs.signals import Tag
from pro0.rules.runs.turn_prompt import FEEDBACK, SIGNALS
from pro0.rules.words.skill import SKILL
from tests.cli.conftest import Pro0

HOMES = {".claude/skills/pro0/SKILL.md"}


@pytest.fixture
def person(home: Path) -> Path:
    return Path(os.environ["HOME"])


def files(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("SKILL.md")}


def test_the_skill_is_put_where_agents_look_and_again_without_harm(pro0: Pro0, person: Path) -> None:
    for _ in range(2):
        called = pro0("agent", "install-skill", "claude")
        assert called.code == 0
    assert files(person) == HOMES
    assert all((person / name).read_text() == SKILL for name in HOMES)


def test_a_skill_of_the_persons_own_stays(pro0: Pro0, person: Path) -> None:
    mine = person / ".claude/skills/pro0/SKILL.md"
    mine.parent.mkdir(parents=True)
    mine.write_text("my own\n")
    called = pro0("agent", "install-skill", "claude")
    assert called.code == 4
    assert mine.read_text() == "my own\n"
    assert pro0("agent", "install-skill", "claude", "--force").code == 0
    assert mine.read_text() == SKILL


def test_a_link_is_not_followed(pro0: Pro0, person: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("other\n")
    link = person / ".claude/skills/pro0/SKILL.md"
    link.parent.mkdir(parents=True)
    link.symlink_to(other)
    assert pro0("agent", "install-skill", "claude", "--force").code == 4
    assert other.read_text() == "other\n"


@pytest.mark.parametrize("name", ["shell", "nobody"])
def test_an_agent_without_skills_is_named(name: str, pro0: Pro0, person: Path) -> None:
    called = pro0("agent", "install-skill", name)
    assert called.code == 2
    assert name in called.err
    assert not files(person)


def test_every_agent_that_looks_for_skills_gets_it(pro0: Pro0, person: Path) -> None:
    assert pro0("agent", "install-skill").code == 0
    wanted = {f"{agents.adapter_named(name).skills}/pro0/SKILL.md" for name in AGENTS}
    assert files(person) == {path for path in wanted if not path.startswith("/")}


WHEN = {
    Tag.COMPLETE: ("done",),
    Tag.APPROVAL_NEEDED: ("security", "migration", "API contract", "major upgrade", "high risk"),
    Tag.INPUT_NEEDED: ("business rules", "configuration", "unclear", "which X?"),
    Tag.REVIEW_REQUESTED: ("pull request", "whole address"),
    Tag.CONTENT_REVIEW: ("text for users", "styling", "error messages", "marketing"),
    Tag.ESCALATE: ("security", "bigger scope", "architecture", "conflicting requirements"),
    Tag.CHECKPOINT: ("migration", "large refactoring"),
    Tag.EJECT: ("credentials", "physical set-up", "access", "a person"),
}


def lines_of_signals() -> dict[Tag, str]:
    """Return what the skill says of each signal, by its tag."""
    listed = SKILL.partition("## In a run")[2].split("\n- ")[1:]
    rows = [" ".join(row.partition("\n\n")[0].split()) for row in listed]
    return {Tag(row.partition("<promise>")[2].partition("</promise>")[0].partition(":")[0]): row for row in rows}


@pytest.mark.parametrize("tag", SIGNALS)
def test_the_skill_says_when_to_use_each_signal(tag: Tag) -> None:
    """S001-151 to S001-158."""
    assert set(lines_of_signals()) == set(SIGNALS) == set(WHEN)
    assert [word for word in WHEN[tag] if word not in lines_of_signals()[tag]] == []
    assert ":" in lines_of_signals()[tag].partition("</promise>")[0] or not SIGNALS[tag][0]


def test_the_skill_says_where_answers_stand() -> None:
    """S001-151: the workflow, and the feedback of people."""
    said = SKILL.partition("## In a run")[2]
    assert FEEDBACK.removeprefix("## ") in said
    assert "address all of it" in said


def test_the_help_of_a_run_lists_each_signal(pro0: Pro0) -> None:
    """S001-166: the signals, which tasks are taken, and what a person does."""
    text = pro0("run", "--help").out
    assert [tag for tag in SIGNALS if f"<promise>{tag}" not in text] == []
    assert "approve and reject in a second terminal" in " ".join(text.split())
    for option in ("--include-standalone", "--include-orphans", "--all"):
        assert option in text
