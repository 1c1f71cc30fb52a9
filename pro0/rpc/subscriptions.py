"""What one client is subscribed to: a snapshot first, then each change as a notification."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Annotated, Generic, Literal, TypeVar

import msgspec
from msgspec import Meta

from pro0.engine.background.chat import ChatItem
from pro0.errors import ErrorCode, NotFound, Refused
from pro0.model.need import Need
from pro0.model.task import Task
from pro0.ops.context import Context, new_id
from pro0.ops.mail.listing import ListedMessage
from pro0.ops.team import feed
from pro0.ops.team.costs import Cost
from pro0.ops.team.events import TeamEvent
from pro0.ops.team.status import MemberStatus
from pro0.rpc.lists import Change, NumberedList, Reader
from pro0.rpc.views import RpcView, TaskView, task_view

V = TypeVar("V")

LATEST = 1000
"""The most items in the snapshot of a list that only grows: the newest ones."""
LIMIT = 16
"""The most subscriptions of one client."""
_BEGAN = re.compile(r"([0-9a-f-]{36})\.([0-9]{1,18})\.[0-9a-f]{8}")
"""The id of a subscription: the name of its list, the number of the change after which it began, and a random part."""
LostId = Annotated[str, Meta(description="The id of a subscription whose connection was lost, to resume it.")]
LastSeq = Annotated[int, Meta(ge=0, le=2**53, description="The last seq received from that subscription.")]
TASKS, TICKETS, MEMBERS, NEEDS = "task.list", "ticket.list", "member.list", "need.list"
MESSAGES, EVENTS, COSTS, CHAT = "message.list", "event.list", "cost.list", "session.chat"


class ListChange(RpcView, frozen=True, kw_only=True):
    """One change of a list; `seq` grows."""

    id: str
    seq: int
    operation: Literal["create", "update", "delete"]


class TaskChange(ListChange, frozen=True, kw_only=True):
    """One change of the list: the task as it is now, or the id of a deleted task."""

    task: TaskView | None = None
    deleted: str | None = msgspec.field(name="taskId", default=None)


class MemberChange(ListChange, frozen=True, kw_only=True):
    """One change of the list: the member as it is now, or the id of a member that is gone."""

    member: MemberStatus | None = None
    deleted: str | None = msgspec.field(name="memberId", default=None)


class NeedChange(ListChange, frozen=True, kw_only=True):
    """One change of the list: the need as it is now, or the id of a need that is over."""

    need: Need | None = None
    deleted: str | None = msgspec.field(name="needId", default=None)


class MessageChange(ListChange, frozen=True, kw_only=True):
    """A new message, or one that has been read since. No message is ever deleted."""

    message: ListedMessage | None = None


class EventChange(ListChange, frozen=True, kw_only=True):
    """A new event. An event never changes."""

    event: TeamEvent | None = None


class CostChange(ListChange, frozen=True, kw_only=True):
    """The usage of a member, or of `all`, so far."""

    cost: Cost | None = None


class ChatChange(ListChange, frozen=True, kw_only=True):
    """A new item of a session's chat, or one that has changed: a tool call that ended, an answer that grew."""

    item: ChatItem | None = None


CHANGES: dict[str, tuple[type[ListChange], str]] = {
    TASKS: (TaskChange, "task"),
    TICKETS: (TaskChange, "task"),
    MEMBERS: (MemberChange, "member"),
    NEEDS: (NeedChange, "need"),
    MESSAGES: (MessageChange, "message"),
    EVENTS: (EventChange, "event"),
    COSTS: (CostChange, "cost"),
    CHAT: (ChatChange, "item"),
}
"""Topic → the type of its changes, and their field for the item."""
TOPICS = tuple(CHANGES)
"""The topics to subscribe to: TOPIC.subscribe, TOPIC.unsubscribe, TOPIC.changed."""


class Subscription(Reader):
    """One subscription to a list. Its news are the differences from the state that it sent last.

    So a client that is told late is told less, and misses nothing. The id says where the subscription began, so that a
    client whose connection was lost can resume it on another.
    """

    def __init__(self, topic: str, listed: NumberedList, id: str = "", seq: int = 0) -> None:
        self.topic = topic
        self._list = listed
        self.first: tuple[object, ...] = ()
        """The whole list, unless this goes on from an earlier connection."""
        began = _BEGAN.fullmatch(id)
        super().__init__(int(began[2]) + seq if began and began[1] == listed.name else -1)
        if not listed.go_on(self):
            began, self.first = None, tuple(listed.snapshot(self).values())
        self.goes_on = began is not None
        self._began = int(began[2]) if began else self.seq
        self.id = id if began else f"{listed.name}.{self.seq}.{new_id()[:8]}"

    @property
    def behind(self) -> bool:
        """Return True when a part of its list could not be read."""
        return self._list.behind

    def changes(self) -> list[ListChange]:
        """Return what has changed since the last call."""
        return [self._change(number - self._began, change) for number, change in self._list.news(self)]

    def _change(self, seq: int, change: Change) -> ListChange:
        kind, field = CHANGES[self.topic]
        operation, key, value = change
        now = {"deleted": key} if operation == "delete" else {field: _shown(value)}
        return kind(id=self.id, seq=seq, operation=operation, **now)


