"""The verdict matrix, gates that only their own approval passes, and agents' commands (rulings 2.1, 2.2, 2.9)."""

from itertools import product

import pytest
from msgspec.structs import replace

from pro0.errors import Refused
from pro0.model.caller import THE_HUMAN
from pro0.model.task import Awaiting, Changes, Draft, Gate, Kind, Status, Task, Verdict, Wait
from pro0.rules.tasks import changes, gates
from pro0.rules.tasks.acts import Act, TaskPhase, phase
from pro0.rules.tasks.board import Board, why_not_ready
from tests.rules.building import LEAD_AGENT, T0, W1, ask, at, claimed, dead, listed, make, standing, task, update

COMPLETE, BACK, CANCEL = TaskPhase.COMPLETED, TaskPhase.PENDING, TaskPhase.CANCELLED
MATRIX = {
    "work": (COMPLETE, BACK),
    "approval": (COMPLETE, BACK),
    "input": (BACK, CANCEL),
    "review": (COMPLETE, BACK),
    "content": (COMPLETE, BACK),
    "escalation": (BACK, CANCEL),
    "checkpoint": (BACK, BACK),
}
"""What approve and reject make of a task, by what it waits for: the ruling, in words of its own."""
STARTS = {"handed off": Status.IN_PROGRESS, "created so": Status.PENDING}


def waits(kind: str, status: Status = Status.IN_PROGRESS, requires: Gate | None = None) -> Task:
    held = replace(standing(TaskPhase.AWAITING), status=status, requires=requires)
    if status is Status.PENDING:
        held = replace(task(1), requires=requires)
    return replace(held, awaiting=Wait(kind=Awaiting(kind), since=T0, by="w1", reason="why"))


def verdict(one: Task, approved: bool, text: str = "") -> Task:
    act = Act.APPROVE if approved else Act.REJECT
    return changes.act(listed(one), one.id, ask(act, THE_HUMAN, text, at(5)))[1]


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("approved", [True, False], ids=["approve", "reject"])
@pytest.mark.parametrize("kind", MATRIX)
def test_the_matrix(kind: str, approved: bool, start: str) -> None:
    """AC-01, S001-044…053: completed, handed back or cancelled; what is handed back keeps when it was started."""
    before = waits(kind, STARTS[start])
    after = verdict(before, approved, "said")
    assert phase(after) is MATRIX[kind][0 if approved else 1]
    assert (after.awaiting, after.claim) == (None, None)
    assert after.history[-1].text == "said"
    assert after.started_at == before.started_at
    assert (after.completed_at == at(5)) is (phase(after) is COMPLETE)
    if phase(after) is BACK:
        assert after.assignee is None
        assert why_not_ready(Board([after]), after) is None


def test_the_matrix_is_whole() -> None:
    assert set(gates.MATRIX) == set(product(Awaiting, Verdict))
    assert set(MATRIX) == set(map(str, Awaiting))


@pytest.mark.parametrize("approved", [True, False], ids=["approve", "reject"])
@pytest.mark.parametrize("requires", Gate)
@pytest.mark.parametrize("kind", MATRIX)
def test_only_its_own_approval_passes_a_gate(kind: str, requires: Gate, approved: bool) -> None:
    """Rulings 2.2, AC-06, AC-08, AC-09, S001-041: another one that would complete it makes it wait for its gate."""
    after = verdict(waits(kind, requires=requires), approved)
    expected = MATRIX[kind][0 if approved else 1]
    assert after.requires is requires
    if expected is COMPLETE and kind != requires.value:
        assert after.awaiting
        assert after.awaiting.kind.value == requires.value
        assert after.status is Status.IN_PROGRESS
        assert phase(verdict(after, approved=True)) is COMPLETE
    else:
        assert phase(after) is expected


@pytest.mark.parametrize("requires", [None, *Gate])
@pytest.mark.parametrize("start", [TaskPhase.FAILED, TaskPhase.AWAITING])
def test_closing_does_not_pass_a_gate(start: TaskPhase, requires: Gate | None) -> None:
    """Rulings 2.1: a human's close of a gated task makes it wait."""
    one = replace(standing(start), requires=requires)
    after = changes.act(listed(one), one.id, ask(Act.CLOSE, THE_HUMAN, "by hand"))[1]
    assert phase(after) is (TaskPhase.AWAITING if requires else TaskPhase.COMPLETED)
    assert after.result == "by hand"


