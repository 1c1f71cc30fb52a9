"""Layouts: each pass as pairs of before and after, then the whole, then what is wrong and where."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from pro0 import resources
from pro0.errors import BadInput
from pro0.model.team import PermissionMode
from pro0.rules.layouts import checked, expand, inherit, layout_of

EXPANDED: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {}),
    ({"members": ["ada"]}, {"members": [{"name": "ada"}]}),
    ({"members": {"ada": "claude", "ben": None}}, {"members": [{"name": "ada", "agent": "claude"}, {"name": "ben"}]}),
    ({"members": [{"name": "ada", "role": "r"}]}, {"members": [{"name": "ada", "role": "r"}]}),
    ({"roles": {"reviewer": "Look."}}, {"roles": [{"name": "reviewer", "prompt": "Look."}]}),
    ({"tasks": ["build", {"title": "test"}]}, {"tasks": [{"title": "build"}, {"title": "test"}]}),
    (
        {"windows": [{"panes": ["ada"]}]},
        {"windows": [{"window_name": "window-1", "panes": [{"name": "ada"}]}]},
    ),
    (
        {"windows": [{"window_name": "dev", "panes": [{"shell_command": ["cd app", "make watch"]}]}]},
        {
            "windows": [
                {
                    "window_name": "dev",
                    "panes": [{"name": "dev", "agent": "command", "argv": ["/bin/sh", "-c", "cd app && make watch"]}],
                }
            ]
        },
    ),
    (
        {"windows": [{"panes": [{"name": "watch", "shell_command": "make"}]}]},
        {
            "windows": [
                {
                    "window_name": "window-1",
                    "panes": [{"name": "watch", "agent": "command", "argv": ["/bin/sh", "-c", "make"]}],
                }
            ]
        },
    ),
]
SHIPPED = {"pair", "trio", "review", "feature", "demo"}
NOTHING: dict[str, Any] = {"members": [], "windows": [], "roles": [], "tasks": []}


@pytest.mark.parametrize(("before", "after"), EXPANDED)
def test_short_forms_are_written_out(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert expand(before) == {**NOTHING, **after}
    again = {key: value for key, value in expand(before).items() if value}
    assert expand(again) == expand(before), "what is written out stays as it is"


@pytest.mark.parametrize("word", ["session_name", "start_directory", "focus"])
def test_words_of_tmuxp_that_mean_nothing_here_are_refused_by_name(word: str) -> None:
    """A word is honoured or refused: where a window begins and which pane has the focus is not ours to say."""
    places: list[tuple[dict[str, Any], str]] = [
        ({word: "x"}, "the layout"),
        ({"windows": [{word: True}]}, "windows, 1"),
        ({"windows": [{"window_name": "w", "panes": [{"name": "ada", word: True}]}]}, "w, pane 1"),
        ({"members": {"ada": {word: True}}}, "members, ada"),
    ]
    for written, where in places:
        with pytest.raises(BadInput, match=f"{where}: '{word}' has no effect here: ") as error:
            layout_of(written)
        assert error.value.hint == "leave it out"


INHERITED: list[tuple[dict[str, Any], list[dict[str, Any]]]] = [
    ({"agent": "claude", "members": ["ada"]}, [{"agent": "claude", "name": "ada"}]),
    ({"agent": "claude", "members": {"ada": "pi"}}, [{"agent": "pi", "name": "ada"}]),
    (
        {"agent": "claude", "members": ["ada"], "windows": [{"window_name": "w", "agent": "pi", "panes": ["ada"]}]},
        [{"agent": "pi", "name": "ada", "window": "w"}],
    ),
    (
        {"members": {"ada": "codex"}, "windows": [{"window_name": "w", "agent": "pi", "panes": ["ada"]}]},
        [{"agent": "codex", "name": "ada", "window": "w"}],
    ),
    (
        {"model": "small", "windows": [{"window_name": "w", "panes": [{"name": "ada", "agent": "claude"}]}]},
        [{"model": "small", "agent": "claude", "name": "ada", "window": "w"}],
    ),
]


@pytest.mark.parametrize(("written", "members"), INHERITED)
def test_members_take_what_stands_above_them(written: dict[str, Any], members: list[dict[str, Any]]) -> None:
    assert inherit(expand(written))["members"] == members


def test_a_whole_layout() -> None:
    layout = layout_of(
        {
            "lead": "claude",
            "permission_mode": "edits",
            "agent": "shell",
            "members": ["ada"],
            "windows": [
                {"window_name": "work", "layout": "main-vertical", "panes": ["ada", {"shell_command": "make"}]}
            ],
            "tasks": [{"title": "build", "run": "make", "blocked_by": []}],
        }
    )
    ada, command = layout.members
    assert (ada.name, ada.agent, ada.window, ada.permission_mode) == ("ada", "shell", "work", PermissionMode.EDITS)
    assert (command.name, command.agent, command.argv) == ("work-2", "command", ("/bin/sh", "-c", "make"))
    assert (layout.permission_mode, layout.windows[0].layout) == (PermissionMode.EDITS, "main-vertical")
    assert (layout.tasks[0].title, layout.tasks[0].run) == ("build", "make")


WRONG: list[tuple[object, str]] = [
    ([], "the layout: it must be a mapping"),
    ("text", "the layout: it must be a mapping"),
    ({"membrs": []}, "the layout: there is no 'membrs'"),
    ({"members": 7}, "members: it must be a mapping"),
    ({"members": [{"agent": "pi"}]}, "members, 1: it needs a name"),
    ({"members": [[]]}, "members, 1: it must be a mapping"),
    ({"members": {"ada": {"agnt": "pi"}}}, "agnt"),
    ({"members": {"ada": {"to_be_or": 7}}}, "members, ada: there is no 'to_be_or'"),
    ({"roles": 7}, "roles: it must be a mapping"),
    ({"roles": [7]}, "roles, 1: it must be a mapping"),
    ({"roles": [{"prompt": "x"}]}, "roles, 1: it needs a name"),
    ({"members": {"ada": {"agent": 7}}}, "agent"),
    ({"members": ["ada", "Ada"]}, "two members are called 'ada'"),
    ({"windows": {}}, "windows: it must be a list"),
    ({"windows": [{"name": "w"}]}, "windows, 1: there is no 'name'"),
    ({"windows": [{"panes": ["ada"]}]}, "window-1: there is no member 'ada'"),
    ({"windows": [{"panes": [{"role": "r"}]}]}, "window-1, pane 1: it needs a name"),
    ({"windows": [{"panes": [{"shell_command": 7}]}]}, "window-1, pane 1: shell_command"),
    ({"windows": [{"panes": [{"shell_command": ["a", 7]}]}]}, "window-1, pane 1: shell_command"),
    ({"windows": [{"panes": []}, {"window_name": "window-1", "panes": []}]}, "two windows are called 'window-1'"),
    ({"windows": [{"window_name": "w", "layout": "spiral", "panes": []}]}, "spiral"),
    ({"members": ["ada"], "windows": [{"panes": ["ada", "ada"]}]}, "'ada' has a pane already"),
    ({"tasks": [{"titel": "x"}]}, "titel"),
    ({"permission_mode": "all"}, "all"),
    ({7: 8}, "the layout: it must be a mapping"),
]


@pytest.mark.parametrize(("written", "said"), WRONG)
def test_what_is_wrong_is_named_with_its_place(written: object, said: str) -> None:
    with pytest.raises(BadInput) as error:
        layout_of(written)
    assert said in error.value.message


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ({"membrs": []}, "did you mean members?"),
        ({"members": {"ada": {"agnt": "pi"}}}, "did you mean agent?"),
        ({"windows": [{"panes": [{"name": "ada", "promt": "x"}]}]}, "did you mean prompt?"),
        ({"members": {"ada": {"permissionMod": "ask"}}}, "did you mean permission_mode?"),
        ({"roles": {"r": {"xyz": "x"}}}, "known: name, prompt"),
    ],
)
def test_a_misspelt_word_is_told_the_right_one(written: object, hint: str) -> None:
    with pytest.raises(BadInput) as error:
        layout_of(written)
    assert error.value.hint == hint


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_the_shipped_layouts_are_sound(name: str) -> None:
    written = yaml.safe_load((resources.data("layouts") / f"{name}.yaml").read_text())
    layout = layout_of(written)
    assert layout.description
    assert layout.members
    assert {member.window for member in layout.members} == {window.window_name for window in layout.windows}
    assert {member.role for member in layout.members} - {""} <= {role.name for role in layout.roles}
    assert checked(inherit(expand(written))) == layout


def test_every_shipped_layout_is_tested() -> None:
    assert {path.stem for path in Path(resources.data("layouts")).glob("*.yaml")} == SHIPPED
