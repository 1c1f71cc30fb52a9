"""Members: the wishes for each seat; the lead carries them out."""

import os
from collections.abc import Mapping

from msgspec.structs import replace

from pro0.errors import BadInput, ErrorCode, Refused
from pro0.model import ids
from pro0.model.agent import Definition
from pro0.model.caller import ANYONE, IN_CHARGE, LEAD_ONLY, Who
from pro0.model.message import MessageType, Notice
from pro0.model.runtime import Runtime, SeatState
from pro0.model.team import Answer, PlanGate, Seat, ShutdownWish, Wanted, Wish
from pro0.ops.context import AGENT_ID, INCARNATION, MEMBER_OF, TEAM, Context, operation
from pro0.ops.mail.messages import pay_if_possible
from pro0.ops.seats import Roster, led, roster
from pro0.ops.tasks.drafts import SeatDraft as SeatDraft
from pro0.ops.tasks.drafts import hostable, reusable, showable, startable, taken
from pro0.ops.team import costs
from pro0.rules import text
from pro0.rules.lead.permissions import permission_mode, within
from pro0.store.paths import HOME_VARIABLE
from pro0.store.teams import TeamStore


@operation("member.spawn", IN_CHARGE)
def spawn(context: Context, drafts: list[SeatDraft], limit: int) -> list[Seat]:
    """Ask for new members, all or none; an ended seat of that name gets a new session (behaviour 3.11)."""
    with context.team.require().wanted.change("spawn members") as change:
        spawning(context, change.value)
        seats = []
        for draft in drafts:
            showable(draft, context.team.config.read().mode)
            change.value, seat = _seated(context, change.value, draft, limit)
            seats.append(seat)
        for seat in seats:  # before the seats are there: a seat without a mailbox would break status and broadcasts
            context.team.mailbox(seat.agent_id).make()
    for seat in seats:
        _log(context, "spawn", seat.agent_id)
    return seats


@operation("member.restart", IN_CHARGE)
def restart(
    context: Context, name: str, *, fresh: bool = False, definitions: Mapping[str, Definition] | None = None
) -> Seat:
    """Ask for a new session in an ended seat: same id, same mailbox; its agent resumes, or with `fresh` begins anew.

    An agent from the settings runs by its present definition there, if it still has one.
    """
    with context.team.require().wanted.change("restart a member") as change:
        spawning(context, change.value)
        team_roster = Roster(context.team.name, change.value, context.team.runtime.read())
        seat = team_roster.find(name)
        if seat.task:
            hint = f"pro0 task start {seat.task}, or pro0 task retry {seat.task}"
            raise Refused(f"{seat.agent_id} is for {seat.task} only", code=ErrorCode.TASK_SESSION, hint=hint)
        if not team_roster.over(seat.agent_id):
            hint = f"end it first: pro0 member shutdown {seat.agent_id}"
            raise Refused(f"{seat.agent_id} is running", code=ErrorCode.CONFLICT, hint=hint)
        newest = (definitions or {}).get(seat.agent, seat.definition)
        if seat.host:
            hostable(seat.name, seat.host, seat.agent, newest)
        new_seat = replace(renewed(seat, team_roster.runtime, fresh=fresh), definition=newest)
        change.value = with_seat(change.value, new_seat)
    _log(context, "restart", seat.agent_id)
    return new_seat


@operation("member.shutdown", IN_CHARGE)
def shutdown(context: Context, name: str, *, reason: str = "", timeout: float = 60.0, force: bool = False) -> Seat:
    """Ask a member to end; with `force` it is ended when it has not agreed in time."""
    with context.team.require().wanted.change("shut a member down") as change:
        team_roster = Roster(context.team.name, change.value, context.team.runtime.read())
        seat = team_roster.find(name)
        if how := team_roster.ended(seat.agent_id):
            hint = f"start it again: pro0 member restart {seat.agent_id}"
            raise Refused(f"{seat.agent_id} has ended already ({how})", code=ErrorCode.CONFLICT, hint=hint)
        wish = shutdown_wish(context, reason=reason, timeout=timeout, force=force)
        asked_seat = replace(seat, shutdown=wish, answer=None)
        change.value = with_seat(change.value, asked_seat)
    _log(context, "shutdown", seat.agent_id)
    return asked_seat


