"""One mailbox on disk: a bounded head and sealed segments beside it; each segment is written before the head."""

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pro0.errors import ErrorCode, Pro0Error, StoreError
from pro0.model.message import Mailbox, Message, Notice, Segment
from pro0.rules import mail
from pro0.store.files import File, encode
from pro0.store.paths import ARCHIVE, MESSAGES, segment

if TYPE_CHECKING:
    from pro0.store.places.place import DocumentPlace, OpenPlace


class Box:
    """The mailbox of one member."""

    def __init__(self, place: "Path | DocumentPlace", agent_id: str) -> None:
        self.agent_id = agent_id
        self.head: File[Mailbox] = File(place, MESSAGES, Mailbox, filled=mail.numbered)
        self.place = self.head.place
        self.folder = self.head.folder

    def exists(self) -> bool:
        """Return True when the mailbox exists."""
        return self.place.holds(MESSAGES)

    def make(self) -> None:
        """Make an empty mailbox, or keep the present one."""
        self.place.make()
        if not self.exists():
            self.head.create_once(Mailbox(agent_id=self.agent_id), f"make the mailbox of {self.agent_id}")

    def post(self, notice: Notice, clock: Callable[[], datetime]) -> Message:
        """Append a message and return it as stored; raises NotFound when the mailbox is gone.

        The time is taken under the lock, so the order of times is the order of messages.
        """
        with self.head.change(f"send to {self.agent_id}") as change:
            box, sealed = mail.overflow(mail.post(change.value, notice, clock()))
            if sealed:
                _seal(change.place, box.sealed, sealed)
            change.value = box
        return next(message for message in (*reversed(box.messages), *sealed) if message.id == notice.id)

    def deliver(self, notice: Notice, clock: Callable[[], datetime], owed: Callable[[], Collection[str]]) -> None:
        """Append an owed notice once, however many deliverers try and how often; `owed` returns the ids still owed."""
        with self.head.change(f"send to {self.agent_id}") as change:
            owed_ids = owed()  # under the lock: the next deliverer finds the notice here, or no longer owed
            if notice.id not in owed_ids:
                return
            box, sealed = mail.overflow(mail.deliver(change.value, notice, clock(), owed_ids))
            if sealed:
                _seal(change.place, box.sealed, sealed)
            change.value = box

    def hand_out(self, incarnation: str, *, acknowledge: bool, limit: int | None = None) -> list[mail.Delivery]:
        """Give out the unread messages (see `mail.hand_out`), and acknowledge them at once when asked to.

        Messages that do not reach the caller, after an error or interrupt, count as not given unless acknowledged here.
        """
        deliveries = list[mail.Delivery]()
        try:
            with self.head.change(f"inbox of {self.agent_id}") as change:
                unread = list(self.since(change.value, change.value.acked))
                box, deliveries = mail.hand_out(change.value, unread, incarnation, limit)
                if acknowledge and deliveries:
                    box = mail.acknowledge(box, deliveries[-1].message.seq)
                change.value = box
        except BaseException as error:  # the change may have been made before it
            is_final = acknowledge or not deliveries
            if is_final or self._is_undone(incarnation, deliveries[-1].message.seq) or not isinstance(error, Pro0Error):
                raise
            # The next call may count them as read, so this call returns them despite the error.
        return deliveries

    def _is_undone(self, incarnation: str, seq: int) -> bool:
        """Take back mail after an error in giving it out; return True when it certainly counts as not given."""
        with suppress(Pro0Error):
            if mail.given_up_to(self.head.read(), incarnation) >= seq:
                self.take_back(incarnation)
        with suppress(Pro0Error):
            return mail.given_up_to(self.head.read(), incarnation) < seq
        return False

    def take_back(self, incarnation: str) -> None:
        """Mark the last messages given to this incarnation as not given."""
        with self.head.change(f"inbox of {self.agent_id}") as change:
            change.value = mail.take_back(change.value, incarnation)

    def acknowledge(self, seq: int) -> None:
        """Mark every message up to `seq` as read."""
        with self.head.change(f"inbox of {self.agent_id}") as change:
            change.value = mail.acknowledge(change.value, seq)

    def since(self, box: Mailbox, seq: int) -> Iterator[Message]:
        """Yield the messages after `seq` in order, from the sealed segments and the head."""
        for number in range(self._first_segment(box, seq), box.sealed + 1):
            yield from (message for message in self._sealed(number) if message.seq > seq)
        yield from (message for message in box.messages if message.seq > seq)

    def _first_segment(self, box: Mailbox, seq: int) -> int:
        oldest = box.messages[0].seq if box.messages else box.next_seq
        number = box.sealed
        while number >= 1 and oldest > seq + 1:
            oldest = self._sealed(number)[0].seq
            number -= 1
        return number + 1

    def sealed(self, number: int) -> File[Segment]:
        """Return a sealed segment."""
        return File(self.place.within(ARCHIVE), segment(number), Segment)

    def stamp(self) -> object:
        """Return a value that differs after each change of the mailbox; raises OSError when it is missing."""
        return self.place.stamp(MESSAGES)

    def _sealed(self, number: int) -> tuple[Message, ...]:
        file = self.sealed(number)
        messages = file.read().messages
        if not messages:
            raise StoreError(
                f"{file.path} is corrupt: it holds no message", code=ErrorCode.STORE_CORRUPT, hint="pro0 doctor"
            )
        return messages


def _seal(place: "OpenPlace", number: int, messages: tuple[Message, ...]) -> None:
    with place.within(ARCHIVE) as archive:
        archive.tidy()
        archive.replace(segment(number), encode(Segment(revision=1, messages=messages)))
