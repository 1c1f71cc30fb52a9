"""The table of transitions: every cell, who may do it, and what holds after any sequence of acts (rulings 2)."""

from itertools import product

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from msgspec.structs import replace

from pro0.errors import Refused
from pro0.model.caller import THE_HUMAN, THE_LEAD, Caller, Who
from pro0.model.task import SETTLED, Awaiting, Gate, Policy, Status, Task
from pro0.rules.tasks import lifecycle
from pro0.rules.tasks.acts import GRANTS, Act, Request, TaskPhase, phase
from pro0.rules.tasks.effects import RETURNS
from pro0.rules.tasks.lifecycle import advance
from tests.rules.building import CALLERS, LEAD_AGENT, T0, W1, W1_LATER, W2, ask, at, claimed, standing

HUMAN, LEAD, AGENT, MEMBER = Who.HUMAN, Who.LEAD, Who.LEAD_AGENT, Who.MEMBER
EVERYONE = (HUMAN, LEAD, AGENT, MEMBER)
PEOPLE = (HUMAN, AGENT, MEMBER)
IN_CHARGE = (HUMAN, AGENT)

ALLOWED: dict[tuple[TaskPhase, Act], tuple[tuple[Who, ...], TaskPhase]] = {
    (TaskPhase.PENDING, Act.CLAIM): (PEOPLE, TaskPhase.WORKING),
    (TaskPhase.PENDING, Act.START): ((LEAD,), TaskPhase.WORKING),
    (TaskPhase.PENDING, Act.WISH): ((HUMAN,), TaskPhase.PENDING),
    (TaskPhase.PENDING, Act.ASSIGN): (IN_CHARGE, TaskPhase.PENDING),
    (TaskPhase.PENDING, Act.HOLD): ((HUMAN,), TaskPhase.AWAITING),
    (TaskPhase.PENDING, Act.DIED): ((LEAD,), TaskPhase.PENDING),
    (TaskPhase.PENDING, Act.CANCEL): (IN_CHARGE, TaskPhase.CANCELLED),
    (TaskPhase.PENDING, Act.COMPLETE): ((HUMAN,), TaskPhase.COMPLETED),
    (TaskPhase.PENDING, Act.CLOSE): ((HUMAN,), TaskPhase.COMPLETED),
    (TaskPhase.PENDING, Act.SETTLE): ((LEAD,), TaskPhase.COMPLETED),
    (TaskPhase.WORKING, Act.RELEASE): (EVERYONE, TaskPhase.PENDING),
    (TaskPhase.WORKING, Act.COMPLETE): (PEOPLE, TaskPhase.COMPLETED),
    (TaskPhase.WORKING, Act.UNDO_START): ((LEAD,), TaskPhase.PENDING),
    (TaskPhase.WORKING, Act.HAND_OFF): (PEOPLE, TaskPhase.AWAITING),
    (TaskPhase.WORKING, Act.FAIL): (EVERYONE, TaskPhase.FAILED),
    (TaskPhase.WORKING, Act.DIED): ((LEAD,), TaskPhase.PENDING),
    (TaskPhase.WORKING, Act.CANCEL): (IN_CHARGE, TaskPhase.CANCELLED),
    (TaskPhase.AWAITING, Act.APPROVE): ((HUMAN,), TaskPhase.COMPLETED),
    (TaskPhase.AWAITING, Act.REJECT): ((HUMAN,), TaskPhase.PENDING),
    (TaskPhase.AWAITING, Act.HOLD): ((HUMAN,), TaskPhase.AWAITING),
    (TaskPhase.AWAITING, Act.CLEAR): ((HUMAN,), TaskPhase.PENDING),
    (TaskPhase.AWAITING, Act.CONTINUE): ((HUMAN,), TaskPhase.WORKING),
    (TaskPhase.AWAITING, Act.CLOSE): ((HUMAN,), TaskPhase.COMPLETED),
    (TaskPhase.AWAITING, Act.CANCEL): ((HUMAN,), TaskPhase.CANCELLED),
    (TaskPhase.AWAITING, Act.DIED): ((LEAD,), TaskPhase.AWAITING),
    (TaskPhase.DONE, Act.START): ((LEAD,), TaskPhase.WORKING),
    (TaskPhase.DONE, Act.WISH): ((HUMAN,), TaskPhase.DONE),
    (TaskPhase.DONE, Act.REVIEW): ((LEAD,), TaskPhase.WORKING),
    (TaskPhase.DONE, Act.DIED): ((LEAD,), TaskPhase.DONE),
    (TaskPhase.DONE, Act.SETTLE): ((LEAD,), TaskPhase.COMPLETED),
    (TaskPhase.DONE, Act.CANCEL): (IN_CHARGE, TaskPhase.CANCELLED),
    (TaskPhase.FAILED, Act.RETRY): (IN_CHARGE, TaskPhase.PENDING),
    (TaskPhase.FAILED, Act.CONTINUE): ((HUMAN,), TaskPhase.WORKING),
    (TaskPhase.FAILED, Act.CLOSE): ((HUMAN,), TaskPhase.COMPLETED),
    (TaskPhase.COMPLETED, Act.REOPEN): ((HUMAN,), TaskPhase.PENDING),
    (TaskPhase.FAILED, Act.REOPEN): ((HUMAN,), TaskPhase.PENDING),
    (TaskPhase.CANCELLED, Act.REOPEN): ((HUMAN,), TaskPhase.PENDING),
}


