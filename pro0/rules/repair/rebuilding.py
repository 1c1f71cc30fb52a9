"""A document is rebuilt from its remains and from the other files of the team.

A lost value becomes the least harmful one. A task of unknown state has failed until a person looks at it. A session
counts only with a report of its guard. A team with a wish to stop is not started.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from itertools import groupby
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from pro0.model import ids
from pro0.model.runtime import ENDED, Phase, Report, Runtime, SeatState, State
from pro0.model.stored import Stored
from pro0.model.task import SETTLED, Status, Task, TaskList, TaskSegment
from pro0.model.team import Member, PermissionMode, Seat, TeamConfig, Wanted, Wish
from pro0.rules.repair.salvage import Remains
from pro0.rules.repair.soundness import lowest_next_id
from pro0.rules.tasks import archive

S = TypeVar("S", bound=Stored)

RISKY = frozenset({"status", "claim", "awaiting", "requires", "run", "dependencies", "parent", "assignee"})
"""Risky fields: a task that lost one may not run before a person has looked at it."""
_AMOUNT = re.compile(r"\d+(\.\d+)?(e[+-]\d+)?")
LIMITS = frozenset({"permission_mode", "gate"})
"""Fields that limit a member: a member that lost one may only read and plan."""
LOST_TITLE = "(its title could not be read)"


class TeamFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The facts in the other files of a team; None or empty for an unreadable file."""

    name: str
    now: datetime
    project: str = ""
    new_uid: str = ""
    config: TeamConfig | None = None
    wanted: Wanted | None = None
    runtime: Runtime | None = None
    reports: tuple[Report, ...] = ()
    living: frozenset[str] = frozenset()
    """Incarnations with a living guard."""
    highest_task: int = 0
    """The highest task number mentioned anywhere."""
    known_tasks: frozenset[str] = frozenset()
    """The tasks known from events and folders, except those deleted, or reported as lost by an earlier repair."""
    archive: tuple[tuple[Task, ...], ...] = ()
    """The segments of the archive, in order; an unreadable one is empty."""
    events: tuple[Mapping[str, str], ...] = ()


def tasks(remains: Remains[TaskList], facts: TeamFacts) -> TaskList:
    """Rebuild the task list from every readable task. No task number is given twice."""
    fields = dict(remains.fields)
    unique = _unique(fields.pop("tasks", []), remains.damaged)
    rebuilt = TaskList(tasks=unique, outbox=tuple(fields.pop("outbox", ())), **fields)
    if facts.archive:
        rebuilt = archive.counted(rebuilt, facts.archive)
    old = max((ids.task_number(task.id) for part in facts.archive for task in part), default=0)
    return replace(rebuilt, next_id=max(rebuilt.next_id, lowest_next_id(rebuilt), facts.highest_task + 1, old + 1))


def segment(remains: Remains[TaskSegment]) -> TaskSegment:
    """Rebuild a segment of the archive from every readable task. An unsettled one counts as failed."""
    fields = dict(remains.fields)
    listed = _unique(fields.pop("tasks", []), remains.damaged)
    return TaskSegment(tasks=tuple(map(_settled, listed)), **fields)


def desired(remains: Remains[Wanted], facts: TeamFacts) -> Wanted:
    """Rebuild the wishes; unreadable seats come from config.json and from the sessions.

    A member with nothing left but a mailbox gets no seat: nobody knows its program.
    """
    fields = remains.fields | {"outbox": tuple(remains.fields.get("outbox", ()))}
    seats = {id: _limited(seat, remains.damaged) for id, seat in _by_agent(fields.pop("seats", [])).items()}
    configured = {member.agent_id: member for member in facts.config.members} if facts.config else {}
    states = {state.agent_id: state for state in facts.runtime.seats} if facts.runtime else {}
    for agent_id in dict.fromkeys((*configured, *states)):
        if agent_id not in seats:
            seats[agent_id] = _seat(agent_id, configured.get(agent_id), states.get(agent_id))
            remains.lost.append(f"everything of {agent_id} but its name, agent and role")
    _name_missing_wishes(remains, facts)
    if "wish" not in fields:
        stopped = facts.runtime is not None and facts.runtime.phase is not Phase.RUNNING
        fields["wish"] = Wish.STOP if stopped else Wish.RUN
    if "paused" not in fields:
        # The newest such event in the log tells whether the team is paused.
        pauses = [event["event"] for event in facts.events if event.get("event") in ("team.pause", "team.unpause")]
        fields["paused"] = pauses[-1:] == ["team.pause"]
    fields.setdefault("max_cost", _last_limit(facts.events))
    return Wanted(seats=tuple(seats.values()), **fields)


