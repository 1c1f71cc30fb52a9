"""The dispatch policy: who gets a worker, how many at once, when it is over, and what is made of its end."""

from datetime import datetime

import pytest
from msgspec.structs import replace

from pro0.errors import Refused
from pro0.model.caller import Caller, Who
from pro0.model.decision import Dismiss, End, Free, Harvest, Hire, LeadPolicy, Prepare, Tell, Workers, WorkFolder
from pro0.model.runtime import Exit, SeatState, State
from pro0.model.task import SETTLED, Awaiting, Comment, Draft, Policy, StartWish, Status, Task, TaskList, Wait
from pro0.model.team import Seat, Wish
from pro0.rules.lead import dispatch
from pro0.rules.lead.dispatch import Stage
from pro0.rules.tasks import making
from pro0.rules.tasks.board import Board
from tests.rules.building import T0, W1, at, claimed, task
from tests.rules.supervising import decided, look, only, recorded, seat, session, wish

DISPATCHED = {"policy": Policy.DISPATCH}


HARVESTED = Workers(harvested=frozenset({"inc-t1"}))
T1 = Caller(Who.MEMBER, "t1", "inc-t1")


def worker(number: int) -> Seat:
    """The seat of a worker."""
    return seat(f"t{number}", task=f"task-{number}", disposable=True, worktree=True)


def at_work(**fields: object) -> Task:
    """task-1, in the hands of its worker."""
    return replace(claimed(task(1, **DISPATCHED), T1), session="inc-t1", **fields)


def test_the_first_in_line_get_workers_and_the_others_wait() -> None:
    waiting = [task(number, **DISPATCHED) for number in range(1, 5)]
    seen = replace(look(seats=[], tasks=waiting), policy=LeadPolicy(max_workers=2))
    assert decided(seen).actions == (Hire("task-1", "t1"), Hire("task-2", "t2"))
    begun = replace(look(seats=[worker(1), worker(2)], tasks=waiting), policy=LeadPolicy(max_workers=2))
    assert decided(begun).actions == (Prepare(worker(1)), Prepare(worker(2)))
    first = [at_work(), *waiting[1:]]
    busy = look(session("t1", State.WORKING, task="task-1"), seats=[worker(1)], tasks=first)
    assert only(Hire, decided(replace(busy, policy=LeadPolicy(max_workers=2)))) == [Hire("task-2", "t2")]
    assert only(Hire, decided(replace(busy, policy=LeadPolicy(max_workers=1)))) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"assignee": "w1"},
        {"start": StartWish(by="human", at=at(0))},
        {"status": Status.DONE},
        {"policy": Policy.POOL},
        {"dependencies": ("task-9",)},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_what_is_not_in_line_gets_no_worker(fields: dict[str, object]) -> None:
    assert dispatch.to_start(Board([task(1, **{**DISPATCHED, **fields})])) == []
    assert dispatch.to_start(Board([task(1, **DISPATCHED)])) != []


def test_only_workers_take_up_room() -> None:
    """Neither members, nor sessions of other tasks; nor is there less than none."""
    line, others = [task(1, **DISPATCHED)], [seat("w1"), seat("t7", task="task-7")]
    for limit, hired in ((1, 1), (0, 0)):
        seen = replace(look(session("w1"), session("t7"), seats=others, tasks=[*line, task(7)]))
        assert len(only(Hire, decided(replace(seen, policy=LeadPolicy(max_workers=limit))))) == hired


def test_who_has_a_seat_keeps_its_place() -> None:
    """A task that comes later and goes first takes nobody's worker away."""
    line = [task(1, **DISPATCHED), replace(task(2, **DISPATCHED), priority=0)]
    decision = decided(replace(look(seats=[worker(1)], tasks=line), policy=LeadPolicy(max_workers=1)))
    assert decision.actions == (Prepare(worker(1)),)


def dead(**fields: object) -> SeatState:
    return session("t1", State.CRASHED, worktree="/t", branch="b", exit=Exit(at=at(-1), code=1), **fields)


def test_a_dead_worker_gives_back_is_harvested_and_goes_in_this_order() -> None:
    held = at_work()
    ended = look(dead(), seats=[worker(1)], tasks=[held], dead=["t1"])
    [free] = only(Free, decided(ended))
    assert "worker process died unexpectedly" in free.how
    assert not only(Harvest, decided(ended))
    failed = replace(held, status=Status.FAILED, claim=None)
    over = replace(ended, tasks=TaskList(tasks=(failed,)))
    [harvest] = only(Harvest, decided(over))
    how = "crashed: worker process died unexpectedly"
    assert harvest == Harvest("t1", "inc-t1", "task-1", worktree="/t", branch="b", how=how)
    assert not only(Harvest, decided(replace(over, tasks=None)))
    stopping = replace(over, wanted=replace(over.wanted, wish=Wish.STOP, stop=wish()))
    assert not only(Harvest, decided(stopping))
    assert not only(Dismiss, decided(over))
    assert only(Dismiss, decided(replace(over, workers=HARVESTED))) == [Dismiss("t1", 1)]