HOLDER = {Act.START: W1, Act.CONTINUE: W1}


def waiting_for_subtasks() -> Task:
    """A supervised parent with a live claim."""
    return replace(standing(TaskPhase.WORKING), status=Status.DONE)


def cells() -> list[object]:
    return [pytest.param(*cell, id="-".join(cell)) for cell in product(TaskPhase, Act, Who)]


@pytest.mark.parametrize(("now", "act", "who"), cells())
def test_every_cell(now: TaskPhase, act: Act, who: Who) -> None:
    """Rulings 2, the table: allowed cells lead where they say with one history entry; all others refuse."""
    caller = CALLERS[who]
    before = standing(now, holder=caller if who in (AGENT, MEMBER) or act is Act.HAND_OFF else W2)
    if now is TaskPhase.DONE and act in (Act.REVIEW, Act.DIED):
        before = waiting_for_subtasks()
    if now is TaskPhase.WORKING and act is Act.UNDO_START:
        before = advance(standing(TaskPhase.PENDING), ask(Act.START, THE_LEAD, holder=W1))
    allowed, result = ALLOWED.get((now, act), ((), now))
    request = ask(act, caller, "why", at(5), assignee="w9" if act is Act.ASSIGN else None, holder=HOLDER.get(act))
    if act is Act.CLEAR and who is HUMAN and now in (TaskPhase.PENDING, TaskPhase.WORKING, TaskPhase.DONE):
        assert advance(before, request) is before, "AC-14: what does not wait is not in need of it"
        return
    if who not in allowed:
        with pytest.raises(Refused) as refused:
            advance(before, request)
        assert refused.value.exit_code == 4
        assert before.id in refused.value.message
        return
    after = advance(before, request)
    assert phase(after) is result
    entry = after.history[-1]
    assert len(after.history) == len(before.history) + 1
    assert (entry.at, entry.actor, entry.act, entry.text) == (at(5), caller.agent_id, act, "why")
    assert (entry.from_, entry.to) == (before.status, after.status)
    assert entry.incarnation == (caller.incarnation if who in (AGENT, MEMBER) else None)
    assert after.updated_at == at(5)
    holds(after)


def test_the_code_has_exactly_the_cells_of_the_ruling() -> None:
    assert set(lifecycle.TRANSITIONS) == set(ALLOWED)


@pytest.mark.parametrize(("now", "act"), [(TaskPhase.FAILED, Act.CONTINUE), (TaskPhase.AWAITING, Act.CONTINUE)])
def test_a_claim_names_its_session_and_forgets_why_the_last_one_ended(now: TaskPhase, act: Act) -> None:
    after = advance(replace(standing(now), closed_reason="broken"), ask(act, THE_HUMAN, holder=W1_LATER))
    assert (after.session, after.assignee, after.closed_reason) == ("inc-w1-later", "w1", "")


