"""Teams on disk, with sessions that are alive as far as the store knows."""

import os
import uuid
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from pro0.model.caller import THE_HUMAN, Caller, Who
from pro0.model.need import AskedPermission
from pro0.model.runtime import SeatState, State
from pro0.model.team import Member, Seat, TeamConfig, Wanted
from pro0.ops import grants
from pro0.ops.context import Context, lead_context
from pro0.ops.identity import AGENT_ID, GRANT, TEAM
from pro0.ops.mail import messages
from pro0.rules.person.permissions import request_id
from pro0.store.teams import Store, TeamStore

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def make_team(home: Path, *members: str, name: str = "alpha", url: str = "") -> TeamStore:
    """A team whose members each have a live session with the incarnation `inc-NAME`; a member `lead` is its agent."""
    listed = tuple(Member(name=member, agent_id=member) for member in members)
    config = TeamConfig(name=name, created_at=NOW, uid=f"uid-{name}", project=str(home), members=listed)
    seats = tuple(Seat(agent_id=member, name=member.title(), agent="shell") for member in members)
    team = Store(home).create(config, Wanted(seats=seats), url=url)
    for member in members:
        team.mailbox(member).make()
        set_state(team, member, State.IDLE)
    return team


def set_state(team: TeamStore, member: str, state: State, incarnation: str | None = None, asked: str = "") -> None:
    """Let the store know a member's session in a state, as the lead would."""
    new = SeatState(
        agent_id=member,
        generation=1,
        incarnation=incarnation or f"inc-{member}",
        state=state,
        since=NOW,
        started_at=NOW,
        asked=asked or None,
    )
    with team.runtime.change("a test") as change:
        others = tuple(seat for seat in change.value.seats if seat.agent_id != member)
        change.value = replace(change.value, seats=(*others, new))


def member(team: TeamStore, name: str, incarnation: str | None = None) -> Context:
    """The context of a member's session."""
    who = Who.LEAD_AGENT if name == "lead" else Who.MEMBER
    return Context(team, Caller(who, name, incarnation or f"inc-{name}"))


ASKED = AskedPermission(key="k", tool="Bash", input='{"command": "make"}')
"""What an agent asks leave for."""


def own_session(team: TeamStore, name: str) -> Context:
    """A member in a session that no other test has: by its incarnation a run's processes are found, and ended."""
    incarnation = uuid.uuid4().hex
    set_state(team, name, State.IDLE, incarnation)
    return member(team, name, incarnation)


REQUEST = request_id("w1", "inc-w1", ASKED.key, ASKED.tool, ASKED.input)
"""The id of that request, when w1 asks."""


def human(team: TeamStore) -> Context:
    """The context of the person."""
    return Context(team, THE_HUMAN)


def granted(team: TeamStore, name: str) -> dict[str, str]:
    """The variables by which a program acts as a member's present session, from outside."""
    made = grants.make(human(team), name)
    return {variable: made[variable] for variable in (TEAM, AGENT_ID, GRANT)}


def as_who(team: TeamStore, who: Who) -> Context:
    """The context of each kind of caller; the member is w1."""
    return {
        Who.HUMAN: human(team),
        Who.LEAD: lead_context(team),
        Who.LEAD_AGENT: member(team, "lead"),
        Who.MEMBER: member(team, "w1"),
        Who.OUTSIDE: Context(team, Caller(Who.OUTSIDE, "lead", "inc-outside")),
    }[who]


def settle_debts(context: Context) -> None:
    """Deliver all that a team owes, as its lead does."""
    messages.pay(context, context.team.wanted)
    messages.pay(context, context.team.tasks)


def files(folder: Path) -> set[str]:
    """The paths of everything below a folder."""
    return {
        os.path.relpath(os.path.join(base, name), folder)
        for base, dirs, names in os.walk(folder)
        for name in dirs + names
    }
