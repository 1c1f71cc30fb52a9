"""Grants: a person lets a program without a guard act as a member; a person makes and ends each grant.

Grants are in wanted.json: they are a person's wishes about a seat. Operations make and end them under its lock, and
they go with the team. pro0 stores only a token's hash, so a reader of the file cannot use it.
"""

import msgspec
from msgspec.structs import replace

from pro0.errors import ErrorCode, NotFound, Refused
from pro0.model import ids
from pro0.model.caller import HUMAN_ONLY
from pro0.model.stored import iso
from pro0.model.team import Grant
from pro0.ops.context import AGENT_ID, TEAM, Context, operation
from pro0.ops.holders import digest, valid
from pro0.ops.identity import GRANT
from pro0.ops.seats import Roster, roster
from pro0.ops.team.members import task_identity
from pro0.rules.tasks.changes import find
from pro0.store.paths import HOME_VARIABLE

LIMIT = 100
"""The largest number of valid grants of one team at a time."""


class GrantStatus(msgspec.Struct, frozen=True, rename="camel"):
    """One grant as the person sees it; its token is never shown, since only a hash is stored."""

    id: str
    agent_id: str
    by: str
    at: str
    valid: bool
    """True while its session is the member's present one."""


@operation("member.env", HUMAN_ONLY, verdict=True)
def make(context: Context, name: str, task: str | None = None) -> dict[str, str]:
    """Make a grant and return the variables with which a program acts as a member's present session."""
    worked_on = find(context.team.require().tasks.read(), ids.task_id(task)) if task else None
    # Two random ids make one token too long to guess.
    token = "".join(context.new_id().replace("-", "") for _ in range(2))
    with context.team.wanted.change("make a grant") as change:
        members = Roster(context.team.name, change.value, context.team.runtime.read())
        seat = members.find(name)
        state = members.state(seat.agent_id)
        if state is None or members.ended(seat.agent_id):
            raise NotFound(f"{seat.agent_id} has no session now", hint=f"pro0 member restart {seat.agent_id}")
        valid_grants = [grant for grant in change.value.grants if valid(grant, members.runtime)]
        if len(valid_grants) >= LIMIT:
            hint = "revoke some: pro0 member revoke NAME; list: pro0 member grants"
            raise Refused(f"{context.team.name} has {LIMIT} grants already", code=ErrorCode.TOO_MANY, hint=hint)
        grant = Grant(
            id=context.new_id()[:8],
            agent_id=seat.agent_id,
            incarnation=state.incarnation,
            hash=digest(token),
            by=context.caller.agent_id,
            at=context.now(),
        )
        change.value = replace(change.value, grants=(*valid_grants, grant))
    _log(context, "env", grant.agent_id, grant=grant.id)
    home = {HOME_VARIABLE: str(context.team.paths.home), TEAM: context.team.name}
    works_on = task_identity(worked_on.id if worked_on else "", (worked_on and worked_on.parent) or "")
    return home | {AGENT_ID: seat.agent_id, GRANT: token} | works_on


@operation("member.grants", HUMAN_ONLY, changes=False)
def grants(context: Context, name: str | None = None) -> list[GrantStatus]:
    """Return the grants of a team, or of one member, oldest first."""
    members = roster(context.team)
    agent_id = members.find(name).agent_id if name else None
    return [
        GrantStatus(grant.id, grant.agent_id, grant.by, iso(grant.at), valid(grant, members.runtime))
        for grant in members.wanted.grants
        if agent_id in (None, grant.agent_id)
    ]


@operation("member.revoke", HUMAN_ONLY, verdict=True)
def revoke(context: Context, named: str) -> list[Grant]:
    """End one grant, named by its id, or all of a member; a program that still uses it is refused from then on."""
    with context.team.require().wanted.change("revoke a grant") as change:
        ended = [grant for grant in change.value.grants if grant.id == named]
        if not ended:
            agent_id = Roster(context.team.name, change.value, context.team.runtime.read()).find(named).agent_id
            ended = [grant for grant in change.value.grants if grant.agent_id == agent_id]
            if not ended:
                raise NotFound(f"{agent_id} has no grant", code=ErrorCode.NO_GRANT, hint="list all: pro0 member grants")
        change.value = replace(change.value, grants=tuple(one for one in change.value.grants if one not in ended))
    for grant in ended:
        _log(context, "revoke", grant.agent_id, grant=grant.id)
    return ended


def _log(context: Context, verb: str, agent_id: str, **details: str) -> None:
    context.team.log_event(context.now(), context.caller.agent_id, f"member.{verb}", agent=agent_id, **details)
