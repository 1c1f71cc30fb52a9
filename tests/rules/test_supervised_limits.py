"""Supervised trees: limits of time and of reviews, who makes subtasks (rulings 2.7, 2.9, AC-49, AC-50, AC-53)."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from pro0.errors import Refused
from pro0.model.caller import THE_HUMAN, THE_LEAD, Caller
from pro0.model.task import Awaiting, Draft, Kind, Policy, Status, Task
from pro0.rules.lead import supervised
from pro0.rules.tasks import changes
from pro0.rules.tasks.acts import Act, TaskPhase, phase
from pro0.rules.tasks.board import Board
from pro0.rules.tasks.making import create
from tests.rules.building import LEAD_AGENT, W1, ask, at, listed, make
from tests.rules.trees import Tree, children, session

MINUTE = 60.0


def late(tree: Tree, after: float) -> list[str]:
    found, _ = supervised.overdue(Board(tree.tasks.tasks), timedelta(minutes=30), at(after))
    return [task.id for task in found]


def test_thirty_minutes_of_one_claim() -> None:
    """AC-49: 30 minutes and a second; a parent that is done for hours is untouched."""
    tree = Tree(*children(0))
    tree.complete(1)
    tree.begin("task-2")
    board = Board(tree.tasks.tasks)
    assert supervised.overdue(board, timedelta(minutes=30), at(0)) == ([], at(30 * MINUTE))
    assert late(tree, 30 * MINUTE) == []
    assert late(tree, 30 * MINUTE + 1) == ["task-2"]
    assert late(tree, 5 * 60 * MINUTE) == ["task-2"]
    tree.act("task-2", Act.FAIL, THE_LEAD, "timed out after 30 minutes")
    assert late(tree, 5 * 60 * MINUTE) == []
    assert supervised.is_over(Board(tree.tasks.tasks), "task-2")


def test_time_spent_done_or_awaiting_does_not_count() -> None:
    """Rulings 2.7: the claim of a parent in the middle goes on counting where it was."""
    tree = Tree(Draft(title="middle", key="middle"), Draft(title="leaf", parent="middle"))
    tree.complete(1)
    tree.begin("task-2")
    tree.seconds = 20 * MINUTE
    tree.complete(2)
    tree.begin("task-3")
    tree.seconds = 40 * MINUTE
    tree.complete(3)
    assert phase(tree[2]) is TaskPhase.WORKING
    assert late(tree, 49 * MINUTE) == []
    assert late(tree, 51 * MINUTE) == ["task-2"]
    tree.act("task-2", Act.HAND_OFF, session("task-2"), "?", kind=Awaiting.INPUT)
    assert late(tree, 500 * MINUTE) == []
    tree.seconds = 600 * MINUTE
    tree.act("task-2", Act.CONTINUE, THE_HUMAN, holder=session("task-2"))
    assert late(tree, 629 * MINUTE) == []
    assert late(tree, 631 * MINUTE) == ["task-2"]


def test_a_session_that_failed_by_itself_stays_for_continue() -> None:
    tree = Tree(*children(0))
    tree.complete(1)
    tree.begin("task-2")
    tree.fail(2)
    assert not supervised.is_over(Board(tree.tasks.tasks), "task-2")
    assert supervised.is_over(Board(tree.tasks.tasks), "task-99")


def review_without_progress(tree: Tree) -> Task:
    """Let the parent review, add as much work as was done, and complete again."""
    [turn] = tree.turns()
    tree.begin(turn)
    tree.complete(int(turn.removeprefix("task-")))
    drafts = [Draft(title="more", parent="1")]
    tree.tasks, _ = create(tree.tasks, drafts, THE_HUMAN, at(1), lambda: "n")
    return tree.complete(1)


def test_reviews_in_a_row_without_progress_end_at_a_human() -> None:
    """AC-50, rulings 2.7: ten are allowed, the eleventh in a row is an escalation; the lead address hears of it."""
    tree = Tree(*children(0))
    tree.complete(1)
    for cycle in range(1, 11):
        after = review_without_progress(tree)
        assert (phase(after), after.review_cycles) == (TaskPhase.DONE, cycle)
    stuck = review_without_progress(tree)
    assert stuck.awaiting
    assert (stuck.awaiting.kind, stuck.claim) == (Awaiting.ESCALATION, None)
    assert "maxReviewCycles" in stuck.awaiting.reason
    back = tree.act("task-1", Act.APPROVE, THE_HUMAN)
    assert (phase(back), back.review_cycles) == (TaskPhase.PENDING, 0)


def test_progress_is_never_a_cycle() -> None:
    """AC-50: twenty children that each close; and one step forward starts the count anew."""
    tree = Tree(*children(*range(20)))
    tree.complete(1)
    for number in range(2, 22):
        tree.begin(f"task-{number}")
        tree.complete(number)
        assert tree.complete(1).review_cycles == 0
    assert tree[1].status is Status.COMPLETED
    tree = Tree(*children(0, 1))
    tree.complete(1)
    assert review_without_progress(tree).review_cycles == 1
    [turn] = tree.turns()
    tree.begin(turn)
    tree.complete(int(turn.removeprefix("task-")))
    assert tree.complete(1).review_cycles == 0


def test_progress_below_an_epic_is_progress() -> None:
    """Rulings 2.7: thirteen tasks in one epic, which stays open till the last of them."""
    group = Draft(title="group", key="group", type=Kind.EPIC)
    tree = Tree(group, *(replace(child, parent="group") for child in children(*range(13))))
    tree.complete(1)
    for number in range(3, 16):
        tree.begin(f"task-{number}")
        tree.complete(number)
        assert tree.complete(1).review_cycles == 0
    assert set(tree.phases()) == {TaskPhase.COMPLETED}


def test_a_subtask_that_is_reopened_below_a_completed_epic_is_waited_for() -> None:
    group = Draft(title="group", key="group", type=Kind.EPIC)
    tree = Tree(group, Draft(title="in it", parent="group"))
    tree.complete(1)
    tree.begin("task-3")
    tree.complete(3)
    tree.act("task-3", Act.REOPEN, THE_HUMAN)
    assert (phase(tree[2]), phase(tree.complete(1)), tree.turns()) == (
        TaskPhase.COMPLETED,
        TaskPhase.DONE,
        ["task-3"],
    )
    tree.begin("task-3")
    tree.complete(3)
    assert phase(tree.complete(1)) is TaskPhase.COMPLETED


# --- who may make subtasks (rulings 2.9)


def test_agents_make_subtasks_of_their_own_task_only() -> None:
    """Rulings 2.9, AC-53, S003-032: while they work on it; a lead agent and a human anywhere."""
    tree = Tree(*children(0))
    tree.tasks, _ = make(tree.tasks, Draft(title="another tree", policy=Policy.SUPERVISED), Draft(title="pool"))
    mine, other = session("task-1"), session("task-2")

    def makes(caller: Caller, parent: str | None) -> bool:
        try:
            make(tree.tasks, Draft(title="x", parent=parent), caller=caller)
        except Refused:
            return False
        return True

    assert [makes(mine, parent) for parent in ("1", "2", "3", "4", None)] == [True, True, False, False, False]
    assert [makes(other, parent) for parent in ("1", "2", "3", "4", None)] == [False, False, False, True, True]
    assert all(makes(caller, "1") for caller in (THE_HUMAN, LEAD_AGENT))
    tree.complete(1)
    assert not makes(mine, "1")


def test_the_author_of_a_task_is_recorded() -> None:
    """Rulings 2.9: in a pool team members add root tasks."""
    assert make(listed(), Draft(title="x"), caller=W1)[1][0].created_by == "w1"


def test_a_session_changes_the_subtasks_of_its_own_task() -> None:
    """S000-048: priorities and texts, of its own only."""
    from pro0.model.task import Changes
    from tests.rules.building import update

    tree = Tree(*children(0, 1))
    fields = Changes(priority=9)
    assert update(tree.tasks, "task-2", fields, session("task-1")).priority == 9
    for caller, id in ((session("task-2"), "task-2"), (W1, "task-2"), (session("task-1"), "task-1")):
        with pytest.raises(Refused):
            update(tree.tasks, id, fields, caller)


def test_a_notice_has_the_same_id_whenever_it_is_made() -> None:
    tree = Tree(*children(0, 1))
    tree.complete(1)
    tree.begin("task-2")
    before = tree.tasks
    first = changes.act(before, "task-2", ask(Act.FAIL, session("task-2")))[0].outbox
    again = changes.act(before, "task-2", ask(Act.FAIL, session("task-2"), now=at(9)))[0].outbox
    assert [notice.id for notice in first] == [notice.id for notice in again]
    assert len({notice.id for notice in first}) == len(first) == 2
