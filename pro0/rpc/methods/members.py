"""The methods of needs, and those of members that differ from the operation in parameters or results."""

from collections.abc import Iterable
from typing import cast

from pro0.engine.outcomes import started
from pro0.model.need import Need
from pro0.model.team import PlanGate
from pro0.ops.context import Context
from pro0.ops.tasks.acting import settings_to_hire
from pro0.ops.tasks.drafts import SeatDraft, takeable, with_definitions
from pro0.ops.tasks.roles import agent_of, apply_role
from pro0.ops.team import members
from pro0.ops.team.needs import list_needs
from pro0.ops.team.status import MemberStatus, status
from pro0.rpc import subscriptions
from pro0.rpc.client import RpcClient
from pro0.rpc.method import method
from pro0.rpc.subscriptions import LastSeq, LostId, Values
from pro0.rpc.views import Nothing, RpcView


class MemberList(RpcView, frozen=True, kw_only=True):
    """The members of a team."""

    members: tuple[MemberStatus, ...]


@method("member.list", "member.list")
def member_list(client: RpcClient) -> MemberList:
    """List all members, each with its present state, its task and its number of unread messages."""
    return MemberList(members=status(client.context).members)


class MemberSnapshot(RpcView, frozen=True, kw_only=True):
    """A new subscription, and all members as they are."""

    id: str
    members: tuple[MemberStatus, ...]


class NeedSnapshot(RpcView, frozen=True, kw_only=True):
    """A new subscription, and all present needs, the most urgent first."""

    id: str
    needs: tuple[Need, ...]


@method("member.list", "member.list.subscribe")
def subscribe_to_members(client: RpcClient, id: LostId = "", seq: LastSeq = 0) -> MemberSnapshot:
    """Subscribe to the members: all of them now, then member.list.changed for each change."""
    context = client.context

    def look() -> dict[str, MemberStatus]:
        return {member.agent_id: member for member in status(context).members}

    subscription = client.subscribe(subscriptions.MEMBERS, lambda: Values(look), id, seq)
    return MemberSnapshot(id=subscription.id, members=tuple(cast("Iterable[MemberStatus]", subscription.first)))


@method("member.list", "member.list.unsubscribe")
def unsubscribe_from_members(client: RpcClient, id: str) -> Nothing:
    """End a subscription."""
    client.subscriptions.remove(id, subscriptions.MEMBERS)
    return Nothing()


@method("need.list", "need.list.subscribe")
def subscribe_to_needs(client: RpcClient, id: LostId = "", seq: LastSeq = 0) -> NeedSnapshot:
    """Subscribe to the needs of the person: all of them now, then need.list.changed for each change."""
    context = client.context

    def look() -> dict[str, Need]:
        return {need.id: need for need in list_needs(context)}

    subscription = client.subscribe(subscriptions.NEEDS, lambda: Values(look), id, seq)
    return NeedSnapshot(id=subscription.id, needs=tuple(cast("Iterable[Need]", subscription.first)))


@method("need.list", "need.list.unsubscribe")
def unsubscribe_from_needs(client: RpcClient, id: str) -> Nothing:
    """End a subscription."""
    client.subscriptions.remove(id, subscriptions.NEEDS)
    return Nothing()


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
    """Start a member in its own session, and return when it is up. An ended member of that name is started again."""
    context = client.context
    chosen, argv = (agent, ()) if agent else agent_of(client.store, role)
    draft = SeatDraft(
        name=name, agent=chosen, argv=argv, role=role, model=model, effort=effort, prompt=prompt, plan=plan
    )
    settings = settings_to_hire(context)
    [full_draft] = with_definitions([draft], settings.agents)
    takeable(full_draft)
    [seat] = members.spawn(context, [apply_role(client.store, full_draft)], settings.max_teammates)
    started(context.team, [seat], client.show)
    return _one(context, seat.agent_id)


class ShownPlan(RpcView, frozen=True, kw_only=True):
    """The last plan that a member handed in. `stage` is "required", "handed in" or the verdict; "" without a gate."""

    agent_id: str
    id: str
    text: str
    stage: str


@method("member.list", "plan.show")
def show_plan(client: RpcClient, name: str) -> ShownPlan:
    """Show the last plan that a member has handed in, in full, no matter who decides on it."""
    seat = members.members(client.context).find(name)
    gate = seat.gate or PlanGate()
    return ShownPlan(agent_id=seat.agent_id, id=gate.id, text=gate.text, stage=gate.stage if seat.gate else "")


def _one(context: Context, agent_id: str) -> MemberStatus:
    return next(member for member in status(context).members if member.agent_id == agent_id)
