"""What a project's files may do before the person has agreed to them: nothing that runs, hands out or allows more.

Whoever adds a setting says here which of the two kinds it is of.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from pro0 import config
from pro0.cli.config.settings import trust as trust_command
from pro0.config.rules import never
from pro0.errors import BadInput, Refused
from pro0.model.home import HookEvent
from pro0.ops import trust
from pro0.ops.tasks import hooks
from tests.house.source import ROOT

MINE = {"argv": ["/bin/sh", "-c", "evil"]}
WIDER: dict[str, list[tuple[object, object]]] = {
    "permissionMode": [("bypass", None), ("edits", None), ("ask", "plan"), ("bypass", "edits")],
    "planApproval": [("lead", None), ("lead", "human")],
    "verdicts": [("scripts", None), ("scripts", "terminal")],
    "passEnvironment": [(["AWS_*"], None), (["A", "B"], ["A"]), (["X*"], ["X"])],
    "agents": [({"mine": MINE}, None), ({"mine": MINE, "own": MINE}, {"own": MINE})],
    "worktree": [({"setup": "make"}, None), ({"setup": "make"}, {"setup": "true"}), ({}, {"setup": "make"})],
    "maxTeammates": [(11, None), (2, 1)],
    "endGraceSeconds": [(11, None), (1, 0)],
    "maxSubtaskDepth": [(6, None), (1, 0)],
    "maxSubtasksPerParent": [(21, None), (2, 1)],
    "taskTimeoutMinutes": [(31, None), (2, 1)],
    "maxReviewCycles": [(11, None), (1, 0)],
    "maxWorkers": [(11, None), (2, 1)],
    "stuckSeconds": [(301, None), (2, 1)],
    "hookTimeoutSeconds": [(61, None), (2, 1)],
    "notify": [("ntfy", None), ("ntfy", "mine")],
    "ssh": [("run-me", None), ("ssh", "ssh -F mine")],
    "store": [("postgresql://theirs/db", None), ("", "postgresql://mine/db")],
}
"""What a project may not say by itself, beside what the person's own settings say, None for nothing."""
NO_WIDER: dict[str, list[tuple[object, object]]] = {
    "permissionMode": [("plan", None), ("ask", None), ("edits", "bypass"), ("plan", "ask"), ("ask", "ask")],
    "planApproval": [("human", None), ("human", "lead"), ("lead", "lead")],
    "verdicts": [("terminal", None), ("terminal", "scripts"), ("scripts", "scripts")],
    "passEnvironment": [([], None), (["A"], ["A", "B"])],
    "worktree": [({}, None), ({"setup": "make"}, {"setup": "make"})],
    "agents": [({}, None), ({"own": MINE}, {"own": {"argv": ["own"]}})],
    "enabled": [(False, None), (True, False)],
    "maxTeammates": [(1, None), (10, None), (50, 100)],
    "teammateMode": [("headless", "tmux")],
    "pollIntervalMs": [(1000, 3000)],
    "cleanupOnExit": [(False, True)],
    "endGraceSeconds": [(0, None), (20, 30)],
    "maxSubtaskDepth": [(0, None), (9, 9)],
    "maxSubtasksPerParent": [(1, None), (30, 40)],
    "taskTimeoutMinutes": [(1, None), (40, 50)],
    "maxReviewCycles": [(0, None), (20, 30)],
    "maxWorkers": [(1, None), (10, None), (50, 100)],
    "stuckSeconds": [(1, None), (400, 500)],
    "taskAgent": [("claude", "codex")],
    "bell": [(False, True)],
    "reviveLead": [(True, False)],
    "continueAfterLimit": [(True, False)],
    "windowLayout": [("tiled", "main-vertical")],
    "panesPerWindow": [(1, 0)],
    "hookTimeoutSeconds": [(1, None), (70, 80)],
    "notify": [("", None), ("", "mine"), ("mine", "mine")],
    "ssh": [("ssh", None), ("ssh -F mine", "ssh -F mine")],
    "store": [("", None), ("postgresql://mine/db", "postgresql://mine/db")],
}
"""What counts at once: looks, lower limits, which of the person's agents is meant, and whatever allows less."""


def cells(table: dict[str, list[tuple[object, object]]]) -> list[object]:
    rows = [(name, theirs, own) for name, pairs in table.items() for theirs, own in pairs]
    return [pytest.param(*row, id=f"{row[0]}={json.dumps(row[1])[:20]}-over-{json.dumps(row[2])[:20]}") for row in rows]


class Cloned:
    """A home and a repository that somebody else has made."""

    def __init__(self, root: Path) -> None:
        self.home, self.project = root / "home", root / "project"
        (self.project / trust.LAYOUTS).mkdir(parents=True)
        self.home.mkdir()

    def says(self, settings: dict[str, object], *, block: bool = False) -> None:
        said = {"experimental": {"agentTeams": settings}} if block else settings
        (self.project / config.PROJECT_FILE).write_text(json.dumps(said))

    def own(self, settings: dict[str, object]) -> None:
        (self.home / config.USER_FILE).write_text(json.dumps(settings))

    def value(self, name: str) -> object:
        return {one.name: one.value for one in trust.chosen(self.home, self.project, {})}[name]

    def agree(self) -> config.Powers:
        return trust.agree(self.home, self.project)


@pytest.fixture
def cloned(tmp_path: Path) -> Cloned:
    return Cloned(tmp_path)


