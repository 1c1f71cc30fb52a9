"""Follow the team: look at it repeatedly, and report the changes since the last look."""

import time
from collections.abc import Callable

import msgspec

from pro0.errors import EnvironmentMissing
from pro0.model.ids import HUMAN, LEAD
from pro0.model.message import Message, MessageType
from pro0.model.runtime import State
from pro0.model.task import Entry, Status, Task
from pro0.ops.context import Context
from pro0.ops.tasks import tasks
from pro0.ops.team import status
from pro0.ops.team.status import MemberStatus
from pro0.rules.tasks.acts import Act
from pro0.rules.tasks.board import Board, why_not_ready

CRASHED = "has crashed"


class Event(msgspec.Struct, frozen=True):
    """One event of the demo. `kind` decides its colour. The panel shows the result of `minor` events anyway."""

    text: str
    kind: str = ""
    minor: bool = False


class Look(msgspec.Struct, frozen=True):
    """The team at one moment: members, tasks in the order of their ids, and all letters by mailbox."""

    lead: str
    members: tuple[MemberStatus, ...]
    tasks: tuple[Task, ...]
    ready: frozenset[str]
    letters: dict[str, tuple[Message, ...]]

    def member(self, agent_id: str) -> MemberStatus:
        """Return one member."""
        return next(member for member in self.members if member.agent_id == agent_id)

    def task(self, title: str) -> Task:
        """Return one task by its title."""
        return next(task for task in self.tasks if task.title == title)

    def done(self) -> int:
        """Return how many tasks are completed."""
        return sum(task.status is Status.COMPLETED for task in self.tasks)


class TeamFollower:
    """Follows one team, and reports its changes."""

    def __init__(self, context: Context, tell: Callable[[Event], None]) -> None:
        self._context = context
        self._tell = tell
        self._entries: dict[str, int] = {}
        self._letters: dict[str, int] = {}
        self._states: dict[str, State] = {}

    def look(self) -> Look:
        """Report what is new, and return the team as it is; raises EnvironmentMissing when a member cannot start."""
        team = self._context.team
        for failure in team.runtime.read().failures:
            raise EnvironmentMissing(f"cannot start {failure.agent_id}: {failure.message}", hint=failure.hint or None)
        boxes = [team.mailbox(name) for name in (*self._states, LEAD, HUMAN)]
        letters = {box.agent_id: tuple(box.since(box.head.read(), 0)) for box in boxes if box.exists()}
        board = tasks.board(self._context)
        team_status = status.status(self._context)  # read last, so that a cause is reported before its effects
        look = Look(team_status.lead.state, team_status.members, tuple(board), _ready(board), letters)
        self._news(look)
        return look

    def _news(self, look: Look) -> None:
        for member in look.members:
            if self._states.get(member.agent_id) is not member.state:
                self._states[member.agent_id] = member.state
                self._say(_of_member(member))
        for task in look.tasks:
            for entry in task.history[self._entries.get(task.id, 0) :]:
                self._say(_of_task(task, entry))
            self._entries[task.id] = len(task.history)
        for name, letters in look.letters.items():
            for letter in letters[self._letters.get(name, 0) :]:
                self._say(_of_letter(letter))
            self._letters[name] = len(letters)

    def _say(self, event: Event | None) -> None:
        if event:
            self._tell(event)


def seconds(task: Task) -> float:
    """Return how many seconds the last claim of a task has lasted so far, or lasted until it was completed."""
    if task.claimed_at is None:
        return 0.0
    return (task.completed_at.timestamp() if task.completed_at else time.time()) - task.claimed_at.timestamp()


def _ready(board: Board) -> frozenset[str]:
    return frozenset(task.id for task in board if why_not_ready(board, task) is None)


def _of_member(member: MemberStatus) -> Event | None:
    if member.state is State.CRASHED:
        return Event(f"{member.agent_id} {CRASHED}: {member.note}", "bad")
    return None


def _of_task(task: Task, entry: Entry) -> Event | None:
    if entry.act == Act.CLAIM:
        return Event(f"{entry.actor} takes {task.id}, {task.title}", minor=True)
    if entry.act == Act.COMPLETE:
        return Event(f"{entry.actor} has done {task.id}, {task.title} ({seconds(task):.1f} s)", "good")
    if entry.to is Status.FAILED:
        return Event(f"{task.id}, {task.title}, has failed: {entry.text}", "bad")
    if entry.from_ is Status.IN_PROGRESS:
        return Event(f"{task.id}, {task.title}, is pending again ({entry.text})", "warn")
    return None


def _of_letter(letter: Message) -> Event | None:
    """Return a letter as an event, or None for one that the demo shows elsewhere: to or from the person."""
    if letter.to in (LEAD, HUMAN):
        is_crash_notice = letter.type is MessageType.NOTIFICATION and CRASHED in letter.content
        return Event(f"lead is told: {letter.content}", "mail") if is_crash_notice else None
    if letter.from_ == HUMAN:
        return None
    return Event(f"{letter.from_} → {letter.to}: {letter.content}", "mail")
