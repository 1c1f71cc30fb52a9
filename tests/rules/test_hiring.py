"""Sessions for tasks, as the lead decides about them: made, opened, ended, taken away; by the state alone."""

import pytest
from msgspec.structs import replace

from pro0.model.caller import Caller, Who
from pro0.model.decision import Dismiss, End, Expire, Free, Hire, Nudge, Snapshot, Start, Tell
from pro0.model.runtime import Failure, State, Unread
from pro0.model.task import Policy, StartWish, Status, Task
from pro0.model.team import Seat, Wish
from pro0.rules.lead import hiring
from pro0.rules.tasks.board import Board
from tests.rules.building import T0, at, claimed, task
from tests.rules.supervising import decided, look, only, recorded, seat, session, wish

INC = "inc-t2"


def parent(**fields: object) -> Task:
    """A supervised task that is done and waits for its subtasks, with its session."""
    held = claimed(task(1, policy=Policy.SUPERVISED), Caller(Who.MEMBER, "t1", "inc-t1"))
    return replace(held, status=Status.DONE, session="inc-t1", **fields)


def sub(number: int = 2, **fields: object) -> Task:
    """A subtask whose turn it is."""
    return task(number, parent=1, **fields)


def working(number: int = 2, **fields: object) -> Task:
    """A subtask on which its session works."""
    held = claimed(sub(number), Caller(Who.MEMBER, f"t{number}", f"inc-t{number}"))
    return replace(held, session=f"inc-t{number}", **fields)


def own(number: int = 2, **fields: object) -> Seat:
    """The seat of a task."""
    return seat(f"t{number}", task=f"task-{number}", **fields)


def seen(*tasks: Task, seats: tuple[Seat, ...] = (), states: tuple[object, ...] = (), **more: object) -> Snapshot:
    """A team whose only long-lived session is that of the supervising task-1."""
    sessions = (session("t1"), *states)
    return look(*sessions, seats=[own(1), *seats], tasks=tasks, **more)  # type: ignore[arg-type]


def test_the_task_whose_turn_it_is_gets_a_seat_and_then_a_session() -> None:
    """AC-42, S000-046: first the seat, at the next look the session, which is opened once."""
    board = (parent(), sub())
    assert only(Hire, decided(seen(*board))) == [Hire("task-2", "t2")]
    second = decided(seen(*board, seats=(own(),)))
    [start] = only(Start, second)
    assert (start.seat.task, only(Hire, second)) == ("task-2", [])
    state = recorded(second, "t2")
    assert (state.state, state.incarnation) == (State.STARTING, start.incarnation)
    third = decided(seen(parent(), working(), seats=(own(),), states=(session("t2", State.WORKING),)))
    assert (only(Hire, third), only(Start, third), only(End, third)) == ([], [], [])


def test_what_gets_a_session_by_itself_is_known_whether_there_is_room_or_not() -> None:
    """Rulings 3.19: `team wait` goes on while one of these is there; a pool's task needs a member."""
    line = [task(10 + number, policy=Policy.DISPATCH) for number in range(12)]
    wanted = task(40, start=StartWish(by="human", at=T0))
    board = Board([parent(), sub(2), sub(3), task(30), wanted, *line])
    assert sorted(one.id for one in hiring.startable(board)) == sorted(["task-2", "task-40", *(one.id for one in line)])


@pytest.mark.parametrize(
    ("role", "others", "name"),
    [
        (None, [], "t2"),
        ("engineer", [], "engineer-t2"),
        ("engineer", ["engineer-t2"], "engineer-t2-2"),
        ("engineer", ["engineer-t2", "engineer-t2-2"], "engineer-t2-3"),
        ("An Old Role", [], "t2"),
        ("r" * 48, [], f"{'r' * 30}-t2"),
    ],
)
def test_its_name_is_readable_and_its_own(role: str | None, others: list[str], name: str) -> None:
    """Rulings 3.2: agent ids are unique in the team."""
    seats = tuple(seat(other) for other in others)
    [hire] = only(Hire, decided(seen(parent(), sub(role=role), seats=seats)))
    assert hire.agent_id == name


