"""A team drawn at random whose members are divided among machines, and what each machine's lead sees and decides."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from hypothesis import strategies as st
from msgspec.structs import replace

from pro0.model.caller import Caller, Who
from pro0.model.decision import (
    Action,
    Ask,
    Decision,
    Dismiss,
    End,
    Free,
    Harvest,
    Nudge,
    Person,
    Prepare,
    Question,
    Seen,
    Snapshot,
    Start,
    Tell,
    Withdraw,
)
from pro0.model.message import Notice
from pro0.model.need import Surface
from pro0.model.runtime import Exit, Failure, RateLimit, Report, Runtime, SeatState, State, Unread
from pro0.model.task import Policy, Status, Task
from pro0.model.team import Answer, PlanGate, Seat, ShutdownWish
from tests.rules.building import T0, at, claimed, task
from tests.rules.supervising import AGENT, GUARD, decided, look, report, seat, session, wish

NAMES = ("w1", "w2", "w3", "w4")
MACHINES = ("", "two")
ALL = frozenset(Surface)
PEOPLE = st.sampled_from(["shell", "shell", "claude", "command"])
MOMENTS = st.sampled_from([-1000.0, -70.0, -20.0, -5.0, -1.0, 0.0])


class Member(NamedTuple):
    """One member as it is drawn: what is wanted of it, what is recorded, and what is seen of it."""

    seat: Seat
    state: SeatState | None
    report: Report | None
    lives: bool
    left: bool
    tasks: tuple[Task, ...]
    failures: tuple[Failure, ...]
    unread: Unread | None
    seen: Seen | None


def limited(agent: str = "claude") -> RateLimit:
    """A limit that is not over."""
    return RateLimit(agent=agent, since=at(-9), at=at(-9), until=at(50), note="429")


@st.composite
def wishes(draw: st.DrawFn, id: str) -> ShutdownWish:
    """A request to end, with a minute for the answer, which may be over."""
    return wish(id, draw(MOMENTS), force=draw(st.booleans()), timeout=60)


@st.composite
def sessions(draw: st.DrawFn, name: str, generation: int) -> SeatState:
    """A session in any state, asked to end or not, with what it was told."""
    since, incarnation = at(draw(MOMENTS)), f"inc-{name}"
    state = draw(st.sampled_from([State.IDLE, State.IDLE, State.WORKING, *State]))
    is_up = state is not State.STARTING or draw(st.booleans())
    return session(
        name,
        state,
        generation=generation,
        since=since,
        started_at=since,
        guard=GUARD if is_up else None,
        agent=AGENT if is_up else None,
        exit=Exit(at=since, code=1) if state is State.CRASHED else None,
        asked=draw(st.sampled_from([None, "stop-1", f"ask-{name}"])),
        ending_since=at(draw(MOMENTS)) if state is State.STOPPING else None,
        told=draw(st.sampled_from([(), (f"{incarnation}:ended",), (f"{incarnation}:idle:{since.isoformat()}",)])),
        source=draw(st.sampled_from(["", "screen"])),
    )


@st.composite
def answers(draw: st.DrawFn, name: str) -> Answer:
    """What a session says to a request to end, its own or the team's."""
    asked = draw(st.sampled_from(["stop-1", f"ask-{name}"]))
    return Answer(asked, f"inc-{name}", draw(st.booleans()), at(draw(MOMENTS)), "busy")


@st.composite
def seats(draw: st.DrawFn, name: str, task_id: str | None, answer: Answer | None) -> Seat:
    """What is wanted of a member."""
    generation = draw(st.integers(1, 2))
    gates = [None, PlanGate(), PlanGate(id="p", verdict="approved", generation=generation)]
    return seat(
        name,
        agent=draw(PEOPLE),
        generation=generation,
        task=task_id,
        disposable=task_id is not None and draw(st.booleans()),
        worktree=draw(st.sampled_from([False, False, True])),
        shutdown=draw(st.none() | wishes(f"ask-{name}")),
        answer=answer,
        gate=draw(st.sampled_from(gates)),
    )


@st.composite
def members(draw: st.DrawFn, name: str) -> Member:
    """A member with or without a session, a task of its own, mail, and a request to end."""
    number, has_session = NAMES.index(name), draw(st.booleans())
    own = task(10 + number, policy=draw(st.sampled_from(list(Policy))))
    answer = draw(st.none() | answers(name)) if has_session else None
    wanted = draw(seats(name, draw(st.sampled_from([None, own.id])), answer))
    state = draw(sessions(name, draw(st.integers(1, wanted.generation)))) if has_session else None
    is_reported = has_session and draw(st.booleans())
    caller = Caller(Who.MEMBER, name, state.incarnation if state else "")
    mine = claimed(own, caller)
    mine = replace(mine, session=draw(st.sampled_from([caller.incarnation, "inc-other"])))
    mine = replace(mine, claimed_at=at(draw(MOMENTS)))
    over = replace(mine, status=Status.COMPLETED, claim=None, completed_at=at(draw(MOMENTS)))
    free = task(1 + number)
    looks = [None, *(Seen(state, T0, "screen") for state in (State.IDLE, State.WORKING, State.WAITING))]
    return Member(
        seat=wanted,
        state=state,
        report=report(name, draw(st.sampled_from(State)), since=at(draw(MOMENTS))) if is_reported else None,
        lives=is_reported and draw(st.booleans()),
        left=has_session and draw(st.booleans()),
        tasks=(
            claimed(free, caller) if has_session and draw(st.booleans()) else free,
            draw(st.sampled_from([own, mine, over])),
        ),
        failures=(Failure(name, wanted.generation, T0, "no program"),) if draw(st.booleans()) else (),
        unread=draw(st.sampled_from([None, Unread(newest=5, count=1)])),
        seen=draw(st.sampled_from(looks)),
    )