def test_what_outlives_it_is_ended_before_the_harvest() -> None:
    failed = task(1, status=Status.FAILED, session="inc-t1", **DISPATCHED)
    seen = look(dead(), seats=[worker(1)], tasks=[failed], dead=["t1"], leftovers=["t1"])
    assert not only(Harvest, decided(seen))


def test_a_retry_waits_for_the_harvest_of_the_last_try() -> None:
    again = task(1, **DISPATCHED)
    seen = look(dead(), seats=[worker(1)], tasks=[again], dead=["t1"])
    assert not only(Hire, decided(seen))
    assert only(Hire, decided(replace(seen, workers=HARVESTED))) == [Hire("task-1", "t1")]


ALIVE, DEAD, NEW = session("t1", State.WORKING), dead(), session("t1", State.STARTING)
CLOSED, OPEN = {"status": Status.COMPLETED}, {"status": Status.IN_PROGRESS}


@pytest.mark.parametrize(
    ("fields", "state", "stage"),
    [
        pytest.param(CLOSED, ALIVE, Stage.DONE, id="closed and alive"),
        pytest.param(CLOSED, DEAD, Stage.DONE, id="closed and dead"),
        pytest.param(OPEN, DEAD, Stage.FAILED, id="open and dead"),
        pytest.param(OPEN, ALIVE, Stage.WORKING, id="open and alive"),
        pytest.param(OPEN, NEW, Stage.STARTING, id="spawning and alive"),
        pytest.param({"status": Status.FAILED}, ALIVE, Stage.FAILED, id="failed stays failed"),
        pytest.param({"status": Status.CANCELLED}, ALIVE, Stage.CANCELLED, id="cancelled"),
        pytest.param({"status": Status.DONE}, None, Stage.DONE, id="done"),
        pytest.param({}, None, Stage.IN_LINE, id="in line"),
        pytest.param({"dependencies": ("task-9",)}, None, Stage.BLOCKED, id="blocked"),
        pytest.param({}, NEW, Stage.STARTING, id="has a seat"),
        pytest.param(
            {**OPEN, "awaiting": Wait(kind=Awaiting.INPUT, since=at(0), by="t1")}, ALIVE, Stage.AWAITING, id="awaiting"
        ),
    ],
)
def test_the_stage_of_a_worker(fields: dict[str, object], state: SeatState | None, stage: Stage) -> None:
    """AC-82"""
    one = task(1, **{**DISPATCHED, **fields})
    assert dispatch.stage(Board([one]), one, state) is stage


@pytest.mark.parametrize("status", sorted(SETTLED))
def test_a_worker_is_over_with_its_task(status: Status) -> None:
    board = Board([task(1, status=status, **DISPATCHED)])
    assert dispatch.is_over(board, "task-1")
    assert dispatch.is_over(board, "task-2")
    assert not dispatch.is_over(Board([at_work()]), "task-1")


@pytest.mark.parametrize("draft", [Draft(title="x", policy=Policy.DISPATCH), Draft(title="x", parent="task-1")])
def test_no_teammate_has_workers_started(draft: Draft) -> None:
    """AC-94: a worker makes none of its own, nor do tasks below its task"""
    above: list[Task] = [claimed(task(1, **DISPATCHED))]
    listed = TaskList(tasks=tuple(above), next_id=2)
    with pytest.raises(Refused, match="may not delegate"):
        making.create(listed, [draft], W1, at(0), lambda: "id")


def remark(number: int, author: str = "t1", **fields: object) -> Comment:
    """A comment on the task of t1."""
    return replace(Comment(id=f"c{number}", at=at(1), author=author, text=f"remark {number}"), **fields)


def test_each_remark_of_a_worker_is_passed_on_once() -> None:
    """AC-83, AC-90: across rounds and leads; not what others say, nor what an earlier worker said"""
    # That one remark was there when it began is in its record.
    busy = look(session("t1", State.WORKING, started_at=at(0), heard=1), seats=[worker(1)], tasks=[at_work()], now=2)
    said = (remark(1, at=at(-9)), remark(2), remark(3, author="human"), remark(4))
    first = decided(replace(busy, workers=Workers(comments={"task-1": said})))
    assert [(tell.to, tell.content) for tell in only(Tell, first)] == [
        ("lead", "Worker t1 on task-1: remark 2"),
        ("lead", "Worker t1 on task-1: remark 4"),
    ]
    assert [tell.id for tell in only(Tell, first)] == ["inc-t1:comment:c2", "inc-t1:comment:c4"]
    begun = replace(busy, workers=Workers(comments={"task-1": (said[0], remark(6, at=at(0)))}))
    assert len(only(Tell, decided(begun))) == 1, "also in the moment when it began"
    member = replace(busy, wanted=replace(busy.wanted, seats=(replace(worker(1), disposable=False),)))
    assert not only(Tell, decided(replace(member, workers=Workers(comments={"task-1": said}))))
    again = replace(busy, runtime=first.runtime, workers=Workers(comments={"task-1": (*said, remark(5))}))
    assert [tell.content for tell in only(Tell, decided(again))] == ["Worker t1 on task-1: remark 5"]


