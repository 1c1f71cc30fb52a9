"""What is shown: harmless, aligned, fitting the terminal."""

import json
import os
import pty
import select
import subprocess
import sys
import time
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pro0.cli import output
from pro0.model.task import Task
from pro0.ops.context import Context
from pro0.rules.text import visible
from tests.cli.conftest import Pro0, seat
from tests.waiting import STUCK


def on_terminal(*arguments: str, columns: int = 80, **environment: str) -> str:
    """Return what the program writes to a terminal of its own, so many columns wide."""
    main, side = pty.openpty()
    size = {"COLUMNS": str(columns), "LINES": "24", "TERM": "xterm"}
    program = subprocess.Popen(
        [sys.executable, "-m", "pro0", *arguments],
        stdin=side,
        stdout=side,
        stderr=side,
        env=os.environ | size | environment,
    )
    os.close(side)
    data, deadline = b"", time.monotonic() + 60
    while time.monotonic() < deadline and select.select([main], [], [], 60)[0]:
        try:
            piece = os.read(main, 65536)
        except OSError:  # the other side is closed
            break
        if not piece:
            break
        data += piece
    os.close(main)
    program.wait(STUCK)
    return data.decode()


@given(st.text(st.characters()))
def test_nothing_that_a_terminal_obeys(text: str) -> None:
    """Check 33, check 34"""
    for character in visible(text):
        assert character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    assert "\n" not in output.line(text)


@pytest.mark.parametrize("text", ["plain", "ü ß 日本 🎉", "a\nb\tc", "\u3000wide space"])
def test_harmless_text_stays(text: str) -> None:
    assert visible(text) == text


@given(st.text())
def test_json_keeps_every_character_without_showing_it(text: str) -> None:
    shown = output.json_text({"text": text})
    assert json.loads(shown) == {"text": text}
    for character in "\x1b\x9b\u202e\u200b\u2066\ufeff\x7f":
        assert character not in shown


def test_json_has_every_field() -> None:
    """Fields that are at their default are there too: scripts need not know the defaults."""
    fields = json.loads(output.json_text(Task(id="task-1")))
    assert fields["status"] == "pending"
    assert fields["dependencies"] == []
    assert fields["assignee"] is None


@pytest.mark.parametrize("columns", [20, 40, 60, 80])
def test_a_table_fits_the_terminal(columns: int, pro0: Pro0, team: Context) -> None:
    pro0("task", "create", "a long title, " * 20, "--assignee", "w1")
    pro0("task", "create", "日本語" * 30, "--blocked-by", "1")
    shown = on_terminal("task", "list", columns=columns, NO_COLOR="1")
    for line in shown.splitlines():
        wide = sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in line)
        assert wide <= columns or line.startswith("hint: "), line
    assert "…" in shown


def test_a_title_is_read_beside_what_a_task_waits_for(pro0: Pro0, team: Context) -> None:
    """In 80 columns, with a reason as long as the title."""
    pro0("task", "create", "make the colours of the shop", "--awaiting", "input")
    pro0("task", "create", "make the prices of the shop", "--requires", "review")
    pro0("task", "claim", "2")
    pro0("task", "complete", "2", "made")
    pro0("task", "create", "make the names of the shop")
    pro0("task", "update", "3", "--awaiting", "input", "which of all the names that we spoke of is it to be?")
    shown = on_terminal("task", "list", NO_COLOR="1")
    for said in ("colours of", "awaiting input", "prices of", "awaiting review", "names of", "awaiting input: w"):
        assert said in shown
    assert "Work complete" not in shown


def test_columns_that_nobody_needs_are_left_out_on_a_terminal(pro0: Pro0, team: Context) -> None:
    assert "MODE" not in on_terminal("team", "status")
    pro0("send", "w1", "hello")
    assert "UNREAD" in on_terminal("team", "status")
    assert "MODE" in pro0("team", "status").out


def test_a_pipe_gets_everything(pro0: Pro0, team: Context) -> None:
    title = "a long title, " * 20
    pro0("task", "create", title)
    assert title.strip() in pro0("task", "list").out


def test_colour_only_where_it_is_wanted(pro0: Pro0, team: Context) -> None:
    assert "\x1b[" in on_terminal("member", "list")
    assert "\x1b" not in on_terminal("member", "list", NO_COLOR="1")
    assert "\x1b" not in on_terminal("member", "list", TERM="dumb")
    assert "\x1b" not in pro0("member", "list").out


def test_a_person_at_a_terminal_is_reminded(pro0: Pro0, team: Context) -> None:
    """rulings 3.8"""
    pro0("send", "human", "hello.")
    assert "hint: 1 unread message from you: hello: pro0 needs" in on_terminal("task", "list")
    assert "hint:" not in on_terminal("inbox")
    assert "hint:" not in on_terminal("task", "list")


def test_reminders_are_short_and_name_the_team_that_was_named(pro0: Pro0, team: Context) -> None:
    """With several teams in a project `pro0 inbox` alone would be refused."""
    pro0("send", "human", "hello")
    for number in range(7):
        pro0("task", "create", f"ask {number}", "--awaiting", "input")
    pro0("task", "cancel", "1")
    shown = on_terminal("member", "list", "-t", "alpha")
    assert shown.count("hint: ") == 1
    assert "hint: task-2 waits for you (input): ask 1, and 6 more: pro0 needs -t alpha" in shown


def test_a_waiting_person_sees_progress(pro0: Pro0, team: Context) -> None:
    pro0("task", "create", "one")
    pro0("task", "claim", "1")
    assert "1 in progress" in on_terminal("team", "wait", "--timeout", "0.5").partition("\x1b[K")[2]


def test_wide_and_narrow_names_line_up(pro0: Pro0, team: Context) -> None:
    seat(team, "a-very-long-name-of-a-member-indeed")
    lines = pro0("member", "list").out.splitlines()
    column = lines[0].index("STATE")
    assert {line[column : column + 4] for line in lines[1:]} == {"idle"}


def test_the_output_of_any_encoding(team: Context, pro0: Pro0, tmp_path: Path) -> None:
    pro0("task", "create", "日本 ü")
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    done = subprocess.run(
        [sys.executable, "-m", "pro0", "task", "list"], capture_output=True, env=environment, timeout=STUCK
    )
    assert done.returncode == 0
    assert b"\\u65e5" in done.stdout


@pytest.mark.parametrize(
    "words",
    ["send w1 -", "task create new -d -", "task create -f -", "task comment 1 -", "rpc task.show -", "task fail 1 -"],
)
def test_a_stdin_that_cannot_be_read_is_said(team: Context, pro0: Pro0, tmp_path: Path, words: str) -> None:
    """Here a file to write alone; of a folder Python itself says so, before any program begins."""
    pro0("task", "create", "one")
    with (tmp_path / "file").open("wb") as stdin:
        command = [sys.executable, "-m", "pro0", *words.split()]
        done = subprocess.run(command, stdin=stdin, capture_output=True, text=True, timeout=STUCK)
    hint = "hint: give a file or a pipe that can be read: < FILE\n"
    assert (done.returncode, done.stdout, done.stderr) == (
        2,
        "",
        f"pro0: stdin cannot be read: Bad file descriptor\n{hint}",
    )