@pytest.mark.parametrize(("now", "act"), [(TaskPhase.FAILED, Act.RETRY), (TaskPhase.CANCELLED, Act.REOPEN)])
def test_what_is_handed_back_has_nothing_left_of_its_end(now: TaskPhase, act: Act) -> None:
    before = replace(standing(now), session="inc-w1", open_before=2, review_cycles=3)
    after = advance(before, ask(act, THE_HUMAN))
    assert (after.closed_reason, after.session, after.open_before, after.review_cycles) == ("", None, None, 0)


def test_a_start_that_came_to_nothing_leaves_when_it_was_begun_before() -> None:
    """Rulings 2, start: a failed start is rolled back; offered first is what was begun (2.10)."""
    fresh = advance(standing(TaskPhase.PENDING), ask(Act.START, THE_LEAD, now=at(5), holder=W1))
    assert advance(fresh, ask(Act.UNDO_START, THE_LEAD)).started_at is None
    again = advance(replace(standing(TaskPhase.PENDING), started_at=T0), ask(Act.START, THE_LEAD, now=at(5), holder=W1))
    assert advance(again, ask(Act.UNDO_START, THE_LEAD)).started_at == T0


@pytest.mark.parametrize("act", [Act.RELEASE, Act.COMPLETE, Act.FAIL])
@pytest.mark.parametrize("who", [W2, LEAD_AGENT])
def test_only_the_holder_ends_its_claim(act: Act, who: Caller) -> None:
    """AC-62, rulings 2.11: complete, fail and release by somebody else are refused, naming the holder."""
    with pytest.raises(Refused, match="claimed by w1") as refused:
        advance(standing(TaskPhase.WORKING, W1), ask(act, who))
    assert refused.value.code == "not_owner"


@pytest.mark.parametrize("act", [Act.RELEASE, Act.COMPLETE, Act.FAIL])
def test_a_late_call_of_an_older_session_is_stale(act: Act) -> None:
    """Rulings 2.11, reliability 21: same member, other incarnation."""
    with pytest.raises(Refused, match="stale claim") as refused:
        advance(standing(TaskPhase.WORKING, W1_LATER), ask(act, W1))
    assert refused.value.code == "stale_claim"


def test_losing_a_claim_names_the_holder_and_its_epoch() -> None:
    """AC-62."""
    held = claimed(standing(TaskPhase.PENDING), W2, epoch=3)
    with pytest.raises(Refused, match=r"task-1 is claimed by w2 \(epoch 3\)") as refused:
        advance(held, ask(Act.CLAIM, W1))
    assert refused.value.code == "conflict"


def test_a_claim_raises_the_epoch_by_one_and_keeps_started_at() -> None:
    """Rulings 2: epoch counts claims; handing back keeps startedAt."""
    task = standing(TaskPhase.PENDING)
    for turn in range(1, 5):
        task = advance(task, ask(Act.CLAIM, W1, now=at(turn)))
        assert task.claim is not None
        assert (task.epoch, task.claim.epoch, task.claim.claimed_at, task.claimed_at) == (
            turn,
            turn,
            at(turn),
            at(turn),
        )
        assert (task.started_at, task.assignee) == (at(1), "w1")
        task = advance(task, ask((Act.RELEASE, Act.DIED)[turn % 2], (W1, THE_LEAD)[turn % 2]))
        assert (task.started_at, task.assignee, task.claim, task.claimed_at) == (at(1), None, None, None)


@pytest.mark.parametrize("caller", [W1, LEAD_AGENT, THE_HUMAN], ids=lambda caller: caller.who)
@pytest.mark.parametrize("gate", [None, Gate.REVIEW])
@pytest.mark.parametrize("open_subtasks", [0, 2])
def test_completing_twice_is_once(caller: Caller, gate: Gate | None, open_subtasks: int) -> None:
    """Rulings 2.11, AC-62: the second call changes nothing, whatever result it brings."""
    held = replace(standing(TaskPhase.WORKING, caller), requires=gate)
    once = advance(held, ask(Act.COMPLETE, caller, "first", open_subtasks=open_subtasks))
    assert advance(once, ask(Act.COMPLETE, caller, "second", at(9))) is once
    assert once.result == "first"