def config(remains: Remains[TeamConfig], facts: TeamFacts) -> TeamConfig:
    """Rebuild the team's config; missing values come from the event of its creation."""
    fields = remains.fields | {"name": facts.name}
    creation = _creation(facts)
    seats = facts.wanted.seats if facts.wanted else ()
    for name, value in (("uid", facts.new_uid), ("project", facts.project), ("mode", "headless")):
        fields[name] = fields.get(name) or creation.get(name) or value
    places = (("inside_tmux", "tmux"), ("iterm2_session", "iterm2"), ("sockets", "sockets"))
    for name, key in (("mode_reason", "reason"), *places):
        fields[name] = fields.get(name) or creation.get(key) or ""
    fields.setdefault("created_at", facts.now)
    recorded = {"name", "lead_agent_id", "members"}
    if creation:
        recorded |= {"uid", "project", "mode", "mode_reason", "inside_tmux", "iterm2_session", "sockets"}
    if "permission_mode" in remains.missing:
        is_mode = creation.get("permission") in {*PermissionMode}
        fields["permission_mode"] = PermissionMode(creation["permission"]) if is_mode else PermissionMode.PLAN
        recorded |= {"permission_mode"} if is_mode else set()
    remains.name_missing(recorded)
    members = {member.agent_id: member for member in fields.pop("members", [])}
    states = {state.agent_id: state for state in facts.runtime.seats} if facts.runtime else {}
    for seat in seats:
        members.setdefault(seat.agent_id, _member(seat, states.get(seat.agent_id)))
    return TeamConfig(members=tuple(members.values()), **fields)


def runtime(remains: Remains[Runtime], facts: TeamFacts) -> Runtime:
    """Rebuild the record of sessions; unreadable sessions come from the reports of their guards."""
    fields = dict(remains.fields)
    states = _by_agent(fields.pop("seats", []))
    generations = {seat.agent_id: seat.generation for seat in facts.wanted.seats} if facts.wanted else {}
    # Living guards come first, then the newest report: the first good report of a member counts.
    order = sorted(facts.reports, key=lambda one: (one.incarnation in facts.living, one.since), reverse=True)
    for session in order:
        state = states.get(session.agent_id)
        lives = session.incarnation in facts.living
        is_better = state is None or (lives and state.incarnation not in facts.living)
        if is_better and (lives or session.agent_id in generations):
            states[session.agent_id] = _state(session, generations.get(session.agent_id, 1))
    if "phase" not in fields:
        over = facts.wanted is not None and facts.wanted.wish is Wish.STOP
        fields["phase"] = (Phase.STOPPING if facts.living else Phase.STOPPED) if over else Phase.RUNNING
    for name in ("failures", "refusals"):
        fields[name] = tuple(fields.get(name, ()))
    return Runtime(seats=tuple(states.values()), **(fields | {"lead": None}))


def report(state: SeatState) -> Report | None:
    """Return the last report of a session's guard from its state in runtime.json, or None without a guard."""
    if state.guard is None:
        return None
    return Report(
        agent_id=state.agent_id,
        incarnation=state.incarnation,
        guard=state.guard,
        agent=state.agent,
        state=state.state,
        since=state.since,
        task=state.task,
        note=state.note,
        exit=state.exit,
    )


def lost_tasks(mentioned: Iterable[str], surviving: TaskList, before: Collection[str] = ()) -> list[str]:
    """Return the mentioned ids of tasks neither surviving nor in `before`, in numerical order."""
    surviving_ids = {task.id for task in surviving.tasks} | set(before)
    return sorted({id for id in mentioned if id not in surviving_ids}, key=_number)


def known_tasks(events: Iterable[Mapping[str, str]], folders: Iterable[str]) -> frozenset[str]:
    """Return the ids of the tasks that were made and neither deleted nor called lost since."""
    known = set(folders)
    for event in events:
        id = event.get("task", "")
        if event.get("event") in ("task.delete", "task.lost"):
            known.discard(id)
        else:
            known.add(id)
    return frozenset(id for id in known if _number(id) and id == f"task-{_number(id)}")


