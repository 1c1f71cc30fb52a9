"""Tasks that are changed or deleted, with what names them (rulings 2.5, 2.6)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from pro0.errors import BadInput, NotFound, Pro0Error, Refused
from pro0.model.caller import THE_HUMAN, THE_LEAD, Caller
from pro0.model.task import Changes, Draft, Gate, Kind, Policy, Status, Task, TaskList
from pro0.rules.tasks import changes, editing
from pro0.rules.tasks.acts import Act, TaskPhase, phase
from pro0.rules.tasks.board import Board, why_not_ready
from tests.rules.building import (
    LEAD_AGENT,
    T0,
    ask,
    at,
    claimed,
    listed,
    make,
    standing,
    task,
    update,
)
from tests.rules.trees import session


def test_a_cycle_is_shown() -> None:
    tasks = listed(task(1), task(2, 1), task(3, 2))
    with pytest.raises(Refused, match="task-1 → task-3 → task-2 → task-1"):
        update(tasks, "task-1", Changes(add_dependencies=("3",)))


TREES = {
    "its parent needs what needs it": [("p", None, ("x",)), ("c", "p", ()), ("x", None, ("c",))],
    "its parent needs it": [("p", None, ("c",)), ("c", "p", ())],
    "two levels above it": [("p", None, ("x",)), ("q", "p", ()), ("c", "q", ()), ("x", None, ("c",))],
}


@pytest.mark.parametrize("which", TREES)
def test_a_cycle_through_the_own_work_of_a_supervised_parent_is_shown(which: str) -> None:
    """Rulings 2.5, 2.6: a subtask waits for its parent's own work, and so for what that waits for."""
    drafts = [
        Draft(title=key, key=key, parent=parent, blocked_by=needs, policy=None if parent else Policy.SUPERVISED)
        for key, parent, needs in TREES[which]
    ]
    with pytest.raises(Refused, match=r"dependency cycle: .*the work of task-1") as refused:
        make(TaskList(), *drafts)
    assert refused.value.code == "cycle"
    if which != "two levels above it":
        assert make(TaskList(), replace(drafts[0], policy=None), *drafts[1:])


def runs_to_its_end(tasks: TaskList) -> bool:
    """Whether all of it is completed, when each task that is ready is started and each session does its work."""
    now = 0
    while now < 500:
        now += 1
        board = Board(tasks.tasks)
        working = next((one for one in board if one.claim and one.status is Status.IN_PROGRESS), None)
        ready = next((one for one in board if why_not_ready(board, one) is None), None)
        if working:
            tasks, _ = changes.act(tasks, working.id, ask(Act.COMPLETE, session(working.id), now=at(now)))
        elif ready:
            begin = ask(Act.START, THE_LEAD, now=at(now), holder=session(ready.id))
            tasks, _ = changes.act(tasks, ready.id, begin)
        else:
            break
    return {one.status for one in tasks.tasks} == {Status.COMPLETED}


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_exactly_what_could_never_end_is_a_cycle(data: st.DataObject) -> None:
    """Rulings 2.5, 2.6: trees with epics, of a pool or supervised, and any dependencies between their tasks."""
    count = data.draw(st.integers(2, 6))
    parents = {n: data.draw(st.sampled_from([None, *range(1, n)])) for n in range(1, count + 1)}
    made = []
    for n, parent in parents.items():
        needs = data.draw(st.lists(st.sampled_from([m for m in parents if m != n]), max_size=2, unique=True))
        policy = data.draw(st.sampled_from([None, Policy.SUPERVISED]))
        groups = n in parents.values() and data.draw(st.integers(0, 3)) == 0
        kind = Kind.EPIC if groups else Kind.TASK
        made.append(task(n, *([] if groups else needs), parent=parent, policy=policy, type=kind))
    try:
        changes.acyclic(listed(*made))
        refused = False
    except Refused:
        refused = True
    assert refused != runs_to_its_end(listed(*made))


def test_a_cycle_of_thousands_is_shown_in_few_words() -> None:
    """An error is one line that a person reads."""
    tasks = listed(*(task(number, *([number + 1] if number < 2000 else [])) for number in range(1, 2001)))
    with pytest.raises(Refused, match="more") as refused:
        update(tasks, "task-2000", Changes(add_dependencies=("1",)))
    assert len(refused.value.message) < 300


def test_a_description_that_only_repeats_the_title_follows_it() -> None:
    """Rulings 5.5: both are filled; a new title is then the new description too."""
    tasks = listed(task(1))
    assert update(tasks, "task-1", Changes(title="new")).description == "new"
    told = update(tasks, "task-1", Changes(description="at length"))
    assert (told.title, told.description) == (tasks.tasks[0].title, "at length")


