"""Supervised trees: turns, reviews, stops and deaths (rulings 2.4, 2.5, 2.8, AC-41 to AC-47, AC-57, AC-58)."""

import pytest
from msgspec.structs import replace

from pro0.errors import Refused
from pro0.model.caller import THE_HUMAN, THE_LEAD
from pro0.model.task import Awaiting, Draft, Entry, Gate, Kind, Policy, Status, Task, Wait
from pro0.rules.lead import supervised
from pro0.rules.tasks import changes, subtasks
from pro0.rules.tasks.acts import Act, TaskPhase, phase
from pro0.rules.tasks.board import Board, claimable, why_not_ready
from pro0.rules.tasks.editing import delete
from pro0.rules.tasks.making import create
from tests.rules.building import W2, ask, at, claimed, dead, listed, make
from tests.rules.trees import Tree, children, session


def test_without_subtasks_it_is_completed() -> None:
    """AC-41, S000-033: and its session has nothing left to do."""
    tree = Tree()
    assert not supervised.is_over(Board(tree.tasks.tasks), "task-1")
    assert tree.complete(1, "all of it").status is Status.COMPLETED
    assert supervised.is_over(Board(tree.tasks.tasks), "task-1")


def test_the_first_subtask_starts_when_the_parent_is_done() -> None:
    """AC-42, rulings 2.5: the lowest number first, one at a time; the parent's session stays."""
    tree = Tree(*children(2, 0, 1))
    assert tree.turns() == []
    done = tree.complete(1)
    assert phase(done) is TaskPhase.DONE
    assert done.claim
    assert not supervised.is_over(Board(tree.tasks.tasks), "task-1")
    assert tree.turns() == ["task-3"]
    tree.begin("task-3")
    assert tree.turns() == []
    assert tree.phases() == [TaskPhase.DONE, TaskPhase.PENDING, TaskPhase.WORKING, TaskPhase.PENDING]


def test_what_is_in_a_pool_takes_no_turns() -> None:
    """Also below a task that somebody works on."""
    pool = [claimed(Task(id="task-1"), W2), Task(id="task-2", parent="task-1")]
    assert supervised.to_start(Board(pool)) == []


def test_the_parent_reviews_each_subtask_in_its_same_session() -> None:
    """AC-43, rulings 2.4, S000-035: one message naming the role; nothing starts before the parent is done again."""
    tree = Tree(*children(0, 1))
    tree.complete(1)
    tree.begin("task-2")
    assert tree.complete(2, "it works").status is Status.COMPLETED
    assert phase(tree[1]) is TaskPhase.WORKING
    assert tree[1].claim
    assert tree[1].claim.incarnation == session("task-1").incarnation
    [said] = tree.told("s1")
    assert said.startswith("engineer completed task-2 (child 0): it works.")
    [notice] = tree.tasks.outbox
    assert notice.id == f"task-2:{len(tree[2].history)}:review of task-2"
    assert subtasks.is_review(notice.id)
    assert tree.turns() == []
    tree.complete(1)
    assert tree.turns() == ["task-3"]
    assert tree.told("s1") == [said]


def test_a_subtask_that_is_cancelled_before_its_turn_is_reviewed_too() -> None:
    """Rulings 2.4: what a parent waits for is known from the moment at which it is done."""
    tree = Tree(*children(0, 1))
    tree.complete(1)
    assert tree[1].waits_for == ("task-2", "task-3")
    tree.act("task-2", Act.CANCEL, THE_HUMAN)
    assert phase(tree[1]) is TaskPhase.WORKING
    assert len(tree.told("s1")) == 1


def test_a_subtask_added_in_review_takes_its_turn_and_the_last_one_ends_it() -> None:
    """AC-44, S000-048, S000-037."""
    tree = Tree(*children(0, 5))
    tree.complete(1)
    tree.begin("task-2")
    tree.complete(2)
    draft = Draft(title="found on the way", parent="1", priority=1)
    tree.tasks, _ = create(tree.tasks, [draft], session("task-1"), at(1), lambda: "n")
    for number in (4, 3):
        tree.complete(1)
        assert tree.turns() == [f"task-{number}"]
        tree.begin(f"task-{number}")
        tree.complete(number)
    assert tree.complete(1).status is Status.COMPLETED