def runs(lost: Iterable[str]) -> list[str]:
    """Return task ids as text, in numerical order; three or more consecutive ones become one range."""
    numbers = sorted(map(_number, lost))
    pieces: list[str] = []
    for _, group in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        row = [f"task-{number}" for _, number in group]
        pieces += row if len(row) < 3 else [f"{row[0]} to {row[-1]}"]
    return pieces


def _unique(listed: Iterable[Task], damaged: Mapping[str, set[str]]) -> tuple[Task, ...]:
    """Return the tasks with a valid id, each once."""
    numbered = (task for task in listed if ids.NAME.fullmatch(task.id) and _number(task.id))
    return tuple({task.id: _careful(task, damaged.get(task.id, set())) for task in numbered}.values())


def _settled(task: Task) -> Task:
    return task if task.status in SETTLED else _failed(task, "it was archived with a status that no archived task has")


def _careful(task: Task, damaged: set[str]) -> Task:
    if not task.title:
        task = replace(task, title=LOST_TITLE)
    missing = sorted(damaged & RISKY)
    if not missing or (task.status in SETTLED and "status" not in missing):
        return task
    *others, last = missing
    names = f"{', '.join(others)} and {last}" if others else last
    return _failed(task, f"its {names} could not be read")


def _failed(task: Task, why: str) -> Task:
    """Mark a task as failed, so that only a person sets it going again."""
    why = f"{why}: look at it, then: pro0 task reopen {task.id}"
    return replace(task, status=Status.FAILED, claim=None, awaiting=None, closed_reason=why)


def _number(id: str) -> int:
    digits = id.removeprefix("task-")
    is_number = digits.isascii() and digits.isdigit() and len(digits) < 10
    return int(digits) if is_number and id.startswith("task-") else 0


def _by_agent(objects: Iterable[S]) -> dict[str, S]:
    """Return seats or states by agent id, without ids unfit for a member."""
    by_id = {str(getattr(value, "agent_id", "")): value for value in objects}
    return {id: value for id, value in by_id.items() if ids.NAME.fullmatch(id) and id not in (ids.HUMAN, ids.ALL)}


def _creation(facts: TeamFacts) -> Mapping[str, str]:
    """Return the event of a team's creation, or an empty event when the log does not reach back to it."""
    return next((event for event in facts.events if event.get("event") == "team.create"), {})


def _last_limit(events: Iterable[Mapping[str, str]]) -> float:
    """Return the newest cost limit in the log, 0 for none."""
    amount_texts = [event.get("usd", "") for event in events if event.get("event") == "team.limit"]
    amounts = [float(text) for text in amount_texts if _AMOUNT.fullmatch(text)]
    return min(amounts[-1], 1e9) if amounts else 0.0


def _name_missing_wishes(remains: Remains[Wanted], facts: TeamFacts) -> None:
    """Name as lost the wishes found neither in the other files nor in the log."""
    recorded = {"seats"} if facts.config or facts.runtime else set()
    recorded |= {"wish"} if facts.runtime else set()
    recorded |= {"paused", "max_cost"} if _creation(facts) else set()
    remains.name_missing(recorded)


def _limited(seat: Seat, damaged: Mapping[str, set[str]]) -> Seat:
    return replace(seat, permission_mode=PermissionMode.PLAN) if damaged.get(seat.agent_id, set()) & LIMITS else seat


def _seat(agent_id: str, member: Member | None, state: SeatState | None) -> Seat:
    """Return a seat as config.json and its session know it, with the least permissions.

    A `command` seat without its program cannot restart by itself.
    """
    name, agent, role = (member.name, member.agent, member.category) if member else (agent_id, "", "")
    return Seat(
        agent_id=agent_id,
        name=name,
        agent=agent or "command",
        generation=state.generation if state else 1,
        role=role,
        permission_mode=PermissionMode.PLAN,
        worktree=bool(state and state.worktree),
    )


def _member(seat: Seat, state: SeatState | None) -> Member:
    return Member(
        name=seat.name,
        agent_id=seat.agent_id,
        category=seat.role,
        session_id=state.incarnation if state else "",
        spawned_at=state.started_at if state else None,
        agent=seat.agent,
    )


def _state(report: Report, generation: int) -> SeatState:
    over = report.exit is not None and report.state not in ENDED
    return SeatState(
        agent_id=report.agent_id,
        generation=generation,
        incarnation=report.incarnation,
        state=State.EXITED if over else report.state,
        since=report.since,
        started_at=report.since,
        task=report.task,
        guard=report.guard,
        agent=report.agent,
        exit=report.exit,
        note=report.note,
    )