def test_closing_again_at_the_gate_changes_nothing() -> None:
    """It is refused, so it renews no wait, adds nothing to the history, and tells no session that the task is over."""
    one = listed(replace(standing(TaskPhase.PENDING), requires=Gate.REVIEW))
    waiting, after = changes.act(one, "task-1", ask(Act.CLOSE, THE_HUMAN, "by hand"))
    assert phase(after) is TaskPhase.AWAITING
    assert changes.act(waiting, "task-1", ask(Act.CLOSE, THE_HUMAN))[1] == after
    assert changes.act(waiting, "task-1", ask(Act.CLOSE, THE_HUMAN, "by hand"))[1] == after
    assert changes.act(waiting, "task-1", ask(Act.CLOSE, THE_HUMAN, "better"))[1].result == "better"


def test_what_nobody_has_worked_on_and_a_human_closes_waits_at_its_gate_too() -> None:
    """Rulings 2, close, and 2.1: it is in progress without anybody's name, until the gate is passed."""
    held = changes.act(listed(task(1, requires=Gate.REVIEW)), "task-1", ask(Act.HOLD, THE_HUMAN))[1]
    after = changes.act(listed(held), "task-1", ask(Act.CLOSE, THE_HUMAN, "by hand"))[1]
    assert (after.status, after.waits and after.waits.kind) == (Status.IN_PROGRESS, Awaiting.REVIEW)
    assert (after.assignee, after.claim, after.claimed_at) == (None, None, None)
    assert phase(verdict(after, approved=True)) is COMPLETE
    assert phase(verdict(after, approved=False)) is BACK


@pytest.mark.parametrize("act", [Act.APPROVE, Act.CLOSE])
@pytest.mark.parametrize("requires", [None, Gate.APPROVAL])
def test_open_subtasks_come_first(act: Act, requires: Gate | None) -> None:
    """Rulings 2.1, the order: open subtasks, the gate, completed; the gate comes when the subtasks are through."""
    tasks = listed(waits("approval", requires=requires), task(2, parent=1))
    tasks, after = changes.act(tasks, "task-1", ask(act, THE_HUMAN))
    assert phase(after) is TaskPhase.DONE
    tasks, _ = changes.act(tasks, "task-2", ask(Act.CLAIM, W1))
    tasks, _ = changes.act(tasks, "task-2", ask(Act.COMPLETE, W1))
    assert phase(tasks.tasks[0]) is (TaskPhase.AWAITING if requires else TaskPhase.COMPLETED)


@pytest.mark.parametrize("kind", ["input", "escalation"])
def test_a_rejection_that_cancels_takes_the_subtasks_with_it(kind: str) -> None:
    tasks = listed(waits(kind), replace(claimed(task(2)), parent="task-1"))
    tasks, _ = changes.act(tasks, "task-1", ask(Act.REJECT, THE_HUMAN, "never mind"))
    assert [phase(one) for one in tasks.tasks] == [TaskPhase.CANCELLED, TaskPhase.CANCELLED]
    assert [(n.to, n.content) for n in tasks.outbox] == [("w1", "task-2 was cancelled: never mind")]


@pytest.mark.parametrize("phase_", [TaskPhase.PENDING, TaskPhase.AWAITING])
def test_a_hold_tells_why_and_leaves_the_gate(phase_: TaskPhase) -> None:
    """S001-096: it may be put over another one; what is required is asked for all the same."""
    held = replace(standing(phase_), requires=Gate.REVIEW)
    after = changes.act(listed(held), "task-1", ask(Act.HOLD, THE_HUMAN, "mine", kind=Awaiting.WORK))[1]
    assert after.awaiting == Wait(kind=Awaiting.WORK, since=T0, by="human", reason="mine")
    gate = verdict(after, approved=True).awaiting
    assert gate
    assert gate.kind is Awaiting.REVIEW


@pytest.mark.parametrize("human", [True, False])
def test_taking_nothing_back_changes_nothing(human: bool) -> None:
    """AC-14: a human's clear of what does not wait is no error, and no entry either."""
    tasks = listed(task(1))
    request = ask(Act.CLEAR, THE_HUMAN if human else W1)
    if human:
        assert changes.act(tasks, "task-1", request) == (tasks, tasks.tasks[0])
    else:
        with pytest.raises(Refused):
            changes.act(tasks, "task-1", request)


