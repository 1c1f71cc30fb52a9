"""The methods to follow a team: subscriptions to messages, events and costs."""

from collections.abc import Iterable
from operator import attrgetter
from typing import Annotated, cast

from msgspec import Meta

from pro0.ops.mail import messages
from pro0.ops.mail.listing import ListedMessage, MailFeed
from pro0.ops.team.costs import Cost, cost
from pro0.ops.team.events import EventFeed, TeamEvent
from pro0.rpc import subscriptions
from pro0.rpc.client import RpcClient
from pro0.rpc.method import method
from pro0.rpc.subscriptions import LastSeq, Latest, LostId, Values
from pro0.rpc.views import Nothing, RpcView

Seen = Annotated[dict[str, int], Meta(description="For each mailbox, the seq of its newest message that was shown.")]


class MessageSnapshot(RpcView, frozen=True, kw_only=True):
    """A new subscription, and the newest messages, at most 1,000, by time."""

    id: str
    messages: tuple[ListedMessage, ...]


class EventSnapshot(RpcView, frozen=True, kw_only=True):
    """A new subscription, and the newest events, at most 1,000, by time."""

    id: str
    events: tuple[TeamEvent, ...]


class CostSnapshot(RpcView, frozen=True, kw_only=True):
    """A new subscription, and what each member has used; `all` is the sum."""

    id: str
    costs: tuple[Cost, ...]


@method("message.list", "message.list.subscribe")
def subscribe_to_messages(client: RpcClient, id: LostId = "", seq: LastSeq = 0) -> MessageSnapshot:
    """Subscribe to the messages that the caller may read: the newest now, then message.list.changed for each change."""
    context = client.context
    subscription = client.subscribe(
        subscriptions.MESSAGES, lambda: Latest(MailFeed(context).news, attrgetter("id")), id, seq
    )
    return MessageSnapshot(id=subscription.id, messages=tuple(cast("Iterable[ListedMessage]", subscription.first)))


@method("message.acknowledge", "message.acknowledge")
def acknowledge(client: RpcClient, up_to: Seen) -> Nothing:
    """Mark the messages that the caller was shown in its mailboxes as read; later ones stay unread."""
    messages.acknowledge(client.context, up_to=up_to)
    return Nothing()


@method("message.list", "message.list.unsubscribe")
def unsubscribe_from_messages(client: RpcClient, id: str) -> Nothing:
    """End a subscription."""
    client.subscriptions.remove(id, subscriptions.MESSAGES)
    return Nothing()


@method("event.list", "event.list.subscribe")
def subscribe_to_events(client: RpcClient, id: LostId = "", seq: LastSeq = 0) -> EventSnapshot:
    """Subscribe to what happens in the team: the newest events now, then event.list.changed for each new one."""
    context = client.context
    subscription = client.subscribe(
        subscriptions.EVENTS, lambda: Latest(EventFeed(context).news, attrgetter("id")), id, seq
    )
    return EventSnapshot(id=subscription.id, events=tuple(cast("Iterable[TeamEvent]", subscription.first)))


@method("event.list", "event.list.unsubscribe")
def unsubscribe_from_events(client: RpcClient, id: str) -> Nothing:
    """End a subscription."""
    client.subscriptions.remove(id, subscriptions.EVENTS)
    return Nothing()


@method("team.cost", "cost.list.subscribe")
def subscribe_to_costs(client: RpcClient, id: LostId = "", seq: LastSeq = 0) -> CostSnapshot:
    """Subscribe to what the team costs: each member's usage now, then cost.list.changed for each change."""
    context = client.context

    def look() -> dict[str, Cost]:
        costs = cost(context)
        return {each.agent_id: each for each in (*costs.members, costs.total)}

    subscription = client.subscribe(subscriptions.COSTS, lambda: Values(look), id, seq)
    return CostSnapshot(id=subscription.id, costs=tuple(cast("Iterable[Cost]", subscription.first)))


@method("team.cost", "cost.list.unsubscribe")
def unsubscribe_from_costs(client: RpcClient, id: str) -> Nothing:
    """End a subscription."""
    client.subscriptions.remove(id, subscriptions.COSTS)
    return Nothing()
