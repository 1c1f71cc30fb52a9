"""A mailbox on disk: a bounded head, sealed segments beside it, and nothing lost between the two (rulings 3.4, 3.5)."""

import shutil
import subprocess
from collections.abc import Callable
from errno import EIO
from pathlib import Path

import pytest

from pro0.errors import NotFound, StoreError
from pro0.model.message import Message, Notice
from pro0.rules.mail import DELIVERED_COUNT, HEAD_COUNT, Delivery
from pro0.store.mailbox import Box
from pro0.store.places.place import DocumentPlace
from pro0.store.places.promises import Documents
from tests import crowd
from tests.faults import (
    CALLS,
    FAILED,
    KILLED,
    MUTATING,
    Call,
    Fault,
    Shim,
    count,
    fail_with,
    in_child,
    kill_after,
    kill_before,
    points,
)
from tests.store.raw import data_of, put
from tests.teams import NOW

pytestmark = pytest.mark.usefixtures("no_sync")


@pytest.fixture
def box(empty: DocumentPlace) -> Box:
    made = Box(empty, "w1")
    made.make()
    return made


def send(box: Box, *ids: str, size: int = 10) -> None:
    for id in ids:
        box.post(Notice(id=id, from_="w2", to="w1", content="x" * size), lambda: NOW)


def fill(box: Box, number: int) -> list[str]:
    ids = [f"m{count}" for count in range(1, number + 1)]
    send(box, *ids)
    return ids


def everything(box: Box, after: int = 0) -> list[Message]:
    return list(box.since(box.head.read(), after))


def ids(messages: list[Message]) -> list[str]:
    return [message.id for message in messages]


def test_a_full_head_is_sealed_and_read_through(box: Box) -> None:
    sent = fill(box, 450)
    head = box.head.read()
    assert (head.next_seq, len(head.messages) <= HEAD_COUNT, head.sealed) == (451, True, 3)
    assert sorted(box.place.within("archive").names()) == ["000001.json", "000002.json", "000003.json"]
    assert [box.sealed(number).read().revision for number in (1, 2, 3)] == [1, 1, 1]
    assert ids(everything(box)) == sent
    for after in (0, 1, 99, 100, 101, 250, 299, 300, 449, 450, 999):
        assert ids(everything(box, after)) == sent[after:]


def test_the_head_does_not_grow(box: Box) -> None:
    """Reliability 3: at most 256 KiB, however many messages there are."""
    largest = 0
    for start in range(0, 600, 20):
        send(box, *(f"m{number}" for number in range(start, start + 20)), size=2000)
        largest = max(largest, len(data_of(box.head)))
    assert largest < 320 * 1024
    assert len(everything(box)) == 600


def test_unread_mail_in_segments_is_given_once_per_session(box: Box) -> None:
    sent = fill(box, 350)
    given = box.hand_out("first", acknowledge=False)
    assert [delivery.message.id for delivery in given] == sent
    assert not any(delivery.again for delivery in given)
    assert box.hand_out("second", acknowledge=False)[0].again
    assert box.hand_out("second", acknowledge=False) == []
    assert box.head.read().acked == 350
    assert all(message.read for message in box.head.read().messages)


def test_acknowledging_at_once(box: Box) -> None:
    fill(box, 3)
    box.hand_out("first", acknowledge=True)
    assert box.head.read().acked == 3
    assert box.hand_out("second", acknowledge=False) == []


def owe(box: Box, id: str, owed: set[str]) -> None:
    box.deliver(Notice(id=id, from_="lead", to="w1", content="owed"), lambda: NOW, lambda: owed)


def test_a_debt_is_paid_once_also_after_its_message_was_sealed(box: Box) -> None:
    """Rulings 3.3: delivered later, once; however much came in between."""
    owe(box, "owed", {"owed"})
    sent = fill(box, 700)
    owe(box, "owed", {"owed"})
    owe(box, "late", {"owed"})
    assert ids(everything(box)) == ["owed", *sent]
    assert box.head.read().delivered == ("owed",)


def test_what_is_owed_stays_known_however_many_follow(box: Box) -> None:
    """A killed deliverer's notice is known until it is owed no more; of the others, the newest."""
    owe(box, "owed", {"owed"})
    others = [f"n{number}" for number in range(3 * DELIVERED_COUNT)]
    for id in others:
        owe(box, id, {"owed", id})
    assert box.head.read().delivered == ("owed", *others[-DELIVERED_COUNT:])
    owe(box, "last", {"last"})
    assert box.head.read().delivered == (*others[1 - DELIVERED_COUNT :], "last")
    owe(box, "owed", set())
    assert ids(everything(box)).count("owed") == 1


