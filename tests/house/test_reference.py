"""docs/reference is current and whole: what the program has and it does not name fails here, and the reverse."""

import ast
import json
import re
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

import click
import jsonschema
import msgspec
import pytest
import yaml

from pro0.cli.commands import HIDDEN
from pro0.config import SETTINGS
from pro0.config.table import Setting, Settings
from pro0.errors import BadInput, ErrorCode
from pro0.mcp.tools.table import TOOLS
from pro0.model.layout import Layout, LayoutMember, LayoutRole, LayoutWindow
from pro0.model.task import Draft
from pro0.rules.layouts import layout_of
from tests.cli.conftest import commands
from tests.house.source import ROOT, package, path_of, strings
from tools import meanings, reference, topics
from tools.event_names import events
from tools.exit_codes import own_exit_codes

PAGE = reference.PAGE.read_text(encoding="utf-8")
NAMES: dict[str, list[str]] = {
    "command": [
        name
        for name, command in commands()
        if not isinstance(command, click.Group) and not command.hidden and name.removeprefix("pro0 ") not in HIDDEN
    ],
    "setting": [setting.name for setting in SETTINGS],
    "tool": list(TOOLS),
    "error code": [str(code) for code in ErrorCode],
}


LATER = {"PRO0_COMPLETE": "of click, for completion"}
VARIABLE = re.compile(r"PRO0_[A-Z0-9_]+")


def test_it_is_current() -> None:
    assert reference.page() == PAGE, "make reference"
    written = {path.name: path.read_text(encoding="utf-8") for path in reference.FOLDER.iterdir()}
    assert written == reference.pages(), "make reference"


@pytest.mark.parametrize("title", meanings.WORDS)
def test_every_word_of_a_list_is_explained_and_no_other(title: str) -> None:
    words: type[StrEnum]
    words, texts = meanings.WORDS[title]
    assert list(texts) == list(words)
    assert all(text.endswith(".") and "\n" not in text for text in texts.values())


@pytest.mark.parametrize(
    ("keys", "kind", "more"),
    [
        (meanings.TASK_KEYS, Draft, set()),
        (meanings.LAYOUT_KEYS, Layout, set()),
        (meanings.MEMBER_KEYS, LayoutMember, set()),
        (meanings.WINDOW_KEYS, LayoutWindow, {"panes"}),
        (meanings.ROLE_KEYS, LayoutRole, set()),
    ],
)
def test_every_key_of_a_file_is_explained_and_no_other(
    keys: Mapping[str, str], kind: type[msgspec.Struct], more: set[str]
) -> None:
    assert set(keys) == {*kind.__struct_fields__, *more}


def test_every_variable_is_explained_and_no_other() -> None:
    used = {name for tree in package().values() for text in strings(tree) for name in VARIABLE.findall(str(text.value))}
    of_settings = {setting.rule.variable for setting in SETTINGS} - {""}
    named = {name for name in used if not name.endswith("_")} - set(LATER)
    assert named == {*meanings.VARIABLES, *of_settings}


def test_no_variable_that_pro0_sets_is_a_settings() -> None:
    """A set-up command was given its worktree as the value of a setting, so no pro0 in it could read the settings."""
    assert set(meanings.VARIABLES) & {setting.rule.variable for setting in SETTINGS} == set()


def test_events_of_every_kind_are_found() -> None:
    found = events()
    writers = {name.split(".")[1] for name in package() if "log_event(" in path_of(name).read_text()}
    assert writers <= {"ops", "web", "store"}, "where names are looked for, and the writer itself"
    assert {"team.create", "task.claim", "member.spawn", "permission.taken", "message.send"} <= set(found)
    assert {name.partition(".")[0] for name in found} >= {"hook", "plan", "run", "worktree", "need", "terminal"}