# --- commands that agents make (rulings 2.9)


def agents_command() -> Task:
    return make(listed(), Draft(title="t", run="rm -rf x"), caller=W1)[1][0]


def test_an_approved_command_may_run() -> None:
    """Rulings 2.9: approve hands it back and it may run; the agreement is to that text."""
    agreed = verdict(agents_command(), approved=True)
    assert phase(agreed) is TaskPhase.PENDING
    assert why_not_ready(Board([agreed]), agreed) is None
    changed = update(listed(agreed), "task-1", Changes(run="rm -rf /"), LEAD_AGENT)
    assert changed.awaiting
    assert changed.awaiting.reason == gates.AGENT_COMMAND


@pytest.mark.parametrize("act", [Act.APPROVE, Act.CLEAR])
def test_an_approved_command_is_still_for_the_member_that_it_was_made_for(act: Act) -> None:
    """Behaviour 2.16: that member was told that it is assigned; a return without a verdict leaves the command held."""
    tasks, [made] = make(listed(), Draft(title="build", run="make", assignee="sh1"), caller=LEAD_AGENT)
    assert (made.assignee, phase(made)) == ("sh1", TaskPhase.AWAITING)
    tasks, after = changes.act(tasks, made.id, ask(act, THE_HUMAN))
    assert (after.assignee, after.waits is None) == ("sh1", act is Act.APPROVE)
    if act is Act.APPROVE:
        with pytest.raises(Refused, match="reserved for sh1"):
            changes.act(tasks, made.id, ask(Act.CLAIM, W1))


@pytest.mark.parametrize("act", [Act.APPROVE, Act.REJECT, Act.CLEAR])
@pytest.mark.parametrize("before", ["made so", "assigned", "assigned anew"])
def test_a_reservation_outlives_a_wait(before: str, act: Act) -> None:
    """Only what somebody has worked on since belongs to nobody when it is handed back (2.14)."""
    tasks, [made] = make(listed(), Draft(title="paint", assignee="w2" if before == "made so" else None))
    human = ask(Act.ASSIGN, THE_HUMAN, assignee="w2")
    if before == "assigned anew":
        for verb in (Act.CLAIM, Act.RELEASE):
            tasks, task = changes.act(tasks, made.id, ask(verb, W1))
        assert task.assignee is None
    if before != "made so":
        tasks, _ = changes.assign(tasks, made.id, human, "n2")
    tasks, _ = changes.act(tasks, made.id, replace(human, act=Act.HOLD, kind=Awaiting.CHECKPOINT))
    tasks, after = changes.act(tasks, made.id, replace(human, act=act))
    assert (phase(after), after.assignee) == (TaskPhase.PENDING, "w2")
    held, _ = changes.act(tasks, made.id, replace(human, act=Act.HOLD))
    assert changes.free(held, "w2", "inc-w2", dead("crashed")).tasks[0].assignee is None


@pytest.mark.parametrize("below", [False, True], ids=["at its gate", "done"])
def test_a_reservation_ends_with_its_member_also_where_a_person_completed_the_task(below: bool) -> None:
    """Rulings 2.16: handed back it would be for a member that is gone, and nobody else could take it."""
    drafts = [
        Draft(title="paint", key="paint", assignee="w2", requires=Gate.REVIEW),
        Draft(title="dry", parent="paint"),
    ]
    tasks, [made, *_] = make(listed(), *drafts[: 1 + below])
    for act in (Act.HOLD, Act.APPROVE) if below else (Act.COMPLETE,):
        tasks, task = changes.act(tasks, made.id, ask(act, THE_HUMAN, kind=Awaiting.CONTENT))
    assert (phase(task), task.assignee) == (TaskPhase.DONE if below else TaskPhase.AWAITING, "w2")
    tasks = changes.free(tasks, "w2", "inc-w2", dead("crashed"))
    if below:
        tasks, _ = changes.act(tasks, "task-2", ask(Act.COMPLETE, THE_HUMAN))
    tasks, task = changes.act(tasks, made.id, ask(Act.REJECT, THE_HUMAN))
    assert (phase(task), task.assignee) == (TaskPhase.PENDING, None)


