"""`pro0 agent install-skill`."""

import os
from pathlib import Path

import pytest

from pro0 import agents
from pro0.model.agent import AGENTS
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
