"""The status of a team: its members, its tasks, and the items in need of the person."""

from datetime import datetime

import msgspec

from pro0 import processes
from pro0.model.caller import ANYONE
from pro0.model.ids import HUMAN, LEAD
from pro0.model.runtime import ENDED, Phase, Process, Runtime, State
from pro0.model.task import Archived, Status
from pro0.model.team import Seat
from pro0.ops.context import Context, operation
from pro0.ops.seats import Roster, led, roster
from pro0.ops.withheld import may_see
from pro0.rules import mail
from pro0.rules.lead.permissions import permission_mode
from pro0.rules.lead.turns import need
from pro0.rules.tasks.board import Board, why_not_ready
from pro0.rules.tasks.gates import wait_in_words
from pro0.rules.words.prompts import moment

LIST_FAILED = "pro0 task list --archived --status failed"


class MemberStatus(msgspec.Struct, frozen=True, rename="camel"):
    """One member as shown by `team status`."""

    name: str
    agent_id: str
    agent: str
    state: State
    task: str | None = None
    pid: int | None = None
    pane: str | None = None
    since: datetime | None = None
    started_at: datetime | None = None
    unread: int = 0
    note: str = ""
    incarnation: str | None = None
    source: str = ""
    """The source of `state`: the agent's own files or events, its title, its screen; empty for its guard."""
    rule: str = ""
    session: str = ""
    """The agent's own id of its session."""
    model: str = ""
    permission_mode: str = ""
    """Its permission mode (behaviour 3.17), empty for an agent without modes."""
    queued: str = ""
    """The reason its line about mail still waits."""
    effort: str = ""
    plan: str = ""
    """The stage of its required plan: required, handed in, rejected, approved; empty without such a plan."""
    worktree: str = ""
    """The folder of its own worktree."""
    branch: str = ""
    """The starting branch of its worktree."""


class LeadStatus(msgspec.Struct, frozen=True):
    """The lead process: `state` is running, stopped (SIGSTOP) or gone."""

    pid: int | None
    state: str


class LimitStatus(msgspec.Struct, frozen=True):
    """A rate-limited agent: none of its sessions starts before `until`."""

    agent: str
    until: datetime
    named: bool
    """True when the provider named `until`; else it is the time of the next try."""
    note: str


class Attention(msgspec.Struct, frozen=True):
    """One item in need of the person, and the command for it."""

    what: str
    command: str


class TeamStatus(msgspec.Struct, frozen=True, rename="camel"):
    """The whole status of one team."""

    name: str
    project: str
    mode: str
    mode_reason: str
    phase: Phase
    paused: bool
    lead: LeadStatus
    outside: LeadStatus | None
    """The person's own agent leading the team; None when there never was one."""
    members: tuple[MemberStatus, ...]
    tasks: dict[str, int]
    attention: tuple[Attention, ...]
    limits: tuple[LimitStatus, ...] = ()


@operation("team.status", ANYONE, changes=False)
def status(context: Context) -> TeamStatus:
    """Return all of one team at one look."""
    team = context.team.require()
    config, known = team.config.read(), roster(team)
    listed = team.tasks.read()
    board, limits = Board(listed.tasks), _limits(known.runtime, context.now())
    members = tuple(_member(context, known, seat, limits) for seat in known.wanted.seats)
    outside = _state(known.wanted.outside.process) if known.wanted.outside else None
    return TeamStatus(
        name=config.name,
        project=config.project,
        mode=config.mode,
        mode_reason=config.mode_reason,
        phase=known.runtime.phase,
        paused=known.wanted.paused,
        lead=lead_status(known.runtime),
        outside=outside,
        members=members,
        tasks=counts(board, listed.archived),
        attention=(*_left_alone(outside, known), *_attention(context, known, members, board, listed.archived)),
        limits=limits,
    )


def lead_status(runtime: Runtime) -> LeadStatus:
    """Return the state of the lead named in runtime.json."""
    return _state(runtime.lead)


def counts(board: Board, archived: Archived) -> dict[str, int]:
    """Return the number of tasks by status, archived ones included, and of ready tasks."""
    found = {str(status): int(getattr(archived, status, 0)) for status in Status}
    for task in board:
        found[task.status] += 1
    return found | {"ready": sum(why_not_ready(board, task) is None for task in board)}


def _state(process: Process | None) -> LeadStatus:
    if process is None or not processes.alive(process):
        return LeadStatus(pid=None, state="gone")
    return LeadStatus(pid=process.pid, state="stopped" if processes.stopped(process.pid) else "running")


