"""The methods of sessions and their chats (behaviour 5.8)."""

from collections.abc import Iterable
from operator import attrgetter
from typing import Annotated, cast

from msgspec import Meta

from pro0.engine.background.chat import ChatFeed, ChatItem, whole_entry
from pro0.model.message import Message
from pro0.ops.mail import messages
from pro0.ops.work import sessions
from pro0.ops.work.sessions import TeamSession
from pro0.rpc import subscriptions
from pro0.rpc.client import RpcClient
from pro0.rpc.method import method
from pro0.rpc.subscriptions import LastSeq, Latest, LostId
from pro0.rpc.views import Nothing, RpcView

LONGEST = 256 * 1024
"""The most letters of one text of an item."""
SessionId = Annotated[str, Meta(description="A session's id, or a member's name for its present session.")]


class SessionList(RpcView, frozen=True, kw_only=True):
    """The sessions that the caller may see."""

    sessions: list[TeamSession]


class ChatSnapshot(RpcView, frozen=True, kw_only=True):
    """A new subscription, and the newest items of the chat, by time."""

    id: str
    items: tuple[ChatItem, ...]


class WholeItem(RpcView, frozen=True, kw_only=True):
    """An item of a transcript with all its texts, each of at most 262,144 letters. The arguments of a tool are JSON."""

    id: str
    text: str
    arguments: str = ""
    result: str = ""


@method("session.list", "session.list")
def session_list(client: RpcClient) -> SessionList:
    """List the sessions of the team, the past ones first. An agent sees only its own session."""
    return SessionList(sessions=sessions.listed(client.context))


@method("session.show", "session.chat.subscribe")
def subscribe_to_chat(client: RpcClient, session_id: SessionId, id: LostId = "", seq: LastSeq = 0) -> ChatSnapshot:
    """Subscribe to a session's chat: its newest items now, then session.chat.changed for each new or changed one."""
    context = client.context
    session = sessions.show(context, session_id)

    def source() -> Latest[ChatItem]:
        feed = ChatFeed(context, session)
        return Latest(feed.news, attrgetter("id"), lambda: feed.sign)

    subscription = client.subscribe(subscriptions.CHAT, source, id, seq, session.id)
    items = cast("Iterable[ChatItem]", subscription.first)
    return ChatSnapshot(id=subscription.id, items=tuple(sorted(items, key=lambda item: item.at)))


@method("session.show", "session.chat.unsubscribe")
def unsubscribe_from_chat(client: RpcClient, id: str) -> Nothing:
    """End a subscription."""
    client.subscriptions.remove(id, subscriptions.CHAT)
    return Nothing()


@method("session.show", "session.chat.show")
def show_item(client: RpcClient, session_id: SessionId, item_id: str) -> WholeItem:
    """Return one item of the transcript in full, a tool call with its arguments and its result."""
    context = client.context
    entry = whole_entry(context, sessions.show(context, session_id), item_id)
    return WholeItem(
        id=item_id, text=entry.text[:LONGEST], arguments=entry.arguments[:LONGEST], result=entry.result[:LONGEST]
    )


@method("message.send", "session.chat.send")
def send(client: RpcClient, session_id: SessionId, content: str, urgent: bool = False) -> Message:
    """Send a message to the member of this session; refused when the member has ended."""
    context = client.context
    session = sessions.show(context, session_id)
    return messages.send(context, session.agent_id, content, urgent=urgent)
