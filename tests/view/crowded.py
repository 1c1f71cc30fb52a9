"""A team of 50 members and 500 tasks at one moment, as the view sees it: some of every kind, with needs among them."""

from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from pro0.model.message import Message, MessageType
from pro0.model.need import Picture
from pro0.model.runtime import Phase, Runtime, SeatState, State
from pro0.model.task import Awaiting, Claim, Status, Task, TaskList, Wait
from pro0.model.team import Seat, Wanted
from pro0.ops.mail.messages import Letter
from pro0.ops.team.status import LeadStatus, MemberStatus, TeamStatus
from pro0.rules.needs import needs
from pro0.view.news import News

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
_STATES = {3: State.CRASHED, 7: State.WAITING, 11: State.UNRESPONSIVE}
_NOTES = {3: "exit code 9", 7: "Bash command · rm -r build"}


def crowd(members: int = 50, tasks: int = 500) -> News:
    """Return one look at such a team, the same at every call."""
    seats = tuple(_state(number) for number in range(1, members + 1))
    work = tuple(_task(number, members) for number in range(1, tasks + 1))
    wanted = Wanted(seats=tuple(Seat(agent_id=one.agent_id, name=one.agent_id, agent="shell") for one in seats))
    runtime = Runtime(seats=seats, phase=Phase.RUNNING)
    picture = Picture(now=NOW, wanted=wanted, runtime=runtime, tasks=TaskList(tasks=work))
    look = TeamStatus(
        name="alpha",
        project="/srv/parser",
        mode="in-process",
        mode_reason="asked for",
        phase=Phase.RUNNING,
        paused=False,
        lead=LeadStatus(1, "running"),
        outside=None,
        members=tuple(_member(one, number) for number, one in enumerate(seats, 1)),
        tasks={str(status): sum(task.status is status for task in work) for status in Status},
        attention=needs(picture),
    )
    message = Message(
        seq=1, id="m1", from_="w2", to="human", type=MessageType.MESSAGE, content="which parser?", timestamp=_ago(90)
    )
    costs: dict[str, float | None] = {"w1": 1.25, "w2": None}
    return News(status=look, tasks=work, letters=(Letter("human", message, again=False),), at=NOW, costs=costs)


def _ago(seconds: int) -> datetime:
    return NOW - timedelta(seconds=seconds)


def _state(number: int) -> SeatState:
    state = _STATES.get(number, State.EXITED if number > 40 else State.WORKING if number % 2 else State.IDLE)
    return SeatState(
        agent_id=f"w{number}",
        generation=1,
        incarnation=f"i{number}",
        state=state,
        since=_ago(number * 37),
        started_at=_ago(90_000),
        note=_NOTES.get(number, ""),
    )


def _member(state: SeatState, number: int) -> MemberStatus:
    task = f"task-{number}" if state.state is State.WORKING else None
    id = state.agent_id
    return MemberStatus(
        name=id, agent_id=id, agent="shell", state=state.state, task=task, since=state.since, note=state.note
    )


def _task(number: int, members: int) -> Task:
    task = Task(
        id=f"task-{number}", title=f"make part {number} of the parser", created_at=_ago(90_000), updated_at=_ago(number)
    )
    change: dict[str, object] = {"status": Status.PENDING, "priority": number % 4}
    if number <= members:
        claim = Claim(agent_id=f"w{number}", incarnation=f"i{number}", epoch=1, claimed_at=_ago(number * 61))
        change = {"status": Status.IN_PROGRESS, "claim": claim, "assignee": f"w{number}", "cost_usd": number / 10}
    elif number % 100 == 0:
        change = {"status": Status.FAILED, "closed_reason": "exit code 1", "completed_at": _ago(number)}
    elif number % 100 == 1:
        change = {"awaiting": Wait(kind=Awaiting.INPUT, reason="red or blue?", since=_ago(number), by="w1")}
    elif number % 3 == 0:
        change = {"status": Status.COMPLETED, "completed_at": _ago(number * 10)}
    elif number % 3 == 1:
        change |= {"dependencies": (f"task-{number % members + 1}",)}
    return replace(task, **change)
