"""Tickets of other programs as tasks (build 7; AC-07, AC-12, AC-13, AC-18; S001-123 to S001-135)."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone

import msgspec
import pytest
from msgspec.structs import replace

from pro0.errors import BadInput, Refused
from pro0.model.caller import THE_HUMAN
from pro0.model.task import Awaiting, Draft, Entry, Gate, Kind, Status, Task, TaskList, Wait
from pro0.rules import text
from pro0.rules.tasks.acts import Act
from pro0.rules.tasks.board import Board, why_not_ready
from pro0.rules.tasks.changes import act
from pro0.rules.tickets import tickets, ticks
from pro0.rules.tickets.importing import Note, Ticket, faults, moment, take_over
from tests.rules.building import T0, ask, at, make

LATER = datetime(2026, 2, 1, tzinfo=UTC)


def tick(**fields: object) -> Ticket:
    """A tick, read from its file."""
    known = {"id": "abc", "title": "t", "status": "open", "type": "task", "priority": 2, "owner": "o", **fields}
    return ticks.read(msgspec.json.encode(known), "abc.json")


def taken(*found: Ticket) -> list[Task]:
    """The tasks made of these tickets."""
    return take_over(TaskList(), found, {}, THE_HUMAN, LATER)[1]


def origins(tasks: Sequence[Task]) -> dict[str, str]:
    return {task.origin: task.id for task in tasks if task.origin}


def test_what_is_written_of_a_ticket_and_when() -> None:
    [task] = taken(tick(description="d", closed_reason="r"))
    assert (task.created_at, task.updated_at, task.created_by) == (LATER, LATER, "human")
    assert task.history == (Entry(at=LATER, actor="human", act="import", to=Status.PENDING),)


@pytest.mark.parametrize(("field", "limit"), [("description", text.TEXT_LIMIT), ("reason", text.TEXT_LIMIT)])
def test_a_text_that_is_too_long_is_named(field: str, limit: int) -> None:
    long = {"description": "x" * (limit + 1)} if field == "description" else {"closed_reason": "x" * (limit + 1)}
    with pytest.raises(BadInput) as refused:
        taken(tick(status="closed", **long))
    assert refused.value.message == f"cannot import abc.json: the {field} has {limit + 1} bytes, more than {limit}"


@pytest.mark.parametrize("field", ["acceptance", "note"])
def test_a_part_that_is_too_long_is_named(field: str) -> None:
    long = "x" * (text.TEXT_LIMIT + 1)
    ticket = Ticket(origin="tick:a", file="a.json", title="t", status="open")
    ticket = replace(ticket, acceptance=long) if field == "acceptance" else replace(ticket, notes=(Note(long),))
    with pytest.raises(BadInput, match=f"^cannot import a.json: the {field} has "):
        taken(ticket)


def test_what_is_named_and_is_not_there_is_told_by_its_own_id() -> None:
    ticket = Ticket(origin="tick:a", file="a.json", title="t", status="open", parent="tick:b:c")
    with pytest.raises(BadInput, match=r"^cannot import a.json: it names b:c, which does not exist$"):
        taken(ticket)


def test_a_closed_one_keeps_when_it_was_begun_and_its_gate_says_why_it_waits() -> None:
    begun = Ticket(origin="tick:a", file="a", title="t", status="closed", started_at=T0, requires=Gate.REVIEW)
    [task] = taken(begun)
    assert task.started_at == T0
    assert task.awaiting == Wait(
        kind=Awaiting.REVIEW, since=LATER, by="import", reason="Work complete, requires review"
    )


ELSEWHERE = timezone(timedelta(hours=5, minutes=30))


@pytest.mark.parametrize(
    ("given_", "moment_"),
    [
        (None, datetime(1, 1, 1, tzinfo=UTC)),
        (datetime(2026, 1, 1, 12), datetime(2026, 1, 1, 12, tzinfo=UTC)),
        (datetime(2026, 1, 1, 12, tzinfo=ELSEWHERE), datetime(2026, 1, 1, 6, 30, tzinfo=UTC)),
        (datetime(1, 1, 1, tzinfo=ELSEWHERE), datetime.min.replace(tzinfo=UTC)),
        (datetime(9999, 12, 31, 23, tzinfo=timezone(-timedelta(hours=5))), datetime.max.replace(tzinfo=UTC)),
    ],
)
def test_a_moment_is_in_utc(given_: datetime | None, moment_: datetime) -> None:
    assert moment(given_) == moment_
    assert moment(given_).tzinfo is UTC


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00+05:00", "9999-12-31T23:59:59-05:00"])
def test_a_moment_that_utc_does_not_know_ends_no_import(at: str) -> None:
    ticket = tickets.read(f"---\nid: a\nstatus: open\ncreated: {at}\n---\n# T\n".encode(), "a.md")
    [task] = taken(ticket)
    assert msgspec.json.decode(msgspec.json.encode(task), type=Task) == task


def test_a_moment_without_a_zone_is_taken_for_utc_whatever_the_clock_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        monkeypatch.setenv("TZ", "Asia/Kolkata")
        time.tzset()
        assert moment(datetime(2026, 1, 1)) == T0
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(("count", "end"), [(10, "10.md: bad"), (11, "10.md: bad; and 1 more")])
def test_so_many_faults_are_named_at_once(count: int, end: str) -> None:
    error = faults([f"{number}.md: bad" for number in range(1, count + 1)])
    assert error.message.startswith("cannot import 1.md: bad; 2.md: bad; ")
    assert error.message.endswith(f"; 9.md: bad; {end}")
    assert (error.code, error.exit_code) == ("bad_import", 2)
    assert error.hint == "correct these files, or move them away; nothing was imported"


# What each state becomes


def test_an_open_tick_is_pending() -> None:
    [task] = taken(
        tick(
            title="build it",
            description="d",
            acceptance_criteria="a",
            priority=0,
            labels=["x"],
            created_at="2026-01-01T00:00:00.123456Z",
            created_by="me",
        )
    )
    assert (task.id, task.origin, task.title, task.description) == ("task-1", "tick:abc", "build it", "d")
    assert (task.acceptance, task.priority, task.labels, task.status) == ("a", 0, ("x",), Status.PENDING)
    assert task.created_at == datetime(2026, 1, 1, microsecond=123456, tzinfo=UTC)
    assert task.started_at is None
    assert why_not_ready(Board([task]), task) is None


def test_one_in_progress_is_pending_and_offered_first() -> None:
    """nobody here works on it"""
    [task] = taken(tick(status="in_progress", started_at="2026-01-02T00:00:00Z"))
    assert (task.status, task.claim, task.started_at) == (Status.PENDING, None, datetime(2026, 1, 2, tzinfo=UTC))
    assert taken(tick(status="in_progress"))[0].started_at == LATER


def test_a_closed_one_is_completed() -> None:
    [task] = taken(tick(status="closed", closed_at="2026-01-03T00:00:00Z", closed_reason="shipped", awaiting="input"))
    assert (task.status, task.awaiting, task.closed_reason) == (Status.COMPLETED, None, "shipped")
    assert task.completed_at == datetime(2026, 1, 3, tzinfo=UTC)
    assert taken(tick(status="closed"))[0].completed_at == LATER


@pytest.mark.parametrize("gate", Gate)
def test_a_gate_is_never_passed_by_a_file(gate: Gate) -> None:
    """AC-07, must show 6: neither by its state nor by a verdict in it; a person's approval does it"""
    [task] = taken(tick(status="closed", requires=gate, verdict="approved"))
    assert task.status is Status.IN_PROGRESS
    assert task.waits
    assert (task.waits.kind, task.requires) == (Awaiting(gate.value), gate)
    _, done = act(TaskList(tasks=(task,), next_id=2), task.id, ask(Act.APPROVE, THE_HUMAN))
    assert done.status is Status.COMPLETED
    [waiting] = taken(tick(status="open", awaiting="approval", requires="approval", verdict="approved"))
    assert waiting.waits, "a verdict in a file is none"


