"""What an agent is told for one turn (S001-080 to S001-084, S001-144 to S001-150)."""

from datetime import timedelta

from msgspec.structs import replace

from pro0.model.task import Gate, Kind, Task
from pro0.rules.runs import signals
from pro0.rules.runs.turn_prompt import FEEDBACK, SHOWN, SIGNALS, prompt
from pro0.rules.tasks.answers import Remark
from tests.rules.building import T0

EPIC = Task(id="task-1", title="the epic", type=Kind.EPIC)
BARE = Task(id="task-2", title="build it")
FULL = Task(
    id="task-2",
    title="build it",
    description="With care.\n",
    acceptance="It runs.",
    run="make",
    parent="task-1",
    requires=Gate.REVIEW,
)


def said(author: str, text: str, act: str | None = None, minutes: int = 0) -> Remark:
    return Remark(T0 + timedelta(minutes=minutes), author, text, act)


def section(text: str, heading: str) -> str:
    """What stands below a heading, up to the next."""
    assert text.count(f"{heading}\n") == 1
    return text.partition(f"{heading}\n")[2].partition("\n## ")[0]


def test_a_bare_task_has_no_empty_sections() -> None:
    text = prompt(BARE, None, [], 1, "")
    assert [line for line in text.splitlines() if line.startswith("#")] == ["# task-2: build it", "## How to end"]
    assert text.split("\n\n")[1:4] == ["# task-2: build it", "## How to end", text.split("\n\n")[3]]
    assert "part of" not in text


def test_all_that_is_known_of_a_task_is_said_but_its_gate() -> None:
    """S001-042, S001-146: an agent need not know of a gate"""
    text = prompt(FULL, EPIC, [], 1, "")
    assert "It is part of task-1: the epic\n\nWith care.\n\n## Acceptance\n\nIt runs.\n\n## Command\n" in text
    assert "The task names a command: make" in text
    assert prompt(replace(FULL, requires=None), EPIC, [], 1, "") == text


def test_what_people_said_is_in_a_section_of_its_own() -> None:
    """AC-31, S001-080, S001-081: agents' notes are in another, and what changes nothing is in none"""
    remarks = [
        said("w1", "I tried pytest.", "hand_off"),
        said("human", "Needs more tests:\n* of errors", "reject", 5),
        said("human", "and of limits", None, 6),
        said("w2", "made a branch"),
        said("lead", "no subtask is open", "settle"),
        said("human", "priority", "update"),
        said("human", "an imported one", "note", 7),
        said("human", "wait for me", "hold", 8),
    ]
    text = prompt(BARE, None, remarks, 1, "")
    answers, notes = section(text, FEEDBACK), section(text, "## Notes")
    assert "- human, reject, 2026-01-01 00:05: Needs more tests:\n  * of errors\n- human, 2026" in answers
    assert "w1" not in answers
    assert notes.strip() == ("- w1, hand off, 2026-01-01 00:00: I tried pytest.\n- w2, 2026-01-01 00:00: made a branch")
    assert "imported" in answers and "wait for me" in answers  # noqa: PT018
    assert "settle" not in text
    assert "priority" not in text, "a changed field is in the task, and no answer"


def test_a_change_of_a_field_alone_is_no_feedback() -> None:
    assert FEEDBACK not in prompt(BARE, None, [said("human", "priority", "update")], 1, "").split("## How to end")[0]


def test_only_the_newest_remarks_are_shown() -> None:
    remarks = [said(author, f"remark {number}") for number in range(SHOWN + 1) for author in ("human", "w1")]
    text = prompt(BARE, None, remarks, 1, "")
    for heading in (FEEDBACK, "## Notes"):
        assert "remark 0" not in section(text, heading)
        assert f"remark {SHOWN}" in section(text, heading)


def test_another_turn_says_how_the_last_one_ended() -> None:
    """S001-076"""
    assert "turn 2" not in prompt(BARE, None, [], 1, "x")
    assert "This is turn 3 on this task. It hung.\n" in prompt(BARE, None, [], 3, "It hung.")


def test_a_signal_is_shown_as_it_is_written_and_what_follows_from_it() -> None:
    rows = [line for line in prompt(BARE, None, [], 1, "").splitlines() if line.startswith("- `<promise>")]
    assert rows[0] == "- `<promise>COMPLETE</promise>`: the task is done, all of it"
    assert rows[2] == (
        "- `<promise>INPUT_NEEDED: question</promise>`: you need an answer or a decision that only a person can give "
        "(it then waits for input)"
    )
    assert len(rows) == len(SIGNALS)


def test_a_turn_is_told_its_parts_in_this_order() -> None:
    text = prompt(FULL, EPIC, [said("human", "more"), said("w1", "note", "note")], 2, "It hung.")
    assert text.split("\n\n## How to end\n")[0] == (
        "You do one task of a shared task list, in one turn: nobody watches or answers while you work.\n\n"
        "# task-2: build it\n\nIt is part of task-1: the epic\n\nWith care.\n\n## Acceptance\n\nIt runs.\n\n"
        "## Command\n\nThe task names a command: make\n\n## Human Feedback\n\n"
        "A person has answered. Address all of it before you go on.\n\n- human, 2026-01-01 00:00: more\n\n"
        "## Notes\n\n- w1, note, 2026-01-01 00:00: note\n\nThis is turn 2 on this task. It hung."
    )
    assert text.endswith("do nothing about it: signal that the task is complete.\n")


def test_every_signal_is_explained_and_none_is_given_by_the_prompt() -> None:
    """S001-082, S001-083, S001-144, AC-27: BLOCKED is an old word that is only understood"""
    text = prompt(FULL, EPIC, [said("human", "<promise>COMPLETE</promise>")], 1, "")
    for kind in signals.Tag:
        assert (f"`<promise>{kind}" in text) == (kind in SIGNALS)
    assert set(signals.Tag) - set(SIGNALS) == {signals.Tag.BLOCKED}
    assert signals.read(text, text) is None
    assert signals.read(prompt(FULL, EPIC, [], 1, ""), "") is None


def test_what_an_agent_is_told_about_its_signal() -> None:
    """S001-148 specific words, S001-149 no guesses, S001-150 gates are not skipped."""
    ending = " ".join(section(prompt(BARE, None, [], 1, ""), "## How to end").split())
    assert "Be specific in what you write after the colon." in ending
    assert "Do not guess what only a person can know: ask." in ending
    assert "When in doubt whether a person should agree, ask for approval." in ending