@operation("shutdown.answer", frozenset({Who.MEMBER, Who.LEAD_AGENT}))
def answer(context: Context, *, approve: bool, reason: str = "") -> Seat:
    """Say yes, or not yet, to the shutdown that this session was asked for."""
    caller = context.caller
    if not approve and not reason.strip():
        raise BadInput("a rejection needs a reason", hint='pro0 shutdown reject "still working on task-3"')
    with context.team.require().wanted.change("answer a shutdown") as change:
        team_roster = Roster(context.team.name, change.value, context.team.runtime.read())
        seat = team_roster.find(caller.agent_id)
        reply = Answer(
            request_id=_wish(change.value, seat).id,
            incarnation=caller.incarnation,
            approve=approve,
            at=context.now(),
            reason=text.checked(reason, "reason", text.REASON_LIMIT),
        )
        answered = replace(seat, answer=reply)
        owed = _to_the_asker(context, change.value, seat, reply)
        change.value = replace(with_seat(change.value, answered), outbox=(*change.value.outbox, *owed))
    pay_if_possible(context, context.team.wanted)
    _log(context, "answer", caller.agent_id, approve=str(approve).lower(), reason=reason)
    return answered


@operation("shutdown.withdraw", LEAD_ONLY)
def withdraw(context: Context, request_id: str, stay: tuple[str, ...] = ()) -> None:
    """Withdraw a wish to end, since these members stay; the team, or the member, goes on."""
    with context.team.wanted.change("withdraw a shutdown") as change:
        desired = change.value
        if desired.stop and desired.stop.id == request_id:
            change.value = replace(desired, wish=Wish.RUN, stop=None, remove=False)
        for seat in desired.seats:
            if seat.shutdown and seat.shutdown.id == request_id:
                change.value = with_seat(change.value, replace(seat, shutdown=None, answer=None))
    _log(context, "stays", ", ".join(stay))


@operation("member.undo", LEAD_ONLY)
def undo(context: Context, agent_id: str, generation: int, back_to: int | None) -> None:
    """Return a seat to its generation before a failed start of a session, or drop the seat when it had none."""
    with context.team.wanted.change("undo a spawn") as change:
        seats = []
        for seat in change.value.seats:
            if (seat.agent_id, seat.generation) != (agent_id, generation):
                seats.append(seat)
            elif back_to is not None:
                seats.append(replace(seat, generation=back_to))
        change.value = replace(change.value, seats=tuple(seats))
    _log(context, "undo", agent_id)


@operation("member.list", ANYONE, changes=False)
def members(context: Context) -> Roster:
    """Return all seats, with the known state of each."""
    return roster(context.team)


def identity(team: TeamStore, state: SeatState) -> dict[str, str]:
    """Return the identity of one session as environment variables."""
    home = str(team.paths.home)
    return {
        HOME_VARIABLE: home,
        TEAM: team.name,
        AGENT_ID: state.agent_id,
        INCARNATION: state.incarnation,
        MEMBER_OF: home,
    }


def task_identity(task: str, parent: str) -> dict[str, str]:
    """Return the variables naming a program's task; empty values replace those of its environment."""
    return {"PRO0_TASK_ID": task, "PRO0_PARENT_TASK_ID": parent}


def worker_identity(task: str, leader: str) -> dict[str, str]:
    """Return the variables of a worker, under the names such workers know."""
    return {"PI_TEAMS_WORKER": "1", "PI_TEAMS_TICKET_ID": task, "PI_TEAMS_LEADER_SESSION": leader}


def shutdown_wish(context: Context, *, reason: str, timeout: float, force: bool) -> ShutdownWish:
    """Return a new request to end; `timeout` in seconds."""
    if not 0 <= timeout <= 86400:
        raise BadInput(f"a time-out of {timeout:g} seconds is out of range", hint="0 to 86400 seconds")
    return ShutdownWish(
        id=context.new_id(),
        by=context.caller.agent_id,
        at=context.now(),
        timeout=timeout,
        force=force,
        reason=text.checked(reason, "reason", text.REASON_LIMIT),
    )


def renewed(seat: Seat, runtime: Runtime, *, fresh: bool = False) -> Seat:
    """Return a seat with a wish for a new session; only a `fresh` one begins its conversation anew."""
    newest = _unused(seat.agent_id, seat.generation, runtime)
    return replace(seat, generation=newest, shutdown=None, answer=None, unattended=False, fresh=fresh)


def with_seat(desired: Wanted, seat: Seat) -> Wanted:
    """Return the wishes with this seat added or replaced."""
    if any(old.agent_id == seat.agent_id for old in desired.seats):
        return replace(desired, seats=tuple(seat if old.agent_id == seat.agent_id else old for old in desired.seats))
    return replace(desired, seats=(*desired.seats, seat))


def spawning(context: Context, desired: Wanted) -> None:
    """Refuse new sessions while the team is stopping or stopped."""
    if desired.wish is Wish.STOP:
        name = context.team.name
        raise Refused(f"{name} is stopping or stopped", code=ErrorCode.STOPPING, hint=f"pro0 team resume -t {name}")