def test_every_setting_is_of_one_of_the_two_kinds() -> None:
    widening = {setting.name for setting in config.SETTINGS if setting.rule.widens is not never}
    assert set(NO_WIDER) == {setting.name for setting in config.SETTINGS}, "NO_WIDER here has a row for each setting"
    assert set(WIDER) == widening, "WIDER here has a row for each setting that may allow more"


@pytest.mark.parametrize("name", [setting.name for setting in config.SETTINGS if setting.name in WIDER])
def test_the_help_and_the_page_name_each_that_waits(name: str) -> None:
    """A limit stands for all of them."""
    limits = {setting.name for setting in config.SETTINGS if setting.rule.bounds}
    pages = (trust_command.help, (ROOT / "docs" / "howto" / "permissions.md").read_text())
    for page in pages:
        assert re.search(rf"\b{name}\b" if name not in limits else r"limits? above yours", str(page)), page


@pytest.mark.parametrize(("name", "theirs", "own"), cells(WIDER))
@pytest.mark.parametrize("block", [False, True], ids=["flat", "block"])
def test_what_allows_more_waits_for_the_persons_word(
    name: str, theirs: object, own: object, block: bool, cloned: Cloned
) -> None:
    cloned.own({} if own is None else {name: own})
    before = cloned.value(name)
    cloned.says({name: theirs}, block=block)
    assert cloned.value(name) == before
    assert getattr(trust.settings(cloned.home, cloned.project, {}), by_attribute(name)) == before
    assert list(trust.withheld(cloned.home, cloned.project)) == [name]
    assert list(cloned.agree()) == [name]
    assert cloned.value(name) != before
    assert not trust.withheld(cloned.home, cloned.project)
    cloned.says({name: theirs, "hooks": {"TaskCreated": "evil"}})
    assert cloned.value(name) == before, "anything more needs a new word"


@pytest.mark.parametrize(("name", "theirs", "own"), cells(NO_WIDER))
def test_all_else_counts_at_once(name: str, theirs: object, own: object, cloned: Cloned) -> None:
    cloned.own({} if own is None else {name: own})
    cloned.says({name: theirs})
    assert not trust.withheld(cloned.home, cloned.project)
    if name != "agents":
        assert json.loads(json.dumps(cloned.value(name))) == theirs


@pytest.mark.parametrize("event", list(HookEvent))
def test_a_hook_waits_and_takes_nothing_along(event: HookEvent, cloned: Cloned) -> None:
    cloned.says({"hooks": {event: "evil"}, "maxTeammates": 7})
    assert not hooks.in_force(cloned.home, cloned.project)
    assert cloned.value("maxTeammates") == 7
    cloned.agree()
    assert hooks.in_force(cloned.home, cloned.project) == {event: ("evil",)}
    cloned.says({"hooks": {event: "evil"}, "permissionMode": "bypass"})
    assert not hooks.in_force(cloned.home, cloned.project)
    assert cloned.value("permissionMode") == "ask"


def test_who_does_not_ask_for_the_persons_word_gets_nothing(cloned: Cloned) -> None:
    """A caller that forgets it is safe."""
    cloned.says({"permissionMode": "bypass"})
    cloned.agree()
    assert config.load(cloned.home, cloned.project, {}, {}).permission_mode == "ask"


def test_the_persons_own_file_is_no_projects(tmp_path: Path) -> None:
    """As for who works in the home directory, whose PRO0_HOME is its .pro0."""
    home, project = tmp_path / ".pro0", tmp_path
    home.mkdir()
    (home / config.USER_FILE).write_text(json.dumps({"permissionMode": "bypass", "hooks": {"TaskCreated": "mine"}}))
    assert trust.settings(home, project, {}).permission_mode == "bypass"
    assert hooks.in_force(home, project) == {HookEvent.TASK_CREATED: ("mine",)}
    assert not trust.withheld(home, project)


def test_a_layout_of_the_project_waits(cloned: Cloned) -> None:
    """One by the name of a shipped one, too: it is neither used nor passed over in silence."""
    path = cloned.project / trust.LAYOUTS / "trio.yaml"
    path.write_text("members: {ada: {shell_command: evil}}\n")
    check: Callable[[bytes], None] = lambda data: trust.require_layout(cloned.home, cloned.project, path, data)  # noqa: E731
    with pytest.raises(Refused, match=r"trio\.yaml") as refused:
        check(path.read_bytes())
    assert (refused.value.code, "config trust" in str(refused.value.hint)) == ("not_trusted", True)
    cloned.agree()
    check(path.read_bytes())
    with pytest.raises(Refused):
        check(b"members: {ada: {shell_command: worse}}\n")


def test_a_word_is_for_one_project(tmp_path: Path) -> None:
    one, two = Cloned(tmp_path), Cloned(tmp_path / "two")
    two.home = one.home
    for cloned in (one, two):
        cloned.says({"permissionMode": "bypass"})
    one.agree()
    assert (one.value("permissionMode"), two.value("permissionMode")) == ("bypass", "ask")
    two.agree()
    assert (one.value("permissionMode"), two.value("permissionMode")) == ("bypass", "bypass")
    one.says({})
    assert one.agree() == {}
    one.says({"permissionMode": "bypass"})
    assert (one.value("permissionMode"), two.value("permissionMode")) == ("ask", "bypass")


def test_a_bad_value_is_an_error_agreed_to_or_not(cloned: Cloned) -> None:
    cloned.says({"permissionMode": "all"})
    with pytest.raises(BadInput, match="permissionMode must be one of"):
        cloned.value("permissionMode")


def by_attribute(name: str) -> str:
    return next(setting.attribute for setting in config.SETTINGS if setting.name == name)
