"""The plan for one seat: the lead's decision steps take it and return it."""

from collections.abc import Callable
from datetime import datetime

import msgspec
from msgspec.structs import replace

from pro0.model.decision import Action, Snapshot, WorkFolder
from pro0.model.ids import HUMAN, LEAD
from pro0.model.runtime import ENDED, SeatState, State
from pro0.model.team import Seat, Wish
from pro0.rules.tasks.board import Board

MEMORY = 20
"""Number of notices, failures and refusals kept."""


class View(msgspec.Struct, frozen=True):
    """A snapshot with its tasks as a board."""

    snapshot: Snapshot
    board: Board
    new_id: Callable[[], str]

    @property
    def now(self) -> datetime:
        """Return the time of the snapshot."""
        return self.snapshot.now

    def at(self, stamp: datetime) -> datetime:
        """Return a stored moment by the clock of the snapshot, which may have jumped since."""
        return self.snapshot.moved.get(stamp, stamp)

    def work_folder(self, seat: Seat) -> WorkFolder | None:
        """Return a seat's working folder: None before its worktree is ready, an empty one for the checkout."""
        return self.snapshot.worktree_jobs.get((seat.agent_id, seat.generation)) if seat.worktree else WorkFolder()

    @property
    def blind(self) -> bool:
        """Return True when the tasks are unknown: the board is then empty and means nothing."""
        return self.snapshot.tasks is None

    @property
    def stopping(self) -> bool:
        """Return True when the whole team is to end."""
        return self.snapshot.wanted.wish is Wish.STOP

    @property
    def supervisors(self) -> list[str]:
        """Return the addresses for crash notices: the lead, plus the human when an agent reads the lead's mail."""
        wanted = self.snapshot.wanted
        led = wanted.outside is not None or any(seat.agent_id == LEAD for seat in wanted.seats)
        return [LEAD, HUMAN] if led else [LEAD]


class Plan(msgspec.Struct, frozen=True):
    """The plan for one seat: its recorded state, the actions, the next look, and its reason to stay."""

    seat: Seat
    state: SeatState | None
    actions: tuple[Action, ...] = ()
    wake_at: datetime | None = None
    stays: str = ""

    @property
    def living(self) -> SeatState | None:
        """Return the state of a session that has not ended."""
        return self.state if self.state and self.state.state not in ENDED else None

    def then(self, state: SeatState, *actions: Action) -> "Plan":
        """Return the plan with a new state and further actions."""
        return replace(self, state=state, actions=(*self.actions, *actions))

    def also(self, *actions: Action) -> "Plan":
        """Return the plan with further actions."""
        return replace(self, actions=(*self.actions, *actions))

    def wake(self, at: datetime) -> "Plan":
        """Return the plan with an additional look at that time."""
        return replace(self, wake_at=min(at, self.wake_at or at))


Step = Callable[[View, Plan], Plan]


def answers(view: View, seat: Seat) -> bool:
    """Return True when the seat's agent answers shutdown requests."""
    return seat.definition.answers_shutdown if seat.definition else seat.agent in view.snapshot.protocol


def listens(view: View, seat: Seat) -> bool:
    """Return True when the seat's agent is shown the fixed line about unread mail.

    On another machine this holds for every agent of the protocol, since it cannot watch a mailbox on this machine.
    """
    known = view.snapshot.line | (view.snapshot.protocol if seat.host else frozenset())
    return seat.nudge or (seat.definition.is_fed if seat.definition else seat.agent in known)


def opened_again(view: View, state: SeatState) -> SeatState:
    """Return the record of a session that gets a guard anew, as the same incarnation."""
    opened = replace(state, state=State.STARTING, since=view.now, started_at=view.now)
    return replace(opened, guard=None, agent=None, handle=None, source="", rule="")


def begun(view: View, plan: Plan, work_folder: WorkFolder) -> SeatState:
    """Return the record of a seat's next session; unless the seat is `fresh`, it resumes the last conversation."""
    seat, state = plan.seat, plan.state
    return SeatState(
        agent_id=seat.agent_id,
        generation=seat.generation,
        incarnation=view.new_id(),
        state=State.STARTING,
        since=view.now,
        started_at=view.now,
        session=state.session if state and not seat.fresh else "",
        worktree=work_folder.path,
        branch=work_folder.branch,
        # Comments from before this session are not its own. They are counted, since the clock may jump.
        heard=len(view.snapshot.workers.comments.get(seat.task or "", ())),
    )
