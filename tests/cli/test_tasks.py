"""The task list from the command line."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from pro0.model.runtime import State
from pro0.ops.context import Context
from tests.cli.conftest import Pro0, become, seat
from tests.teams import set_state
from tests.waiting import STUCK

FIELDS = {"id", "title", "description", "status", "assignee", "dependencies", "claimedAt", "completedAt", "result"}


def told(pro0: Pro0, *arguments: str, stdin: str = "") -> Any:
    """Return what a command prints with --json."""
    called = pro0(*arguments, "--json", stdin=stdin)
    assert called.code == 0, called
    return json.loads(called.out)


def test_a_task_with_everything(pro0: Pro0, team: Context) -> None:
    """S004-036 S004-095"""
    pro0("task", "create", "first")
    pro0("task", "create", "above")
    text = "more\nthan one line"
    made = told(
        pro0,
        *("task", "create", "build it", "--run", "make", "--timeout", "60", "--blocked-by", "1", "--parent", "task-2"),
        *("--priority", "0", "--assignee", "W1", "--label", "a", "--label", "b", "-d", "-"),
        stdin=text + "\n",
    )
    assert made["id"] == "task-3"
    assert set(made) >= FIELDS
    assert (made["run"], made["timeout"], made["priority"], made["assignee"]) == ("make", 60, 0, "w1")
    assert (made["dependencies"], made["parent"], made["labels"]) == (["task-1"], "task-2", ["a", "b"])
    assert (made["description"], made["status"], made["createdBy"]) == (text, "pending", "human")


def test_a_life_of_a_task(pro0: Pro0, team: Context) -> None:
    """S004-050 S004-051 S004-039 AC-63"""
    pro0("task", "create", "one")
    pro0("task", "create", "two", "--blocked-by", "1")
    assert pro0("task", "ready", "-o", "name").out == "task-1\n"
    assert told(pro0, "task", "next")["id"] == "task-1"
    claimed = told(pro0, "task", "claim", "1")
    assert (claimed["status"], claimed["assignee"], claimed["claim"]["epoch"]) == ("in_progress", "human", 1)
    again = pro0("task", "claim", "task-1")
    assert again.code == 4
    assert "claimed by human" in again.err
    done = told(pro0, "task", "complete", "1", "-", stdin="all\ngood\n")
    assert (done["status"], done["result"]) == ("completed", "all\ngood")
    assert done["completedAt"].endswith("Z")
    assert pro0("task", "ready", "-o", "name").out == "task-2\n"


def test_the_other_ways_to_end(pro0: Pro0, team: Context) -> None:
    for number in range(1, 5):
        pro0("task", "create", f"t{number}")
        pro0("task", "claim", str(number))
    assert told(pro0, "task", "release", "1", "not mine")["status"] == "pending"
    assert told(pro0, "task", "fail", "2", "broken")["closedReason"] == "broken"
    assert told(pro0, "task", "cancel", "3", "unwanted")["status"] == "cancelled"
    assert told(pro0, "task", "reopen", "3")["status"] == "pending"
    assert pro0("task", "delete", "4").code == 4
    assert told(pro0, "task", "delete", "4", "--force")["id"] == "task-4"
    assert pro0("task", "list", "-o", "name").out.split() == ["task-1", "task-3", "task-2"]


ALIASES = [("add", "create x"), ("done", "complete 1"), ("note", "comment 1 x"), ("get", "show 1"), ("rm", "delete 1")]


@pytest.mark.parametrize(("alias", "command"), ALIASES)
def test_the_verbs_of_the_documents(alias: str, command: str, pro0: Pro0, team: Context) -> None:
    pro0("task", "create", "one")
    if alias == "done":
        pro0("task", "claim", "1")
    assert pro0("task", alias, *command.split()[1:]).code == 0


def test_a_person_ticks_a_task_off_with_one_command(pro0: Pro0, team: Context) -> None:
    """s004: also one that nobody has claimed."""
    pro0("task", "create", "one")
    assert told(pro0, "task", "done", "1")["status"] == "completed"


def test_show_says_all(pro0: Pro0, team: Context) -> None:
    pro0("task", "create", "one", "-d", "two\nlines")
    pro0("task", "create", "above")
    pro0("task", "create", "two", "--blocked-by", "1", "--parent", "2")
    pro0("task", "comment", "3", "a \x1b[31m remark")
    shown = pro0("task", "show", "3").out
    for part in ("task-3", "task-2", "two", "pending", "blocked: task-1 is pending", "a \\x1b[31m remark", "task-1"):
        assert part in shown
    look = told(pro0, "task", "show", "3")
    assert look["whyNotReady"] == "is blocked: task-1 is pending"
    assert look["remarks"][0]["text"] == "a \x1b[31m remark"
    assert told(pro0, "task", "show", "1")["whyNotReady"] is None
    assert "task-3" in pro0("task", "show", "2").out


def test_filters(pro0: Pro0, team: Context) -> None:
    pro0("task", "create", "one", "--label", "a", "--assignee", "w1")
    pro0("task", "create", "two", "--label", "b")
    pro0("task", "claim", "2")
    names: dict[str, list[tuple[str, ...]]] = {
        "task-1\n": [("--label", "a"), ("--assignee", "W1"), ("--status", "pending"), ("--status", "failed,pending")],
        "task-2\n": [("--label", "b"), ("--assignee", "human"), ("--status", "in_progress", "--status", "done")],
        "": [("--label", "c"), ("--assignee", "w2"), ("--status", "failed,done")],
    }
    for expected, filters in names.items():
        for chosen in filters:
            assert pro0("task", "list", *chosen, "-o", "name").out == expected
    assert pro0("task", "list", "--assignee", "nobody").code == 3
    wrong = pro0("task", "list", "--status", "failed,lost")
    assert (wrong.code, wrong.err.splitlines()[0]) == (2, "pro0: a task is never 'lost'")
    assert "pending, in_progress" in wrong.err


def test_nothing_is_null_and_exit_0(pro0: Pro0, team: Context) -> None:
    """AC-21"""
    assert told(pro0, "task", "next") is None
    assert told(pro0, "task", "list") == told(pro0, "task", "ready") == told(pro0, "task", "tree") == []
    called = pro0("task", "next")
    assert (called.code, called.out, called.err) == (0, "", "no task is ready\n")


def test_assign(pro0: Pro0, team: Context) -> None:
    """S004-024"""
    pro0("task", "create", "one")
    assert told(pro0, "task", "assign", "1", "w2")["assignee"] == "w2"
    assert told(pro0, "task", "assign", "1", "--nobody")["assignee"] is None
    for arguments in (["1"], ["1", "w1", "--nobody"]):
        assert pro0("task", "assign", *arguments).code == 2
    seat(team, "gone", State.CRASHED)
    assert pro0("task", "assign", "1", "gone").code == 3


def test_update(pro0: Pro0, team: Context) -> None:
    pro0("task", "create", "one", "--label", "old")
    pro0("task", "create", "two")
    fields = "--title new --description - --run true --timeout 5 --priority 1 --label x --add-dependency 2"
    changed = told(pro0, "task", "update", "1", *fields.split(), stdin="text")
    assert (changed["title"], changed["description"], changed["run"], changed["priority"]) == ("new", "text", "true", 1)
    assert (changed["labels"], changed["dependencies"]) == (["x"], ["task-2"])
    assert told(pro0, "task", "update", "1", "--drop-dependency", "2")["dependencies"] == []
    assert pro0("task", "update", "1").code == 2
    pro0("task", "update", "1", "--add-dependency", "2")
    cycle = pro0("task", "update", "2", "--add-dependency", "1")
    assert cycle.code == 4
    assert "task-1 → task-2 → task-1" in cycle.err or "task-2 → task-1 → task-2" in cycle.err


def test_tree(pro0: Pro0, team: Context) -> None:
    pro0("task", "create", "root", "--type", "epic")
    pro0("task", "create", "child", "--parent", "1")
    pro0("task", "create", "grandchild", "--parent", "2")
    pro0("task", "create", "child two", "--parent", "1")
    lines = pro0("task", "tree").out.splitlines()
    assert [line[: line.index("task-") + 6] for line in lines] == ["task-1", "├─ task-2", "│  └─ task-3", "└─ task-4"]
    nested = told(pro0, "task", "tree", "2")
    assert nested[0]["children"][0]["id"] == "task-3"
    assert pro0("task", "tree", "9").code == 3


def test_a_member_acts_as_itself(pro0: Pro0, team: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """S004-028 S004-030: identity by environment, from any directory."""
    pro0("task", "create", "one")
    pro0("task", "create", "two", "--assignee", "w2")
    become(monkeypatch, team, "w1")
    monkeypatch.chdir("/")
    assert told(pro0, "task", "claim", "1")["claim"]["agentId"] == "w1"
    reserved = pro0("task", "claim", "2")
    assert reserved.code == 4
    assert "reserved for w2" in reserved.err
    assert pro0("task", "reopen", "1").code == 4
    assert pro0("task", "update", "1", "--title", "x").code == 4
    held = pro0("task", "create", "mine", "--run", "rm -rf /")
    assert "waits for a human" in held.out, "rulings 2.9"
    assert told(pro0, "task", "complete", "1", "done")["status"] == "completed"


def test_a_session_that_is_over_changes_nothing(pro0: Pro0, team: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    pro0("task", "create", "one")
    become(monkeypatch, team, "w1")
    set_state(team.team, "w1", State.IDLE, incarnation="a-newer-one")
    called = pro0("task", "claim", "1")
    assert called.code == 4
    assert "has expired" in called.err


def test_paused_means_nobody_claims(pro0: Pro0, team: Context) -> None:
    pro0("task", "create", "one")
    assert pro0("team", "pause").code == 0
    assert pro0("task", "claim", "1").code == 4
    assert json.loads(pro0("team", "status", "--json").out)["paused"] is True
    assert pro0("team", "unpause", "alpha").code == 0
    assert pro0("task", "claim", "1").code == 0


def test_text_of_others_is_shown_harmlessly(pro0: Pro0, team: Context) -> None:
    """Check 34: nothing that a terminal obeys, in every command that shows a task."""
    evil = "\x1b]52;c;aGk=\x07 \x9b2J \u202eabc \u200b"
    pro0("task", "create", evil, "-d", evil, "--label", evil, "--assignee", "w1")
    pro0("task", "comment", "1", evil)
    pro0("task", "claim", "1")
    pro0("task", "fail", "1", evil)
    for command in ("task list", "task show 1", "task tree", "team status", "team wait", "team logs", "task reopen 1"):
        for more in ((), ("--json",)):
            called = pro0(*command.split(), *more)
            for character in "\x1b\x07\x9b\u202e\u200b":
                assert character not in called.out + called.err, (command, more)


def test_of_ten_processes_one_gets_the_task(pro0: Pro0, team: Context) -> None:
    """Must show 8, AC-61: the losers are told who holds it."""
    pro0("task", "create", "one")
    argv = [sys.executable, "-m", "pro0", "task", "claim", "1"]
    racing = [subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(10)]
    said = [process.communicate(timeout=STUCK)[1] for process in racing]
    codes = sorted(process.returncode for process in racing)
    assert codes == [0] + [4] * 9, said
    assert sum("claimed by human" in text for text in said) == 9


@pytest.mark.usefixtures("team")
@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (("--label", "team,worker:alice"), ["team", "worker:alice"]),
        (("--labels", " team , ,x "), ["team", "x"]),
        (("--label", "a,b", "--labels", "c"), ["a", "b", "c"]),
        (("--label", ","), [","]),
    ],
)
def test_labels_are_split_at_commas(given: tuple[str, ...], kept: list[str], pro0: Pro0, tmp_path: Path) -> None:
    """M5, S001-089, S002-076: on the command line, in files, and where tasks are looked for."""
    made = json.loads(pro0("task", "create", "x", *given, "--json").out)
    assert made["labels"] == kept
    changed = json.loads(pro0("task", "update", made["id"], *given, "--json").out)
    assert changed["labels"] == kept
    assert pro0("task", "list", "--label", ",".join(kept), "-o", "name").out == f"{made['id']}\n"
    assert pro0("task", "list", "--label", ",".join([*kept, "other"]), "-o", "name").out == ""
    (tmp_path / "tasks.yaml").write_text("- {title: y, labels: 'a, b'}\n- {title: z, labels: ['a, b']}\n")
    written = json.loads(pro0("task", "create", "-f", str(tmp_path / "tasks.yaml"), "--json").out)
    assert [task["labels"] for task in written] == [["a", "b"], ["a, b"]]


def test_a_task_that_nobody_there_can_do_is_said_when_it_is_made_or_assigned(pro0: Pro0, team: Context) -> None:
    """ux 13, s004: shells run only commands; nothing is said where somebody can, or where nobody is there yet."""
    said = pro0("task", "create", "look around").err
    assert (
        "Warning: no member here can do task-1: a shell runs only commands (--run); start a member that can: " in said
    )
    assert "Warning" not in pro0("task", "create", "build it", "--run", "make").err
    assert "Warning" not in pro0("task", "create", "all of it", "--type", "epic").err
    assert "Warning: w1 cannot do task-1: a shell runs only commands" in pro0("task", "assign", "1", "w1").err
    assert "Warning" not in pro0("task", "assign", "1", "--nobody", "--json").out
    seat(team, "ada")
    with team.team.wanted.change("a test") as wanted:
        seats = [replace(one, agent="claude") if one.agent_id == "ada" else one for one in wanted.value.seats]
        wanted.value = replace(wanted.value, seats=tuple(seats))
    assert "Warning" not in pro0("task", "create", "look around again").err
    assert "Warning: w1 cannot do task-5" in pro0("task", "create", "look", "--assignee", "w1").err
    for member in ("w1", "w2", "ada"):
        set_state(team.team, member, State.CRASHED)
    assert "Warning" not in pro0("task", "create", "nobody is here").err


def test_how_to_tell_that_it_is_done_is_said_when_it_is_made_or_changed(pro0: Pro0, team: Context) -> None:
    assert pro0("task", "create", "parse", "--acceptance", "make test passes").code == 0
    assert json.loads(pro0("task", "show", "1", "--json").out)["acceptance"] == "make test passes"
    assert pro0("task", "update", "1", "--acceptance", "both formats are read").code == 0
    assert json.loads(pro0("task", "show", "1", "--json").out)["acceptance"] == "both formats are read"