def test_a_parent_that_is_started_again_keeps_its_name() -> None:
    """Rulings 2.4: what was owed to it waits in the mailbox of that name."""
    again = parent(assignee="manager-t1", claim=None, start=StartWish(by="human", at=T0))
    [hire] = only(Hire, decided(look(tasks=[again, sub()])))
    assert hire == Hire("task-1", "manager-t1")


@pytest.mark.parametrize("why", ["paused", "stopping", "blind", "over budget"])
def test_nothing_is_hired_or_opened(why: str) -> None:
    """Rulings 3.9: while the team is paused, stops, has spent all, or its tasks cannot be read."""
    snapshot = seen(
        parent(), sub(), sub(3), seats=(own(),), paused=why == "paused", stop=wish() if why == "stopping" else None
    )
    if why == "blind":
        snapshot = replace(snapshot, tasks=None, wanted=replace(snapshot.wanted, seats=(own(1),)))
    if why == "over budget":
        snapshot = replace(snapshot, spent=1.0, wanted=replace(snapshot.wanted, max_cost=1.0))
    decision = decided(snapshot)
    assert (only(Hire, decision), only(Start, decision), only(Dismiss, decision)) == ([], [], [])


@pytest.mark.parametrize("why", ["stopping", "blind"])
def test_a_seat_is_not_taken_away_meanwhile(why: str) -> None:
    """Nobody knows what a board that cannot be read would say."""
    over = session("t2", State.SHUTDOWN)
    done = replace(working(), status=Status.COMPLETED, claim=None, completed_at=T0)
    snapshot = seen(parent(), done, seats=(own(),), states=(over,), dead=["t2"])
    assert only(Dismiss, decided(snapshot))
    if why == "blind":
        assert not only(Dismiss, decided(replace(snapshot, tasks=None)))
    else:
        assert not only(Dismiss, decided(replace(snapshot, wanted=replace(snapshot.wanted, wish=Wish.STOP))))


@pytest.mark.parametrize("why", ["paused", "stopping", "over budget"])
def test_nobody_is_hired_for_what_waits_in_line(why: str) -> None:
    stop = wish() if why == "stopping" else None
    snapshot = look(session("t1"), seats=[own(1)], tasks=[parent(), sub()], paused=why == "paused", stop=stop)
    assert only(Hire, decided(look(session("t1"), seats=[own(1)], tasks=[parent(), sub()])))
    if why == "over budget":
        snapshot = replace(snapshot, spent=1.0, wanted=replace(snapshot.wanted, max_cost=1.0))
    assert not only(Hire, decided(snapshot))


def test_a_session_that_holds_its_task_keeps_its_seat() -> None:
    """What it held is given back first, also when the task belongs to another session by now."""
    crashed = session("t2", State.CRASHED, told=("inc-t2:ended",))
    still = replace(working(), session="inc-other")
    snapshot = seen(parent(), still, seats=(own(),), states=(crashed,), dead=["t2"])
    assert not only(Dismiss, decided(snapshot))
    others = replace(claimed(sub(), Caller(Who.MEMBER, "t9", "inc-other")), session="inc-other")
    assert only(Dismiss, decided(seen(parent(), others, seats=(own(),), states=(crashed,), dead=["t2"])))


def test_who_has_no_source_is_not_looked_at_a_last_time() -> None:
    done = replace(working(), status=Status.COMPLETED, claim=None, completed_at=at(-5))
    just = replace(session("t2", State.IDLE), since=at(-1))
    assert only(End, decided(seen(parent(), done, seats=(own(),), states=(just,))))


OVER = {
    "completed": replace(working(), status=Status.COMPLETED, claim=None, completed_at=at(-31)),
    "cancelled": replace(working(), status=Status.CANCELLED, claim=None),
    "pending again": replace(working(), status=Status.PENDING, claim=None, session=None, assignee=None),
    "claimed by another": replace(working(), session="inc-other"),
}