def test_making_it_twice_keeps_it(box: Box) -> None:
    send(box, "m1")
    box.make()
    assert ids(everything(box)) == ["m1"]


def make_and_send(place: DocumentPlace, number: int) -> None:
    box = Box(place, "w1")
    box.make()
    send(box, f"m{number}")


def test_many_make_it_at_once_and_no_mail_is_lost(documents: Documents) -> None:
    """Whoever comes second keeps what is there."""
    for turn in range(10):
        place = documents.mailboxes.within(f"w{turn}")
        crowd.run(make_and_send, [(place, number) for number in range(6)])
        assert len(everything(Box(place, "w1"))) == 6


@pytest.mark.files
@pytest.mark.parametrize("fault", [kill_before, kill_after])
@pytest.mark.parametrize("before", [1, HEAD_COUNT])
def test_wherever_a_sender_is_killed(box: Box, tmp_path: Path, before: int, fault: Callable[..., object]) -> None:
    """Reliability 11, 22: old or new, no gap, no duplicate; also between sealing and the head."""
    boxes: list[Box] = []

    def prepare() -> Callable[[], object]:
        made = Box(tmp_path / f"w{len(boxes)}", "w1")
        shutil.copytree(box.folder, made.folder)
        boxes.append(made)
        return lambda: send(made, "late")

    fill(box, before)
    old = [f"m{count}" for count in range(1, before + 1)]
    for point in points(prepare, fault, MUTATING):
        assert point.ended == KILLED, point
        found = ids(everything(boxes[-1]))
        assert found in (old, [*old, "late"]), point
        send(boxes[-1], "late", "later")
        after = everything(boxes[-1])
        assert ids(after) == [*old, "late", "later"], point
        assert [message.seq for message in after] == list(range(1, len(after) + 1))


def test_a_leftover_segment_is_not_read_and_is_written_over(box: Box) -> None:
    """Reliability 22."""
    sent = fill(box, HEAD_COUNT)
    put(box.sealed(1), b"left by a killed sender")
    assert ids(everything(box)) == sent
    send(box, "more")
    assert ids(everything(box)) == [*sent, "more"]


@pytest.mark.parametrize("data", [b"", b'{"schemaVersion": 1, "revision": 1, "messages": []}'])
def test_a_broken_segment_is_an_error(box: Box, data: bytes) -> None:
    fill(box, 201)
    put(box.sealed(1), data)
    with pytest.raises(StoreError, match=r"000001\.json is corrupt: ") as raised:
        everything(box)
    assert raised.value.code == "store_corrupt"
    assert raised.value.hint == ("pro0 doctor" if data else "it was left as it is; see: pro0 doctor")