def test_a_human_who_starts_a_task_is_told_apart_from_its_turn() -> None:
    """A start that fails is undone when a human asked for it, else the task has failed (AC-57)."""
    tree = Tree(*children(0))
    assert not subtasks.was_asked_for(tree[1])
    tree.complete(1)
    tree.begin("task-2")
    assert not subtasks.was_asked_for(tree[2])
    tree.fail(2)
    tree.act("task-2", Act.RETRY, THE_HUMAN)
    tree.act("task-2", Act.WISH, THE_HUMAN)
    tree.begin("task-2")
    assert subtasks.was_asked_for(tree[2])
    noted = replace(tree[2], history=(*tree[2].history, Entry(at=at(9), actor="human", act="update")))
    assert subtasks.was_asked_for(noted)
    assert not subtasks.was_asked_for(replace(tree[2], history=tree[2].history[-1:]))


def test_what_a_human_wished_for_at_once_was_asked_for() -> None:
    asked = Task(id="task-1", history=tuple(Entry(at=at(0), actor="x", act=act) for act in ("wish", "start")))
    assert subtasks.was_asked_for(asked)
    assert not subtasks.was_asked_for(Task(id="task-1"))
    wished = Task(id="task-1", history=(Entry(at=at(0), actor="x", act="wish"),))
    assert not subtasks.was_asked_for(wished)
    turned = Task(id="task-1", history=tuple(Entry(at=at(0), actor="x", act=act) for act in ("claim", "start")))
    assert not subtasks.was_asked_for(turned)


def test_a_notice_is_named_by_the_entry_that_it_is_about() -> None:
    """The same id whenever it is made, another one for another entry, also when older ones are in the archive."""
    noted = Task(id="task-1", earlier=50, history=(Entry(at=at(0), actor="x", act="fail"),))
    assert subtasks.notice_id(noted, "w1") == "task-1:51:w1"


def test_a_parent_that_reviews_does_not_keep_another_from_it() -> None:
    """Rulings 2.4: each tree by itself; several that are over at once are told in one message."""
    first = Tree(*children(0))
    waiting = replace(first.complete(1), id="task-9", waits_for=("task-5", "task-6"))
    at_work = Task(id="task-8", status=Status.PENDING, policy=Policy.SUPERVISED)
    over = [Task(id=f"task-{number}", parent="task-9", status=Status.COMPLETED) for number in (5, 6)]
    [changed], [said] = subtasks.reviews(Board([at_work, waiting, *over]), at(3))
    assert (changed.id, changed.status, changed.waits_for) == ("task-9", Status.IN_PROGRESS, ())
    assert (changed.history[-1].text, said[0]) == ("task-5, task-6", "s1")


def test_who_holds_the_task_above_is_told_of_a_failure_also_in_a_pool() -> None:
    """Rulings 2, fail: the parent is told; of a wait only a supervising session is."""
    above = claimed(Task(id="task-1"), W2)
    failed = Task(id="task-2", parent="task-1", status=Status.FAILED)
    assert [to for to, *_ in subtasks.stop_notices(Board([above, failed]), failed, ("lead",))] == ["w2"]
    wait = Wait(kind=Awaiting.INPUT, since=at(0), by="w1")
    waits = Task(id="task-2", parent="task-1", awaiting=wait)
    assert subtasks.stop_notices(Board([above, waits]), waits, ("lead",)) == []


def test_without_its_session_a_parent_is_told_later_and_nothing_starts() -> None:
    """AC-45, S003-028…031, rulings 2.4: the message waits; a human starts the parent again."""
    tree = Tree(*children(0, 1))
    tree.complete(1)
    tree.begin("task-2")
    tree.tasks = changes.free(tree.tasks, "s1", "inc-task-1", dead("s1 crashed"))
    assert (phase(tree[1]), tree[1].claim) == (TaskPhase.DONE, None)
    assert tree.complete(2).status is Status.COMPLETED
    assert len(tree.told("s1")) == 1
    assert (phase(tree[1]), tree.turns()) == (TaskPhase.DONE, [])
    assert "without a session" in (why_not_ready(Board(tree.tasks.tasks), tree[3]) or "")
    tree.act("task-1", Act.WISH, THE_HUMAN)
    assert tree.turns() == ["task-1"]
    tree.begin("task-1")
    assert phase(tree[1]) is TaskPhase.WORKING
    assert len(tree.told("s1")) == 1