def test_completing_twice_is_once_although_something_else_happened_to_the_task() -> None:
    """Rulings 2.11: a done parent that settled meanwhile is still completed by that claim."""
    done = advance(standing(TaskPhase.WORKING, W1), ask(Act.COMPLETE, W1, "first", open_subtasks=1))
    settled = advance(done, ask(Act.SETTLE, THE_LEAD))
    assert advance(settled, ask(Act.COMPLETE, W1, "second")) is settled


def reviewed() -> Task:
    """A supervised parent, back in its session after that has completed it once."""
    first = ask(Act.COMPLETE, W1, "first", policy=Policy.SUPERVISED, open_subtasks=1)
    done = advance(standing(TaskPhase.WORKING, W1), first)
    return advance(done, ask(Act.REVIEW, THE_LEAD))


@pytest.mark.parametrize(
    ("between", "now"),
    [([ask(Act.HAND_OFF, W1, "red?", kind=Awaiting.INPUT)], TaskPhase.AWAITING),
     ([ask(Act.FAIL, W1), ask(Act.CLOSE, THE_HUMAN)], TaskPhase.COMPLETED)],
    ids=["handed off", "closed"],
)  # fmt: skip
def test_a_completion_before_a_review_is_not_the_one_that_comes_after_it(
    between: list[Request], now: TaskPhase
) -> None:
    """The claim ended otherwise: who completes now learns that, instead of losing its result without a word."""
    task = reviewed()
    for request in between:
        task = advance(task, request)
    with pytest.raises(Refused, match=f"task-1 is {now}"):
        advance(task, ask(Act.COMPLETE, W1, "second"))


def test_completing_again_after_a_review_is_once_too() -> None:
    again = advance(reviewed(), ask(Act.COMPLETE, W1, "second"))
    assert (again.status, again.result) == (Status.COMPLETED, "second")
    assert advance(again, ask(Act.COMPLETE, W1, "third")) is again


@pytest.mark.parametrize("caller", [W1_LATER, W2], ids=lambda caller: caller.incarnation)
def test_another_session_cannot_complete_what_is_complete(caller: Caller) -> None:
    once = advance(standing(TaskPhase.WORKING, W1), ask(Act.COMPLETE, W1, "first"))
    with pytest.raises(Refused):
        advance(once, ask(Act.COMPLETE, caller, "second"))


def test_a_completion_before_a_reopening_counts_no_more() -> None:
    once = advance(standing(TaskPhase.WORKING, W1), ask(Act.COMPLETE, W1, "first"))
    again = advance(once, ask(Act.REOPEN, THE_HUMAN))
    with pytest.raises(Refused):
        advance(again, ask(Act.COMPLETE, W1, "second"))
    held = advance(again, ask(Act.CLAIM, W2))
    with pytest.raises(Refused, match="claimed by w2"):
        advance(held, ask(Act.COMPLETE, W1, "second"))


@pytest.mark.parametrize(
    ("open_subtasks", "gate", "result"),
    [
        (0, None, TaskPhase.COMPLETED),
        (0, Gate.APPROVAL, TaskPhase.AWAITING),
        (1, None, TaskPhase.DONE),
        (1, Gate.APPROVAL, TaskPhase.DONE),
    ],
)
@pytest.mark.parametrize("caller", [W1, THE_HUMAN], ids=lambda caller: caller.who)
def test_what_complete_does(open_subtasks: int, gate: Gate | None, result: TaskPhase, caller: Caller) -> None:
    """Rulings 2.1: open subtasks, else the gate, else completed."""
    held = replace(standing(TaskPhase.WORKING, W1), requires=gate)
    after = advance(held, ask(Act.COMPLETE, caller, "the result", at(3), open_subtasks=open_subtasks))
    assert phase(after) is result
    assert (after.claim, after.result, after.assignee) == (None, "the result", "w1")
    assert (after.completed_at == at(3)) is (result is TaskPhase.COMPLETED)
    if result is TaskPhase.AWAITING:
        assert after.awaiting is not None
        assert after.status is Status.IN_PROGRESS
        assert after.awaiting.kind is Awaiting.APPROVAL
        assert after.awaiting.reason == "Work complete, requires approval"


