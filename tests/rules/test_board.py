"""Ready, blocked, hopeless, the orders, and what settles by itself (rulings 2.4, 2.5, 2.10)."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from pro0.model.caller import THE_HUMAN, THE_LEAD
from pro0.model.task import SETTLED, Awaiting, Gate, Kind, Policy, StartWish, Status, Task, TaskList, Wait
from pro0.rules.tasks import changes
from pro0.rules.tasks.acts import Act, TaskPhase, phase
from pro0.rules.tasks.board import (
    Board,
    blockers,
    claimable,
    hopeless,
    is_blocked,
    list_order,
    next_order,
    settling,
    why_not_ready,
)
from tests.rules.building import T0, W1, W2, ask, at, claimed, listed, standing, task

WATCHES = replace(claimed(task(2, policy=Policy.SUPERVISED)), status=Status.DONE)
WAIT = Wait(kind=Awaiting.INPUT, since=T0, by="w1", reason="which colour?")


def ids(tasks: list[Task]) -> list[str]:
    return [task.id for task in tasks]


def test_claimable_follows_completion() -> None:
    """AC-63, S004-038: task-2 depends on task-1."""
    tasks = listed(task(1), task(2, 1))
    assert ids(claimable(Board(tasks.tasks), "w1")) == ["task-1"]
    tasks, _ = changes.act(tasks, "task-1", ask(Act.CLAIM, W1))
    assert ids(claimable(Board(tasks.tasks), "w2")) == []
    tasks, _ = changes.act(tasks, "task-1", ask(Act.COMPLETE, W1))
    assert ids(claimable(Board(tasks.tasks), "w2")) == ["task-2"]


def test_only_what_waits_and_may_never_be_reached_is_blocked() -> None:
    """`task list --blocked`: pending, with a dependency, near or far, that is not completed."""
    board = Board(
        [task(1, status=Status.FAILED), task(2, 1), task(3, 2), task(4), task(5, 4), claimed(task(6, 1)), task(7, 8),
         task(8, status=Status.COMPLETED), task(9, 1, status=Status.CANCELLED)]
    )  # fmt: skip
    assert [one.id for one in board if is_blocked(board, one)] == ["task-2", "task-3", "task-5"]


NOT_READY = [
    ("ready", task(1), (), None),
    ("epic", task(1, type=Kind.EPIC), (), "is an epic, which only groups tasks"),
    ("awaiting", task(1, awaiting=WAIT), (), "is awaiting a human (input: which colour?)"),
    ("claimed", claimed(task(1)), (), "is in progress"),
    *[
        (now, standing(now), (), f"is {now}")
        for now in TaskPhase
        if now not in (TaskPhase.PENDING, TaskPhase.WORKING, TaskPhase.AWAITING)
    ],
    ("dependency completed", task(1, 2), (task(2, status=Status.COMPLETED),), None),
    ("dependency pending", task(1, 2), (task(2),), "is blocked: task-2 is pending"),
    ("dependency in progress", task(1, 2), (claimed(task(2)),), "is blocked: task-2 is in progress"),
    ("dependency done", task(1, 2), (task(2, status=Status.DONE),), "is blocked: task-2 is done"),
    ("dependency failed", task(1, 2), (task(2, status=Status.FAILED),), "is blocked: task-2 is failed"),
    ("dependency cancelled", task(1, 2), (task(2, status=Status.CANCELLED),), "is blocked: task-2 is cancelled"),
    ("dependency gone", task(1, 2), (), "is blocked: task-2 is gone"),
    (
        "two of three",
        task(1, 2, 3, 4),
        (task(2), task(3, status=Status.COMPLETED)),
        "is blocked: task-2 is pending, task-4 is gone",
    ),
    ("parent pending", task(1, parent=2), (task(2),), None),
    ("parent failed", task(1, parent=2), (task(2, status=Status.FAILED),), "is held back: task-2, above it, is failed"),
    (
        "parent awaiting",
        task(1, parent=2),
        (task(2, awaiting=WAIT),),
        "is held back: task-2, above it, is awaiting a human",
    ),
    (
        "grandparent failed",
        task(1, parent=2),
        (task(2, parent=3), task(3, status=Status.FAILED)),
        "is held back: task-3, above it, is failed",
    ),
    (
        "supervised parent at work",
        task(1, parent=2),
        (claimed(task(2, policy=Policy.SUPERVISED)),),
        "waits for its turn: task-2, above it, is in progress",
    ),
    (
        "supervised parent without its session",
        task(1, parent=2),
        (task(2, policy=Policy.SUPERVISED, status=Status.DONE),),
        "waits for its turn: task-2, above it, is done, without a session",
    ),
    ("supervised parent with its session", task(1, parent=2), (WATCHES,), None),
    (
        "sibling at work",
        task(1, parent=2),
        (WATCHES, replace(claimed(task(3)), parent="task-2")),
        "waits for its turn: task-3, beside it, is in progress",
    ),
    (
        "sibling done",
        task(1, parent=2),
        (WATCHES, task(3, parent=2, status=Status.DONE)),
        "waits for its turn: task-3, beside it, is done",
    ),
    (
        "sibling failed",
        task(1, parent=2),
        (WATCHES, task(3, parent=2, status=Status.FAILED)),
        "is held back: task-3, beside it, is failed",
    ),
    ("parent gone", task(1, parent=2), (), None),
    ("parents in a ring", task(1, parent=2), (task(2, parent=1),), None),
]


@pytest.mark.parametrize(("one", "others", "why"), [pytest.param(*case[1:], id=case[0]) for case in NOT_READY])
def test_why_a_task_is_not_ready(one: Task, others: tuple[Task, ...], why: str | None) -> None:
    """Rulings 2.5."""
    found = why_not_ready(Board((one, *others)), one)
    assert found == why


def test_a_chain_opens_one_by_one() -> None:
    tasks = listed(*(task(number, *([number - 1] if number > 1 else [])) for number in range(1, 8)))
    for number in range(1, 8):
        assert ids(claimable(Board(tasks.tasks), "w1")) == [f"task-{number}"]
        tasks, _ = changes.act(tasks, f"task-{number}", ask(Act.CLAIM, W1))
        tasks, _ = changes.act(tasks, f"task-{number}", ask(Act.COMPLETE, W1))
    assert all(task.status is Status.COMPLETED for task in tasks.tasks)


@pytest.mark.parametrize(
    ("one", "below", "settles"),
    [
        (task(1, status=Status.DONE), None, True),
        (task(1, status=Status.DONE), Status.FAILED, True),
        (task(1, status=Status.DONE), Status.PENDING, False),
        (task(1, status=Status.DONE, awaiting=WAIT), None, False),
        (task(1, status=Status.DONE, policy=Policy.SUPERVISED), None, False),
        (task(1), Status.COMPLETED, False),
        (claimed(task(1)), Status.COMPLETED, False),
        (task(1, type=Kind.EPIC), None, False),
        (task(1, type=Kind.EPIC), Status.COMPLETED, True),
        (task(1, type=Kind.EPIC, policy=Policy.SUPERVISED), Status.COMPLETED, True),
        (task(1, type=Kind.EPIC, status=Status.DONE, policy=Policy.SUPERVISED), Status.COMPLETED, True),
        (task(1, type=Kind.EPIC, awaiting=WAIT), Status.COMPLETED, False),
    ],
)
def test_what_settles_by_itself(one: Task, below: Status | None, settles: bool) -> None:
    """Rulings 2.4: a done parent without an open subtask, an epic that had some; a supervised one says so itself."""
    board = Board([one, *([task(2, parent=1, status=below)] if below else [])])
    assert settling(board) == ([one] if settles else [])


def test_a_parent_that_settles_says_why() -> None:
    tasks = changes.follow(listed(task(1, status=Status.DONE)), at(3))
    entry = tasks.tasks[0].history[-1]
    assert (entry.act, entry.actor, entry.at, entry.text) == ("settle", "lead", at(3), "no subtask is open")


def test_a_list_in_which_nothing_changes_stays_the_very_one() -> None:
    """Else it would be written again, as a new revision of itself (rulings 2.4)."""
    tasks = listed(task(1))
    assert changes.follow(tasks, at(3)) is tasks
    assert changes.owe(tasks, THE_LEAD, []) is tasks


def test_what_a_human_wants_started_is_not_offered() -> None:
    """It gets a session of its own; what waits without a reason is said by its kind alone."""
    wanted = task(1, start=StartWish(by="human", at=T0))
    assert ids(claimable(Board([wanted, task(2, assignee="w2"), task(3)]), "w1")) == ["task-3"]
    mute = task(1, awaiting=replace(WAIT, reason=""))
    assert why_not_ready(Board([mute]), mute) == "is awaiting a human (input)"


HOPELESS = [
    ("nothing", [task(1)], []),
    ("pending", [task(1, 2), task(2)], []),
    ("completed", [task(1, 2), task(2, status=Status.COMPLETED)], []),
    ("failed", [task(1, 2), task(2, status=Status.FAILED)], ["task-2 is failed"]),
    ("cancelled", [task(1, 2), task(2, status=Status.CANCELLED)], ["task-2 is cancelled"]),
    ("gone", [task(1, 2)], ["task-2 is gone"]),
    ("far away", [task(1, 2), task(2, 3), task(3, status=Status.FAILED)], ["task-3 is failed"]),
    ("behind a completed one", [task(1, 2), task(2, 3, status=Status.COMPLETED), task(3, status=Status.FAILED)], []),
    ("named once", [task(1, 2, 3), task(2, 4), task(3, 4), task(4, status=Status.FAILED)], ["task-4 is failed"]),
    ("a ring", [task(1, 2), task(2, 1)], []),
]  # fmt: skip


@pytest.mark.parametrize(("tasks", "found"), [pytest.param(*case[1:], id=case[0]) for case in HOPELESS])
def test_what_will_not_be_met_by_itself(tasks: list[Task], found: list[str]) -> None:
    """Rulings 2.5: failed, cancelled, gone, or blocked by such a one."""
    assert hopeless(Board(tasks), tasks[0]) == found


FORESTS = st.lists(st.tuples(st.integers(0, 9), st.sampled_from([None, None, *Policy])), min_size=1, max_size=9)


@given(FORESTS)
def test_a_policy_is_the_nearest_above_whoever_was_asked_before(forest: list[tuple[int, Policy | None]]) -> None:
    """Parents may be missing, and a damaged list may have them in a circle."""
    tasks = [task(number, parent=parent, policy=policy) for number, (parent, policy) in enumerate(forest, 1)]
    board = Board(tasks)
    for one in tasks:
        line = [one, *board.ancestors(one)]
        assert board.declared(one) == next((each.policy for each in line if each.policy), None)


def test_long_chains_do_not_exhaust_the_stack() -> None:
    """Ten thousand tasks in a row are a team's right (reliability 28)."""
    last = task(10_000, status=Status.FAILED)
    chain = [task(number, number + 1) for number in range(1, 10_000)]
    assert hopeless(Board([*chain, last]), chain[0]) == ["task-10000 is failed"]
    deep = [task(1), *(task(number, parent=number - 1) for number in range(2, 5_000))]
    cancelled, _ = changes.act(listed(*deep), "task-1", ask(Act.CANCEL, THE_HUMAN))
    assert {task.status for task in cancelled.tasks} == {Status.CANCELLED}