def _left_alone(outside: LeadStatus | None, known: Roster) -> list[Attention]:
    """Return a notice when a person's own agent led the running team and is gone."""
    if outside is None or outside.pid or known.runtime.phase is Phase.STOPPED:
        return []
    return [Attention("your own agent, which led the team, has gone: its mail is yours", "pro0 inbox")]


def _limits(runtime: Runtime, now: datetime) -> tuple[LimitStatus, ...]:
    return tuple(
        LimitStatus(limit.agent, limit.until, limit.named, limit.note) for limit in runtime.limits if now < limit.until
    )


def _member(context: Context, known: Roster, seat: Seat, limits: tuple[LimitStatus, ...]) -> MemberStatus:
    state = known.state(seat.agent_id)
    head = context.team.mailbox(seat.agent_id).head.read()
    unread = mail.news(head, state.incarnation if state else "").count
    basic = MemberStatus(
        name=seat.name,
        agent_id=seat.agent_id,
        agent=seat.agent,
        state=State.STARTING,
        unread=unread,
        model=seat.model,
        effort=seat.effort,
        plan=seat.gate.stage if seat.gate else "",
        permission_mode=permission_mode(seat, known.wanted, context.team.config.read()) if _limited(seat) else "",
    )
    if state is None:
        held = next((limit for limit in limits if limit.agent == seat.agent), None)
        return msgspec.structs.replace(basic, note=_held_back(held)) if held else basic
    return msgspec.structs.replace(
        basic,
        state=state.state,
        task=seat.task or state.task,
        pid=state.agent.pid if state.agent else None,
        pane=state.handle.pane or None if state.handle else None,
        since=state.since,
        started_at=state.started_at,
        note=state.note,
        incarnation=state.incarnation if may_see(context, state.incarnation) else None,
        source=state.source,
        rule=state.rule,
        session=state.session,
        queued=state.queued if unread else "",
        worktree=state.worktree,
        branch=state.branch,
    )


def _limited(seat: Seat) -> bool:
    """Return True when its agent has permission modes."""
    return bool(seat.definition.modes) if seat.definition else seat.agent not in ("shell", "command")


def _held_back(limit: LimitStatus) -> str:
    return f"held back until {moment(limit.until)}: {limit.note}"


def _attention(
    context: Context, known: Roster, members: tuple[MemberStatus, ...], board: Board, archived: Archived
) -> list[Attention]:
    for_tasks = {seat.agent_id for seat in known.wanted.seats if seat.task}  # their failed tasks say so
    needs = [
        Attention(f"{m.agent_id} has crashed{f' ({m.note})' if m.note else ''}", f"pro0 member restart {m.agent_id}")
        for m in members
        if m.state is State.CRASHED and m.agent_id not in for_tasks
    ]
    needs += [
        Attention(f"{m.agent_id} {why}{f' ({m.note})' if m.note else ''}", f"pro0 member peek {m.agent_id}")
        for m in members
        if (why := need(m.state, m.rule))
    ]
    needs += [
        Attention(f"{m.agent_id} does not answer", f"pro0 member shutdown {m.agent_id} --force")
        for m in members
        if m.state is State.UNRESPONSIVE
    ]
    needs += [
        Attention(f"{task.id} has failed: {task.title}", f"pro0 task show {task.id}")
        for task in board
        if task.status is Status.FAILED
    ]
    if archived.failed:
        needs.append(Attention(failed_before(archived), LIST_FAILED))
    needs += [
        Attention(f"{task.id} waits for you ({wait_in_words(task.waits)}): {task.title}", f"pro0 task show {task.id}")
        for task in board
        if task.waits
    ]
    needs += [
        Attention(f"{m.agent_id} has handed in its plan", f"pro0 member show {m.agent_id}")
        for m in members
        if m.plan == "handed in" and m.state not in ENDED
    ]
    unread = _unread_of_the_human(context)
    if unread:
        needs.append(Attention(f"{unread} unread message{'' if unread == 1 else 's'}", "pro0 inbox"))
    return needs


def failed_before(archived: Archived) -> str:
    """Return the number of failed tasks in the archive, in words."""
    return f"{archived.failed} archived task{' has' if archived.failed == 1 else 's have'} failed"


def _unread_of_the_human(context: Context) -> int:
    read = [HUMAN] if led(context.team.wanted.read()) else [HUMAN, LEAD]
    heads = [context.team.mailbox(address).head.read() for address in read]
    return sum(head.next_seq - 1 - head.acked for head in heads)
