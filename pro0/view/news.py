"""The view's knowledge of the team, read once a second in a thread: no lock or slow disk delays a key."""

import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime

import msgspec

from pro0 import processes
from pro0.engine.log import reason
from pro0.errors import Pro0Error
from pro0.model.ids import LEAD
from pro0.model.need import Need
from pro0.model.runtime import ENDED, SeatState
from pro0.model.task import Task
from pro0.ops.context import Context
from pro0.ops.mail import messages
from pro0.ops.mail.messages import Letter
from pro0.ops.tasks import tasks
from pro0.ops.team import costs
from pro0.ops.team.status import MemberStatus, TeamStatus, status

AGAIN = 1.0
"""Seconds between two looks."""
LETTERS = 200


class News(msgspec.Struct, frozen=True):
    """One look at the team. `trouble` is the reason when parts of it are from an earlier look."""

    status: TeamStatus | None = None
    tasks: tuple[Task, ...] = ()
    letters: tuple[Letter, ...] = ()
    sockets: dict[str, tuple[str, str]] = {}
    """Incarnation and socket of each living session, by member."""
    trouble: str = ""
    at: datetime | None = None
    """The time of the look."""
    costs: dict[str, float | None] = {}
    """What each member has cost, in US dollars; None for a cost without a known price."""

    @property
    def members(self) -> tuple[MemberStatus, ...]:
        """Return the members, the lead agent first."""
        all_members = self.status.members if self.status else ()
        return tuple(sorted(all_members, key=lambda member: member.agent_id != LEAD))

    @property
    def needs(self) -> tuple[Need, ...]:
        """Return what needs the person, the most urgent first."""
        return self.status.attention if self.status else ()

    def member(self, name: str) -> MemberStatus | None:
        """Return one member, None for an unknown name."""
        return next((member for member in self.members if member.agent_id == name), None)


class Reporter:
    """Looks at the team every second. `news` is the last look; `notify` is called after each look and each act."""

    def __init__(self, context: Context, notify: Callable[[], None]) -> None:
        self._context = context
        self._notify = notify
        self._wake = threading.Event()
        self._errands: list[Callable[[], str]] = []
        self.news = look(context, News())
        self._outcomes: list[str] = []
        threading.Thread(target=self._run, daemon=True).start()

    def do(self, errand: Callable[[], str]) -> None:
        """Queue a slow act, keep its outcome, and look again."""
        self._errands.append(errand)
        self._wake.set()

    def outcomes(self) -> list[str]:
        """Return the outcomes of acts since the last call, in order, without empty ones."""
        return [self._outcomes.pop(0) for _ in range(len(self._outcomes))]

    def _run(self) -> None:
        while True:
            self._wake.wait(AGAIN)
            self._wake.clear()
            while self._errands:
                outcome = _outcome(self._errands.pop(0))
                self._outcomes += [outcome] if outcome else []
                self._notify()
            self.news = look(self._context, self.news)
            self._notify()


def look(context: Context, before: News) -> News:
    """Return a new look; on an error, return `before` with the reason."""
    try:
        return News(
            status=status(context),
            tasks=tuple(tasks.list_tasks(context)),
            letters=tuple(messages.history(context)[-LETTERS:]),
            at=context.now(),
            costs={member.agent_id: member.cost_usd for member in costs.cost(context).members},
            sockets=_sockets(context.team.runtime.read().seats),
        )
    except Exception as error:  # noqa: BLE001 - the thread does all acts too, and must go on
        if _is_removed(context):
            return News(trouble=f"the team {context.team.name} is removed: q leaves")
        return msgspec.structs.replace(before, trouble=reason(error))


def _is_removed(context: Context) -> bool:
    with suppress(Pro0Error):  # an unreadable folder may still be there
        return not context.team.exists()
    return False


def _sockets(seats: tuple[SeatState, ...]) -> dict[str, tuple[str, str]]:
    return {
        seat.agent_id: (seat.incarnation, seat.handle.socket)
        for seat in seats
        if seat.handle and seat.state not in ENDED and not processes.stopped(seat.handle.pid)
    }


def _outcome(errand: Callable[[], str]) -> str:
    try:
        return errand()
    except Exception as error:  # noqa: BLE001 - any failure is shown, and the next acts are done
        hint = error.hint if isinstance(error, Pro0Error) else ""
        return f"{reason(error)}{f' ({hint})' if hint else ''}"