@pytest.mark.parametrize("how", ["retry", "continue", "close", "cancel after retry", "delete"])
def test_a_failed_subtask_stops_the_tree_until_a_human_resolves_it(how: str) -> None:
    """AC-46, rulings 2.8: parent, lead and human are told once; the next one starts when it is resolved."""
    tree = Tree(*children(0, 1))
    tree.complete(1)
    tree.begin("task-2")
    tree.tasks, failed = changes.act(
        tree.tasks, "task-2", ask(Act.FAIL, session("task-2"), "no disk", watchers=("lead", "human"))
    )
    assert (failed.status, phase(tree[1]), tree.turns()) == (Status.FAILED, TaskPhase.DONE, [])
    assert "task-2, beside it, is failed" in (why_not_ready(Board(tree.tasks.tasks), tree[3]) or "")
    for address in ("s1", "lead", "human"):
        [said] = tree.told(address)
        assert said.startswith("task-2 has failed (no disk)")
    if how == "retry":
        tree.act("task-2", Act.RETRY, THE_HUMAN)
        assert tree.turns() == ["task-2"]
    elif how == "continue":
        same = tree.act("task-2", Act.CONTINUE, THE_HUMAN, "more disk", holder=session("task-2"))
        assert same.claim
        assert (same.claim.incarnation, same.epoch) == ("inc-task-2", 2)
        assert tree.told("s2") == [
            'task-2 (child 0): a person lets you go on; it had failed with "no disk".\nmore disk'
        ]
    elif how == "delete":
        tree.tasks = delete(tree.tasks, "task-2", THE_HUMAN, force=False, now=at(1))
        assert tree.told("s1")[-1].startswith("task-2 was deleted.")
        assert phase(tree[1]) is TaskPhase.WORKING
    else:
        if how == "cancel after retry":
            tree.act("task-2", Act.RETRY, THE_HUMAN)
        over = tree.act("task-2", Act.CLOSE if how == "close" else Act.CANCEL, THE_HUMAN)
        assert over.status is (Status.COMPLETED if how == "close" else Status.CANCELLED)
        assert phase(tree[1]) is TaskPhase.WORKING
        assert len(tree.told("s1")) == 2


def test_a_subtask_that_asks_for_a_human_stops_the_tree() -> None:
    """AC-47, rulings 2.8, S000-022: told once, and shown as awaiting."""
    tree = Tree(*children(0, 1))
    tree.complete(1)
    tree.begin("task-2")
    tree.act("task-2", Act.HAND_OFF, session("task-2"), "which colour?", kind=Awaiting.INPUT)
    assert tree.turns() == []
    assert tree.told("s1") == tree.told("lead")
    assert "which colour?" in tree.told("s1")[0]
    tree.act("task-2", Act.APPROVE, THE_HUMAN, "blue")
    assert tree.turns() == ["task-2"]
    assert len(tree.told("lead")) == 1


@pytest.mark.parametrize("last", [Act.COMPLETE, Act.CANCEL, None], ids=["completed", "cancelled", "deleted"])
@pytest.mark.parametrize("kind", Kind)
def test_a_subtask_that_comes_to_its_gate_by_itself_stops_the_tree_and_says_so(kind: Kind, last: Act | None) -> None:
    """Rulings 2.8: its own subtasks are over, and it waits for a person with what is beside it."""
    gated = Draft(title="gated", key="gated", type=kind, policy=Policy.POOL, requires=Gate.REVIEW)
    tree = Tree(gated, Draft(title="below", parent="gated"), Draft(title="more", parent="gated"), Draft(title="next"))
    tree.act("task-4", Act.COMPLETE, THE_HUMAN)
    tree.complete(1)
    if kind is Kind.TASK:
        tree.begin("task-2")
        tree.complete(2)
    if last:
        tree.act("task-3", last, THE_HUMAN, watchers=("lead", "human"))
    else:
        watchers = ("lead", "human")
        tree.tasks = delete(tree.tasks, "task-3", THE_HUMAN, force=False, now=at(1), watchers=watchers)
    assert phase(tree[2]) is TaskPhase.AWAITING
    for address in ("s1", "lead", "human"):
        assert [said for said in tree.told(address) if said.startswith("task-2 waits for a human")], address
    assert len(tree.told("lead")) == len(tree.told("human")) == 1


def test_an_agents_command_in_a_tree_stops_it_and_says_so() -> None:
    """Rulings 2.8, 2.9."""
    tree = Tree()
    draft = Draft(title="t", run="make", parent="1")
    tree.tasks, _ = create(tree.tasks, [draft], session("task-1"), at(1), lambda: "n")
    tree.complete(1)
    assert tree.turns() == []
    assert "agent-made command" in tree.told("lead")[0]


