"""What a launch file says: each wrong value is named, and what is left out is as the model has it."""

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pro0.guard import launch
from pro0.model import runtime

REVIVAL: dict[str, Any] = {
    "argv": ["a"],
    "cwd": "/c",
    "lease": "/l",
    "environment": "/e",
    "variables": {"A": "1"},
    "errors": "/f",
}
TERMINAL: dict[str, Any] = {"socket": "/s", "library": "/y"}
WHOLE: dict[str, Any] = {
    "agentId": "ann",
    "incarnation": "inc-1",
    "team": "band",
    "teamUid": "uid",
    "argv": ["a", ""],
    "cwd": "/c",
    "env": {"A": ""},
    "report": "/r",
    "revival": REVIVAL,
    "terminal": TERMINAL,
}


def refusal(values: object) -> str:
    with pytest.raises(ValueError) as raised:
        launch.Launch(values)
    return str(raised.value)


@pytest.mark.parametrize("name", ["agentId", "incarnation", "team", "teamUid", "cwd", "report", "firstState"])
def test_a_text_is_one_that_is_not_empty(name: str) -> None:
    for wrong in (1, "", None, ["a"]):
        assert refusal(WHOLE | {name: wrong}) == f"{name} is not a text"


@pytest.mark.parametrize("name", ["cwd", "lease", "environment", "errors"])
def test_a_text_of_a_revival_likewise(name: str) -> None:
    for wrong in (1, "", None):
        assert refusal(WHOLE | {"revival": REVIVAL | {name: wrong}}) == f"{name} is not a text"


@pytest.mark.parametrize(
    ("name", "wrong", "why"),
    [
        ("argv", [], "argv is not a list of texts"),
        ("argv", "true", "argv is not a list of texts"),
        ("argv", ["a", 1], "argv is not a list of texts"),
        ("env", [], "env is not an object of texts"),
        ("env", {"A": 1, "B": "x"}, "env is not an object of texts"),
        ("report", "r", "report is not an absolute path"),
        ("teamFolder", "t", "teamFolder is not an absolute path"),
        ("teamFolder", 1, "teamFolder is not an absolute path"),
        ("grace", True, "grace is not a number of seconds"),
        ("grace", "1", "grace is not a number of seconds"),
        ("grace", 1e6, "grace is not a number of seconds"),
        ("look", -0.1, "look is not a number of seconds"),
        ("gone", None, "gone is not a number of seconds"),
        ("revival", 1, "revival is not an object"),
        ("revival", REVIVAL | {"argv": []}, "argv is not a list of texts"),
        ("revival", REVIVAL | {"variables": None}, "env is not an object of texts"),
        ("revival", REVIVAL | {"patience": -1}, "patience is not a number of seconds"),
        ("revival", REVIVAL | {"jitter": ""}, "jitter is not a number of seconds"),
        ("terminal", [], "terminal is not an object"),
        ("terminal", TERMINAL | {"socket": "s"}, "socket is not an absolute path"),
        ("terminal", TERMINAL | {"library": "y"}, "library is not an absolute path"),
        ("terminal", TERMINAL | {"socket": ""}, "terminal is incomplete"),
        ("terminal", TERMINAL | {"library": ""}, "terminal is incomplete"),
        ("terminal", TERMINAL | {"columns": 1}, "terminal is incomplete"),
        ("terminal", TERMINAL | {"lines": 1.9}, "terminal is incomplete"),
        ("terminal", TERMINAL | {"columns": ""}, "columns is not a number of seconds"),
        ("terminal", TERMINAL | {"lines": -1}, "lines is not a number of seconds"),
        ("terminal", TERMINAL | {"scrollback": None}, "scrollback is not a number of seconds"),
    ],
)
def test_a_wrong_value_is_named(name: str, wrong: object, why: str) -> None:
    assert refusal(WHOLE | {name: wrong}) == why


@pytest.mark.parametrize("wrong", [None, [], "x", 1])
def test_a_launch_is_an_object(wrong: object) -> None:
    assert refusal(wrong) == "not an object"


@pytest.mark.parametrize("name", ["grace", "look", "gone"])
def test_numbers_of_seconds_may_be_small_and_large(name: str) -> None:
    for seconds in (0, 0.5, 1, 999_999):
        assert vars(launch.Launch(WHOLE | {name: seconds}))[name] == seconds


def test_the_least_terminal(tmp_path: Path) -> None:
    made = launch.Launch(WHOLE | {"terminal": TERMINAL | {"columns": 2, "lines": 2, "scrollback": 0}}).terminal
    assert made
    assert (made.columns, made.lines, made.scrollback) == (2, 2, 0)


def test_what_is_left_out_is_as_the_model_has_it() -> None:
    made = launch.Launch(WHOLE)
    for values, model in (
        (made, runtime.Launch),
        (made.revival, runtime.Revival),
        (made.terminal, runtime.Terminal),
    ):
        for field in msgspec.structs.fields(model):
            if field.default is not msgspec.NODEFAULT and field.name not in ("revival", "terminal"):
                assert getattr(values, field.name) == field.default, field.name
    short = launch.Launch({name: value for name, value in WHOLE.items() if value not in (REVIVAL, TERMINAL)})
    assert (short.revival, short.terminal) == (None, None)


def test_a_launch_file_is_taken_once_whatever_it_holds(tmp_path: Path) -> None:
    file = tmp_path / "x.start.json"
    file.write_bytes(msgspec.json.encode(WHOLE))
    assert launch.take(str(file)).agent_id == "ann"
    for bad in (b"", b"{", b"\xff", b"1"):
        file.write_bytes(bad)
        with pytest.raises(ValueError):
            launch.take(str(file))
        assert not file.exists()
    with pytest.raises(FileNotFoundError):
        launch.take(str(file))


def test_a_launch_file_is_a_file_of_some_size_and_no_link(tmp_path: Path) -> None:
    file, data = tmp_path / "x.start.json", msgspec.json.encode(WHOLE)
    file.write_bytes(data + b" " * (launch.LIMIT - len(data)))
    assert launch.take(str(file)).team == "band"
    file.write_bytes(data + b" " * (launch.LIMIT - len(data) + 1))
    with pytest.raises(ValueError) as raised:
        launch.take(str(file))
    assert str(raised.value) == f"more than {4 << 20} bytes"
    (tmp_path / "whole").write_bytes(data)
    file.symlink_to(tmp_path / "whole")
    with pytest.raises(OSError):
        launch.take(str(file))
    assert (tmp_path / "whole").exists()
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(ValueError):
        launch.take(str(file))
