"""The part of a first prompt that is for its session alone."""

import pytest
from msgspec.structs import replace

from pro0.rules.words import assignment, welcome
from pro0.rules.words.asked import asked
from pro0.rules.words.assignment import Assignment, Told
from pro0.rules.words.welcome import Welcome
from tests.rules.building import task

TASK = task(1, description="Split the lexer out.\n\nKeep its tests.")
ASSIGNMENT = Assignment(
    team="alpha",
    agent_id="t1",
    project="/src",
    task=TASK,
    role_prompt="You write tests.",
    before=[Told("w1", "half of it is there")],
    answers=[Told("human", "go on")],
)
WELCOME = Welcome(team="alpha", agent_id="w1", project="/src", role="You write tests.", prompt="Read the lexer.")


def test_a_task_is_what_its_session_is_asked_to_do() -> None:
    """S000-044."""
    told = asked(assignment.first_prompt(ASSIGNMENT))
    assert told == "Your task, task-1: title 1\nSplit the lexer out.\n\nKeep its tests."
    accepted = replace(ASSIGNMENT, task=replace(TASK, acceptance="all pass"))
    assert asked(assignment.first_prompt(accepted)) == f"{told}\n\nIt is done when:\nall pass"


@pytest.mark.parametrize("leads", [True, False])
def test_instructions_are_what_a_member_is_asked_to_do(leads: bool) -> None:
    assert asked(welcome.first_prompt(WELCOME, leads=leads)) == "What you are asked to do:\nRead the lexer."
    alone = welcome.first_prompt(replace(WELCOME, prompt=""), leads=leads)
    assert asked(alone) == alone


def test_words_that_stand_twice_hide_nothing() -> None:
    doubled = replace(ASSIGNMENT, role_prompt="As always:\n\nYour task, what it is.", task=TASK)
    told = asked(assignment.first_prompt(doubled))
    assert told.startswith("Your task, what it is.")
    assert told.endswith("Keep its tests.")


def test_a_prompt_that_begins_with_that_part_is_all_of_it() -> None:
    assert asked("\n\nYour task, task-1.\n\nWhat you are asked to do:\nnothing else").startswith("Your task, task-1.")
