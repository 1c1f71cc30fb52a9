"""What is left of a document: nothing that can be read is dropped, and nothing that cannot be is made up."""

from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pro0.model.message import HandOver, Mailbox, Message, MessageType
from pro0.model.stored import Document
from pro0.model.task import Claim, Entry, Status, Task, TaskList
from pro0.rules.repair import rebuilding
from pro0.rules.repair.rebuilding import LOST_TITLE, TeamFacts
from pro0.rules.repair.rebuilding_mail import Pieces, rebuilt
from pro0.rules.repair.salvage import is_newer, recover
from pro0.rules.repair.soundness import mailbox

NOW = datetime(2026, 1, 1, tzinfo=UTC)
KNOWN = TeamFacts(name="alpha", now=NOW)


def as_stored(value: Document) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


def task(number: int) -> Task:
    return Task(
        id=f"task-{number}",
        title=f'number {number} "{{[',
        claim=Claim(agent_id="w", incarnation="i", epoch=1, claimed_at=NOW),
        history=(Entry(at=NOW, actor="human", act="created"),),
    )


LISTED = TaskList(revision=3, next_id=20, tasks=tuple(map(task, range(1, 13))))
WHOLE = as_stored(LISTED)
BY_ID = {one.id: one for one in LISTED.tasks}


@given(st.integers(0, len(WHOLE)))
@example(WHOLE.index(b'"title"'))
@settings(deadline=None, max_examples=150)
def test_of_a_file_that_is_cut_every_whole_task_is_kept(length: int) -> None:
    """Issue 3, must show 6. The task in which it ends is kept too, held back where its state is unknown."""
    data = WHOLE[:length]
    made = rebuilding.tasks(recover(data, TaskList), KNOWN)
    whole = [one for one in LISTED.tasks if as_item(one) in data]
    assert [made.tasks[place] for place in range(len(whole))] == whole
    assert len(made.tasks) <= len(whole) + 1
    for one in made.tasks[len(whole) :]:
        assert one.status is Status.FAILED
        assert one.title == LOST_TITLE or BY_ID[one.id].title.startswith(one.title)


@given(st.data(), st.sampled_from([-1, 0, 1]))
@settings(deadline=None, max_examples=150)
def test_of_a_task_that_is_cut_no_value_is_made_up(data: st.DataObject, indent: int) -> None:
    """Each is as it was or is not there; also of a file without line breaks."""
    written = msgspec.json.format(as_stored(LISTED), indent=indent)
    begin = written.index(b",", written.index(b'"task-12"')) + 1
    length = data.draw(st.integers(begin, len(written)))
    (last,) = [one for one in recover(written[:length], TaskList).fields["tasks"] if one.id == "task-12"]
    for name in Task.__struct_fields__:
        was, default = getattr(BY_ID["task-12"], name), getattr(Task(id="task-12"), name)
        assert getattr(last, name) in (was, default)


def as_item(one: Task) -> bytes:
    return as_stored(TaskList(tasks=(one,))).partition(b'"tasks": [\n')[2].partition(b"\n ],")[0]


@given(st.integers(0, len(WHOLE) - 1), st.binary(min_size=1, max_size=60))
@example(1, b"}")
@settings(deadline=None, max_examples=150)
def test_noise_costs_only_what_it_hits(place: int, noise: bytes) -> None:
    data = WHOLE[:place] + noise + WHOLE[place + len(noise) :]
    made = rebuilding.tasks(recover(data, TaskList), KNOWN)
    intact = [one for one in LISTED.tasks if b"\n" + as_item(one) in data]
    kept = {one.id: one for one in made.tasks}
    assert len([one for one in intact if kept.get(one.id) == one]) >= len(intact) - 1


@given(st.binary(max_size=400))
@settings(deadline=None)
def test_anything_can_be_looked_at(data: bytes) -> None:
    for kind in (TaskList, Mailbox):
        recover(data, kind)


@pytest.mark.parametrize("data", [b"[" * 100_000, b'{"a":' * 50_000 + b"}" * 50_000, b"\0" * 1_000_000, b'"' * 100_000])
def test_what_is_no_document_takes_no_long_time(data: bytes) -> None:
    assert not recover(data, TaskList).fields.get("tasks")


@pytest.mark.parametrize("damage", [b'"status": 7', b'"stAtus": "pending"'])
def test_a_task_without_its_state_waits_for_a_person(damage: bytes) -> None:
    """Its key may be what is damaged."""
    data = WHOLE.replace(b'"status": "pending"', damage, 1)
    made = rebuilding.tasks(recover(data, TaskList), KNOWN)
    assert [one.status for one in made.tasks].count(Status.FAILED) == 1
    assert "pro0 task reopen task-1" in made.tasks[0].closed_reason


def test_numbers_are_not_given_again() -> None:
    assert rebuilding.tasks(recover(b"", TaskList), msgspec.structs.replace(KNOWN, highest_task=41)).next_id == 42


def test_newer_files_are_known_even_when_they_are_cut() -> None:
    assert is_newer(b'{\n "schemaVersion": 2,\n "x')
    assert not is_newer(b'{"schemaVersion": 1, "tasks": [{"title": "\\"schemaVersion\\": 9"}]}')
    assert not is_newer(b'{"schemaVersion": ' + b"9" * 5000)


def letter(seq: int, *, read: bool = False) -> Message:
    kind = MessageType.MESSAGE
    return Message(id=f"m{seq}", seq=seq, from_="a", to="w1", type=kind, content="x", timestamp=NOW, read=read)


seqs = st.sets(st.integers(1, 30))


@given(
    head=seqs,
    sealed=st.lists(seqs, max_size=3),
    next_seq=st.none() | st.integers(0, 40),
    acked=st.none() | st.integers(0, 40),
)
@settings(deadline=None)
def test_a_mailbox_made_anew_is_sound(
    head: set[int], sealed: list[set[int]], next_seq: int | None, acked: int | None
) -> None:
    """Every message once and in order, a note for every gap, no number twice; and again, it changes nothing."""
    pieces = Pieces(
        agent_id="w1",
        head=tuple(map(letter, sorted(head))),
        segments={n: tuple(map(letter, sorted(part))) for n, part in enumerate(sealed, 1)},
        next_seq=next_seq,
        acked=acked,
        handed=HandOver(incarnation="i", seq=max(head, default=1)),
    )
    ids = iter(map(str, range(1000)))
    made = rebuilt(pieces, NOW, lambda: next(ids))
    assert not list(mailbox(made.head, list(made.segments.values())))
    kept = [m.seq for part in (*made.segments.values(), made.head.messages) for m in part if m.id.startswith("m")]
    assert kept == sorted(set(kept))
    assert made.head.next_seq > max([0, *head, *(seq for part in sealed for seq in part)])
    if not sealed:
        assert set(kept) == head
    again = rebuilt(
        Pieces(
            agent_id="w1",
            head=made.head.messages,
            segments=made.segments,
            next_seq=made.head.next_seq,
            acked=made.head.acked,
            handed=made.head.handed,
            delivered=made.head.delivered,
        ),
        NOW,
        lambda: next(ids),
    )
    assert (again.head, again.segments, again.lost) == (made.head, made.segments, [])
