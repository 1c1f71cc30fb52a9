"""What each command prints with --json fits docs/outputs.json, which is made of the types (issue 18, must show 2)."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from msgspec.structs import replace

from pro0.model.caller import Caller, Who
from pro0.model.need import AskedPermission
from pro0.model.task import Awaiting, Draft
from pro0.model.team import PlanGate
from pro0.ops import permissions
from pro0.ops.context import Context
from pro0.ops.tasks import tasks
from pro0.ops.team import plan_approval
from tests.cli.conftest import Pro0, commands
from tests.conftest import Result
from tests.crash.lanes import a_few
from tests.repositories import repository_in
from tools import outputs

SCHEMA = json.loads(outputs.FILE.read_text(encoding="utf-8"))
TYPED = """
team list|team list --archived|team status|team show|team cost|team wait --timeout 0|team pause|team unpause
member list|member show w1|member env w1|member grants|member revoke w1
task create a|task create -f tasks.yaml|task list|task show 1|task ready|task blocked|task next|task next --awaiting
task tree|task claim 1|task assign 1 w1|task comment 1 hello|task update 1 --title b|task block 1 2|task unblock 2 1
task cancel 1|task delete 1 --force|task import .|import .
role list|role show engineer|role add tester --prompt test|role edit engineer --prompt x|role remove engineer
worker list|needs|diff w1|send w1 hello|broadcast hello|inbox|inbox --all|inbox --sent|web devices|agent list
agent explain claude --title x|config|config --long|config get bell|doctor|uninstall --show
"""
WORDS = [line.split() for line in TYPED.replace("\n", "|").split("|") if line.strip()]
AFTER_CLAIM = ["release 1 x", "complete 1 done", "fail 1 why"]
AFTER_FAILURE = ["retry 1", "close 1", "reopen 1"]
WAITING = ["approve 3", "reject 3 no"]
ELSEWHERE = {
    "host join": "tests/e2e/test_shared_team.py, with a database",
    "host list": "there",
    "team start": "below, with a real team",
    "team stop": "below",
    "team resume": "below",
    "member spawn": "below",
    "member restart": "below",
    "member shutdown": "below",
    "worker show": "below",
    "worker logs": "below",
    "member peek": "below",
    "delegate": "below",
    "task start": "below",
    "task continue": "below",
    "member approve-plan": "below",
    "member reject-plan": "below",
    "member answer": "below",
    "member forget": "tests/e2e/test_hosts.py",
    "agent prove": "tests/cli/test_prove.py",
    "demo": "tests/scenarios/test_demo.py",
}


def name_of(words: list[str]) -> str:
    two = " ".join(words[:2])
    return two if two in SCHEMA["properties"] else words[0]


def fits(words: list[str], printed: str) -> None:
    jsonschema.validate({name_of(words): json.loads(printed)}, SCHEMA)


@pytest.fixture
def world(team: Context, project: Path, scripts: None) -> Context:
    repository_in(project)
    (project / "tasks.yaml").write_text("- title: one\n- title: two\n")
    (project / ".tickets").mkdir()
    (project / ".tickets" / "a-1.md").write_text("---\nid: a-1\nstatus: open\ndeps: []\n---\n# one\n")
    tasks.create(team, [Draft(title="one"), Draft(title="two"), Draft(title="three", awaiting=Awaiting.REVIEW)])
    tasks.create(team, [Draft(title="below", parent="task-2")])
    return team


def test_the_document_is_current() -> None:
    assert outputs.text() == outputs.FILE.read_text(encoding="utf-8"), "make schemas"


def test_it_has_every_command_with_json_and_no_other() -> None:
    printing = {
        name.removeprefix("pro0 ")
        for name, command in commands()
        if not command.hidden and any(parameter.name == "as_json" for parameter in command.params)
    }
    assert printing == {*outputs.OUTPUTS, *outputs.LINES} == set(SCHEMA["properties"])
    acts = [f"task {words.split()[0]}" for words in (*AFTER_CLAIM, *AFTER_FAILURE, *WAITING)]
    assert {*map(name_of, WORDS), *acts, *ELSEWHERE} == set(outputs.OUTPUTS)


def test_the_help_of_a_command_names_every_key() -> None:
    """Of what is one object or a list of one kind; keys within keys are left out here."""
    said = {name.removeprefix("pro0 "): " ".join((command.help or "").split()) for name, command in commands()}
    shapes = {name: re.search(r"--json prints (?:a list of )?(\{.*)", text) for name, text in said.items()}
    named = {name: _outermost(shape[1]) for name, shape in shapes.items() if shape and name in SCHEMA["properties"]}
    assert len(named) > 15
    assert named == {name: _keys(SCHEMA["properties"][name]) for name in named}


def _outermost(shape: str) -> set[str]:
    """Return the keys of the braces that a text begins with."""
    depth, words = 0, ""
    for letter in shape:
        depth += (letter in "{[") - (letter in "}]")
        if not depth:
            break
        words += letter if depth == 1 else ""
    return {key.strip("{}[]: ").split()[0].rstrip(":") for key in words.split(",")}


def _keys(shape: dict[str, Any]) -> set[str]:
    """Return the keys of an object, or of those in a list; of several kinds the first counts."""
    if "$ref" in shape:
        return _keys(SCHEMA["$defs"][shape["$ref"].rpartition("/")[2]])
    inner = shape.get("items") or next(iter(shape.get("anyOf", [])), None)
    return _keys(inner) if inner else set(shape["properties"])


@pytest.mark.parametrize("words", a_few(WORDS, 20), ids=" ".join)
def test_what_is_printed_fits(words: list[str], pro0: Pro0, world: Context) -> None:
    for before in ["member env w1"] if words[:2] == ["member", "revoke"] else []:
        assert pro0(*before.split()).code == 0
    if words[:2] == ["task", "unblock"]:
        assert pro0("task", "block", "2", "1").code == 0
    called = pro0(*words, "--json")
    assert called.code in (0, 1, 4, 124), called
    assert called.out, called
    fits(words, called.out)


@pytest.mark.parametrize("act", [*AFTER_CLAIM, *AFTER_FAILURE, *WAITING])
def test_a_task_is_printed_after_each_act(act: str, pro0: Pro0, world: Context) -> None:
    if act not in WAITING:
        assert pro0("task", "claim", "1").code == 0
    if act in AFTER_FAILURE:
        assert pro0("task", "fail", "1", "why").code == 0
    called = pro0("task", *act.split(), "--json")
    assert called.code == 0, called
    fits(["task", *act.split()], called.out)


@pytest.mark.parametrize("act", ["approve-plan w1", "reject-plan w1 no"])
def test_a_plan_is_printed_after_each_verdict(act: str, pro0: Pro0, world: Context) -> None:
    with world.team.wanted.change("ask for a plan") as change:
        first, *others = change.value.seats
        change.value = replace(change.value, seats=(replace(first, gate=PlanGate()), *others))
    plan_approval.submit(session(world), "first this")
    called = pro0("member", *act.split(), "--json")
    assert called.code == 0, called
    fits(["member", *act.split()], called.out)


def test_a_request_is_printed(pro0: Pro0, world: Context) -> None:
    asked = AskedPermission(key="k", tool="Bash", input='{"command": "make"}')
    called = pro0("member", "answer", permissions.ask(session(world), asked).id, "--json")
    assert called.code == 0, called
    fits(["member", "answer"], called.out)


def test_a_task_that_goes_on_in_its_session_is_printed(pro0: Pro0, world: Context) -> None:
    tasks.claim(session(world), "task-1")
    tasks.fail(session(world), "task-1", "why")
    called = pro0("task", "continue", "1", "--json")
    assert called.code == 0, called
    fits(["task", "continue"], called.out)


def session(world: Context) -> Context:
    """The context of the session of w1."""
    state = next(state for state in world.team.runtime.read().seats if state.agent_id == "w1")
    return Context(world.team, Caller(Who.MEMBER, "w1", state.incarnation))


def test_each_line_fits(pro0: Pro0, world: Context, cli: Callable[..., Result]) -> None:
    for words in ("team logs", "events"):
        lines = pro0(*words.split(), "--json").out.splitlines()
        assert len(lines) > 3
        for line in lines:
            fits(words.split(), line)
    watching = [sys.executable, "-m", "pro0", "task", "watch", "--json"]
    with subprocess.Popen(watching, stdout=subprocess.PIPE, text=True) as watch:
        assert watch.stdout
        try:
            fits(["task", "watch"], watch.stdout.readline())
            tasks.create(world, [Draft(title="four")])
            fits(["task", "watch"], watch.stdout.readline())
            tasks.delete(world, "task-5")
            fits(["task", "watch"], watch.stdout.readline())
        finally:
            watch.terminate()


@pytest.mark.soak
def test_a_real_team_prints_what_fits(cli: Callable[..., Result], home: Path, project: Path) -> None:
    repository_in(project)
    steps = [
        "team start alpha --mode headless -m w1=shell",
        "member spawn w2 --agent shell",
        "member show w2",
        "member peek w2",
        "delegate x --agent shell --run true",
        "member shutdown w2",
        "member restart w2",
        "worker show 1",
        "worker logs 1",
        "team wait --timeout 60",
        "worker list --all",
        "task create big --policy supervised",
        "task start 2 --agent shell",
        "team stop --force",
        "team resume",
    ]
    try:
        for step in steps:
            called = cli(*step.split(), "--json")
            assert called.out, (step, called)
            fits(step.split(), called.out)
        ran = cli("run", "--json", "--all", "--auto", "--", "true")
        assert len(ran.out.splitlines()) > 1, ran
        for line in ran.out.splitlines():
            fits(["run"], line)
    finally:
        cli("team", "cleanup", "alpha", "--force")


@pytest.mark.parametrize("value", [{}, [{"id": 1}], "text"])
def test_what_does_not_fit_is_noticed(value: Any) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"task show": value}, SCHEMA)