@pytest.mark.parametrize("how", [*OVER, "deleted"])
def test_a_session_without_work_is_ended(how: str) -> None:
    """S000-050, S000-052, rulings 2, cancel: also one whose task went to somebody else."""
    board = (parent(), OVER[how]) if how in OVER else (parent(),)
    decision = decided(seen(*board, seats=(own(),), states=(session("t2", State.WORKING),)))
    assert only(End, decision) == [End("t2", INC)]
    assert recorded(decision, "t2").state is State.STOPPING
    assert [tell for tell in only(Tell, decision) if "t2" in tell.content] == []


def test_a_completed_task_lets_its_session_end_its_turn() -> None:
    """Not longer than that, and not when the turn is over."""
    done = replace(working(), status=Status.COMPLETED, claim=None, completed_at=at(-5))
    busy = decided(seen(parent(), done, seats=(own(),), states=(session("t2", State.WORKING),)))
    assert (only(End, busy), busy.wake_at) == ([], at(25))
    late = replace(done, completed_at=at(-30))
    assert only(End, decided(seen(parent(), late, seats=(own(),), states=(session("t2", State.WORKING),))))
    idle = decided(seen(parent(), done, seats=(own(),), states=(session("t2", State.IDLE),)))
    assert only(End, idle) == [End("t2", INC)]
    just = replace(session("t2", State.IDLE), since=at(-1), source="session file")
    counting = decided(seen(parent(), done, seats=(own(),), states=(just,)))
    assert (only(End, counting), counting.wake_at) == ([], at(3))


@pytest.mark.parametrize("status", [Status.FAILED, Status.DONE, Status.IN_PROGRESS])
def test_a_session_that_may_go_on_is_kept(status: Status) -> None:
    """AC-42, AC-46: `task continue` reaches it; a done task waits for its subtasks."""
    kept = replace(working(), status=status, claim=None if status is Status.FAILED else working().claim)
    decision = decided(seen(parent(), kept, seats=(own(),), states=(session("t2"),)))
    assert (only(End, decision), only(Dismiss, decision), only(Hire, decision)) == ([], [], [])


def test_the_seat_of_a_dead_session_goes_when_its_task_is_over() -> None:
    """What it held is given back first."""
    over = session("t2", State.SHUTDOWN)
    done = replace(working(), status=Status.COMPLETED, claim=None, completed_at=T0)
    assert only(Dismiss, decided(seen(parent(), done, seats=(own(),), states=(over,), dead=["t2"]))) == [
        Dismiss("t2", 1)
    ]
    left = seen(parent(), done, seats=(own(),), states=(over,), dead=["t2"], leftovers=["t2"])
    assert only(Dismiss, decided(left)) == []


def test_a_dead_session_keeps_its_seat_while_its_task_can_be_gone_on_with() -> None:
    """Nobody is told twice: the failure of the task says how it died (rulings 2.8)."""
    crashed = session("t2", State.CRASHED)
    decision = decided(seen(parent(), working(), seats=(own(),), states=(crashed,), dead=["t2"]))
    assert len(only(Free, decision)) == 1
    assert (only(Tell, decision), only(Dismiss, decision), only(Hire, decision)) == ([], [], [])
    failed = replace(working(), status=Status.FAILED, claim=None)
    later = decided(seen(parent(), failed, seats=(own(),), states=(crashed,), dead=["t2"]))
    assert (only(Tell, later), only(Dismiss, later)) == ([], [])


def test_retry_opens_a_new_session_in_the_same_seat() -> None:
    """AC-46: after the old one is ended, and what is left of it."""
    again = sub(started_at=T0)
    living = decided(seen(parent(), again, seats=(own(),), states=(session("t2"),)))
    assert (only(End, living), only(Hire, living)) == ([End("t2", INC)], [])
    dead = seen(parent(), again, seats=(own(),), states=(session("t2", State.SHUTDOWN),), dead=["t2"])
    assert only(Hire, decided(dead)) == [Hire("task-2", "t2")]
    assert only(Dismiss, decided(dead)) == []


def test_a_seat_that_was_never_filled_is_taken_away() -> None:
    """AC-57: what could not be opened; it is hired for again only when its task is to be started."""
    failures = (Failure("t2", 1, T0, "no program", task="task-2"),)
    failed = replace(sub(), status=Status.FAILED)
    assert only(Dismiss, decided(seen(parent(), failed, seats=(own(),), failures=failures))) == [Dismiss("t2", 1)]
    wanted = decided(seen(parent(), sub(), seats=(own(),), failures=failures))
    assert (only(Hire, wanted), only(Dismiss, wanted)) == ([Hire("task-2", "t2")], [])


