"""A mailbox made anew, piece by piece: what is numbered, what is noted, what counts as read (rulings 3.4, 3.5)."""

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from pro0.model.message import HandOver, Message, MessageType
from pro0.rules.mail import HEAD_COUNT
from pro0.rules.repair import soundness
from pro0.rules.repair.rebuilding_mail import Pieces, Rebuilt, rebuilt
from tests.rules.building import T0, at


def letters(*seqs: int, read: tuple[int, ...] = ()) -> tuple[Message, ...]:
    kind = MessageType.MESSAGE
    return tuple(
        Message(id=f"m{seq}", seq=seq, from_="a", to="w1", type=kind, content="x", timestamp=T0, read=seq in read)
        for seq in seqs
    )


def made(*head: int, read: tuple[int, ...] = (), **pieces: object) -> Rebuilt:
    usual = Pieces(agent_id="w1", head=letters(*head, read=read), segments={}, next_seq=4, acked=0)
    return rebuilt(replace(usual, **pieces), at(9), map("n{}".format, count(1)).__next__)


def seqs(found: Rebuilt) -> dict[int, list[tuple[int, str]]]:
    parts = {**found.segments, 0: found.head.messages}
    return {number: [(one.seq, one.id) for one in part] for number, part in parts.items()}


def test_what_is_whole_stays_as_it_is() -> None:
    found = made(2, 3, segments={1: letters(1)}, delivered=("d",), handed=HandOver(incarnation="i", seq=2))
    assert seqs(found) == {1: [(1, "m1")], 0: [(2, "m2"), (3, "m3")]}
    assert (found.head.agent_id, found.head.next_seq, found.head.acked, found.head.sealed) == ("w1", 4, 0, 1)
    assert (found.head.handed, found.head.delivered, found.lost) == (HandOver(incarnation="i", seq=2), ("d",), [])


@pytest.mark.parametrize(
    ("head", "next_seq", "lost", "noted"),
    [
        ((2, 3), 4, [(1, 1)], {1: "message 1"}),
        ((1, 4), 5, [(2, 3)], {3: "messages 2 to 3"}),
        ((1, 2), 4, [(3, 3)], {3: "message 3"}),
        ((3,), 6, [(1, 2), (4, 5)], {2: "messages 1 to 2", 5: "messages 4 to 5"}),
        ((), 3, [(1, 2)], {2: "messages 1 to 2"}),
        ((), 1, [], {}),
    ],
)
def test_a_note_stands_where_something_is_lost(
    head: tuple[int, ...], next_seq: int, lost: list[tuple[int, int]], noted: dict[int, str]
) -> None:
    """In the place of the last that is lost, so that the numbers go on without a gap."""
    found = made(*head, next_seq=next_seq)
    assert found.lost == lost
    notes = {one.seq: one for one in found.head.messages if one.seq not in head}
    end = " of this mailbox cannot be read any more; what is left is in the file that was moved aside"
    assert {seq: one.content for seq, one in notes.items()} == {seq: f"{said}{end}" for seq, said in noted.items()}
    for number, note in enumerate(notes.values(), 1):
        assert note.id.endswith(f"n{number}")
        assert (note.from_, note.to, note.type, note.timestamp) == ("lead", "w1", MessageType.NOTIFICATION, at(9))
    assert [one.seq for one in found.head.messages] == sorted([*head, *noted])


def test_a_segment_that_cannot_be_read_is_a_note_that_ends_before_the_next_message() -> None:
    found = made(7, next_seq=8, segments={1: letters(1, 2), 2: (), 3: letters(5, 6)})
    assert seqs(found) == {
        1: [(1, "m1"), (2, "m2")],
        2: [(4, found.segments[2][0].id)],
        3: [(5, "m5"), (6, "m6")],
        0: [(7, "m7")],
    }
    assert found.lost == [(3, 4)]
    last = made(7, next_seq=8, segments={1: letters(1, 2), 2: ()})
    assert [one.seq for one in last.segments[2]] == [6]
    alone = made(next_seq=8, segments={1: letters(1, 2), 2: ()})
    assert [one.seq for one in alone.segments[2]] == [7]
    assert alone.head.messages == ()


def test_a_segment_of_which_nothing_is_missing_leaves_none() -> None:
    """One that is not there, and whose messages nobody misses, takes no number."""
    found = made(3, segments={2: letters(1, 2)})
    assert seqs(found) == {1: [(1, "m1"), (2, "m2")], 0: [(3, "m3")]}
    assert found.head.sealed == 1


