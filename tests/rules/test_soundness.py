"""What is wrong between files that can be read: named once each, with what to do about it (issue 3, build 3)."""

from collections.abc import Callable, Iterable

import pytest
from msgspec.structs import replace

from pro0.model.message import Mailbox, Message, MessageType
from pro0.model.task import Claim, Entry, Status, Task, TaskList
from pro0.model.team import Seat, Wanted
from pro0.rules.repair import soundness
from pro0.rules.repair.soundness import NOTE, Finding
from tests.rules.building import T0, at, listed, task

REPAIR, BY_HAND = "pro0 doctor --repair", "stop the team and correct the file by hand"
MEMBERS = {"human", "lead", "w1"}
ENTRY = Entry(at=at(5), actor="human", act="repaired")


def over(number: int, *depends_on: int, **fields: object) -> Task:
    return task(number, *depends_on, status=Status.COMPLETED, **fields)


LISTS: dict[str, tuple[TaskList, list[Finding]]] = {
    "sound": (listed(task(1), task(2, 1, parent=1, assignee="w1"), over(3, 1)), []),
    "empty": (TaskList(), []),
    "the same id twice": (
        listed(task(1), task(2), task(1), task(1)),
        [Finding("task-1 occurs 3 times", BY_HAND)],
    ),
    "the same id a second time": (
        listed(task(1), task(2), task(1)),
        [Finding("task-1 occurs 2 times", BY_HAND)],
    ),
    "a blocker that is gone, named once": (
        listed(task(1, 7, 8, 7)),
        [
            Finding("task-1 is blocked by task-7, which is gone", "pro0 task update task-1 --drop-dependency task-7"),
            Finding("task-1 is blocked by task-8, which is gone", "pro0 task update task-1 --drop-dependency task-8"),
        ],
    ),
    "a parent that is gone": (
        listed(task(1, parent=7)),
        [Finding("the parent of task-1, task-7, is gone", REPAIR, repairs=True)],
    ),
    "reserved for a stranger": (
        listed(task(1, assignee="w9"), over(2, assignee="w9")),
        [Finding("task-1 is reserved for w9, who is not a member", REPAIR, repairs=True)],
    ),
    "waiting for each other": (
        listed(task(1, 2), task(2, 1)),
        [
            Finding(
                "tasks wait for each other: task-1 → task-2 → task-1",
                "pro0 task update task-1 --drop-dependency task-2",
            )
        ],
    ),
    "parents of each other": (
        listed(task(1, parent=2), task(2, parent=1)),
        [Finding("tasks are each other's parents: task-1 → task-2 → task-1", BY_HAND)],
    ),
    "a number that comes again": (
        replace(listed(task(1), task(4)), next_id=4),
        [Finding("nextId is 4, which a task has already", REPAIR, repairs=True)],
    ),
    "a number that no task has": (replace(listed(task(1)), next_id=9), []),
    "no id of a task": (
        replace(listed(replace(task(1), id="x-1"), replace(task(2), id="task-")), next_id=5),
        [Finding("'x-1' cannot be a task's id", BY_HAND), Finding("'task-' cannot be a task's id", BY_HAND)],
    ),
    "over, and naming what is archived": (replace(listed(over(9, 3, parent=4)), next_id=10, sealed=1), []),
    "over, and naming what cannot be archived": (
        replace(listed(over(9, 3, parent=4)), next_id=10),
        [
            Finding("task-9 is blocked by task-3, which is gone", "pro0 task update task-9 --drop-dependency task-3"),
            Finding("the parent of task-9, task-4, is gone", REPAIR, repairs=True),
        ],
    ),
    "open, and naming what only the archive could have": (
        replace(listed(task(9, 3)), next_id=10, sealed=1),
        [Finding("task-9 is blocked by task-3, which is gone", "pro0 task update task-9 --drop-dependency task-3")],
    ),
}


@pytest.mark.parametrize("what", LISTS)
def test_what_is_wrong_with_tasks_is_named(what: str) -> None:
    tasks, findings = LISTS[what]
    assert list(soundness.tasks(tasks, MEMBERS)) == findings


@pytest.mark.parametrize("what", LISTS)
def test_mending_leaves_nothing_that_it_could_mend(what: str) -> None:
    """Nothing else changes, and a sound list is the very same."""
    tasks, findings = LISTS[what]
    mended = soundness.mended(tasks, MEMBERS, ENTRY)
    assert list(soundness.tasks(mended, MEMBERS)) == [finding for finding in findings if not finding.repairs]
    assert (mended is tasks) == (not any(finding.repairs for finding in findings))
    assert soundness.mended(mended, MEMBERS, ENTRY) is mended