def _shown(value: object) -> object:
    return task_view(value) if isinstance(value, Task) else value


class Tasks:
    """The task list, archived tasks among them."""

    sign, behind = None, False

    def __init__(self, context: Context) -> None:
        self._feed = feed.subscribe(context)
        self._feed.news()

    @property
    def now(self) -> Mapping[str, Task]:
        """Return the tasks as they were at the last look."""
        return self._feed.tasks

    def changes(self) -> Iterator[Change]:
        """Yield what has changed since the last call."""
        for event in self._feed.news():
            assert event.event != "snapshot"
            yield event.event, event.task.id if event.task else event.id or "", event.task


class Values(Generic[V]):
    """A list that is read again each time; `look` returns its items by id, `unread` says which could not be read."""

    sign = None

    def __init__(self, look: Callable[[], dict[str, V]], unread: Callable[[V], bool] = lambda _: False) -> None:
        self._look, self._unread = look, unread
        self.now = look()

    @property
    def behind(self) -> bool:
        """Return True when one of the items could not be read."""
        return any(map(self._unread, self.now.values()))

    def changes(self) -> Iterator[Change]:
        """Yield what has changed since the last call."""
        before, self.now = self.now, self._look()
        for key, value in self.now.items():
            if value != before.get(key):
                yield "update" if key in before else "create", key, value
        yield from (("delete", key, None) for key in before if key not in self.now)


class Latest(Generic[V]):
    """A list that only grows: the newest items by id; `news` returns new and changed ones."""

    behind = False

    def __init__(
        self, news: Callable[[], Iterable[V]], key: Callable[[V], str], sign: Callable[[], object] = lambda: None
    ) -> None:
        self._news, self._key, self._sign = news, key, sign
        self.now: dict[str, V] = {}
        for _ in self.changes():
            pass

    @property
    def sign(self) -> object:
        """Return a value that changes when files outside the store change."""
        return self._sign()

    def changes(self) -> Iterator[Change]:
        """Yield the changes since the last call. An item that grew too old does not count as deleted."""
        for value in self._news():
            key = self._key(value)
            is_known = key in self.now
            self.now[key] = value
            if len(self.now) > LATEST:
                del self.now[next(iter(self.now))]
            yield "update" if is_known else "create", key, value


class Subscriptions:
    """All subscriptions of one client."""

    def __init__(self) -> None:
        self._by_id: dict[str, Subscription] = {}
        self.owing = False
        """True when a subscription has begun that may have missed something."""
        self.behind = False
        """True when a list could not be read at the last look, or not all of it."""

    def __bool__(self) -> bool:
        return bool(self._by_id)

    def add(self, subscription: Subscription) -> str:
        """Add a subscription and return its id; raises Refused above the limit."""
        if len(self._by_id) >= LIMIT and subscription.id not in self._by_id:
            error_text = f"this client has {LIMIT} subscriptions"
            raise Refused(error_text, code=ErrorCode.TOO_MANY, hint="unsubscribe one of them")
        self._by_id[subscription.id] = subscription
        self.owing |= subscription.goes_on or subscription.behind
        return subscription.id

    def remove(self, id: str, topic: str) -> None:
        """End a subscription; raises NotFound."""
        if id not in self._by_id or self._by_id[id].topic != topic:
            raise NotFound(f"there is no subscription {id[:50]!r}", hint="it has ended, or belongs to another client")
        del self._by_id[id]

    def changes(self) -> list[tuple[str, ListChange]]:
        """Return the changes to tell now, each with its topic. A list that cannot be read now is told later.

        Needs are read first and told last, so that a client already knows the task as the need describes it.
        """
        self.behind = False
        changes: list[tuple[str, ListChange]] = []
        for subscription in sorted(self._by_id.values(), key=lambda each: each.topic != NEEDS):
            try:
                changes += [(subscription.topic, change) for change in subscription.changes()]
                self.behind |= subscription.behind
            except Exception:  # noqa: BLE001 - the news of the others are taken already, and told only now
                self.behind = True
        return sorted(changes, key=lambda each: each[0] == NEEDS)
