"""The methods of members whose operations need more than a client gives, or tell more than it should see."""

import msgspec

from pro0.engine.outcomes import started
from pro0.ops.context import Context
from pro0.ops.tasks.acting import settings_to_hire
from pro0.ops.tasks.drafts import SeatDraft, takeable, with_definitions
from pro0.ops.tasks.roles import told
from pro0.ops.team import members
from pro0.ops.team.status import MemberStatus, status
from pro0.rpc.client import RpcClient
from pro0.rpc.method import method
from pro0.rpc.views import RpcView


class MemberList(RpcView, frozen=True, kw_only=True):
    """The members of a team."""

    members: tuple[MemberStatus, ...]


@method("member.list", "member.list")
def member_list(client: RpcClient) -> MemberList:
    """List all members with what each does now: its state, its task, its unread messages."""
    return MemberList(members=status(client.context).members)


@method("member.spawn", "member.spawn", waits=True)
def spawn(
    client: RpcClient,
    name: str,
    agent: str | None = None,
    role: str = "",
    model: str = "",
    effort: str = "",
    prompt: str = "",
    plan: bool = False,
) -> MemberStatus:
    """Start a member in a session of its own, and return when it is up; an ended one of that name starts again."""
    context = client.context
    draft = SeatDraft(name=name, role=role, model=model, effort=effort, prompt=prompt, plan=plan)
    settings = settings_to_hire(context)
    [known] = with_definitions([msgspec.structs.replace(draft, agent=agent) if agent else draft], settings.agents)
    takeable(known)
    [seat] = members.spawn(context, [told(client.store, known)], settings.max_teammates)
    started(context.team, [seat], lambda _said: None)
    return _one(context, seat.agent_id)


def _one(context: Context, agent_id: str) -> MemberStatus:
    return next(member for member in status(context).members if member.agent_id == agent_id)
