"""Messages: send, broadcast, read."""

import heapq
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TypeVar

import msgspec

from pro0.errors import BadInput, EnvironmentMissing, ErrorCode, NotFound, Refused, StoreError
from pro0.model.caller import ANYONE, PEOPLE_AND_AGENTS, Caller, Who
from pro0.model.ids import HUMAN, LEAD
from pro0.model.message import BODY_LIMIT, Message, MessageType, Notice
from pro0.model.task import TaskList
from pro0.model.team import Wanted
from pro0.ops.context import UNUSABLE, Context, already, operation
from pro0.ops.seats import led, roster
from pro0.rules import text
from pro0.rules.mail import HANDED_BYTES, news, unread_up_to
from pro0.store.files import File
from pro0.store.teams import TeamStore

Owing = TypeVar("Owing", TaskList, Wanted)
"""A document with notices to deliver after its changes."""


class Letter(msgspec.Struct, frozen=True):
    """A delivery together with its mailbox."""

    mailbox: str
    message: Message
    again: bool


@operation("message.send", PEOPLE_AND_AGENTS)
def send(context: Context, to: str, content: str, *, in_reply_to: str | None = None, urgent: bool = False) -> Message:
    """Put a message into one member's mailbox, or that of `lead` or `human`; the sender is stamped.

    A message to a crashed member stays in its mailbox for a restart (behaviour 3.4).
    An `urgent` message interrupts the turn of a working agent, if the agent can be interrupted.
    `in_reply_to` is a message's id, or its number in the caller's inbox. Raises NotFound when the caller and
    `to` have exchanged no such message.
    """
    address = roster(context.team).mailbox(to)
    answered = _answered(context, to, in_reply_to) if in_reply_to is not None else None
    notice = Notice(
        id=context.new_id(),
        from_=context.caller.agent_id,
        to=address,
        type=MessageType.MESSAGE,
        content=_body(content),
        in_reply_to=answered,
        urgent=urgent,
    )
    message = context.team.mailbox(address).post(notice, context.now)
    context.team.log_event(context.now(), context.caller.agent_id, "message.send", to=address, seq=message.seq)
    return message


@operation("message.broadcast", PEOPLE_AND_AGENTS)
def broadcast(context: Context, content: str) -> list[Message]:
    """Put a message into every living member's mailbox but the sender's; a failure at one does not stop the others."""
    sender, body = context.caller.agent_id, _body(content)
    messages, failed = [], []
    for seat in roster(context.team).live():
        if seat.agent_id != sender:
            notice = Notice(
                id=context.new_id(), from_=sender, to=seat.agent_id, type=MessageType.BROADCAST, content=body
            )
            try:
                messages.append(context.team.mailbox(seat.agent_id).post(notice, context.now))
            except UNUSABLE as error:
                failed.append(error)
    context.team.log_event(context.now(), sender, "message.broadcast", recipients=len(messages))
    if failed:
        with already(f"sent to {', '.join(message.to for message in messages) or 'nobody'}"):
            raise failed[0]
    return messages


@operation("message.inbox", PEOPLE_AND_AGENTS)
def inbox(context: Context, *, acknowledge: bool = False) -> list[Letter]:
    """Give out the caller's unread messages; the next call acknowledges them, or this one at once (behaviour 3.4).

    A person gets all of them; when there are very many, an agent gets only the first (see `left`).
    """
    # A human's incarnation never ends: unseen mail of one call must not count as read at the next.
    is_human = context.caller.who is Who.HUMAN
    reader, limit = (context.new_id(), None) if is_human else (context.caller.incarnation, HANDED_BYTES)
    mine = addresses(context.team, context.caller)
    by_address: dict[str, list[Letter]] = {}
    for address in mine:  # read every mailbox before marking any as read: a later error must not hide earlier mail
        with _after(by_address, "was given out"):
            mail = context.team.mailbox(address).hand_out(
                reader, acknowledge=acknowledge and len(mine) == 1, limit=limit
            )
        by_address[address] = [Letter(address, delivery.message, delivery.again) for delivery in mail]
    letters = _merged(by_address.values())
    if acknowledge and len(mine) > 1:
        with _after(by_address, "was given out"):
            _mark_read(context, _newest(letters))
    return letters