def test_time_is_up() -> None:
    """AC-49, rulings 2.7: thirty minutes of one claim, by the clock as it is now."""
    late = seen(parent(), working(), seats=(own(),), states=(session("t2", State.WORKING),), now=1801)
    assert only(Expire, decided(late)) == [Expire("task-2", 1, 30)]
    in_time = replace(late, now=at(1800))
    assert (only(Expire, decided(in_time)), decided(in_time).wake_at) == ([], at(1800))
    jumped = replace(late, moved={T0: at(1000)})
    assert only(Expire, decided(jumped)) == []


def test_a_session_of_a_task_is_offered_nothing_and_is_not_called_idle() -> None:
    """It has one task; the pool is for members."""
    free = task(7)
    idle = replace(session("t2", State.IDLE), told=())
    snapshot = seen(parent(), working(), free, seats=(own(agent="claude"),), states=(idle,))
    decision = decided(snapshot)
    assert (only(Nudge, decision), [t for t in only(Tell, decision) if "t2" in t.content]) == ([], [])


def test_who_stops_in_the_middle_is_reminded_and_then_people_are_told() -> None:
    """A session that says nothing would keep its tree waiting for ever."""
    told: tuple[str, ...] = ()
    said = []
    for turn in range(6):
        idle = replace(session("t2", State.IDLE), since=at(100 * turn), told=told)
        early = decided(seen(parent(), working(), seats=(own(),), states=(idle,), now=100 * turn + 5))
        assert (only(Tell, early), early.wake_at) == ([], at(100 * turn + 10))
        later = decided(seen(parent(), working(), seats=(own(),), states=(idle,), now=100 * turn + 10))
        said += [tell.to for tell in only(Tell, later)]
        told = recorded(later, "t2").told
    assert said == ["t2", "t2", "t2", "lead"]


def test_who_is_to_review_has_time_to_hear_of_it() -> None:
    """It may have been idle for hours when its subtask ends; the message is on its way."""
    claim = working().claim
    assert claim
    asked = working(claim=replace(claim, since=at(3595)))
    idle = session("t2", State.IDLE)
    soon = decided(seen(parent(), asked, seats=(own(),), states=(idle,), now=3600))
    assert (only(Tell, soon), soon.wake_at) == ([], at(3605))
    later = decided(seen(parent(), asked, seats=(own(),), states=(idle,), now=3605))
    assert [tell.to for tell in only(Tell, later)] == ["t2"]


@pytest.mark.parametrize("why", ["it has mail", "it works", "it waits for its subtasks", "it has failed"])
def test_nobody_else_is_reminded(why: str) -> None:
    state = State.WORKING if why == "it works" else State.IDLE
    status = {"it waits for its subtasks": Status.DONE, "it has failed": Status.FAILED}.get(why, Status.IN_PROGRESS)
    held = replace(working(), status=status, claim=None if status is Status.FAILED else working().claim)
    unread = {"t2": Unread(newest=1, count=1)} if why == "it has mail" else {}
    decision = decided(seen(parent(), held, seats=(own(),), states=(session("t2", state),), unread=unread))
    assert only(Tell, decision) == []


def test_the_lead_that_died_between_two_steps_goes_on_with_the_next() -> None:
    """A session that is recorded and has no guard is opened as the same one, whether it has its claim or not."""
    starting = replace(session("t2", State.STARTING), guard=None, agent=None, since=T0, started_at=T0)
    for board in ((parent(), sub()), (parent(), working())):
        snapshot = seen(*board, seats=(own(),), states=(starting,), reports=[], dead=["t1", "t2"])
        snapshot = replace(snapshot, unopened={INC: False}, guards_alive=frozenset({"inc-t1"}))
        decision = decided(snapshot)
        assert [start.incarnation for start in only(Start, decision)] == [INC]
        assert (only(Hire, decision), only(Dismiss, decision), only(End, decision)) == ([], [], [])
