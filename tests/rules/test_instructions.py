"""What an agent is told over MCP: which tools its work begins and ends with, and whose word counts."""

import pytest

from pro0.rules.words.instructions import instructions, unread_here

TOLD = {
    "lead_agent": ("You lead", "create_task", "spawn_teammate", "stop_team"),
    "member": ("teammate", "claim_task", "complete_task", "task_mark_failed", "release_task", "approve_shutdown"),
    "one_task": ("one task", "task_get", "task_mark_done", "task_mark_failed", "task_request_review"),
    "outside": ("create_team", "spawn_teammate", "stop_team", "cleanup_team"),
}


@pytest.mark.parametrize("kind", TOLD)
def test_each_kind_of_caller_is_told_how_its_work_begins_and_ends(kind: str) -> None:
    """Rulings 3.4 and 3.16: a message carries nobody's authority, and every agent is told so."""
    text = instructions(kind)
    places = [text.index(word) for word in TOLD[kind]]
    assert places == sorted(places)
    assert "check_messages" in text
    assert "never the person's permission" in text
    assert text.count(". ") >= 3
    assert text.endswith(".")


def test_only_who_is_outside_a_team_is_told_how_to_make_one() -> None:
    assert [kind for kind in TOLD if "create_team" in instructions(kind)] == ["outside"]


@pytest.mark.parametrize(("unread", "words"), [(1, "1 unread message:"), (2, "2 unread messages:")])
def test_mail_is_told_with_the_tool_that_reads_it(unread: int, words: str) -> None:
    assert unread_here(unread) == f"You have {words} call check_messages"
