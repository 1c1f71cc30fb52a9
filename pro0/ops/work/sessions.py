"""The sessions of a team, present and past; an agent is shown its own alone."""

from datetime import datetime

import msgspec

from pro0.errors import NotFound
from pro0.model.caller import PEOPLE_AND_AGENTS, Who
from pro0.model.runtime import State
from pro0.ops.context import Context, operation
from pro0.ops.seats import roster


class TeamSession(msgspec.Struct, frozen=True, kw_only=True):
    """One session of a member; of one that was replaced only its usage tells."""

    id: str
    agent_id: str
    agent: str
    state: State | None = None
    """What it does, None for one that was replaced or whose member is gone."""
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
    """Return one session, by its id, or the present one of a member by its name; raises NotFound."""
    sessions = listed(context)
    name = session_id.strip().casefold()
    by_id = (session for session in sessions if session.id == session_id)
    by_name = (session for session in reversed(sessions) if session.state and session.agent_id == name)
    found = next(by_id, None) or next(by_name, None)
    if found is None:
        raise NotFound(f"there is no session {session_id[:64]!r} that you may see", hint="session.list has their ids")
    return found


def _may_read(context: Context, session: TeamSession) -> bool:
    caller = context.caller
    return caller.who is Who.HUMAN or session.id == caller.incarnation