@pytest.mark.parametrize("kind", Gate)
@pytest.mark.parametrize("start", [TaskPhase.PENDING, TaskPhase.DONE])
def test_settling_does_not_pass_a_gate(kind: Gate, start: TaskPhase) -> None:
    """Rulings 2.2 and 2.4."""
    after = advance(replace(standing(start), requires=kind), ask(Act.SETTLE, THE_LEAD))
    assert phase(after) is TaskPhase.AWAITING


@pytest.mark.parametrize("now", [TaskPhase.PENDING, TaskPhase.WORKING, TaskPhase.DONE])
def test_a_lead_agent_may_not_cancel_what_is_gated(now: TaskPhase) -> None:
    """Rulings 2, cancel: lead agent unless gated or awaiting."""
    task = replace(standing(now), requires=Gate.REVIEW)
    with pytest.raises(Refused, match="only a human"):
        advance(task, ask(Act.CANCEL, LEAD_AGENT))
    assert phase(advance(task, ask(Act.CANCEL, THE_HUMAN))) is TaskPhase.CANCELLED


def test_only_a_task_with_a_session_is_reviewed_by_it() -> None:
    with pytest.raises(Refused, match="has no session that could review") as raised:
        advance(replace(standing(TaskPhase.DONE), claim=None), ask(Act.REVIEW, THE_LEAD))
    assert raised.value.code == "no_session"


@pytest.mark.parametrize("now", [TaskPhase.AWAITING, TaskPhase.FAILED])
def test_nobody_goes_on_with_a_command_that_no_human_has_agreed_to(now: TaskPhase) -> None:
    """Rulings 2.9."""
    made = replace(standing(now), run="rm -rf build", unagreed=True)
    with pytest.raises(Refused, match="no human has agreed to the command of task-1") as raised:
        advance(made, ask(Act.CONTINUE, THE_HUMAN, holder=W1))
    assert raised.value.hint == "pro0 task approve task-1"
    assert phase(advance(replace(made, unagreed=False), ask(Act.CONTINUE, THE_HUMAN, holder=W1))) is TaskPhase.WORKING


@pytest.mark.parametrize("now", [TaskPhase.COMPLETED, TaskPhase.FAILED, TaskPhase.CANCELLED])
def test_reopening_keeps_the_history_and_the_start(now: TaskPhase) -> None:
    task = advance(standing(now), ask(Act.REOPEN, THE_HUMAN, "not good"))
    assert phase(task) is TaskPhase.PENDING
    assert (task.started_at, task.assignee, task.claim, task.result, task.completed_at) == (T0, None, None, None, None)


def holds(task: Task) -> None:
    """The laws of one task (lifecycle's docstring, S004-096)."""
    now = phase(task)
    assert task.claim is not None if now is TaskPhase.WORKING else now is TaskPhase.DONE or task.claim is None
    assert (task.awaiting is not None) == (now is TaskPhase.AWAITING)
    if task.status is Status.PENDING:
        assert task.claimed_at is None
    if now is TaskPhase.WORKING:
        assert task.assignee
        assert task.claimed_at
    if task.status is Status.COMPLETED:
        assert task.completed_at
    else:
        assert task.completed_at is None
    if task.claim:
        assert task.claim.epoch == task.epoch
        assert task.claim.agent_id == task.assignee