def test_three_levels_run_one_at_a_time_in_order_of_priority() -> None:
    """Issue 6, must show 3, as far as rules go: three levels, 20 subtasks under one parent, only the lead acts."""
    twenty = [Draft(title=f"leaf {n}", parent="middle", priority=n % 7) for n in range(20)]
    tree = Tree(Draft(title="middle", key="middle", priority=1), Draft(title="last", priority=2), *twenty)
    order, at_once = ["task-1"], set()
    while phase(tree[1]) is not TaskPhase.COMPLETED:
        working = [task for task in tree.tasks.tasks if phase(task) is TaskPhase.WORKING]
        at_once.add(len(working))
        if working:
            tree.complete(int(working[0].id.removeprefix("task-")))
        else:
            [turn] = tree.turns()
            order.append(turn)
            tree.begin(turn)
    assert at_once == {0, 1}
    leaves = sorted(range(20), key=lambda n: (n % 7, n))
    assert order == ["task-1", "task-2", *(f"task-{n + 4}" for n in leaves), "task-3"]
    assert set(tree.phases()) == {TaskPhase.COMPLETED}


def test_a_dead_supervised_session_has_failed() -> None:
    """Rulings 2, proved death: failed under supervised; pending again under pool; told once."""
    tree = Tree(*children(0))
    tree.complete(1)
    tree.begin("task-2")
    tree.tasks = changes.free(tree.tasks, "s2", "inc-task-2", dead("s2 crashed: killed by signal 9"))
    assert (tree[2].status, tree[2].closed_reason) == (Status.FAILED, "s2 crashed: killed by signal 9")
    assert len(tree.told("s1")) == len(tree.told("lead")) == 1


def test_a_start_that_fails_is_taken_back() -> None:
    """AC-57: pending again, no session, as if it had never been; a parent goes back to done."""
    tree = Tree(*children(0))
    tree.complete(1)
    before = tree[2]
    tree.begin("task-2")
    after = tree.act("task-2", Act.UNDO_START, THE_LEAD, "no such program")
    assert phase(after) is TaskPhase.PENDING
    kept = ("started_at", "assignee", "claim", "claimed_at", "session")
    assert [getattr(after, name) for name in kept] == [getattr(before, name) for name in kept]
    assert tree.turns() == ["task-2"]
    tree.tasks = changes.free(tree.tasks, "s1", "inc-task-1", dead("s1 crashed"))
    tree.act("task-1", Act.WISH, THE_HUMAN)
    tree.begin("task-1")
    assert phase(tree.act("task-1", Act.UNDO_START, THE_LEAD)) is TaskPhase.DONE


def test_what_runs_is_not_started_again() -> None:
    """AC-58: neither by claim nor by start, while its session lives, done or not."""
    tree = Tree(*children(0))
    for act, caller in ((Act.CLAIM, W2), (Act.WISH, THE_HUMAN), (Act.START, THE_LEAD)):
        with pytest.raises(Refused, match="claimed by s1"):
            tree.act("task-1", act, caller, holder=W2)
    tree.complete(1)
    for act, caller in ((Act.WISH, THE_HUMAN), (Act.START, THE_LEAD)):
        with pytest.raises(Refused, match="waits for its subtasks"):
            tree.act("task-1", act, caller, holder=W2)


def test_teammates_are_not_offered_what_gets_a_session_of_its_own() -> None:
    tasks, _ = make(
        listed(),
        *(Draft(title="t", policy=policy) for policy in (None, *Policy)),
        Draft(title="reserved", policy=Policy.SUPERVISED, assignee="w1"),
    )
    assert [task.id for task in claimable(Board(tasks.tasks), "w1")] == ["task-5", "task-1", "task-2"]
    tasks, _ = changes.act(tasks, "task-1", ask(Act.WISH, THE_HUMAN))
    assert [task.id for task in claimable(Board(tasks.tasks), "w2")] == ["task-2"]


@pytest.mark.parametrize("own", [None, *Policy])
def test_a_task_that_is_started_is_supervised_unless_it_says_otherwise(own: Policy | None) -> None:
    """Rulings 2, Policies."""
    tasks, _ = make(listed(), Draft(title="t", policy=own))
    tasks, task = changes.act(tasks, "task-1", ask(Act.WISH, THE_HUMAN, agent="codex"))
    assert task.policy is (own or Policy.SUPERVISED)
    assert task.start
    assert task.start.agent == "codex"
    assert [task.id for task in supervised.to_start(Board(tasks.tasks))] == ["task-1"]