@operation("message.take_back", frozenset({Who.MEMBER, Who.LEAD_AGENT}))
def take_back(context: Context) -> None:
    """Mark the messages last given to this session by `inbox` as not given, since they did not arrive."""
    for address in addresses(context.team, context.caller):
        context.team.mailbox(address).take_back(context.caller.incarnation)


@operation("message.acknowledge", PEOPLE_AND_AGENTS)
def acknowledge(context: Context, letters: Iterable[Letter] = (), *, up_to: Mapping[str, int] | None = None) -> None:
    """Mark as read the letters shown, or the messages of mailboxes up to a number; later messages stay unread."""
    mine, newest = addresses(context.team, context.caller), {**_newest(letters), **(up_to or {})}
    if stray := next((address for address in newest if address not in mine), None):
        sentence = f"{text.visible(stray)} is not a mailbox of {context.caller.agent_id}"
        raise Refused(sentence, code=ErrorCode.NOT_ALLOWED)
    _mark_read(context, newest)


def _newest(letters: Iterable[Letter]) -> dict[str, int]:
    """Return the number of the newest letter of each mailbox."""
    newest: dict[str, int] = {}
    for letter in letters:
        newest[letter.mailbox] = max(newest.get(letter.mailbox, 0), letter.message.seq)
    return newest


def _mark_read(context: Context, newest: Mapping[str, int]) -> None:
    read: list[str] = []
    for address, seq in newest.items():
        with _after(read, "is marked as read"):
            context.team.mailbox(address).acknowledge(seq)
        read.append(address)


def _after(earlier: Collection[str], verb: str) -> AbstractContextManager[None]:
    """Add to an error at a mailbox the mailboxes that were done before it."""
    return already(f"the mail of {' and '.join(earlier)} {verb}") if earlier else nullcontext()


@operation("message.history", PEOPLE_AND_AGENTS, changes=False)
def history(context: Context) -> list[Letter]:
    """Return every message the caller ever got, in order, read or not."""
    return _merged([_whole(context, address) for address in addresses(context.team, context.caller)])


@operation("message.sent", PEOPLE_AND_AGENTS, changes=False)
def sent(context: Context) -> list[Letter]:
    """Return every message the caller ever sent in this team, in order; `read` is true once the recipient has."""
    team, sender = context.team.require(), context.caller.agent_id
    boxes = [_whole(context, address) for address in team.mailbox_owners()]
    return _merged([[letter for letter in box if letter.message.from_ == sender] for box in boxes])


@operation("message.conversation", PEOPLE_AND_AGENTS, changes=False)
def conversation(context: Context, correspondent: str) -> list[Letter]:
    """Return the messages between the caller and another member, in order; raises NotFound for a stranger's name."""
    address = _correspondent(context, correspondent)
    received = [letter for letter in history(context) if letter.message.from_ == address]
    written = [letter for letter in sent(context) if letter.mailbox == address]
    return _merged([received, written])


@operation("message.unread", ANYONE, changes=False)
def unread(context: Context) -> int:
    """Return how many messages the caller has not read."""
    heads = [context.team.mailbox(address).head.read() for address in addresses(context.team, context.caller)]
    return sum(head.next_seq - 1 - head.acked for head in heads if unread_up_to(head))


def left(context: Context) -> int:
    """Return the number of messages not yet given to this session."""
    boxes = [context.team.mailbox(address) for address in addresses(context.team, context.caller)]
    return sum(news(box.head.read(), context.caller.incarnation).count for box in boxes)


