"""How deep and how wide a tree may be (rulings 2.7, AC-48), and the place of what has no priority (2.10, AC-51)."""

import pytest
from msgspec.structs import replace

from pro0.errors import Refused
from pro0.model.caller import THE_HUMAN
from pro0.model.task import Draft, Kind, Policy, Status, TaskList
from pro0.rules.tasks.acts import Act
from pro0.rules.tasks.limits import Limits
from tests.rules.building import ask, listed, make, task


def chain(levels: int) -> list[Draft]:
    """Drafts of which each is below the one before."""
    return [Draft(title=f"level {n}", key=f"k{n}", parent=f"k{n - 1}" if n else None) for n in range(levels)]


def test_depth_five_is_allowed_and_six_is_not() -> None:
    """AC-48, S000-117: the root has depth 0; nothing is made, and the limit is named."""
    tasks, made = make(listed(), *chain(6))
    assert len(made) == 6
    with pytest.raises(Refused, match=r"6 levels deep, more than maxSubtaskDepth \(5\)") as refused:
        make(tasks, Draft(title="too deep", parent="6"))
    assert refused.value.exit_code == 4
    with pytest.raises(Refused, match="maxSubtaskDepth"):
        make(listed(), *chain(7))


def test_the_twentyfirst_subtask_is_refused() -> None:
    """AC-48, S000-118: settled ones count; several at once too."""
    tasks, _ = make(listed(task(1)), *(Draft(title="t", parent="1") for _ in range(20)))
    with pytest.raises(Refused, match=r"more subtasks than maxSubtasksPerParent \(20\)"):
        make(tasks, Draft(title="t", parent="1"))
    with pytest.raises(Refused, match="maxSubtasksPerParent"):
        make(listed(task(1)), *(Draft(title="t", parent="1") for _ in range(21)))
    settled = replace(tasks, tasks=(*tasks.tasks[:-1], replace(tasks.tasks[-1], status=Status.COMPLETED)))
    with pytest.raises(Refused, match="maxSubtasksPerParent"):
        make(settled, Draft(title="t", parent="1"))


def test_an_epic_groups_any_number() -> None:
    assert make(listed(task(1, type=Kind.EPIC)), *(Draft(title="t", parent="1") for _ in range(50)))


def test_limits_are_settings() -> None:
    make(listed(), *chain(9), bounds=Limits(depth=8))
    with pytest.raises(Refused, match=r"maxSubtasksPerParent \(1\)"):
        make(listed(task(1)), Draft(title="a", parent="1"), Draft(title="b", parent="1"), bounds=Limits(subtasks=1))


# --- priority


def placed(tasks: TaskList, *drafts: Draft, last: bool = True) -> list[int]:
    return [one.priority for one in make(tasks, *drafts, last=last)[1]]


SIBLINGS = [
    ("none", [], 0),
    ("open 0 and 4", [task(2, parent=1, priority=0), task(3, parent=1, priority=4)], 5),
    ("settled", [task(2, parent=1, priority=7, status=Status.COMPLETED)], 0),
    ("in progress", [task(2, parent=1, priority=7, status=Status.IN_PROGRESS)], 0),
    ("negative", [task(2, parent=1, priority=-3)], -2),
    ("elsewhere", [task(2, priority=9)], 0),
]


@pytest.mark.parametrize(("siblings", "expected"), [pytest.param(*case[1:], id=case[0]) for case in SIBLINGS])
def test_what_has_no_priority_goes_after_its_pending_siblings(siblings: list[object], expected: int) -> None:
    """AC-51, S000-114, S000-115: explicit 0 is not absent."""
    tasks = listed(task(1), *siblings)  # type: ignore[arg-type]
    assert placed(tasks, Draft(title="t", parent="1")) == [expected]
    assert placed(tasks, Draft(title="t", parent="1", priority=0)) == [0]


def test_roots_are_siblings_too() -> None:
    """AC-51, S000-111: and no siblings of what is below others."""
    tasks = listed(task(1, priority=3), task(2, priority=8, parent=1))
    assert placed(tasks, Draft(title="t")) == [4]


def test_several_without_one_come_in_the_order_of_their_making() -> None:
    drafts = [Draft(title="a"), Draft(title="b", priority=5), Draft(title="c")]
    assert placed(listed(), *drafts) == [6, 5, 7]


def test_the_command_line_gives_two_but_in_supervised_trees() -> None:
    """Rulings 2.10."""
    assert placed(listed(task(1, priority=9)), Draft(title="t"), last=False) == [2]
    tree = listed(task(1, policy=Policy.SUPERVISED), task(2, parent=1, priority=4))
    assert placed(tree, Draft(title="t", parent="1"), Draft(title="u", parent="1"), last=False) == [5, 6]


def test_a_settled_parent_takes_nothing_and_says_what_to_do() -> None:
    """AC-59."""
    from pro0.rules.tasks import changes

    closed, _ = changes.act(listed(task(1)), "task-1", ask(Act.CANCEL, THE_HUMAN))
    with pytest.raises(Refused) as refused:
        make(closed, Draft(title="t", parent="1"))
    assert "reopen it first" in (refused.value.hint or "")