def test_what_is_taken_from_a_task_stands_in_its_history() -> None:
    before = listed(task(1, parent=7, assignee="w9"), task(2, assignee="w9"), over(3, assignee="w9"), task(4, 9))
    mended = soundness.mended(before, MEMBERS, ENTRY)
    one, two, *others = mended.tasks
    assert (one.parent, one.assignee, two.assignee, others) == (None, None, None, list(before.tasks[2:]))
    stranger = "it was reserved for w9, who is not a member"
    assert [entry.text for entry in (*one.history, *two.history)] == [
        f"its parent task-7 is gone; {stranger}",
        stranger,
    ]
    assert one.history[0] == replace(ENTRY, text=one.history[0].text)


def test_a_free_number_is_kept() -> None:
    mended = soundness.mended(replace(listed(task(1, parent=7)), next_id=40), MEMBERS, ENTRY)
    assert mended.next_id == 40
    assert soundness.lowest_next_id(listed(task(3), replace(task(8), id="other-8"))) == 4
    assert soundness.lowest_next_id(TaskList()) == 1


def held(number: int, agent_id: str, incarnation: str) -> Task:
    claim = Claim(agent_id=agent_id, incarnation=incarnation, epoch=1, claimed_at=T0)
    return task(number, status=Status.IN_PROGRESS, claim=claim)


def test_claims_of_the_dead_are_stale() -> None:
    """A human's claim has no session, and is never stale."""
    tasks = listed(held(1, "w1", "alive"), held(2, "w1", "dead"), held(3, "human", "human"), task(4))
    assert [one.id for one in soundness.stale_claims(tasks, {"alive"})] == ["task-2"]


def seat(agent_id: str) -> Seat:
    return Seat(agent_id=agent_id, name=agent_id, agent="shell")


SEATS: dict[str, tuple[list[str], list[Finding]]] = {
    "sound": (["w1", "lead", "w-2"], []),
    "twice": (["w1", "w2", "w1"], [Finding("the member w1 occurs 2 times", BY_HAND)]),
    "the person": (["human"], [Finding("'human' cannot be a member's name", BY_HAND)]),
    "everybody": (["all"], [Finding("'all' cannot be a member's name", BY_HAND)]),
    "no name": (["A b"], [Finding("'A b' cannot be a member's name", BY_HAND)]),
}


@pytest.mark.parametrize("what", SEATS)
def test_what_is_wrong_with_members_is_named(what: str) -> None:
    names, findings = SEATS[what]
    assert list(soundness.seats(Wanted(seats=tuple(map(seat, names))))) == findings


def letters(*seqs: int, id: Callable[[int], str] = "m{}".format) -> tuple[Message, ...]:
    kind = MessageType.MESSAGE
    return tuple(Message(id=id(n), seq=n, from_="a", to="w1", type=kind, content="", timestamp=T0) for n in seqs)


def box(messages: Iterable[Message], next_seq: int, acked: int = 0) -> Mailbox:
    return Mailbox(agent_id="w1", next_seq=next_seq, acked=acked, messages=tuple(messages))


BOXES: dict[str, tuple[list[tuple[Message, ...]], Mailbox, str]] = {
    "sound": ([letters(1, 2), letters(3)], box(letters(4, 5), 6, 5), ""),
    "empty": ([], box([], 1), ""),
    "all sealed": ([letters(1, 2)], box([], 3), ""),
    "one twice": ([letters(1, 2)], box(letters(2, 3), 4), "message 2 of w1 comes after 2"),
    "out of order": (
        [],
        box(letters(1, 3, 2, 4), 5),
        "1 of the messages of w1 before 3 are gone|message 2 of w1 comes after 3",
    ),
    "a gap": ([letters(1)], box(letters(4), 5), "2 of the messages of w1 before 4 are gone"),
    "a gap with a note": ([letters(1)], box((*letters(4, id=f"{NOTE}{{}}".format), *letters(5)), 6), ""),
    "a gap at the end": ([], box(letters(1), 4), "messages 2 to 3 of w1 are gone"),
    "one gone at the end": ([], box(letters(1), 3), "messages 2 to 2 of w1 are gone"),
    "a number that comes again": ([], box(letters(1, 2), 2), "nextSeq of w1 is 2, which a message has already"),
    "read before it is sent": ([], box(letters(1), 2, 2), "w1 has read 2, which is not sent yet"),
}


@pytest.mark.parametrize("what", BOXES)
def test_what_is_wrong_with_a_mailbox_is_named(what: str) -> None:
    sealed, head, said = BOXES[what]
    expected = [Finding(text, REPAIR, repairs=True) for text in said.split("|") if text]
    assert list(soundness.mailbox(head, sealed)) == expected