@pytest.mark.parametrize("kind", Awaiting)
@pytest.mark.parametrize("status", ["open", "in_progress"])
def test_what_waits_for_a_person_still_does(kind: Awaiting, status: str) -> None:
    """AC-13, S001-127: and no agent is offered it"""
    [task] = taken(tick(awaiting=kind, status=status, manual=True))
    assert task.waits
    assert task.waits.kind is kind
    assert task.status is {"open": Status.PENDING, "in_progress": Status.IN_PROGRESS}[status]
    assert (task.started_at is None) == (status == "open")
    assert why_not_ready(Board([task]), task)


def test_what_was_manual_waits_for_a_persons_work() -> None:
    """AC-12, S001-128, S001-133"""
    for fields in ({"manual": True}, {"manual": True, "awaiting": ""}):
        [task] = taken(tick(**fields))
        assert task.waits
        assert task.waits.kind is Awaiting.WORK
    assert taken(tick(manual=False, awaiting=None, requires="", labels=None, blocked_by=None))[0].waits is None


def test_an_epic_is_one_and_all_other_types_are_tasks() -> None:
    made = taken(tick(id="a", type="epic"), tick(id="b", type="bug", parent="a"), tick(id="c", type="chore"))
    assert [(task.type, task.parent) for task in made] == [
        (Kind.EPIC, None),
        (Kind.TASK, "task-1"),
        (Kind.TASK, None),
    ]


def test_an_epic_whose_tasks_are_all_over_is_over() -> None:
    made = taken(tick(id="a", type="epic"), tick(id="b", status="closed", parent="a"))
    assert [task.status for task in made] == [Status.COMPLETED] * 2


