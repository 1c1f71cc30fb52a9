"""Mailboxes against a model that is a plain list (rulings 3.4, 3.5)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from msgspec.structs import replace

from pro0.model.message import HandOver, Mailbox, Message, MessageType, Notice, Unread
from pro0.rules import mail
from tests.rules.building import T0, at

SESSIONS = st.sampled_from(["first", "second", "third"])


def notice(id: str, content: str = "hello", sender: str = "w2") -> Notice:
    return Notice(id=id, from_=sender, to="w1", content=content, type=MessageType.MESSAGE)


def posted(*contents: str) -> Mailbox:
    box = Mailbox(agent_id="w1")
    for number, content in enumerate(contents, 1):
        box = mail.post(box, notice(f"m{number}", content), at(number))
    return box


def given_to(box: Mailbox, session: str) -> tuple[Mailbox, list[tuple[int, bool]]]:
    unread = [message for message in box.messages if message.seq > box.acked]
    box, deliveries = mail.hand_out(box, unread, session)
    return box, [(delivery.message.seq, delivery.again) for delivery in deliveries]


def test_a_message_is_stored_with_all_that_it_is() -> None:
    """AC-68: from, to, type, timestamp, order."""
    box = mail.post(Mailbox(), replace(notice("m1", "körper"), in_reply_to="m0"), at(3))
    assert box.messages == (
        Message(id="m1", seq=1, from_="w2", to="w1", type=MessageType.MESSAGE, content="körper", timestamp=at(3),
                in_reply_to="m0"),
    )  # fmt: skip
    assert (box.next_seq, mail.unread_up_to(box)) == (2, 1)


def test_what_was_posted_is_posted_once() -> None:
    """Rulings 3.3: owed notices have fixed ids."""
    box = posted("a")
    assert mail.post(box, notice("m1", "a"), at(9)) is box


def test_a_notice_is_delivered_once_however_much_came_in_between() -> None:
    """Rulings 3.3: the head remembers the newest, and whatever is still owed."""
    ids = [f"n{number}" for number in range(mail.DELIVERED_COUNT + 3)]
    box = Mailbox(agent_id="w1")
    for id in ids:
        box = mail.deliver(box, notice(id), T0, owed=["n0"])
    sealed = replace(box, messages=())
    assert mail.deliver(sealed, notice("n0"), T0, owed=["n0"]) is sealed
    assert mail.deliver(sealed, notice(ids[-1]), T0, owed=()) is sealed
    assert box.delivered == ("n0", *ids[-mail.DELIVERED_COUNT :])
    later = mail.deliver(box, notice("next"), T0, owed=())
    assert later.delivered == (*ids[1 - mail.DELIVERED_COUNT :], "next")
    assert [message.id for message in later.messages] == [*ids, "next"]


def test_the_second_look_acknowledges_the_first() -> None:
    """Rulings 3.4, AC-68."""
    box, seen = given_to(posted("a", "b"), "first")
    assert (seen, box.acked) == ([(1, False), (2, False)], 0)
    box = mail.post(box, notice("m3"), T0)
    box, seen = given_to(box, "first")
    assert (seen, box.acked) == ([(3, False)], 2)
    assert [message.read for message in box.messages] == [True, True, False]
    box, seen = given_to(box, "first")
    assert (seen, box.acked, mail.unread_up_to(box)) == ([], 3, 0)


def test_a_session_is_told_of_mail_that_it_was_not_given_yet() -> None:
    """Whether it was acknowledged or not: else an agent would be told again of each message that it has just read."""
    box = posted("a", "b")
    assert [mail.news(box, name) for name in ("first", "second")] == [Unread(2, 2)] * 2
    box, _ = given_to(box, "first")
    assert [mail.news(box, name) for name in ("first", "second")] == [Unread(), Unread(2, 2)]
    box = mail.post(box, replace(notice("m3"), urgent=True), T0)
    box = mail.post(box, notice("m4"), T0)
    assert [mail.news(box, name) for name in ("first", "second")] == [Unread(4, 2, 3), Unread(4, 4, 3)]
    assert mail.news(mail.acknowledge(box, 4), "second") == Unread()
    assert mail.news(mail.acknowledge(box, 3), "second") == Unread(4, 1)
    assert mail.news(mail.take_back(given_to(box, "first")[0], "first"), "first") == Unread(4, 2, 3)


def test_what_a_killed_session_had_not_acknowledged_is_given_again() -> None:
    """AC-70: again, once, in order; what was acknowledged is not."""
    box, _ = given_to(posted("a"), "first")
    box = mail.post(box, notice("m2"), T0)
    box, _ = given_to(box, "first")
    box = mail.post(box, notice("m3"), T0)
    box, seen = given_to(box, "second")
    assert seen == [(2, True), (3, False)]
    box, seen = given_to(box, "second")
    assert (seen, box.acked) == ([], 3)
    assert given_to(box, "third")[1] == []


def test_what_did_not_arrive_is_given_again_to_the_same_session() -> None:
    """Rulings 3.4: an answer that is cancelled, or that nobody takes, acknowledges nothing by the next call."""
    box, _ = given_to(posted("a", "b"), "first")
    box = mail.take_back(box, "first")
    assert box.handed == HandOver(incarnation=mail.LOST, seq=2)
    box, seen = given_to(mail.post(box, notice("m3"), T0), "first")
    assert (seen, box.acked) == ([(1, True), (2, True), (3, False)], 0)
    assert given_to(box, "first")[0].acked == 3


def test_only_the_session_that_was_given_them_takes_them_back() -> None:
    box, _ = given_to(posted("a"), "first")
    assert mail.take_back(box, "second") is box
    assert mail.take_back(posted("a"), "first") == posted("a")


@pytest.mark.parametrize("seq", [-1, 0, 2])
def test_acknowledging_never_goes_back(seq: int) -> None:
    box = mail.acknowledge(posted("a", "b", "c"), 2)
    assert mail.acknowledge(box, seq) is box


@pytest.mark.parametrize("seq", [4, 10**9])
def test_acknowledging_does_not_reach_into_the_future(seq: int) -> None:
    """Else the next messages would be lost: read before they came."""
    box = mail.acknowledge(posted("a", "b", "c"), seq)
    assert box.acked == 3
    assert given_to(mail.post(box, notice("m4"), T0), "first")[1] == [(4, False)]


def sizes(box: Mailbox) -> list[int]:
    return [len(message.content.encode()) for message in box.messages]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["", "x" * 1000, "ä" * 100_000, "y" * mail.HEAD_BYTES]), max_size=30))
def test_the_head_is_bounded_in_bytes_and_nothing_is_dropped(contents: list[str]) -> None:
    """Rulings 3.5, reliability 3: at most the limit, or one message that is larger alone."""
    box, sealed = Mailbox(), list[Message]()
    for number, content in enumerate(contents, 1):
        box, older = mail.overflow(mail.post(box, notice(f"m{number}", content), T0))
        sealed += older
        assert sum(sizes(box)) <= mail.HEAD_BYTES or len(box.messages) == 1
    assert [message.seq for message in [*sealed, *box.messages]] == list(range(1, len(contents) + 1))


@pytest.mark.parametrize(
    ("contents", "sealed"),
    [
        (["x" * mail.HEAD_BYTES], 0),
        (["x" * (mail.HEAD_BYTES + 1)], 0),
        (["x", "y" * (mail.HEAD_BYTES - 1)], 0),
        (["x", "y" * mail.HEAD_BYTES], 1),
        (["x", "ä" * (mail.HEAD_BYTES // 2)], 1),
        (["a", "b", "x", "y" * (mail.HEAD_BYTES - 1)], 2),
        (["a", "b", "x", "y" * mail.HEAD_BYTES], 3),
        (["a", "b", "x", "y", "z" * (2 * mail.HEAD_BYTES)], 4),
        (["x" * (mail.HEAD_BYTES // mail.HEAD_COUNT)] * mail.HEAD_COUNT, 0),
        (["x"] * (mail.HEAD_COUNT + 1), mail.HEAD_COUNT // 2),
    ],
)
def test_the_bound_in_bytes_is_exact(contents: list[str], sealed: int) -> None:
    """At the limit everything stays; over it half goes, and more until the rest is within it; the newest never."""
    box = posted(*contents)
    kept, older = mail.overflow(box)
    assert len(older) == sealed
    assert (*older, *kept.messages) == box.messages
    assert kept.sealed == (1 if sealed else 0)


def test_the_head_is_bounded_in_number() -> None:
    box, segments = Mailbox(), list[tuple[Message, ...]]()
    for number in range(1, 1001):
        box, older = mail.overflow(mail.post(box, notice(f"m{number}"), T0))
        segments += [older] if older else []
        assert len(box.messages) <= mail.HEAD_COUNT
        assert box.sealed == len(segments)
    assert [m.seq for messages in (*segments, box.messages) for m in messages] == list(range(1, 1001))


class Mail(RuleBasedStateMachine):
    """A mailbox with its segments beside a model: all messages, what is acknowledged, what each session was given."""

    def __init__(self) -> None:
        super().__init__()
        self.box = Mailbox(agent_id="w1")
        self.sealed: list[Message] = []
        self.sent: list[str] = []
        self.acked = 0
        self.handed: tuple[str, int] | None = None
        self.seen: dict[str, list[int]] = {}
        self.highest_given = 0

    @rule(size=st.sampled_from([1, 10, mail.HEAD_BYTES // 3]))
    def post(self, size: int) -> None:
        self.sent.append(f"m{len(self.sent) + 1}")
        self.box, older = mail.overflow(mail.post(self.box, notice(self.sent[-1], "x" * size), T0))
        self.sealed += older

    @rule(session=SESSIONS, limit=st.sampled_from([None, 0, 3 * mail.HEADER, mail.HEAD_BYTES]))
    def look(self, session: str, limit: int | None) -> None:
        if self.handed and self.handed[0] == session:
            self.acked = max(self.acked, self.handed[1])
        everything = [*self.sealed, *self.box.messages]
        unread = [message for message in everything if message.seq > self.acked]
        self.box, deliveries = mail.hand_out(self.box, unread, session, limit)
        seqs = [delivery.message.seq for delivery in deliveries]
        last = seqs[-1] if limit is not None and seqs else len(self.sent)
        assert seqs == list(range(self.acked + 1, last + 1)), "in order, and none is skipped"
        assert bool(seqs) == (len(self.sent) > self.acked)
        sizes = [mail.HEADER + len(message.content) for message in unread[: len(seqs) + 1]]
        if limit is not None and seqs:
            assert len(seqs) == 1 or sum(sizes[: len(seqs)]) <= limit
            assert len(seqs) == len(unread) or sum(sizes) > limit
        for delivery in deliveries:
            assert delivery.again == (delivery.message.seq <= self.highest_given)
        if seqs:
            self.handed = (session, seqs[-1])
            self.highest_given = max(self.highest_given, seqs[-1])

    @rule(session=SESSIONS)
    def take_back(self, session: str) -> None:
        self.box = mail.take_back(self.box, session)
        if self.handed and self.handed[0] == session:
            self.handed = None

    @rule(seq=st.integers(-1, 40))
    def acknowledge(self, seq: int) -> None:
        before = self.box.acked
        self.box = mail.acknowledge(self.box, seq)
        self.acked = max(self.acked, min(seq, len(self.sent)))
        assert self.box.acked >= before

    @invariant()
    def nothing_is_lost_and_all_is_in_order(self) -> None:
        everything = [*self.sealed, *self.box.messages]
        assert [message.id for message in everything] == self.sent
        assert [message.seq for message in everything] == list(range(1, len(self.sent) + 1))
        assert self.box.acked == self.acked
        assert mail.unread_up_to(self.box) == (len(self.sent) if len(self.sent) > self.acked else 0)
        assert all(message.read == (message.seq <= self.acked) for message in self.box.messages)


TestMail = Mail.TestCase
TestMail.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)


def test_a_single_message_is_never_sealed_however_long() -> None:
    """There would be no head to count it."""
    box = posted("x" * (mail.HEAD_BYTES + 1))
    assert mail.overflow(box) == (box, ())
    more = mail.post(box, notice("m2"), at(2))
    left, sealed = mail.overflow(more)
    assert ([message.id for message in left.messages], [message.id for message in sealed]) == (["m2"], ["m1"])