@st.composite
def teams(draw: st.DrawFn) -> Snapshot:
    """A team on one machine as its lead sees it."""
    drawn = [draw(members(name)) for name in NAMES[: draw(st.integers(1, 4))]]
    in_line = [task(20 + number, policy=Policy.DISPATCH) for number in range(draw(st.integers(0, 2)))]
    overdue = claimed(replace(task(30), claimed_at=T0), Caller(Who.MEMBER, "gone", "inc-gone"))
    outboxes = st.sampled_from([(), (Notice(id="n1", from_="human", to="w1", content="x"),)])
    states = [member.state for member in drawn if member.state]
    seen = look(
        *states,
        now=draw(st.sampled_from([0.0, 30.0, 1805.0])),
        seats=[member.seat for member in drawn],
        reports=[member.report for member in drawn if member.report],
        dead=[member.seat.agent_id for member in drawn if not member.lives],
        leftovers=[member.seat.agent_id for member in drawn if member.left],
        tasks=[*(one for member in drawn for one in member.tasks), *in_line, overdue],
        stop=draw(st.none() | st.none() | wishes("stop-1")),
        paused=draw(st.sampled_from([False, False, True])),
        failures=[failure for member in drawn for failure in member.failures],
        unread={member.seat.agent_id: member.unread for member in drawn if member.unread},
        seen={member.state.incarnation: member.seen for member in drawn if member.state and member.seen},
    )
    assert seen.tasks
    return replace(
        seen,
        wanted=replace(seen.wanted, max_cost=10.0, outbox=draw(outboxes)),
        runtime=replace(seen.runtime, limits=draw(st.sampled_from([(), (), (limited(),)]))),
        tasks=replace(seen.tasks, outbox=draw(outboxes)) if draw(st.integers(0, 9)) else None,
        unopened={s.incarnation: False for s in states if s.state is State.STARTING and s.guard is None},
        hooked=draw(st.booleans()),
        spent=draw(st.sampled_from([0.0, 0.0, 9.0, 10.0])),
        person=Person(),
        surfaces=ALL,
    )


PLACES = st.fixed_dictionaries({name: st.sampled_from(MACHINES) for name in NAMES})
"""The machine of each member."""


def part(team: Snapshot, places: dict[str, str], machine: str, *, has_duties: bool) -> Snapshot:
    """What the lead of one machine sees of a team whose members are divided."""
    states = team.runtime.seats
    own = {state.incarnation for state in states if places[state.agent_id] == machine}

    def here(all_failures: Iterable[Failure], *, is_own: bool = True) -> tuple[Failure, ...]:
        return tuple(one for one in all_failures if (places[one.agent_id] == machine) == is_own)

    return replace(
        team,
        machine=machine,
        has_duties=has_duties,
        wanted=replace(
            team.wanted, seats=tuple(replace(seat, machine=places[seat.agent_id]) for seat in team.wanted.seats)
        ),
        runtime=replace(
            team.runtime,
            seats=tuple(state for state in states if state.incarnation in own),
            failures=here(team.runtime.failures),
        ),
        others=Runtime(
            seats=tuple(state for state in states if state.incarnation not in own),
            failures=here(team.runtime.failures, is_own=False),
        ),
        reports={incarnation: report for incarnation, report in team.reports.items() if incarnation in own},
        guards_alive=team.guards_alive & own,
        leftovers=team.leftovers & own,
        unopened={incarnation: value for incarnation, value in team.unopened.items() if incarnation in own},
        seen={incarnation: seen for incarnation, seen in team.seen.items() if incarnation in own},
    )


def parts(team: Snapshot, places: dict[str, str]) -> list[Decision]:
    """What both leads decide; that of the first machine has the duties."""
    return [decided(part(team, places, machine, has_duties=not machine)) for machine in MACHINES]


def concerned(action: Action, decision: Decision) -> str | None:
    """The member that an action is about, None for one about the whole team."""
    incarnations = {state.incarnation: state.agent_id for state in decision.runtime.seats}
    match action:
        case Start(seat=seat) | Prepare(seat=seat):
            return seat.agent_id
        case Ask() | End() | Free() | Nudge() | Harvest() | Dismiss():
            return action.agent_id
        case Question(state=state):
            return state.agent_id
        case Tell(id=id):
            return incarnations.get(id.partition(":")[0])
        case Withdraw(request_id=id) if id.startswith("ask-"):
            return id.removeprefix("ask-")
    return None


def seat_of(team: Snapshot, task_id: str) -> Seat | None:
    return next((seat for seat in team.wanted.seats if seat.task == task_id), None)


def alike(what: object) -> str:
    """An action or a record without what differs by machine: which one it is, and the ids that are new."""
    return re.sub(r"new-\d+", "new", repr(what)).replace("machine='two'", "machine=''")


def of_members(*decisions: Decision) -> list[str]:
    """The actions about members, of one lead or of several."""
    return sorted(alike(a) for one in decisions for a in one.actions if concerned(a, one) is not None)


def records(*decisions: Decision) -> list[str]:
    """The sessions as they are recorded, by one lead or by several."""
    return sorted(alike(state) for one in decisions for state in one.runtime.seats)


def is_about_cost(action: Action) -> bool:
    return isinstance(action, Tell) and ":cost:" in f":{action.id}:"