def test_the_notes_of_a_tick_keep_their_times_and_authors() -> None:
    """anchors 3.1: one flat text; what a person said is told to agents as a person's"""
    last = "2026-01-02 11:00 - [human] not yet\n2026-99-01 11:00 - x"
    notes = f"an old one\n2026-01-01 10:30 - did it\nsecond line\n{last}"
    assert tick(notes=notes).notes == (
        Note("an old one"),
        Note("did it\nsecond line", datetime(2026, 1, 1, 10, 30)),
        Note("not yet", datetime(2026, 1, 2, 11), human=True),
        Note("x"),
    )
    [task] = taken(tick(notes=notes))
    assert [(entry.actor, entry.act, entry.text) for entry in task.history] == [
        ("human", "import", ""),
        ("import", "note", "an old one"),
        ("import", "note", "did it\nsecond line"),
        ("human", "note", "not yet"),
        ("import", "note", "x"),
    ]
    assert [entry.at for entry in task.history[:3]] == [LATER, LATER, datetime(2026, 1, 1, 10, 30, tzinfo=UTC)]
    assert tick(notes="  \n").notes == ()
    assert len(tick(notes=last).notes) == 2
    assert moment(datetime.fromisoformat("2026-01-01T02:00:00+02:00")) == T0


# The order, what they name, and importing again


def test_new_tasks_come_in_the_order_in_which_they_were_made() -> None:
    made = taken(
        tick(id="z", created_at="2026-01-01T00:00:00Z"),
        tick(id="b", created_at="2026-01-02T00:00:00Z", blocked_by=["z", "z", "a"]),
        tick(id="a", created_at="2026-01-02T00:00:00Z"),
    )
    assert [(task.origin, task.dependencies) for task in made] == [
        ("tick:z", ()),
        ("tick:a", ()),
        ("tick:b", ("task-1", "task-2")),
    ]


def test_importing_again_changes_nothing_and_new_ones_may_name_old_ones() -> None:
    """AC-13: also when the old ones have gone on here, or are in the archive"""
    tasks, _ = make(TaskList(), Draft(title="one of ours"))
    tasks, [first] = take_over(tasks, [tick(awaiting="approval")], {}, THE_HUMAN, LATER)
    known = origins(tasks.tasks)
    again, made = take_over(tasks, [tick(awaiting="approval"), tick(status="closed")], known, THE_HUMAN, at(9))
    assert (again, made) == (tasks, [])
    assert again is tasks
    _, [second] = take_over(tasks, [tick(id="new", blocked_by=["abc"])], known, THE_HUMAN, LATER)
    assert (first.id, second.id, second.dependencies) == ("task-2", "task-3", ("task-2",))
    archived = replace(tasks, tasks=tasks.tasks[:1])
    assert take_over(archived, [tick()], known, THE_HUMAN, LATER) == (archived, [])


def test_what_names_something_that_is_not_there_is_refused_with_its_file() -> None:
    """AC-18: all such files are named, and nothing is imported"""
    with pytest.raises(BadInput, match=r"abc\.json: it names zzz, which does not exist; abc\.json: it names yyy"):
        taken(tick(id="a", blocked_by=["zzz"]), tick(id="b", parent="yyy"), tick(id="c"))
    many = [tick(id=f"n{number}", blocked_by=["zzz"]) for number in range(12)]
    with pytest.raises(BadInput, match=r"; and 2 more$"):
        taken(*many)


@pytest.mark.parametrize(
    ("written", "why"),
    [
        (b"{", "Input data was truncated"),
        (b'{"id": "", "title": "t", "status": "open", "type": "task", "priority": 2, "owner": "o"}', "it has no id"),
    ],
)
def test_what_is_wrong_with_a_tick_is_said(written: bytes, why: str) -> None:
    with pytest.raises(BadInput) as refused:
        ticks.read(written, "abc.json")
    assert refused.value.message == why


def test_a_word_that_is_no_gate_is_named_with_those_that_are() -> None:
    with pytest.raises(BadInput) as refused:
        tick(requires="odd")
    assert refused.value.message == "'odd' is none of approval, review, content"


def test_a_note_of_a_person_goes_on_in_the_next_line() -> None:
    [note] = tick(notes="2026-01-01 10:30 - [human] not yet\nand more").notes
    assert (note.text, note.human) == ("not yet\nand more", True)


def test_what_breaks_the_rules_of_the_list_is_refused() -> None:
    """AC-19, AC-48"""
    with pytest.raises(Refused, match="tick:a → tick:b → tick:a"):
        taken(tick(id="a", blocked_by=["b"]), tick(id="b", blocked_by=["a"]))
    deep = [tick(id=f"n{number}", parent=f"n{number - 1}" if number else None) for number in range(7)]
    with pytest.raises(Refused, match="6 levels deep"):
        taken(*deep)
    with pytest.raises(BadInput, match=r"abc\.json: .*title"):
        taken(tick(title=""))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b"[" * 100_000,
        b'{"id": "a", "title": "t"}',
        b'{"id": "", "title": "t", "status": "open"}',
        b'{"id": "a", "title": "t", "status": "done"}',
        b'{"id": "a", "title": "t", "status": "open", "priority": "high"}',
        b'{"id": "a", "title": "t", "status": "open", "requires": "signature"}',
        b'{"id": "a", "title": "t", "status": "open", "awaiting": "verdict"}',
    ],
)
def test_a_file_that_is_no_tick_is_refused(data: bytes) -> None:
    """an unknown gate is none that could be left out"""
    with pytest.raises(BadInput):
        ticks.read(data, "x.json")