def addresses(team: TeamStore, caller: Caller) -> list[str]:
    """Return a caller's mailboxes: its own; for a human without a lead agent also the lead's (behaviour 3.8)."""
    if caller.who is not Who.HUMAN:
        return [caller.agent_id]
    return [HUMAN] if led(team.require().wanted.read(), team.machine) else [HUMAN, LEAD]


def deliver(
    context: Context, notices: tuple[Notice, ...], owed: Callable[[], Collection[str]] | None = None
) -> frozenset[str]:
    """Deliver owed notices and return the ids of those settled: delivered now or before, or to a removed mailbox.

    `owed` returns the ids still owed; without it, all of these notices are owed.
    """
    paid, notice_ids = set(), frozenset(notice.id for notice in notices)
    for notice in notices:
        with suppress(StoreError, EnvironmentMissing):
            try:
                context.team.mailbox(notice.to).deliver(notice, context.now, owed or (lambda: notice_ids))
            except NotFound:
                if _awaits_repair(context.team, notice.to):
                    continue
            paid.add(notice.id)
    return frozenset(paid)


def _awaits_repair(team: TeamStore, address: str) -> bool:
    """Return True for a missing mailbox that a repair makes anew: it is the lead's, the human's or a member's."""
    return team.exists() and address in (LEAD, HUMAN, *(seat.agent_id for seat in team.wanted.read().seats))


def pay(context: Context, file: File[Owing]) -> None:
    """Deliver a document's notices, then remove them from its outbox; a repeat after a crash delivers none twice.

    A notice for a mailbox that is corrupt or lacks a part stays owed, and delays no other notice.
    """

    def owed() -> set[str]:
        return {notice.id for notice in file.read().outbox}

    paid = deliver(context, file.read().outbox, owed)
    if not paid:
        return
    with already("the notices were delivered"), file.change("deliver notices") as change:
        unpaid = tuple(notice for notice in change.value.outbox if notice.id not in paid)
        change.value = msgspec.structs.replace(change.value, outbox=unpaid)


def pay_if_possible(context: Context, file: File[Owing]) -> None:
    """Deliver an act's notices if possible; the act is done, and the lead delivers the rest later."""
    with suppress(StoreError):
        pay(context, file)


def _correspondent(context: Context, name: str) -> str:
    """Return the mailbox of a possible correspondent: `lead`, `human`, or a member, even after its end."""
    folded = name.strip().casefold()
    return folded if folded in (LEAD, HUMAN) else roster(context.team).find(name).agent_id


def _answered(context: Context, correspondent: str, reference: str) -> str:
    """Return the id of the message that an answer names, by its id or by its number in the caller's inbox."""
    text.checked(reference, "reference to a message")
    exchanged = conversation(context, correspondent)
    for letter in reversed(exchanged):
        mine = letter.message.from_ == context.caller.agent_id
        if reference == letter.message.id or (not mine and reference.removeprefix("#") == str(letter.message.seq)):
            return letter.message.id
    raise NotFound(
        f"your inbox has no message {reference} from {correspondent}",
        hint=f"what you got has its numbers there: pro0 inbox --with {correspondent}",
    )


def _whole(context: Context, address: str) -> list[Letter]:
    """Return a mailbox from its first message to its last."""
    box = context.team.mailbox(address)
    head = box.head.read()
    return [
        Letter(address, msgspec.structs.replace(message, read=message.seq <= head.acked), again=False)
        for message in box.since(head, 0)
    ]


def _merged(boxes: Iterable[list[Letter]]) -> list[Letter]:
    """Merge the letters of several mailboxes by time; each mailbox keeps its own order, whatever the clock did."""
    return list(heapq.merge(*boxes, key=lambda letter: letter.message.timestamp))


def _body(content: str) -> str:
    if not content.strip():
        raise BadInput("a message needs a text", hint='pro0 send w1 "hello"')
    return text.checked(content, "message", BODY_LIMIT)
