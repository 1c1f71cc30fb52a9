"""A person's own agent, outside any team: it makes or takes up a team, and then leads it (3.16)."""

import os

from msgspec.structs import replace

from pro0 import processes
from pro0.errors import EnvironmentMissing, ErrorCode, Refused
from pro0.model.caller import Caller, Who
from pro0.model.ids import LEAD
from pro0.model.team import OutsideAgent
from pro0.ops.context import Context, clock, lead_context, operation
from pro0.ops.tasks import tasks

OUTSIDE_ONLY = frozenset({Who.OUTSIDE})


@operation("team.lead", OUTSIDE_ONLY)
def lead(context: Context) -> Context:
    """Take over a team abandoned by an outside agent, and give back that agent's claims."""
    before = context.team.require().wanted.read().outside
    if before is None:
        raise _taken(context, "there is a team {} already")
    if processes.alive(before.process):
        raise _taken(context, f"{{}} is led by another agent (pid {before.process.pid})")
    tasks.free(lead_context(context.team), LEAD, before.incarnation, "has gone")
    with context.team.wanted.change("lead a team") as change:
        if change.value.outside != before:
            raise _taken(context, "{} is led by another agent")
        change.value = replace(change.value, outside=introduced(context.caller))
    context.team.log_event(context.now(), LEAD, "team.lead")
    return replace(context, caller=as_lead(context.caller))


def _taken(context: Context, why: str) -> Refused:
    return Refused(why.format(context.team.name), code=ErrorCode.CONFLICT, hint="choose another name")


def introduced(caller: Caller) -> OutsideAgent:
    """Return the record of an outside agent; this process speaks for it."""
    process = processes.identify(os.getpid())
    if process is None:
        raise EnvironmentMissing("this process is not in the system's process table")
    return OutsideAgent(incarnation=caller.incarnation, process=process, since=clock())


def as_lead(caller: Caller) -> Caller:
    """Return an outside agent as the team's lead agent."""
    return Caller(Who.LEAD_AGENT, LEAD, caller.incarnation)