class Acts(RuleBasedStateMachine):
    """Random acts of random callers on one task, beside a model that only knows the table above."""

    def __init__(self) -> None:
        super().__init__()
        self.task = standing(TaskPhase.PENDING)
        self.seconds = 0

    @rule(
        act=st.sampled_from(Act),
        caller=st.sampled_from([W1, W1_LATER, W2, LEAD_AGENT, THE_HUMAN, THE_LEAD]),
        open_subtasks=st.sampled_from([0, 0, 1]),
        policy=st.sampled_from([None, *Policy]),
    )
    def do(self, act: Act, caller: Caller, open_subtasks: int, policy: Policy | None) -> None:
        if act is Act.SETTLE and phase(self.task) is TaskPhase.PENDING:
            return  # only for epics, which the board sees to
        self.seconds += 1
        before = self.task
        try:
            after = advance(
                before,
                ask(
                    act,
                    caller,
                    f"text {self.seconds}",
                    at(self.seconds),
                    open_subtasks=open_subtasks,
                    policy=policy,
                    holder=HOLDER.get(act),
                    assignee="w1" if act is Act.ASSIGN else None,
                ),
            )
        except Refused:
            return
        if after is before:
            assert act in (Act.COMPLETE, Act.CLEAR)
            return
        allowed, _ = ALLOWED[phase(before), act]
        assert caller.who in allowed
        if before.claim and caller.who in (AGENT, MEMBER) and act is not Act.CANCEL:
            assert phase(before) is TaskPhase.WORKING
            assert (before.claim.agent_id, before.claim.incarnation) == (caller.agent_id, caller.incarnation)
        assert before.status not in SETTLED or act in (Act.REOPEN, Act.RETRY, Act.CONTINUE, Act.CLOSE)
        assert after.history[:-1] == before.history
        assert before.started_at in (None, after.started_at) or act is Act.UNDO_START
        assert after.epoch == before.epoch + (act in GRANTS)
        if after.status is Status.COMPLETED and before.requires:
            assert act is Act.APPROVE, "rulings 2.2"
            assert before.awaiting
            assert before.awaiting.kind.value == before.requires.value
        self.task = after

    @rule(gate=st.sampled_from([None, *Gate]))
    def gate(self, gate: Gate | None) -> None:
        self.task = replace(self.task, requires=gate)

    @invariant()
    def laws(self) -> None:
        holds(self.task)
        assert self.task.epoch == sum(entry.act in GRANTS for entry in self.task.history)


TestActs = Acts.TestCase
TestActs.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


@pytest.mark.parametrize(
    ("policy", "between", "result"),
    [
        (Policy.SUPERVISED, None, TaskPhase.AWAITING),
        (Policy.DISPATCH, None, TaskPhase.AWAITING),
        (Policy.SUPERVISED, Act.DIED, TaskPhase.AWAITING),
        (Policy.SUPERVISED, Act.HOLD, TaskPhase.PENDING),
        (None, None, TaskPhase.PENDING),
    ],
)
def test_a_task_that_its_sessions_give_back_again_and_again_waits_for_a_human(
    policy: Policy | None, between: Act | None, result: TaskPhase
) -> None:
    """else the next session is opened at once, and the next, at somebody's cost; a human's word begins it anew"""
    task = standing(TaskPhase.PENDING)
    for turn in range(RETURNS):
        assert phase(task) is TaskPhase.PENDING
        if turn == 1 and between is Act.HOLD:
            task = advance(advance(task, ask(Act.HOLD, THE_HUMAN)), ask(Act.CLEAR, THE_HUMAN))
        elif turn == 1 and between:
            task = advance(task, ask(between, THE_LEAD))
        task = advance(task, ask(Act.START, THE_LEAD, holder=W1))
        task = advance(task, ask(Act.RELEASE, W1, "too hard", policy=policy))
    assert phase(task) is result
    assert not task.claim
    if task.awaiting:
        assert (task.awaiting.kind, task.awaiting.reason) == (
            Awaiting.ESCALATION,
            "given back 3 times in a row: too hard",
        )
        task = advance(task, ask(Act.APPROVE, THE_HUMAN))
        task = advance(task, ask(Act.START, THE_LEAD, holder=W1))
        assert phase(advance(task, ask(Act.RELEASE, W1, policy=policy))) is TaskPhase.PENDING
