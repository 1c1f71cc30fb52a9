"""The sessions of a team, present and past; an agent is shown its own alone."""

from collections.abc import Callable
from datetime import datetime

import msgspec

from pro0.errors import NotFound, Refused
from pro0.model import ids
from pro0.model.caller import HUMAN_ONLY, PEOPLE_AND_AGENTS, Who
from pro0.model.runtime import ENDED, Hosted, State
from pro0.ops import ownership
from pro0.ops.context import Context, operation
from pro0.ops.seats import roster
from pro0.store.teams import TeamStore


class TeamSession(msgspec.Struct, frozen=True, kw_only=True):
    """One session of a member; a replaced session is known only from its usage."""

    id: str
    agent_id: str
    agent: str
    state: State | None = None
    """The state of the session, None when it was replaced or its member is gone."""
    task_id: str | None = None
    """The task that it works on."""
    started_at: datetime | None = None


@operation("session.list", PEOPLE_AND_AGENTS, changes=False)
def listed(context: Context) -> list[TeamSession]:
    """Return the sessions of a team, the past ones first."""
    team_roster = roster(context.team)
    seats = {seat.agent_id: seat for seat in team_roster.wanted.seats}
    tasks = context.team.tasks.read().tasks
    of_session = {id: task.id for task in tasks for id in (task.session, task.claim and task.claim.incarnation) if id}
    present = {
        state.incarnation: TeamSession(
            id=state.incarnation,
            agent_id=state.agent_id,
            agent=seats[state.agent_id].agent if state.agent_id in seats else "",
            state=state.state,
            task_id=of_session.get(state.incarnation) or state.task,
            started_at=state.started_at,
        )
        for state in team_roster.runtime.seats
    }
    past = [
        TeamSession(
            id=used.incarnation, agent_id=used.agent_id, agent=used.agent, task_id=of_session.get(used.incarnation)
        )
        for used in context.team.usage.read().sessions
        if used.incarnation not in present
    ]
    return [session for session in (*past, *present.values()) if _may_read(context, session)]


@operation("session.show", PEOPLE_AND_AGENTS, changes=False)
def show(context: Context, session_id: str) -> TeamSession:
    """Return one session by its id, or the present session of a member by its name; raises NotFound."""
    sessions = listed(context)
    name = session_id.strip().casefold()
    by_id = (session for session in sessions if session.id == session_id)
    by_name = (session for session in reversed(sessions) if session.state and session.agent_id == name)
    named = next(by_id, None) or next(by_name, None)
    if named is None:
        raise NotFound(f"there is no session {session_id[:64]!r} that you may see", hint="for the ids: session.list")
    return named


def _may_read(context: Context, session: TeamSession) -> bool:
    caller = context.caller
    return caller.who is Who.HUMAN or session.id == caller.incarnation


@operation("member.forget", HUMAN_ONLY, verdict=True)
def forget(context: Context, name: str) -> list[Hosted]:
    """Give up what a machine runs for an ended member: it counts as over, and nobody ends it there any more."""
    team = context.team.require()
    agent_id, ended = _ended_sessions(team, name)
    left = [hosted for hosted in team.all_hosted() if hosted.agent_id == agent_id]
    if not left:
        raise NotFound(f"no other machine runs anything for {agent_id}", hint=f"pro0 member show {agent_id}")
    if not all(ended(hosted) for hosted in left):
        hint = f"end it first: pro0 member shutdown {agent_id} --force"
        raise Refused(f"{agent_id} has not ended here", hint=hint)
    for hosted in left:
        team.drop_hosted(hosted.incarnation)
        team.log_event(context.now(), context.caller.agent_id, "member.forget", agent=agent_id, host=hosted.host)
    return left


def _ended_sessions(team: TeamStore, name: str) -> tuple[str, Callable[[Hosted], bool]]:
    """Return a member's id, and a function that returns True for its session that has ended here.

    Once this machine no longer takes part, only the reports and processes on it show that.
    """
    try:
        members = roster(team)
    except NotFound:
        return ids.agent_id_from(name), lambda hosted: not _is_guarded(team, hosted)
    sessions = {state.incarnation: state for state in members.runtime.seats}
    return members.find(
        name
    ).agent_id, lambda hosted: hosted.incarnation not in sessions or sessions[hosted.incarnation].state in ENDED


def _is_guarded(team: TeamStore, hosted: Hosted) -> bool:
    report = team.report(hosted.incarnation)
    return report is not None and ownership.is_guard(team, report.guard, hosted.incarnation)