def test_a_word_that_is_no_gate() -> None:
    with pytest.raises(BadInput, match="'odd' is no gate"):
        update(listed(task(1)), "task-1", Changes(requires="odd"))


def test_dependencies_are_added_once_and_dropped() -> None:
    """Rulings 2.5: dropping a failed one releases the dependent."""
    tasks = listed(task(1, 2, 3), task(2, status=Status.FAILED), task(3, status=Status.COMPLETED), task(4))
    after = update(tasks, "task-1", Changes(add_dependencies=("4", "task-4", "task-3"), drop_dependencies=("2", "99")))
    assert after.dependencies == ("task-3", "task-4")
    assert why_not_ready(Board((after, *tasks.tasks[1:])), after) == "is blocked: task-4 is pending"


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        (Changes(add_dependencies=("9",)), NotFound),
        (Changes(add_dependencies=("x",)), BadInput),
        (Changes(add_dependencies=("1",)), Refused),
        (Changes(add_dependencies=("2",)), Refused),
        (Changes(add_dependencies=("3",), drop_dependencies=("task-3",)), BadInput),
        (Changes(title=""), BadInput),
        (Changes(run="a\0"), BadInput),
        (Changes(timeout=-1.0), BadInput),
    ],
)
def test_a_bad_update_changes_nothing(fields: Changes, error: type[Pro0Error]) -> None:
    with pytest.raises(error):
        update(listed(task(1), task(2, 1), task(3)), "task-1", fields)


@pytest.mark.parametrize("there", [False, True])
def test_a_dependency_is_not_added_and_dropped_by_one_call(there: bool) -> None:
    """One of the two wishes would be lost, and nobody could tell which was meant."""
    tasks = listed(task(1, *([2] if there else [])), task(2))
    changes = Changes(add_dependencies=("2", "task-2"), drop_dependencies=("2",))
    with pytest.raises(BadInput, match=r"^task-2 cannot be both added and dropped$"):
        update(tasks, "task-1", changes)


def test_an_update_that_changes_nothing_is_none() -> None:
    tasks = listed(task(1))
    assert editing.update(tasks, "task-1", Changes(title="title 1"), THE_HUMAN, at(1)) == (tasks, tasks.tasks[0])


@pytest.mark.parametrize("now", [TaskPhase.COMPLETED, TaskPhase.FAILED, TaskPhase.CANCELLED])
def test_a_settled_task_stays_as_it_is(now: TaskPhase) -> None:
    with pytest.raises(Refused, match="its fields cannot be changed"):
        update(listed(standing(now)), "task-1", Changes(title="b"))


def test_an_update_says_what_it_changed() -> None:
    after = update(listed(task(1)), "task-1", Changes(title="b", priority=0))
    entry = after.history[-1]
    assert (entry.at, entry.actor, entry.act, entry.to) == (at(7), "human", "update", Status.PENDING)
    assert (entry.text, entry.from_) == ("title, priority", None)
    assert after.updated_at == at(7)


WHOLE = Changes(
    title=" b ", description="d", acceptance="a", run="make", timeout=5.0, priority=0, labels=("x", "x", "y"),
    role=" dev ", requires="review", add_dependencies=("2",),
)  # fmt: skip
AFTER = {
    "title": "b", "description": "d", "acceptance": "a", "run": "make", "timeout": 5.0, "priority": 0,
    "labels": ("x", "y"), "role": "dev", "requires": Gate.REVIEW, "dependencies": ("task-2",),
}  # fmt: skip


@pytest.mark.parametrize("field", AFTER)
def test_a_field_is_changed_and_no_other(field: str) -> None:
    """What is not named stays, whatever it is; what is empty is taken away."""
    tasks = listed(task(1), task(2))
    all_changed = update(tasks, "task-1", WHOLE)
    assert getattr(all_changed, field) == AFTER[field]
    name = "add_dependencies" if field == "dependencies" else field
    alone = update(tasks, "task-1", Changes(**{name: getattr(WHOLE, name)}))
    same = [other for other in AFTER if other != field]
    seen = [other.replace("description", "more") for other in same]  # a bare title is the description too
    assert [getattr(alone, other) for other in seen] == [getattr(tasks.tasks[0], other) for other in seen]
    rest = Changes(**{other: getattr(WHOLE, other) for other in same if other != "dependencies"})
    assert getattr(update(listed(all_changed, task(2)), "task-1", rest), field) == AFTER[field]


def test_what_is_empty_is_taken_away() -> None:
    full = update(listed(task(1), task(2)), "task-1", WHOLE)
    empty = Changes(description="", acceptance="", run="", labels=(), role="", requires="", drop_dependencies=("2",))
    after = update(listed(full, task(2)), "task-1", empty)
    assert (after.more, after.acceptance, after.run, after.labels) == ("", "", None, ())
    assert (after.role, after.requires, after.dependencies, after.timeout) == (None, None, (), 5.0)