def _seated(context: Context, desired: Wanted, draft: SeatDraft, limit: int) -> tuple[Wanted, Seat]:
    team_roster = Roster(context.team.name, desired, context.team.runtime.read())
    agent_id = ids.LEAD if draft.leads else ids.agent_id_from(draft.name)
    same = next((s for s in desired.seats if agent_id == s.agent_id or _same_name(draft.name, s.name)), None)
    if same:
        reusable(same, draft, ended=team_roster.over(same.agent_id), worktree=_in_worktree(context, draft))
    _refuse_over_budget(context, desired)
    counted = [s.agent_id for s in desired.seats if s.agent_id != ids.LEAD and not s.task]
    if len([id for id in counted if not team_roster.over(id)]) >= limit and not draft.leads:
        hint = "end one, or raise maxTeammates in the settings"
        plenty = f"{context.team.name} has {limit} member{'' if limit == 1 else 's'} already"
        raise Refused(plenty, code=ErrorCode.TOO_MANY, hint=hint)
    agent_id = same.agent_id if same else agent_id
    draft = replace(draft, model=text.one_line(draft.model, "model"), effort=text.one_line(draft.effort, "effort"))
    suits = taken(draft)
    seat = Seat(
        agent_id=agent_id,
        name=text.one_line(draft.name, "name"),
        agent=draft.agent,
        generation=_unused(agent_id, same.generation if same else 0, team_roster.runtime),
        role=text.one_line(draft.role, "role"),
        prompt=text.checked(draft.prompt, "prompt"),
        argv=draft.argv,
        nudge=draft.nudge,
        window=draft.window,
        model=suits.model,
        effort=suits.effort,
        host=draft.host,
        machine=context.team.machine,
        permission_mode=draft.permission_mode,
        delegates=draft.delegates,
        worktree=_in_worktree(context, draft),
        definition=draft.definition,
        unattended=draft.unattended,
        fresh=same is not None and (same.agent, same.host) != (draft.agent, draft.host),
    )
    config = context.team.config.read()
    startable(draft, permission_mode(seat, desired, config), path_of(context))
    if context.caller.who is Who.LEAD_AGENT:
        within(seat, desired, config)
    return with_seat(desired, seat := replace(seat, gate=PlanGate() if draft.plan else None)), seat


def _refuse_over_budget(context: Context, desired: Wanted) -> None:
    """Refuse any new session of a team over its budget, even a lead's."""
    if desired.max_cost and costs.spent(context.team.usage.read().sessions) >= desired.max_cost:
        hint = f"raise the limit: pro0 team cost --limit USD -t {context.team.name}"
        sentence = f"{context.team.name} has reached its cost limit of ${desired.max_cost:g}"
        raise Refused(sentence, code=ErrorCode.OVER_BUDGET, hint=hint, of_team=True)


def _in_worktree(context: Context, draft: SeatDraft) -> bool:
    """Return True for a member's own worktree; a lead agent works in the project, where others' work is merged."""
    if draft.worktree is None:
        return context.team.config.read().worktrees and not draft.leads
    return draft.worktree


def _unused(agent_id: str, newest: int, runtime: Runtime) -> int:
    """Return the next generation of a seat, above any failed one; a failed generation is never retried."""
    return 1 + max([newest, *(failure.generation for failure in runtime.failures if failure.agent_id == agent_id)])


def path_of(context: Context) -> str:
    """Return the PATH for finding the agents of a team."""
    return (context.team.environment.read().variables or os.environ).get("PATH", os.defpath)


def _same_name(draft_name: str, seat_name: str) -> bool:
    return draft_name.strip().casefold() == seat_name.strip().casefold()


def _wish(desired: Wanted, seat: Seat) -> ShutdownWish:
    """Return the shutdown request in force, even before the lead records it; raises Refused for none."""
    wish = desired.stop or seat.shutdown
    if wish is None:
        raise Refused("nobody asked this session to shut down", code=ErrorCode.NO_REQUEST)
    return wish


def _to_the_asker(context: Context, desired: Wanted, seat: Seat, reply: Answer) -> list[Notice]:
    """Return the notices of an answer, for its asker and for the lead address."""
    asker = _wish(desired, seat).by
    verdict = "approves its shutdown" if reply.approve else f"says not yet: {reply.reason}"
    # A human without a lead agent reads the lead's mailbox too.
    unled_human = asker == ids.HUMAN and not led(desired, context.team.machine)
    return [
        Notice(
            id=f"{context.new_id()}{':approved' if reply.approve else ''}",
            from_=seat.agent_id,
            to=address,
            type=MessageType.SHUTDOWN_RESPONSE,
            content=f"{seat.agent_id} {verdict}",
            in_reply_to=reply.request_id,
        )
        for address in ({ids.LEAD: 0} if unled_human else dict.fromkeys((asker, ids.LEAD)))
    ]


def _log(context: Context, action: str, agent_id: str, **details: str) -> None:
    context.team.log_event(context.now(), context.caller.agent_id, f"member.{action}", agent=agent_id, **details)
