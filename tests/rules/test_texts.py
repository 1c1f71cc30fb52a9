"""What agents are told names only what exists (issue: skill and prompts)."""

import re
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from pro0.model.runtime import SeatState, State
from pro0.model.task import Task
from pro0.model.team import PlanGate
from pro0.ops.context import clock
from pro0.rules.words import assignment, prompts
from pro0.rules.words.assignment import Assignment, Told
from pro0.rules.words.presets import PRESETS
from pro0.rules.words.skill import NAME, SKILL
from pro0.rules.words.welcome import Welcome, first_prompt
from tests.cli.conftest import commands as cli_commands

WELCOME = Welcome(team="alpha", agent_id="ada", project="/src", others=("ben", "cleo"), prompt="Build {it}.")
SESSION = SeatState(
    agent_id="ada", generation=1, incarnation="inc-1", state=State.WAITING, since=clock(), started_at=clock()
)
ASSIGNMENT = Assignment(
    team="alpha",
    agent_id="engineer-t2",
    project="/src",
    task=Task(id="task-2", title="the parser", description="Write {it}.", parent="task-1", acceptance="it parses"),
    role_name="Engineer",
    role_prompt="You write code.",
    above=(Told("manager-t1", "use\nyaml"),),
    before=(Told("t2, fail", "no compiler"),),
    answers=(Told("human", "once more, with tests"),),
)
TEXTS = {
    "a teammate": first_prompt(WELCOME, leads=False),
    "a planner": first_prompt(replace(WELCOME, plans=True, plan="first this"), leads=False),
    "a plan": prompts.plan_request("ada", PlanGate(id="abc", text="first this")),
    "a verdict": prompts.plan_rejected("why?"),
    "a session for one task": assignment.first_prompt(ASSIGNMENT),
    **{f"the role {role.id}": f"{role.prompt} `pro0 role list`" for role in PRESETS.roles},
    "a reminder": prompts.owes_a_word(ASSIGNMENT.task),
    "a lead agent": first_prompt(WELCOME, leads=True),
    "the skill": SKILL,
    "unread mail": prompts.unread_line(2),
    "ready tasks": prompts.ready_line(2),
    "a shutdown": prompts.shutdown_request("the work is done"),
    "a permission": f"`{prompts.needs_a_person(SESSION, prompts.LOST).rpartition('look: ')[2]}`",
    "the limit": f"`{prompts.spent(9, 10).rpartition('see ')[2]}`",
}


def commands(text: str) -> Iterator[list[str]]:
    for code in re.findall(r"`(pro0 [^`]+)`", text.replace("\n", " ")):
        yield code.split()[1:]


EVERY = dict(cli_commands())


def options(words: list[str]) -> set[str]:
    """The options of the longest command that words begin with; fails when there is none."""
    names = [" ".join(["pro0", *words[:length]]) for length in (2, 1)]
    name = next((name for name in names if name in EVERY), None)
    assert name, f"there is no {names[0]}"
    return {option for parameter in EVERY[name].params for option in parameter.opts}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_every_command_that_is_named_exists_with_its_options(text: str) -> None:
    """AC-60"""
    named = list(commands(text))
    assert named
    for words in named:
        assert {word for word in words if word.startswith("-")} <= options(words), words


def test_a_session_for_one_task_begins_with_all_it_needs() -> None:
    """S000-044, S000-045, S000-064, S000-102, S000-124, AC-60: base prompt, role, task, the board, a person's words."""
    text = assignment.first_prompt(ASSIGNMENT)
    order = ["TASK_ID=task-2", "PARENT_TASK_ID=task-1", "You write code.", "manager-t1: use yaml", "human: once more"]
    order += ["task-2: the parser", "Write {it}.", "it parses"]
    assert [text.index(word) for word in order] == sorted(text.index(word) for word in order)
    assert "no person" not in text
    root = replace(
        ASSIGNMENT,
        task=Task(id="task-1", title="all of it"),
        above=(),
        before=(),
        answers=(),
        role_name="",
        role_prompt="",
    )
    bare = assignment.first_prompt(root)
    assert "PARENT_TASK_ID" not in bare
    assert bare.endswith("Your task, task-1: all of it\nall of it")
    assert "Your role" not in bare


def test_a_first_prompt_says_who_and_what() -> None:
    text = first_prompt(WELCOME, leads=False)
    assert all(word in text for word in ("ada", "alpha", "/src", "ben, cleo", "Build {it}."))
    assert "asked to do" not in first_prompt(Welcome(team="alpha", agent_id="ada", project="/src"), leads=False)


def test_who_has_a_worktree_is_told_its_branch() -> None:
    """Rulings 3.20: else it would not know that nobody else edits its files, and where its commits go."""
    text = first_prompt(replace(WELCOME, branch="teams/alpha/ada"), leads=False)
    assert "on the branch teams/alpha/ada;" in text
    assert text.index("worktree of your own") < text.index("Build {it}.")
    assert "worktree of your own" not in first_prompt(WELCOME, leads=False)


@pytest.mark.parametrize(
    ("branch", "said"),
    [
        ("", "the folder /src is not here, nor is the others' work. "),
        ("teams/alpha/ada", "the folder /src is not here, but this folder has a copy of its code. "),
    ],
)
def test_who_works_on_another_machine_is_told_where_the_team_and_its_code_are(branch: str, said: str) -> None:
    text = first_prompt(replace(WELCOME, host="buildbox", branch=branch), leads=False)
    assert f"You are on buildbox, another machine than the team's: {said}" in text.replace("\n", " ")
    assert text.index("another machine") < text.index("Build {it}.")
    assert "another machine" not in first_prompt(replace(WELCOME, branch=branch), leads=False)


def test_the_parts_of_a_first_prompt_come_in_this_order() -> None:
    whole = replace(
        WELCOME, delegates=True, host="buildbox", branch="b", plans=True, role="You test.", plan="first this"
    )
    parts = first_prompt(whole, leads=True).split("\n\n")
    starts = ["Leave the work", "You are on buildbox, another machine", "You have a git worktree",
              "First you plan", "Your role:\nYou test.", "What you are asked to do:\nBuild {it}.",
              "Your plan, which was approved"]  # fmt: skip
    assert [part.startswith(start) for part, start in zip(parts[-7:], starts, strict=True)] == [True] * 7
    assert "The others are: ben, cleo." in parts[0]
    alone = first_prompt(Welcome(team="alpha", agent_id="ada", project="/src"), leads=False)
    assert "\nsession of its own. You are the first one here.\n" in alone
    assert alone.endswith("\n\nBegin with `pro0 inbox`, then `pro0 task next`.")
    assert first_prompt(WELCOME, leads=True).startswith("You are the lead agent of the team alpha, ")
    assert first_prompt(WELCOME, leads=False).startswith("You are ada, a teammate in the team alpha. ")


def test_a_lead_agent_that_delegates_is_told_to_change_no_file() -> None:
    delegating = Welcome(team="alpha", agent_id="lead", project="/src", delegates=True)
    assert "change no file" in first_prompt(delegating, leads=True)
    assert "change no file" not in first_prompt(WELCOME, leads=True)


def test_the_skill_has_the_head_that_agents_look_for() -> None:
    head = SKILL.split("---\n")[1]
    assert f"name: {NAME}\n" in head
    assert "description: " in head


def test_what_is_put_into_a_pane_is_one_printable_line() -> None:
    assert all(line.isprintable() for line in (prompts.unread_line(1), prompts.ready_line(1)))