@pytest.mark.files
def test_sealing_does_not_bring_a_removed_mailbox_back(box: Box) -> None:
    """Rulings 3.10: the folder goes away while a sender that will seal has it open."""
    fill(box, HEAD_COUNT)

    def act() -> None:
        send(box, "late")

    def remove(_shim: Shim, _name: str, real: Call, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        subprocess.run(["rm", "-rf", str(box.folder)], check=True)
        return real(*args, **kwargs)

    assert in_child(act, 1, remove, ("mkdir",)) == FAILED
    assert not box.folder.exists()


def test_a_mailbox_that_is_gone(documents: Documents) -> None:
    before = documents.mailboxes.names()
    with pytest.raises(NotFound):
        send(Box(documents.mailboxes.within("gone"), "w1"), "m1")
    assert documents.mailboxes.names() == before


def test_what_did_not_arrive_is_given_again(box: Box) -> None:
    fill(box, 3)
    assert len(box.hand_out("first", acknowledge=False)) == 3
    box.take_back("second")
    assert box.hand_out("first", acknowledge=False) == []
    fill(box, 2)
    send(box, "x", "y")
    assert len(box.hand_out("first", acknowledge=False)) == 2
    box.take_back("first")
    assert [delivery.message.id for delivery in box.hand_out("first", acknowledge=False)] == ["x", "y"]


def interrupt(_shim: Shim, _name: str, real: Call, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
    real(*args, **kwargs)
    raise KeyboardInterrupt


@pytest.mark.files
@pytest.mark.parametrize("acknowledge", [False, True])
@pytest.mark.parametrize(("fault", "lasts"), [(fail_with(EIO), False), (fail_with(EIO), True), (interrupt, False)])
def test_mail_that_is_not_given_out_to_the_end_is_given_again(
    tmp_path: Path, fault: Fault, *, lasts: bool, acknowledge: bool
) -> None:
    """Wherever the call fails or is interrupted; what the same session has got before is not given again.

    What was acknowledged stays so, and an error that came after that says so.

    Where nothing can be read afterwards nobody knows, so it may be given twice, and is never lost.
    """

    def prepared(name: str) -> Box:
        (box := Box(tmp_path / name, "w1")).make()
        send(box, "old")
        box.hand_out("first", acknowledge=False)
        send(box, "x", "y")
        return box

    def hit(shim: Shim, name: str, real: Call, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        if len(shim.seen) == at or (lasts and len(shim.seen) > at):
            return fault(shim, name, real, args, kwargs)
        return real(*args, **kwargs)

    at, sound = 0, prepared("sound")
    for at, call in enumerate(count(lambda: sound.hand_out("first", acknowledge=acknowledge)), 1):
        box, got, is_acknowledged = prepared(f"box-{at}"), list[Delivery](), False
        with Shim(CALLS, None, hit):
            try:
                got = box.hand_out("first", acknowledge=acknowledge)
            except StoreError as error:
                is_acknowledged = acknowledge and "after the change" in error.message
            except KeyboardInterrupt:
                is_acknowledged = acknowledge
        got += box.hand_out("first", acknowledge=False)
        given = [delivery.message.id for delivery in got]
        if not is_acknowledged:
            assert given == ["x", "y"] or (lasts and given == 2 * ["x", "y"]), call


def test_a_debt_may_be_what_seals_a_head(box: Box) -> None:
    fill(box, HEAD_COUNT)
    debt = Notice(id="debt", from_="lead", to="w1", content="owed")
    box.deliver(debt, lambda: NOW, lambda: {"debt"})
    head = box.head.read()
    assert (head.sealed, head.messages[-1].id, head.delivered) == (1, "debt", ("debt",))
    box.deliver(debt, lambda: NOW, lambda: ())
    assert len(everything(box)) == HEAD_COUNT + 1


ACTS: dict[str, Callable[[Box], object]] = {
    "make the mailbox of w1": Box.make,
    "send to w1": lambda box: send(box, "m1"),
    "send to w1 ": lambda box: owe(box, "debt", {"debt"}),
    "inbox of w1": lambda box: box.hand_out("first", acknowledge=True),
    "inbox of w1 ": lambda box: box.take_back("first"),
    "inbox of w1  ": lambda box: box.acknowledge(1),
}


@pytest.mark.parametrize("why", ACTS)
def test_who_waits_for_a_mailbox_is_told_what_is_done_to_it(
    tmp_path: Path, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    box, said = Box(tmp_path / "box", "w1"), list[str]()
    if ACTS[why] is not Box.make:
        box.make()
    monkeypatch.setattr("pro0.store.lock.sign", lambda _descriptor, text: said.append(text))
    ACTS[why](box)
    assert said == [why.rstrip()]


@pytest.mark.files
def test_no_segment_is_read_for_what_is_in_the_head(box: Box) -> None:
    sent = fill(box, HEAD_COUNT + 50)
    first = box.head.read().messages[0].seq
    assert first > 1
    shutil.rmtree(box.folder / "archive")
    assert ids(everything(box, first - 1)) == sent[first - 1 :]
    with pytest.raises(NotFound):
        everything(box, first - 2)


@pytest.mark.files
def test_what_a_killed_sender_left_goes_with_the_next_segment(box: Box) -> None:
    fill(box, HEAD_COUNT + 1)
    strays = [box.folder / "archive" / name for name in (f".tmp-{'0' * 32}", "kept")]
    for stray in strays:
        stray.touch()
    send(box, *(f"n{number}" for number in range(HEAD_COUNT)))
    assert [stray.exists() for stray in strays] == [False, True]


def test_reading_is_acknowledged_up_to_a_message(box: Box) -> None:
    fill(box, 5)
    box.acknowledge(3)
    assert [message.read for message in box.head.read().messages] == [True, True, True, False, False]
    box.acknowledge(1)
    assert box.head.read().acked == 3