@pytest.mark.parametrize("second", [5, -3600], ids=["as-ever", "the clock was set back"])
def test_of_a_new_worker_all_remarks_are_passed_on_and_none_of_the_one_before(second: float) -> None:
    said = (remark(1), remark(2, author="human"))
    folder = {("t1", 1): WorkFolder(path="/w", branch="b")}
    due = look(seats=[worker(1)], tasks=[task(1, **DISPATCHED)], now=2)
    first = decided(replace(due, worktree_jobs=folder, workers=Workers(comments={"task-1": said})))
    [state] = first.runtime.seats
    busy = look(replace(state, state=State.WORKING), seats=[worker(1)], tasks=[at_work()], now=second)
    more = (*said, remark(3, at=at(second)))
    decision = decided(replace(busy, workers=Workers(comments={"task-1": more})))
    assert [tell.content for tell in only(Tell, decision)] == ["Worker t1 on task-1: remark 3"]
    assert recorded(decision, "t1").heard == 3


def test_a_last_remark_is_passed_on_before_the_harvest() -> None:
    failed = replace(at_work(), status=Status.FAILED, claim=None)
    over = look(dead(), seats=[worker(1)], tasks=[failed], dead=["t1"])
    decision = decided(replace(over, workers=Workers(comments={"task-1": (remark(1),)})))
    assert [type(action) for action in decision.actions] == [Tell, Harvest]


@pytest.mark.parametrize(
    ("still", "state", "warned", "told"),
    [
        pytest.param(299, State.WORKING, None, False, id="not long enough"),
        pytest.param(301, State.WORKING, None, True, id="too long"),
        pytest.param(301, State.WORKING, at(900), False, id="warned lately"),
        pytest.param(300, State.WORKING, None, True, id="just long enough"),
        pytest.param(301, State.WORKING, at(700), True, id="warned just long enough ago"),
        pytest.param(301, State.WORKING, at(701), False, id="warned just not long enough ago"),
        pytest.param(301, State.WAITING, None, False, id="waits for a permission"),
    ],
)
def test_a_worker_that_is_still_may_be_stuck(still: float, state: State, warned: datetime | None, told: bool) -> None:
    """AC-83, AC-84: one warning per cooldown, and it is not ended"""
    seen = look(session("t1", state, warned_at=warned), seats=[worker(1)], tasks=[at_work()], now=1000)
    decision = decided(replace(seen, workers=Workers(still={"inc-t1": still})))
    assert [tell.to for tell in only(Tell, decision) if "may be stuck on task-1" in tell.content] == ["lead"] * told
    assert not only(End, decision)
    assert recorded(decision, "t1").warned_at == (at(1000) if told else warned)


def test_a_worker_that_waits_for_a_person_is_not_stuck() -> None:
    wait = Wait(kind=Awaiting.INPUT, since=at(0), by="t1")
    seen = look(session("t1", State.WORKING), seats=[worker(1)], tasks=[at_work(awaiting=wait)], now=1000)
    assert not only(Tell, decided(replace(seen, workers=Workers(still={"inc-t1": 301}))))
    unseen = look(session("t1", State.WORKING), seats=[worker(1)], tasks=[at_work()], now=1000)
    assert not only(Tell, decided(replace(unseen, policy=LeadPolicy(stuck_seconds=0))))


@pytest.mark.parametrize(
    ("disposable", "code", "said"),
    [
        (True, 0, "exited without closing its task"),
        (True, 1, "exited: worker process died unexpectedly: of a test"),
        (False, 0, "exited: of a test"),
    ],
)
def test_how_a_session_ended_in_words(disposable: bool, code: int, said: str) -> None:
    ended = replace(session("t1", State.EXITED), exit=Exit(at=at(1), code=code), note="of a test")
    assert dispatch.how_it_ended(disposable, ended) == said


def test_a_branch_that_is_no_longer_its_own_is_named_once_by_its_history() -> None:
    """Behaviour 3.10: what an earlier worker has left there is kept in mind."""
    first = dispatch.on_branch(task(1), "teams/t1/task-1", "lead", T0)
    assert (first.branch, dispatch.earlier_branches(first.history)) == ("teams/t1/task-1", [])
    assert dispatch.on_branch(first, "teams/t1/task-1", "lead", T0) == first
    again = dispatch.on_branch(first, "teams/t1/task-1-2", "lead", T0)
    none = dispatch.on_branch(dispatch.with_left(again, ["teams/t1/task-1"], "lead", T0), None, "lead", T0)
    assert (again.branch, none.branch) == ("teams/t1/task-1-2", None)
    assert dispatch.earlier_branches(none.history) == ["teams/t1/task-1", "teams/t1/task-1-2"]