def test_what_is_sealed_counts_before_what_the_head_says() -> None:
    found = made(1, 2, 3, segments={1: letters(1), 2: letters(1, 2)})
    assert seqs(found) == {1: [(1, "m1")], 2: [(2, "m2")], 0: [(3, "m3")]}


@pytest.mark.parametrize(
    ("pieces", "next_seq"),
    [
        ({}, 4),
        ({"next_seq": 9}, 9),
        ({"next_seq": 3}, 4),
        ({"next_seq": 4, "highest": 7}, 8),
        ({"next_seq": 4, "acked": 5}, 6),
        ({"next_seq": 4, "handed": HandOver(incarnation="i", seq=6)}, 7),
        ({"next_seq": None}, 3 + HEAD_COUNT + 2),
        ({"next_seq": None, "highest": 10}, 10 + HEAD_COUNT + 2),
        ({"next_seq": None, "segments": {1: letters(1, 2, 3, 4)}}, 4 + HEAD_COUNT + 2),
        ({"next_seq": None, "head": ()}, HEAD_COUNT + 2),
        ({"next_seq": 0, "head": ()}, 1),
    ],
)
def test_no_number_is_given_again(pieces: dict[str, object], next_seq: int) -> None:
    """Beyond all that anything mentions; when nobody knows, beyond all that a lost head can have held."""
    assert made(1, 2, 3, **pieces).head.next_seq == next_seq  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("head", "read", "acked", "counts"),
    [
        ((1, 2, 3), (), 2, 2),
        ((1, 2, 3), (), 9, 9),
        ((1, 2, 3), (), -5, 0),
        ((1, 2, 3), (1, 2), None, 2),
        ((2, 3), (), None, 1),
        ((1, 2, 3), (), None, 0),
        ((), (), None, 2),
    ],
)
def test_what_counts_as_read(head: tuple[int, ...], read: tuple[int, ...], acked: int | None, counts: int) -> None:
    """What the head says; else what was marked, else nothing that is there; never what is yet to come."""
    found = made(*head, read=read, acked=acked, highest=3).head
    assert found.acked == counts
    assert [one.seq for one in found.messages if one.read] == [one.seq for one in found.messages if one.seq <= counts]


def test_notices_that_came_lately_are_known_by_what_is_there() -> None:
    most = letters(*range(1, HEAD_COUNT + 2))
    found = made(segments={1: most[:100]}, head=most[100:], next_seq=HEAD_COUNT + 2).head
    assert found.delivered == tuple(one.id for one in most[1:])


@st.composite
def mailboxes(draw: st.DrawFn) -> tuple[list[list[int]], int]:
    """Return the numbers in each part of a mailbox, the head last, and the place of one message among all."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    numbers = count(1)
    return [[next(numbers) for _ in range(size)] for size in sizes], draw(st.integers(0, sum(sizes) - 1))


@given(mailboxes(), st.integers(-1, 40) | st.just(950), st.booleans())
def test_one_wrong_number_costs_no_other_message(
    drawn: tuple[list[list[int]], int], wrong: int, knows_next: bool
) -> None:
    """Behaviour 3.4."""
    parts, place = drawn
    true = [number for part in parts for number in part]
    shown = iter([wrong if at == place else number for at, number in enumerate(true)])
    made_of = [tuple(replace(letters(number)[0], seq=next(shown)) for number in part) for part in parts]
    next_seq = true[-1] + 1 if knows_next else None
    pieces = Pieces(
        agent_id="w1", head=made_of[-1], segments=dict(enumerate(made_of[:-1], 1)), next_seq=next_seq, acked=0
    )
    found = rebuilt(pieces, at(9), map("n{}".format, count(1)).__next__)
    kept = [one for part in (*found.segments.values(), found.head.messages) for one in part]
    assert {f"m{number}" for number in true if number != true[place]} <= {one.id for one in kept}
    numbers = [one.seq for one in kept]
    assert numbers == sorted(set(numbers))
    assert max(*numbers, wrong) < found.head.next_seq
    assert not list(soundness.mailbox(found.head, [*found.segments.values()]))
    for start, end in found.lost:
        assert set(range(start, end + 1)).isdisjoint(number for number in true if number != true[place])


def test_messages_out_of_order_are_put_in_order() -> None:
    found = made(6, 5, 4, next_seq=7, segments={1: letters(2, 3, 1)})
    assert seqs(found) == {1: [(n, f"m{n}") for n in (1, 2, 3)], 0: [(n, f"m{n}") for n in (4, 5, 6)]}