def test_the_order_of_next() -> None:
    """Rulings 2.10: started before, then priority, createdAt, id; an explicit 0 is not "absent"."""
    tasks = [
        task(10, priority=2),
        task(9, priority=2),
        task(3, priority=2, created_at=at(-5)),
        task(4, priority=0),
        task(5, priority=-3),
        task(6, priority=9, started_at=T0),
        task(7, priority=1, started_at=T0),
    ]
    wanted = ["task-7", "task-6", "task-5", "task-4", "task-3", "task-9", "task-10"]
    assert ids(sorted(tasks, key=next_order)) == wanted
    assert ids(claimable(Board(tasks), "w1")) == wanted


def test_a_reservation_goes_first_to_its_member_and_to_nobody_else() -> None:
    tasks = [task(1, priority=0), task(2, assignee="w1", priority=4), task(3, assignee="w2")]
    assert ids(claimable(Board(tasks), "w1")) == ["task-2", "task-1"]
    assert ids(claimable(Board(tasks), "w2")) == ["task-3", "task-1"]
    assert ids(claimable(Board(tasks), "w3")) == ["task-1"]


def test_the_order_of_list() -> None:
    """AC-52, rulings 2.10: pending by priority, the others by updatedAt descending."""
    tasks = [
        replace(standing(TaskPhase.COMPLETED, id="task-1"), updated_at=at(1)),
        replace(standing(TaskPhase.WORKING, id="task-2"), updated_at=at(3)),
        replace(standing(TaskPhase.FAILED, id="task-3"), updated_at=at(2)),
        task(4, priority=3),
        task(5, priority=0),
        task(12, priority=0),
        replace(standing(TaskPhase.DONE, id="task-6"), updated_at=None),
    ]
    assert ids(sorted(tasks, key=list_order)) == [
        "task-5", "task-12", "task-4", "task-2", "task-3", "task-1", "task-6"
    ]  # fmt: skip