def test_what_is_reopened_is_reserved_for_nobody() -> None:
    """Its member may have ended while it was over."""
    tasks, [made] = make(listed(), Draft(title="paint", assignee="w2"))
    for act in (Act.CANCEL, Act.REOPEN):
        tasks, after = changes.act(tasks, made.id, ask(act, THE_HUMAN))
    assert (phase(after), after.assignee) == (TaskPhase.PENDING, None)


def test_a_rejected_command_is_cancelled_and_never_runs() -> None:
    """Rulings 2.9: also when it is reopened, it waits."""
    rejected = verdict(agents_command(), approved=False)
    assert phase(rejected) is TaskPhase.CANCELLED
    again = changes.act(listed(rejected), "task-1", ask(Act.REOPEN, THE_HUMAN))[1]
    assert phase(again) is TaskPhase.AWAITING
    assert phase(verdict(again, approved=True)) is TaskPhase.PENDING


@pytest.mark.parametrize("word", [Act.CLEAR, Act.REJECT])
@pytest.mark.parametrize("kind", Awaiting)
def test_nothing_but_an_agreement_hands_a_command_back(kind: Awaiting, word: Act) -> None:
    """Rulings 2.9: whatever else it was made to wait for in between."""
    held = changes.act(listed(agents_command()), "task-1", ask(Act.HOLD, THE_HUMAN, kind=kind))[1]
    after = changes.act(listed(held), "task-1", ask(word, THE_HUMAN))[1]
    assert phase(after) in (TaskPhase.AWAITING, TaskPhase.CANCELLED)
    if after.waits:
        assert after.waits.reason == gates.AGENT_COMMAND


def test_no_session_goes_on_with_a_command_nobody_agreed_to() -> None:
    once = replace(agents_command(), session=W1.incarnation, assignee="w1")
    with pytest.raises(Refused, match="no human has agreed"):
        changes.act(listed(once), "task-1", ask(Act.CONTINUE, THE_HUMAN, holder=W1))


def test_an_agent_that_takes_its_command_away_needs_no_agreement() -> None:
    agreed = verdict(agents_command(), approved=True)
    emptied = update(listed(agreed), "task-1", Changes(run=""), LEAD_AGENT)
    assert (emptied.run, emptied.awaiting, emptied.unagreed) == (None, None, False)


def test_work_for_a_human_with_an_agents_command_waits_for_the_agreement() -> None:
    """Rulings 2.9 before S001-093: a rejection of the work would hand the command back otherwise."""
    draft = Draft(title="t", run="rm -rf x", awaiting=Awaiting.WORK)
    made = make(listed(), draft, caller=W1)[1][0]
    assert made.awaiting
    assert made.awaiting.kind is Awaiting.ESCALATION


# --- gates that are declared, and who may change them


@pytest.mark.parametrize("caller", [W1, LEAD_AGENT], ids=lambda caller: caller.who)
@pytest.mark.parametrize("requires", ["", "review"])
def test_only_a_human_changes_a_gate(caller: object, requires: str) -> None:
    """Rulings 2, the task: declared by anybody who makes it, changed by a human alone."""
    [gated] = make(listed(), Draft(title="t", requires=Gate.APPROVAL), caller=W1)[1]
    with pytest.raises(Refused, match="only a human"):
        update(listed(gated), gated.id, Changes(requires=requires), caller)  # type: ignore[arg-type]
    assert update(listed(gated), gated.id, Changes(requires=requires)).requires == (requires or None)


@pytest.mark.parametrize("kind", Awaiting)
def test_what_is_created_to_wait_is_passed_over(kind: Awaiting) -> None:
    """S001-093, S001-112: by ready, next and claim."""
    tasks, [made] = make(listed(), Draft(title="t", awaiting=kind))
    assert (why_not_ready(Board(tasks.tasks), made) or "").startswith(f"is awaiting a human ({kind}")
    with pytest.raises(Refused):
        changes.act(tasks, made.id, ask(Act.CLAIM, W1))


def test_an_epic_waits_at_its_gate_like_any_parent() -> None:
    """Rulings 2.4 with 2.2."""
    tasks = listed(task(1, type=Kind.EPIC, requires=Gate.APPROVAL), replace(claimed(task(2)), parent="task-1"))
    tasks, _ = changes.act(tasks, "task-2", ask(Act.COMPLETE, W1))
    assert phase(tasks.tasks[0]) is TaskPhase.AWAITING
    assert phase(verdict(tasks.tasks[0], approved=True)) is TaskPhase.COMPLETED
