"""The delivery of a message to its reader; never reported before it is true."""

from enum import StrEnum

import msgspec

from pro0.agents import defined
from pro0.model.caller import PEOPLE_AND_AGENTS
from pro0.model.ids import HUMAN, LEAD
from pro0.model.message import Message
from pro0.model.runtime import ENDED, State
from pro0.model.team import Seat
from pro0.ops.context import Context, operation
from pro0.ops.seats import Roster, roster
from pro0.rules.mail import LOST


class Delivered(StrEnum):
    """The result for a message: delivered to its reader, queued, or failed for good."""

    DELIVERED = "delivered"
    QUEUED = "queued"
    FAILED = "failed"


class Fate(msgspec.Struct, frozen=True):
    """The result for a message, and the reason it waits or failed."""

    result: Delivered
    why: str = ""
    crashed: bool = False
    """True when it waits for a restart of its reader."""
    is_said: bool = False
    """True when the sender is told, even one that does not wait for the reader."""


_WAITS = {
    State.STARTING: "is starting",
    State.WORKING: "is working, and reads it when its turn ends",
    State.WAITING: "waits for a permission",
    State.DIALOG: "shows a dialog of its own",
    State.DRAFT: "has a draft in its input",
    State.UNKNOWN: "shows a screen that pro0 does not recognise",
    State.UNRESPONSIVE: "does not answer",
    State.UNREACHABLE: "is out of reach",
    State.STOPPING: "is about to end",
    State.ERROR: "has an error",
}


@operation("message.fate", PEOPLE_AND_AGENTS, changes=False)
def fate(context: Context, message: Message) -> Fate:
    """Return the fate of a sent message. Delivered means handed out by `inbox`; a mere display does not count."""
    members = roster(context.team)  # before the mailbox: a member that reads in between and then ends has read it
    head = context.team.mailbox(message.to).head.read()
    handed = head.handed.seq if head.handed and head.handed.incarnation != LOST else 0
    delivered_up_to = max(head.acked, handed)
    if delivered_up_to >= message.seq:
        return Fate(Delivered.DELIVERED)
    if message.to in (HUMAN, LEAD) and not any(seat.agent_id == message.to for seat in members.wanted.seats):
        return Fate(Delivered.QUEUED, "nobody has read it yet")
    return _of_member(members, message.to)


def is_told_of_mail(seat: Seat) -> bool:
    """Return True for a member that watches its mailbox, or gets the line about mail."""
    return seat.nudge or defined(seat.agent, seat.definition).delivery != "none"


def _of_member(members: Roster, agent_id: str) -> Fate:
    state = members.state(agent_id)
    if state is None:
        return Fate(Delivered.QUEUED, f"{agent_id} is starting")
    if members.awaits_restart(agent_id):
        return Fate(Delivered.QUEUED, f"{agent_id} has crashed; restart it: pro0 member restart {agent_id}", True, True)
    if state.state in ENDED:
        return Fate(Delivered.FAILED, f"{agent_id} has ended ({state.state}); its next session gets it")
    if not is_told_of_mail(members.find(agent_id)):
        return Fate(Delivered.QUEUED, f"{agent_id} is not told of mail: it reads when it chooses", is_said=True)
    why = state.queued or _WAITS.get(state.state, "has not read it yet")
    return Fate(Delivered.QUEUED, f"{agent_id}: {why}" if state.queued else f"{agent_id} {why}")