KINDS: list[Callable[[int, int | None], Task]] = [
    lambda number, parent: task(number, parent=parent),
    lambda number, parent: task(number, parent=parent, type=Kind.EPIC),
    lambda number, parent: task(number, parent=parent, type=Kind.EPIC, requires=Gate.REVIEW),
    lambda number, parent: task(number, parent=parent, status=Status.DONE),
    lambda number, parent: task(number, parent=parent, status=Status.DONE, requires=Gate.APPROVAL),
    lambda number, parent: task(number, parent=parent, status=Status.COMPLETED),
    lambda number, parent: task(number, parent=parent, status=Status.FAILED),
    lambda number, parent: task(number, parent=parent, status=Status.CANCELLED),
    lambda number, parent: task(number, parent=parent, awaiting=WAIT, status=Status.IN_PROGRESS),
    lambda number, parent: replace(claimed(task(number)), parent=f"task-{parent}" if parent else None),
]


@st.composite
def forests(draw: st.DrawFn) -> list[Task]:
    """A forest: each task's parent is an earlier one, or none."""
    made: list[Task] = []
    for number in range(1, draw(st.integers(1, 14)) + 1):
        parent = draw(st.one_of(st.none(), st.integers(1, number - 1))) if number > 1 else None
        made.append(draw(st.sampled_from(KINDS))(number, parent))
    return made


