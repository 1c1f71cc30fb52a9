"""Snapshots for tests of the lead's decision: what is not named is a team at rest."""

from collections.abc import Callable, Iterable
from itertools import count
from typing import TypeVar

from msgspec.structs import replace

from pro0.model.caller import Caller, Who
from pro0.model.decision import Action, Decision, Nudged, Seen, Snapshot
from pro0.model.runtime import Exit, Failure, Process, Report, Runtime, SeatState, State, Unread
from pro0.model.task import Task, TaskList
from pro0.model.team import Answer, OutsideAgent, Seat, ShutdownWish, TeamConfig, Wanted, Wish
from pro0.rules.lead.supervision import decide
from tests.rules.building import T0, at, claimed, task

GUARD = Process(pid=1000, start="1", boot_id="boot")
AGENT = Process(pid=1001, start="2", boot_id="boot")
CONFIG = TeamConfig(name="alpha", created_at=T0, uid="uid", project="/p")
LONG_AGO = at(-1000)

Kind = TypeVar("Kind", bound=Action)


def seat(name: str = "w1", **fields: object) -> Seat:
    """A wanted shell member."""
    return replace(Seat(agent_id=name, name=name, agent="shell"), **fields)


def session(name: str = "w1", state: State = State.IDLE, **fields: object) -> SeatState:
    """A session as it was recorded, long at it."""
    known = SeatState(
        agent_id=name,
        generation=1,
        incarnation=f"inc-{name}",
        state=state,
        since=LONG_AGO,
        started_at=LONG_AGO,
        guard=GUARD,
        agent=AGENT,
        told=(f"inc-{name}:idle:{LONG_AGO.isoformat()}",),
    )
    return replace(known, **fields)


def report(name: str = "w1", state: State = State.IDLE, **fields: object) -> Report:
    """What a guard says."""
    said = Report(agent_id=name, incarnation=f"inc-{name}", guard=GUARD, agent=AGENT, state=state, since=LONG_AGO)
    return replace(said, **fields)


def exited(name: str = "w1", state: State = State.EXITED, **how: object) -> Report:
    """What a guard says when its agent has ended."""
    return report(name, state, since=at(-1), exit=replace(Exit(at=at(-1)), **how))


def wish(id: str = "ask-1", since: float = 0, **fields: object) -> ShutdownWish:
    """A request to end, with a minute for the answer."""
    return replace(ShutdownWish(id=id, by="human", at=at(since)), **fields)


def said(approve: bool, since: float = 1, name: str = "w1", to: str = "ask-1", reason: str = "") -> Answer:
    """The answer of a session."""
    return Answer(request_id=to, incarnation=f"inc-{name}", approve=approve, at=at(since), reason=reason)


def led(snapshot: Snapshot) -> Snapshot:
    """The same team, led by an agent of the person's."""
    outside = OutsideAgent(incarnation="outside-1", process=GUARD, since=LONG_AGO)
    return replace(snapshot, wanted=replace(snapshot.wanted, outside=outside))


def look(
    *sessions: SeatState,
    now: float = 0,
    seats: Iterable[Seat] | None = None,
    reports: Iterable[Report] | None = None,
    dead: Iterable[str] = (),
    leftovers: Iterable[str] = (),
    tasks: Iterable[Task] = (),
    stop: ShutdownWish | None = None,
    paused: bool = False,
    failures: Iterable[Failure] = (),
    unread: dict[str, Unread] | None = None,
    seen: dict[str, Seen] | None = None,
    nudged: dict[str, Nudged] | None = None,
) -> Snapshot:
    """A snapshot; every session is wanted, reports what is recorded of it, and lives unless it is named in `dead`."""
    told = (
        [replace(report(s.agent_id, s.state), since=s.since, task=s.task) for s in sessions]
        if reports is None
        else [*reports]
    )
    gone = {f"inc-{name}" for name in dead}
    return Snapshot(
        now=at(now),
        config=CONFIG,
        wanted=Wanted(
            wish=Wish.STOP if stop else Wish.RUN,
            stop=stop,
            paused=paused,
            seats=tuple(seat(s.agent_id) for s in sessions) if seats is None else tuple(seats),
        ),
        runtime=Runtime(seats=sessions, failures=tuple(failures)),
        tasks=TaskList(tasks=tuple(tasks)),
        reports={one.incarnation: one for one in told},
        guards_alive=frozenset(one.incarnation for one in told) - gone,
        leftovers=frozenset(f"inc-{name}" for name in leftovers),
        unread=unread or {},
        seen=seen or {},
        nudged=nudged or {},
        protocol=frozenset({"shell"}),
        line=frozenset({"claude"}),
    )


def ids() -> Callable[[], str]:
    """New ids, in order."""
    numbers = count(1)
    return lambda: f"new-{next(numbers)}"


def decided(snapshot: Snapshot) -> Decision:
    """What the lead decides."""
    return decide(snapshot, ids())


def only(kind: type[Kind], decision: Decision) -> list[Kind]:
    """The actions of one kind."""
    return [action for action in decision.actions if isinstance(action, kind)]


def recorded(decision: Decision, name: str = "w1") -> SeatState:
    """What is recorded of one member."""
    return next(state for state in decision.runtime.seats if state.agent_id == name)


def kinds(decision: Decision) -> list[str]:
    """The names of the actions."""
    return [type(action).__name__ for action in decision.actions]


def held(number: int, name: str = "w1") -> Task:
    """A task that a member works on."""
    return claimed(task(number), Caller(Who.MEMBER, name, f"inc-{name}"))