def schema(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((ROOT / "docs" / "schema" / f"{name}.json").read_text())
    return loaded


def layout_files() -> list[Path]:
    return sorted((ROOT / "layouts").glob("*.yaml"))


@pytest.mark.parametrize("path", layout_files(), ids=lambda path: path.name)
def test_layouts_that_work_fit_their_schema(path: Path) -> None:
    data = yaml.safe_load(path.read_text())
    layout_of(data)
    jsonschema.validate(data, schema("layout-file"))


@pytest.mark.parametrize(
    "data",
    [
        {"members": {"ada": "claude", "ben": None}, "tasks": ["one", {"title": "two", "blockedBy": ["task-1"]}]},
        {"members": ["ada", {"name": "ben", "agent": "codex", "permissionMode": "edits"}], "nudge": True},
        {
            "windows": [{"window_name": "w", "panes": ["ada", {"shell_command": ["a", "b"]}]}],
            "members": {"ada": "shell"},
        },
        {"roles": {"r": "be kind"}, "members": {"ada": {"role": "r", "plan": True}}},
    ],
)
def test_short_forms_fit_the_schema(data: dict[str, Any]) -> None:
    layout_of(data)
    jsonschema.validate(data, schema("layout-file"))


@pytest.mark.parametrize(
    "data",
    [
        {"member": {}},
        {"session_name": "x"},
        {"members": {"ada": {"agnt": "claude"}}},
        {"members": {"ada": {"plan": "yes"}}},
        {"windows": [{"pane": []}]},
        {"permission_mode": "all"},
        {"tasks": [{"titel": "x"}]},
        {"tasks": [{"title": "x", "policy": "y"}]},
        {"tasks": [{"title": "x", "blockedBy": "task-1"}]},
    ],
)
def test_what_the_program_refuses_the_schema_refuses_too(data: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        layout_of(data)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data, schema("layout-file"))


@pytest.mark.parametrize("topic", topics.topics(), ids=lambda topic: topic.name)
def test_the_examples_of_the_pages_fit(topic: topics.Topic) -> None:
    data = yaml.safe_load(topic.example)
    name = {"config": "config-file", "hooks": "config-file", "layout": "layout-file", "tasks": "tasks-file"}[topic.name]
    jsonschema.validate(data, schema(name))


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_defaults_fit_the_schema_of_settings(setting: Setting) -> None:
    default = list(setting.default) if isinstance(setting.default, tuple) else setting.default
    assert setting.name in schema("config-file")["properties"], f"the schema lacks {setting.name}: run `make schemas`"
    jsonschema.validate({setting.name: default}, schema("config-file"))
    for beyond in (setting.rule.bounds[0] - 1, setting.rule.bounds[1] + 1) if setting.rule.bounds else ():
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({setting.name: beyond}, schema("config-file"))


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_defaults_stand_in_the_reference_and_the_manual(setting: Setting) -> None:
    shown = json.dumps(setting.default) if isinstance(setting.default, int) else setting.default or "nothing"
    row = re.search(rf"^\| `{setting.name}` \|(.*)$", (ROOT / "docs" / "reference.md").read_text(), re.MULTILINE)
    assert row
    assert f"| `{shown}` |" in row[1] or shown == "nothing"
    [manual] = [topic for topic in topics.topics() if topic.name == "config"]
    assert f"Default: {shown}." in manual.tables["Settings"][setting.name]


@pytest.mark.parametrize(
    "data",
    [
        {"taskAgent": "Not A Name!"},
        {"passEnvironment": ["a b"]},
        {"passEnvironment": ["*A"]},
        {"permissionMode": "all"},
        {"bell": "yes"},
        {"maxTeammates": "ten"},
        {"worktree": {"set-up": "make"}},
        {"agents": {"mine": {"argvs": ["x"]}}},
    ],
)
def test_what_a_setting_may_not_be_its_schema_refuses_too(data: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data, schema("config-file"))
    [(name, value)] = data.items()
    with pytest.raises((ValueError, BadInput)):
        next(setting for setting in SETTINGS if setting.name == name).rule.check(value)


@pytest.mark.parametrize("kind", NAMES)
def test_it_names_each(kind: str) -> None:
    assert len(NAMES[kind]) > 10
    assert [name for name in NAMES[kind] if f"| `{name}` |" not in PAGE] == []


def test_each_error_code_is_raised_somewhere() -> None:
    """A code that nothing raises is a promise that nobody keeps."""
    exits = reference.exits()
    assert [code for code in ErrorCode if not exits.get(code)] == []


def test_exit_codes_of_a_command_come_from_its_help() -> None:
    waiting = click.Option(["--wait"], help="So long: exit 124 if not.")
    command = click.Command("go", help="Go. Exit 4 when shut.\n\n\b\nexit 5", params=[waiting, click.Option(["--now"])])
    assert own_exit_codes(command) == "Exit 4 when shut. --wait: So long: exit 124 if not."


READ_FROM = {"settings", "policy", "chosen", "defaults"}
"""What the settings in force are called where they are read, or the function that returns them."""


@cache
def read_settings() -> frozenset[str]:
    """Return the attributes that any module reads from the settings in force."""
    trees = (ast.parse(path_of(name).read_text()) for name in package() if name != "pro0.config.table")
    return frozenset(
        node.attr
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and name_of(node.value) in READ_FROM
    )


def name_of(node: ast.expr) -> str:
    """Return the last word of what an attribute is read from: `policy` of `snapshot.policy`, `self._policy`."""
    if isinstance(node, ast.Call):
        return name_of(node.func)
    return (node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else "").strip("_")


@pytest.mark.parametrize("name", Settings.__struct_fields__)
def test_each_setting_is_used(name: str) -> None:
    """A row of the table alone changes nothing, whatever its help promises."""
    assert name in read_settings(), (
        f"nothing in pro0 reads {name} from {', '.join(sorted(READ_FROM))}, as `settings(context).{name}` does"
    )
