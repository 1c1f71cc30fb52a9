"""The status of a team: its members, its tasks, and what needs the person."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime

import msgspec

from pro0 import processes
from pro0.errors import StoreError
from pro0.model.agent import modes_of
from pro0.model.caller import ANYONE
from pro0.model.need import Need
from pro0.model.runtime import ENDED, Phase, Process, Runtime, SeatState, State, TurnEnd
from pro0.model.task import Archived, Status
from pro0.model.team import Seat, placed
from pro0.ops.context import Context, operation
from pro0.ops.seats import Roster, has_died, roster
from pro0.ops.team.machines import where
from pro0.ops.team.needs import seen
from pro0.ops.withheld import may_see
from pro0.rules import mail
from pro0.rules.lead.permissions import permission_mode
from pro0.rules.needs import needs
from pro0.rules.tasks.board import Board, why_not_ready
from pro0.rules.words import prompts
from pro0.rules.words.prompts import moment


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
    delivered_by: str = ""
    """What carried its last line about mail: hook, server, bridge or keys; empty while it had none."""
    effort: str = ""
    plan: str = ""
    """The stage of its required plan: required, handed in, rejected, approved; empty without such a plan."""
    worktree: str = ""
    """The folder of its own worktree."""
    branch: str = ""
    """The starting branch of its worktree."""
    host: str = ""
    """The machine where its agent runs; empty for this one."""
    turn: TurnEnd | None = None
    """The end of its last turn: when, how, its last words, its claims, and what it left running."""

    @property
    def lives(self) -> bool:
        """Return True when it has a session that has not ended; a member that is not started yet has none."""
        return self.since is not None and self.state not in ENDED


def remark(member: MemberStatus) -> str:
    """Return the one thing to know about a member: a note, why its line waits, or what it said last when it is idle."""
    last_words = prompts.said_in_short(member.turn) if member.turn and member.state is State.IDLE else ""
    return member.note or member.queued or last_words


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
    """The person's own agent leading the team; None when there never was one, and on other machines."""
    members: tuple[MemberStatus, ...]
    tasks: dict[str, int]
    attention: tuple[Need, ...]
    """What needs the person, the most urgent first."""
    limits: tuple[LimitStatus, ...] = ()


@operation("team.status", ANYONE, changes=False)
def status(context: Context) -> TeamStatus:
    """Return the whole status of one team."""
    team = context.team.require()
    config, team_roster = team.config.read(), roster(team)
    listed = team.tasks.read()
    board, limits = Board(listed.tasks), _limits(team_roster.runtime, context.now())
    claimed = {task.claim.agent_id: task.id for task in board if task.claim and task.status is Status.IN_PROGRESS}
    members = tuple(_member(context, team_roster, seat, claimed, limits) for seat in team_roster.wanted.seats)
    wanted = team_roster.wanted
    # The outside agent is on the machine that made the team; other machines know nothing of its process.
    outside = _state(wanted.outside.process) if wanted.outside and not team.machine else None
    return TeamStatus(
        name=config.name,
        project=config.project,
        mode=config.mode,
        mode_reason=config.mode_reason,
        phase=team_roster.runtime.phase,
        paused=team_roster.wanted.paused,
        lead=lead_status(team_roster.runtime),
        outside=outside,
        members=members,
        tasks=counts(board, listed.archived),
        attention=needs(seen(context.team, team_roster, listed, context.now())),
        limits=limits,
    )


def lead_status(runtime: Runtime) -> LeadStatus:
    """Return the state of the lead named in runtime.json."""
    return _state(runtime.lead)


def counts(board: Board, archived: Archived) -> dict[str, int]:
    """Return the number of tasks by status, archived ones included, and of ready tasks."""
    numbers = {str(status): int(getattr(archived, status, 0)) for status in Status}
    for task in board:
        numbers[task.status] += 1
    return numbers | {"ready": sum(why_not_ready(board, task) is None for task in board)}


def completed(counts: Mapping[str, int]) -> str:
    """Return how many of all counted tasks are completed, such as 3/7."""
    return f"{counts['completed']}/{sum(count for status, count in counts.items() if status != 'ready')}"


def _state(process: Process | None) -> LeadStatus:
    if process is None or not processes.alive(process):
        return LeadStatus(pid=None, state="gone")
    return LeadStatus(pid=process.pid, state="stopped" if processes.stopped(process.pid) else "running")


def _limits(runtime: Runtime, now: datetime) -> tuple[LimitStatus, ...]:
    return tuple(
        LimitStatus(limit.agent, limit.until, limit.named, limit.note) for limit in runtime.limits if now < limit.until
    )


def of_seat(context: Context, seat: Seat) -> MemberStatus:
    """Return one member as `status` shows it, even when the lead has removed its seat meanwhile."""
    gone = MemberStatus(seat.name, seat.agent_id, seat.agent, State.SHUTDOWN, note="it has ended and was removed")
    return next((member for member in status(context).members if member.agent_id == seat.agent_id), gone)


def _member(
    context: Context, team_roster: Roster, seat: Seat, claimed: Mapping[str, str], limits: tuple[LimitStatus, ...]
) -> MemberStatus:
    state = team_roster.state(seat.agent_id)
    head = context.team.mailbox(seat.agent_id).head.read()
    unread = mail.news(head, state.incarnation if state else "").count
    modes = modes_of(seat.agent, seat.definition)
    basic = MemberStatus(
        name=seat.name,
        agent_id=seat.agent_id,
        agent=seat.agent,
        state=State.STARTING,
        unread=unread,
        model=seat.model,
        effort=seat.effort,
        host=where(context.team, seat),
        plan=seat.gate.stage if seat.gate else "",
        permission_mode=permission_mode(seat, team_roster.wanted, context.team.config.read()) if modes else "",
    )
    if state is None:
        return msgspec.structs.replace(basic, note=_not_started_yet(context, seat, limits))
    now, note = _unnoticed_end(context, state) if has_died(state) else (state.state, state.note)
    return msgspec.structs.replace(
        basic,
        state=now,
        task=seat.task or claimed.get(seat.agent_id) or (None if state.state in ENDED else state.task),
        pid=state.agent.pid if state.agent else None,
        pane=state.handle.pane or None if state.handle else None,
        since=state.since,
        started_at=state.started_at,
        note=note,
        incarnation=state.incarnation if may_see(context, state.incarnation) else None,
        source=state.source,
        rule=state.rule,
        session=state.session,
        queued=state.queued if unread else "",
        delivered_by=state.nudged_by,
        worktree=state.worktree,
        branch=state.branch,
        turn=state.turn,
    )


def _unnoticed_end(context: Context, state: SeatState) -> tuple[State, str]:
    """Return the end state of a dead session and its note, from its guard's last report, as the lead will see them."""
    report = None
    with suppress(StoreError):  # a report that cannot be read tells as little as one that is missing
        report = context.team.report(state.incarnation)
    if report is None or report.exit is None:
        return State.CRASHED, "its session has died"
    ended = State.SHUTDOWN if state.ending_since else report.state
    return ended, prompts.how_it_ended(report.exit)


def _not_started_yet(context: Context, seat: Seat, limits: tuple[LimitStatus, ...]) -> str:
    """Return what a start waits for, "" when it is only under way."""
    if held := next((limit for limit in limits if limit.agent == placed(seat.agent, seat.host)), None):
        return f"held back until {moment(held.until)}: {held.note}"
    with suppress(StoreError):  # the record of a session there may be damaged: the doctor says so
        return next((hosted.keeps_back for hosted in context.team.all_hosted() if hosted.agent_id == seat.agent_id), "")
    return ""