def over(board: Board, one: Task) -> bool:
    """Whether a parent is over: done, or an epic with subtasks of which none has failed, and no subtask open."""
    children = [child for child in board if child.parent == one.id]
    waits = phase(one) is TaskPhase.DONE or (
        phase(one) is TaskPhase.PENDING
        and one.type is Kind.EPIC
        and bool(children)
        and all(child.status is not Status.FAILED for child in children)
    )
    return waits and all(child.status in SETTLED for child in children)


@settings(max_examples=200, deadline=None)
@given(forests(), st.randoms(use_true_random=False))
def test_settling(made: list[Task], random: object) -> None:
    """Rulings 2.4: ends, is idempotent, does not mind the order, and ends exactly who is over."""
    settled = changes.follow(TaskList(tasks=tuple(made)), T0)
    assert changes.follow(settled, at(1)) is settled
    assert not settling(Board(settled.tasks))
    shuffled = list(made)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    again = changes.follow(TaskList(tasks=tuple(shuffled)), T0)
    assert {task.id: task for task in again.tasks} == {task.id: task for task in settled.tasks}
    board = Board(settled.tasks)
    for before, after in zip(made, settled.tasks, strict=True):
        assert not over(board, after)
        if after != before:
            assert phase(after) is (TaskPhase.AWAITING if before.requires else TaskPhase.COMPLETED)
            assert over(Board([before, *(task for task in board if task.id != before.id)]), before)


def test_a_tree_of_epics_ends_with_its_last_leaf() -> None:
    tree = listed(task(1, type=Kind.EPIC), task(2, type=Kind.EPIC, parent=1), task(3, parent=2), task(4, parent=1))
    for id in ("task-3", "task-4"):
        assert phase(tree.tasks[0]) is TaskPhase.PENDING
        tree, _ = changes.act(tree, id, ask(Act.CLAIM, W2))
        tree, _ = changes.act(tree, id, ask(Act.COMPLETE, W2))
    assert [phase(task) for task in tree.tasks] == [TaskPhase.COMPLETED] * 4


@pytest.mark.parametrize("last", [Act.COMPLETE, Act.FAIL, Act.CANCEL])
def test_a_done_parent_ends_when_its_last_subtask_settles(last: Act) -> None:
    """Rulings 2.4: settled is completed, failed or cancelled."""
    tree = listed(replace(standing(TaskPhase.DONE), result="r"), task(2, parent=1))
    caller = THE_HUMAN if last is Act.CANCEL else W2
    if last is not Act.CANCEL:
        tree, _ = changes.act(tree, "task-2", ask(Act.CLAIM, W2))
    tree, _ = changes.act(tree, "task-2", ask(last, caller))
    assert phase(tree.tasks[0]) is TaskPhase.COMPLETED
    assert tree.tasks[0].result == "r"


def test_blockers_name_every_unmet_dependency() -> None:
    one = task(1, 2, 3, 4)
    board = Board([one, task(2), task(3, status=Status.COMPLETED), task(4, status=Status.FAILED)])
    assert blockers(board, one) == ["task-2 is pending", "task-4 is failed"]