def test_a_human_who_sets_a_command_agrees_to_it_and_to_nothing_else() -> None:
    """Rulings 2.9: what else it waits for stays."""
    held = update(listed(task(1)), "task-1", Changes(run="make"), LEAD_AGENT)
    agreed = update(listed(held), "task-1", Changes(run="make"))
    assert (agreed.unagreed, agreed.awaiting) == (False, None)
    waits = replace(standing(TaskPhase.AWAITING), run="make", unagreed=True)
    both = update(listed(waits), "task-1", Changes(run="make all"))
    assert (both.unagreed, both.awaiting) == (False, waits.awaiting)


def test_an_agents_command_is_held_in_its_name() -> None:
    """Rulings 2.9: and when it takes its command back, nothing is to be agreed to any more."""
    held = update(listed(task(1)), "task-1", Changes(run="make"), LEAD_AGENT)
    assert held.awaiting
    assert (held.unagreed, held.awaiting.by, held.awaiting.since) == (True, "lead", at(7))
    pending = replace(held, awaiting=None)
    gone = update(listed(pending), "task-1", Changes(run=""), LEAD_AGENT)
    assert (gone.unagreed, gone.run, gone.awaiting) == (False, None, None)


# --- delete


def delete(tasks: TaskList, id: str, caller: Caller = THE_HUMAN, *, force: bool = False) -> TaskList:
    return editing.delete(tasks, id, caller, force=force, now=T0)


def test_what_others_name_goes_only_by_force() -> None:
    """Rulings 2.6."""
    tasks = listed(task(1), task(2, 1), task(3, parent=1))
    with pytest.raises(Refused, match="task-2, task-3 refer to task-1"):
        delete(tasks, "task-1")
    left = delete(tasks, "task-1", force=True)
    assert [(task.id, task.dependencies, task.parent) for task in left.tasks] == [
        ("task-2", (), None),
        ("task-3", (), None),
    ]
    assert left.next_id == tasks.next_id
    both = listed(task(1), task(2), task(3, 1, parent=2))
    assert [(one.dependencies, one.parent) for one in delete(both, "task-1", force=True).tasks] == [
        ((), None),
        ((), "task-2"),
    ]


def test_what_is_claimed_goes_only_by_force() -> None:
    tasks = listed(claimed(task(1)))
    with pytest.raises(Refused, match="claimed by w1"):
        delete(tasks, "task-1")
    assert delete(tasks, "task-1", force=True).tasks == ()


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("gated", [standing(TaskPhase.AWAITING), task(1, requires=Gate.REVIEW)])
def test_deleting_is_no_way_around_a_gate(gated: Task, force: bool) -> None:
    """Rulings 2.2: with --force it would also free the dependents."""
    with pytest.raises(Refused, match="only a human"):
        delete(listed(gated), "task-1", LEAD_AGENT, force=force)
    assert delete(listed(gated), "task-1").tasks == ()


@pytest.mark.parametrize("id", ["task-1", "task-2", "task-3"])
def test_deleting_is_no_way_around_a_failure_in_a_supervised_tree(id: str) -> None:
    """Rulings 2.8: a person decides, also where the deletion of a task above would take it out of the tree."""
    tasks = listed(task(1, policy=Policy.SUPERVISED), task(2, parent=1), task(3, parent=2, status=Status.FAILED))
    with pytest.raises(Refused, match="only a human may delete it") as refused:
        delete(tasks, id, LEAD_AGENT, force=True)
    assert "retries, closes or deletes" in (refused.value.hint or "")
    assert len(delete(tasks, id, force=True).tasks) == 2
    pool = listed(task(1), task(2, parent=1, status=Status.FAILED))
    assert len(delete(pool, "task-2", LEAD_AGENT).tasks) == 1


def test_a_done_parent_ends_with_the_deletion_of_its_last_open_subtask() -> None:
    """Rulings 2.4: "a subtask settled or was deleted", also when it was the only one."""
    tasks = listed(standing(TaskPhase.DONE), task(2, parent=1), task(3, parent=1, status=Status.FAILED))
    assert phase(delete(tasks, "task-2").tasks[0]) is TaskPhase.COMPLETED
    alone = listed(standing(TaskPhase.DONE), task(2, parent=1))
    ended = delete(alone, "task-2").tasks[0]
    assert (phase(ended), ended.completed_at) == (TaskPhase.COMPLETED, T0)


def test_an_epic_without_subtasks_has_yet_to_begin() -> None:
    tasks = listed(task(1, type=Kind.EPIC), task(2, parent=1))
    assert phase(delete(tasks, "task-2").tasks[0]) is TaskPhase.PENDING


def test_deleting_what_is_not_there() -> None:
    with pytest.raises(NotFound, match="there is no task-9"):
        delete(listed(), "task-9")
