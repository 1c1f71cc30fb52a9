"""What an act leaves of a task, field by field, where it is easily forgotten (rulings 2)."""

import pytest
from msgspec.structs import replace

from pro0.model.caller import THE_HUMAN, THE_LEAD
from pro0.model.task import Awaiting, Entry, Gate, Policy, StartWish, Status, Task, Wait
from pro0.rules.tasks.acts import Act, TaskPhase, phase
from pro0.rules.tasks.lifecycle import advance
from tests.rules.building import T0, W1, ask, at, claimed, standing, task

WISH = StartWish(by="human", at=T0)


@pytest.mark.parametrize(
    ("act", "caller"),
    [(Act.CLAIM, W1), *((act, THE_HUMAN) for act in (Act.HOLD, Act.CANCEL, Act.COMPLETE, Act.CLOSE))],
)
def test_a_wish_for_a_session_is_over_when_something_else_is_done(act: Act, caller: object) -> None:
    """Else a session would be opened for what somebody works on, holds back or does not want."""
    assert advance(task(1, start=WISH), ask(act, caller)).start is None  # type: ignore[arg-type]


@pytest.mark.parametrize("end", [Act.COMPLETE, Act.CLOSE, Act.CANCEL])
def test_what_is_reopened_opens_no_session_unasked(end: Act) -> None:
    ended = advance(advance(task(1), ask(Act.WISH, THE_HUMAN)), ask(end, THE_HUMAN))
    assert advance(ended, ask(Act.REOPEN, THE_HUMAN)).start is None


def test_an_undone_start_of_a_done_parent_leaves_it_without_a_session() -> None:
    started = advance(standing(TaskPhase.DONE), ask(Act.START, THE_LEAD, holder=W1))
    undone = advance(started, ask(Act.UNDO_START, THE_LEAD))
    assert (undone.status, undone.claim, undone.session) == (Status.DONE, None, None)


def given_back(*before: tuple[str, str], text: str = "") -> Task:
    """A task with a session of its own that is given back after these: who, and what."""
    history = tuple(Entry(at=T0, actor=actor, act=act) for actor, act in before)
    worked_on = replace(claimed(task(1, policy=Policy.SUPERVISED)), history=history)
    return advance(worked_on, ask(Act.RELEASE, W1, text, policy=Policy.SUPERVISED))


@pytest.mark.parametrize(
    ("before", "waits"),
    [
        ([("w1", "release"), ("w1", "release")], True),
        ([("w1", "release"), ("w1", "update"), ("w1", "update")], False),
        ([("w1", "release"), ("w1", "claim"), ("w1", "claim")], False),
        ([("human", "release"), ("lead", "release"), ("w1", "release")], False),
    ],
)
def test_only_what_members_give_back_is_counted(before: list[tuple[str, str]], waits: bool) -> None:
    """Neither what else they did to it, nor what a human or the lead took from them."""
    assert (given_back(*before).awaiting is not None) is waits


@pytest.mark.parametrize(
    ("text", "reason"), [("", ""), ("too hard", ": too hard"), ("needs macOS X", ": needs macOS X")]
)
def test_why_it_was_given_back_is_told_if_anybody_said(text: str, reason: str) -> None:
    waits = given_back(("w1", "release"), ("w1", "release"), text=text).awaiting
    assert waits
    assert waits.reason == f"given back 3 times in a row{reason}"


def test_who_worked_on_what_waits_is_still_named_after_its_death() -> None:
    """Rulings 3.9: tasks awaiting a human stay as they are; a reservation of a pending one goes."""
    assert advance(standing(TaskPhase.AWAITING), ask(Act.DIED, THE_LEAD)).assignee == "w1"
    held = task(1, assignee="w1", awaiting=Wait(kind=Awaiting.WORK, since=T0, by="human"))
    assert advance(held, ask(Act.DIED, THE_LEAD)).assignee is None


@pytest.mark.parametrize("kind", [Awaiting.INPUT, Awaiting.CHECKPOINT])
def test_an_answer_agrees_to_no_command(kind: Awaiting) -> None:
    """Rulings 2.9: only the approval of the escalation does."""
    asks = replace(standing(TaskPhase.AWAITING), run="make", unagreed=True)
    after = advance(replace(asks, awaiting=Wait(kind=kind, since=T0, by="w1")), ask(Act.APPROVE, THE_HUMAN))
    assert (after.unagreed, after.awaiting and after.awaiting.kind) == (True, Awaiting.ESCALATION)
    agreed = advance(after, ask(Act.APPROVE, THE_HUMAN))
    assert (agreed.unagreed, agreed.awaiting, phase(agreed)) == (False, None, TaskPhase.PENDING)


def test_a_parent_that_waits_again_forgets_for_whom_it_waited() -> None:
    parent = replace(claimed(task(1)), waits_for=("task-2",))
    done = advance(parent, ask(Act.COMPLETE, W1, open_subtasks=1, policy=Policy.SUPERVISED))
    assert (done.status, done.waits_for, done.open_before) == (Status.DONE, (), 1)


@pytest.mark.parametrize("requires", [None, Gate.REVIEW])
def test_what_is_closed_is_no_failure_any_more(requires: Gate | None) -> None:
    failed = replace(standing(TaskPhase.FAILED), requires=requires)
    closed = advance(failed, ask(Act.CLOSE, THE_HUMAN, now=at(3)))
    assert closed.closed_reason == ""