def test_epics_only_group_also_in_a_supervised_tree() -> None:
    """Rulings 2.4: never started; what is below one is its parent's to review, and takes turns with the rest."""
    grouped = [Draft(title="group", key="group", type=Kind.EPIC), Draft(title="in it", parent="group", priority=1)]
    tree = Tree(*grouped, Draft(title="beside", priority=0))
    tree.complete(1)
    for turn in ("task-4", "task-3"):
        assert tree.turns() == [turn]
        tree.begin(turn)
        tree.complete(int(turn[-1]))
        tree.complete(1)
    assert set(tree.phases()) == {TaskPhase.COMPLETED}


def test_what_is_reopened_below_a_completed_parent_says_what_to_do() -> None:
    tree = Tree(*children(0))
    tree.complete(1)
    tree.begin("task-2")
    tree.complete(2)
    tree.complete(1)
    tree.act("task-2", Act.REOPEN, THE_HUMAN)
    with pytest.raises(Refused, match="task-1, above it, is completed") as refused:
        tree.act("task-2", Act.WISH, THE_HUMAN)
    assert refused.value.hint == "reopen it first: pro0 task reopen task-1"
    tree.act("task-1", Act.REOPEN, THE_HUMAN)
    tree.begin("task-1")
    tree.complete(1)
    assert tree.turns() == ["task-2"]


GROUP = Draft(title="group", key="group", type=Kind.EPIC)
IN_IT = Draft(title="in it", parent="group")
ENDS = {
    "its gate": ([replace(GROUP, requires=Gate.REVIEW), IN_IT], Act.APPROVE, "completed task-2 (group)."),
    "a hold": ([GROUP, IN_IT], Act.CLEAR, "completed task-2 (group)."),
    "a person completes it": ([GROUP], Act.COMPLETE, "completed task-2 (group)."),
    "it is deleted": ([GROUP], None, "task-2 was deleted."),
}


@pytest.mark.parametrize("how", ENDS)
def test_a_parent_waits_for_its_epics_too(how: str) -> None:
    """Rulings 2.4: an epic may end after all that is below it; the parent goes on then, and not before."""
    drafts, act, words = ENDS[how]
    tree = Tree(*drafts)
    if IN_IT in drafts:
        tree.complete(1)
        tree.begin("task-3")
        if how == "a hold":
            tree.act("task-2", Act.HOLD, THE_HUMAN, kind=Awaiting.REVIEW)
        tree.complete(3)
    assert phase(tree.complete(1)) is TaskPhase.DONE
    assert tree[1].waits_for == ("task-2",)
    if act:
        tree.act("task-2", act, THE_HUMAN)
    else:
        tree.tasks = delete(tree.tasks, "task-2", THE_HUMAN, force=False, now=at(1))
    assert phase(tree[1]) is TaskPhase.WORKING
    assert tree.told("s1")[-1].startswith(words)
    assert phase(tree.complete(1)) is TaskPhase.COMPLETED


def test_an_epic_that_ends_with_its_last_subtask_is_no_news_of_its_own() -> None:
    tree = Tree(GROUP, IN_IT)
    tree.complete(1)
    tree.begin("task-3")
    tree.complete(3)
    [said] = tree.told("s1")
    assert said.startswith("completed task-3 (in it).\nRead")
    assert tree[1].history[-1].text == "task-3"


@pytest.mark.parametrize("depth", [1, 2])
def test_what_leaves_a_tree_with_its_epic_is_awaited_no_longer(depth: int) -> None:
    """Rulings 2.4, 2.6: it is a task of the pool from then on, and no word about its end comes to the old parent."""
    lower = [replace(GROUP, key="lower", parent="group"), replace(IN_IT, parent="lower")]
    tree = Tree(GROUP, *([IN_IT] if depth == 1 else lower))
    tree.complete(1)
    last = len(tree.tasks.tasks)
    tree.tasks = delete(tree.tasks, f"task-{last - 1}", THE_HUMAN, force=True, now=at(1))
    assert phase(tree[1]) is TaskPhase.WORKING
    assert f"task-{last} (in it) is no longer below task-1." in tree.told("s1")[0]
    assert tree[1].waits_for == (() if depth == 1 else ("task-2",))
    tree.act(f"task-{last}", Act.CLAIM, W2)
    tree.act(f"task-{last}", Act.COMPLETE, W2)
    assert len(tree.told("s1")) == 1


@pytest.mark.parametrize("id", ["task-2:4:s1", "task-2:4:all done", "m1", "review of task-2", "a:task-2:4:review of x"])
def test_what_is_no_review(id: str) -> None:
    """A chat shows a review as one; a message that a member wrote has an id of another kind."""
    assert not subtasks.is_review(id)
