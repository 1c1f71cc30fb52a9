"""Tools for a whole team: make it from outside, stop it, remove it, look at it (behaviour 3.16)."""

from pathlib import Path
from typing import Annotated

from msgspec import Meta

from pro0.config import Mode, require_enabled
from pro0.errors import ErrorCode, Kept, Refused
from pro0.mcp import views, waiting
from pro0.mcp.tool_context import ToolContext
from pro0.mcp.tools.tool import LEADS, TEAMMATES, tool
from pro0.model import ids
from pro0.model.caller import Who
from pro0.ops import trust
from pro0.ops.context import Context, nobody
from pro0.ops.team import members, needs, outside, project, teams
from pro0.ops.team.status import status

OUTSIDE = frozenset({Who.OUTSIDE})


@tool("team.lead", OUTSIDE, waits=True)
def create_team(
    tool_context: ToolContext,
    name: Annotated[str, Meta(description="Its name: 1 to 48 characters of a-z, 0-9 and '-'.")],
    mode: Annotated[Mode | None, Meta(description="Where teammates are shown; by default as in the settings.")] = None,
) -> views.TeamView:
    """Make a team for the project you are in, or resume one that you led before, and lead it from now on."""
    with tool_context.leading:
        tool_context.lead(_taken_or_made(tool_context, name, mode))
    waiting.led(tool_context.context)
    return _team(tool_context.context)


@tool("team.stop", LEADS, waits=True, ends=True)
def stop_team(
    tool_context: ToolContext,
    reason: Annotated[str, Meta(description="The reason to give to the members.")] = "",
    force: Annotated[bool, Meta(description="End members that have not agreed within a minute.")] = False,
) -> views.TeamView:
    """Ask everybody in the team to shut down; you are asked too, if you have a session in it.

    Tasks and messages stay, for the person to look at.
    """
    context = tool_context.context
    waiting.stopped(context, teams.stop(context, reason=reason, force=force).stop)
    return _team(context)


@tool("team.cleanup", LEADS, waits=True, ends=True)
def cleanup_team(tool_context: ToolContext) -> views.Answered:
    """Remove the team with its tasks and messages, when all is done. Refused while a teammate lives."""
    from pro0.engine.cleanup import cleanup

    context = tool_context.context
    if teams.dismiss(context):
        waiting.led(context)
        return views.Answered(answered="call approve_shutdown now: when your session has ended, the team is removed")
    removed = list[str]()
    try:
        cleanup(tool_context.store, context.team.name, force=False, show=removed.append)
        answered = f"{context.team.name} is removed"
    except Kept as kept:
        answered = kept.message
    tool_context.lead(None)
    return views.Answered(answered="\n".join((answered, *removed)))


@tool("member.list", LEADS)
def list_teammates(tool_context: ToolContext) -> views.Members:
    """List all teammates, each with its present state, its task and its number of unread messages."""
    return members_view(tool_context.context, brief=False)


@tool("member.list", TEAMMATES)
def get_team_members(tool_context: ToolContext) -> views.Members:
    """List who is on the team, to know whom you can write to."""
    return members_view(tool_context.context, brief=True)


@tool("need.list", LEADS)
def list_needs(tool_context: ToolContext) -> views.Needs:
    """List what only the person can answer now: permissions, questions, gates, crashes, failed tasks, unread mail.

    Tell the person; only they may run the commands.
    """
    listed = needs.list_needs(tool_context.context)
    return views.Needs(team=tool_context.context.team.name, needs=[views.need_view(need) for need in listed])


def members_view(context: Context, *, brief: bool) -> views.Members:
    """Return the members of a team, `brief` without what only their lead needs."""
    roles = {seat.agent_id: seat.role for seat in members.members(context).wanted.seats}
    listed = status(context).members
    lines = [views.member_view(member, roles.get(member.agent_id, ""), brief=brief) for member in listed]
    return views.Members(team=context.team.name, members=lines)


def _taken_or_made(tool_context: ToolContext, name: str, mode: Mode | None) -> Context:
    from pro0.engine.opening.founding import found

    if tool_context.team:
        raise Refused(
            f"this agent already leads {tool_context.team}", code=ErrorCode.CONFLICT, hint="call cleanup_team first"
        )
    ids.team_name(name)
    tool_context.store.check()
    folder = project.root(Path.cwd().resolve())
    settings = trust.settings(tool_context.store.home, folder, tool_context.environment, {"teammateMode": mode})
    require_enabled(settings)
    team = tool_context.store.team(name)
    if team.exists() and team.config.read().project == str(folder):
        return outside.lead(Context(team, tool_context.caller, vouch=nobody))
    return found(tool_context.store, tool_context.caller, name, folder, settings, vouch=nobody, terminal=False)


def _team(context: Context) -> views.TeamView:
    look = status(context)
    where = f"{look.mode}: {look.mode_reason}"
    return views.TeamView(name=look.name, project=look.project, mode=where, phase=look.phase)
