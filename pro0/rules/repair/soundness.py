"""Faults in readable files: references to nobody, cycles, numbers about to be used twice."""

import re
from collections import Counter
from collections.abc import Collection, Iterator

import msgspec
from msgspec.structs import replace

from pro0.model import ids
from pro0.model.message import Mailbox, Message
from pro0.model.task import SETTLED, Entry, Task, TaskList
from pro0.model.team import Wanted
from pro0.rules.tasks.graph import arrows, cycle

NOTE = "repair-"
"""The prefix of a note's id; a note replaces lost messages."""


class Finding(msgspec.Struct, frozen=True):
    """A fault, its fix, and True in `repairs` when `doctor --repair` does the fix."""

    what: str
    mend: str
    repairs: bool = False


def tasks(listed: TaskList, members: Collection[str]) -> Iterator[Finding]:
    """Yield faults between the tasks of a list, and between tasks and members."""
    times_listed = Counter(task.id for task in listed.tasks)
    yield from (Finding(f"{id} occurs {times} times", _BY_HAND) for id, times in times_listed.items() if times > 1)
    for task in listed.tasks:
        yield from _references(task, _known_to(task, listed, times_listed), members)
    yield from _cycles(listed)
    if listed.next_id < lowest_next_id(listed):
        yield Finding(f"nextId is {listed.next_id}, which a task has already", _REPAIR, repairs=True)


def lowest_next_id(listed: TaskList) -> int:
    """Return the number after the highest task number in use."""
    return 1 + max((ids.task_number(task.id) for task in listed.tasks if _is_id(task.id)), default=0)


def mended(listed: TaskList, members: Collection[str], entry: Entry) -> TaskList:
    """Repair a list: a free `next_id`, no missing parents, no reservations for nobody.

    The history of a task tells of each change. Dependencies stay: a task unblocked by mistake would run.
    """
    present = {task.id for task in listed.tasks}
    changed = tuple(_without_strangers(task, _known_to(task, listed, present), members, entry) for task in listed.tasks)
    next_id = max(listed.next_id, lowest_next_id(listed))
    if next_id == listed.next_id and changed == listed.tasks:
        return listed
    return replace(listed, next_id=next_id, tasks=changed)


def stale_claims(listed: TaskList, living: Collection[str]) -> list[Task]:
    """Return the tasks with a claim of a dead session. A person's claim is never stale."""
    return [task for task in listed.tasks if task.claim and task.claim.incarnation not in living and not _human(task)]


def seats(desired: Wanted) -> Iterator[Finding]:
    """Yield faults in the names of the members."""
    times_named = Counter(seat.agent_id for seat in desired.seats)
    yield from (
        Finding(f"the member {id} occurs {times} times", _BY_HAND) for id, times in times_named.items() if times > 1
    )
    for seat in desired.seats:
        if seat.agent_id != ids.LEAD and (seat.agent_id in ids.RESERVED or not ids.NAME.fullmatch(seat.agent_id)):
            yield Finding(f"{seat.agent_id!r} cannot be a member's name", _BY_HAND)


def mailbox(box: Mailbox, sealed: Collection[tuple[Message, ...]]) -> Iterator[Finding]:
    """Yield faults between a head and its segments: missing, repeated or disordered seqs."""
    before = 0
    for message in (*(message for part in sealed for message in part), *box.messages):
        if message.seq <= before:
            yield Finding(f"message {message.seq} of {box.agent_id} comes after {before}", _REPAIR, repairs=True)
        elif message.seq > before + 1 and not message.id.startswith(NOTE):
            missing = message.seq - before - 1
            yield Finding(f"{missing} of the messages of {box.agent_id} before {message.seq} are gone", _REPAIR, True)
        before = max(before, message.seq)
    if box.next_seq <= before:
        yield Finding(f"nextSeq of {box.agent_id} is {box.next_seq}, which a message has already", _REPAIR, True)
    elif box.next_seq > before + 1:
        yield Finding(f"messages {before + 1} to {box.next_seq - 1} of {box.agent_id} are gone", _REPAIR, True)
    if box.acked >= box.next_seq:
        yield Finding(f"{box.agent_id} has read {box.acked}, which is not sent yet", _REPAIR, repairs=True)


_ID = re.compile(r"task-[0-9]+")
_REPAIR = "pro0 doctor --repair"
_BY_HAND = "stop the team and correct the file by hand"


def _known_to(task: Task, listed: TaskList, task_ids: Collection[str]) -> Collection[str]:
    """Return the ids open to a task's references. A settled task may also name archived tasks."""
    over = task.status in SETTLED and listed.sealed
    return {*task_ids, *task.dependencies, *([task.parent] if task.parent else [])} if over else task_ids


def _references(task: Task, task_ids: Collection[str], members: Collection[str]) -> Iterator[Finding]:
    if not _is_id(task.id):
        yield Finding(f"{task.id!r} cannot be a task's id", _BY_HAND)
    for id in dict.fromkeys(task.dependencies):
        if id not in task_ids:
            mend = f"pro0 task update {task.id} --drop-dependency {id}"
            yield Finding(f"{task.id} is blocked by {id}, which is gone", mend)
    if task.parent and task.parent not in task_ids:
        yield Finding(f"the parent of {task.id}, {task.parent}, is gone", _REPAIR, repairs=True)
    if task.assignee and task.assignee not in members and task.status not in SETTLED:
        yield Finding(f"{task.id} is reserved for {task.assignee}, who is not a member", _REPAIR, repairs=True)


def _cycles(listed: TaskList) -> Iterator[Finding]:
    if circle := cycle({task.id: task.dependencies for task in listed.tasks}):
        mend = f"pro0 task update {circle[0]} --drop-dependency {circle[1]}"
        yield Finding(f"tasks wait for each other: {arrows(circle)}", mend)
    if circle := cycle({task.id: (task.parent,) for task in listed.tasks if task.parent}):
        yield Finding(f"tasks are each other's parents: {arrows(circle)}", _BY_HAND)


def _without_strangers(task: Task, task_ids: Collection[str], members: Collection[str], entry: Entry) -> Task:
    removals = []
    changed = task
    if task.parent and task.parent not in task_ids:
        removals.append(f"its parent {task.parent} is gone")
        changed = replace(changed, parent=None)
    if task.assignee and task.assignee not in members and task.status not in SETTLED:
        removals.append(f"it was reserved for {task.assignee}, who is not a member")
        changed = replace(changed, assignee=None)
    if not removals:
        return task
    return replace(changed, history=(*changed.history, replace(entry, text="; ".join(removals))))


def _is_id(text: str) -> bool:
    return _ID.fullmatch(text) is not None


def _human(task: Task) -> bool:
    return task.claim is not None and task.claim.agent_id == ids.HUMAN
