"""The person's needs: the store's state as the rule wants it, and the troubles already seen."""

from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime

from msgspec.structs import replace

from pro0 import processes
from pro0.errors import NotFound, Pro0Error
from pro0.model.caller import ANYONE, HUMAN_ONLY
from pro0.model.ids import HUMAN, LEAD
from pro0.model.message import Message, MessageType
from pro0.model.need import Need, Picture, Trouble
from pro0.model.runtime import ENDED, Phase, Runtime
from pro0.model.task import SETTLED, Task, TaskList
from pro0.model.team import Wanted
from pro0.ops import permissions
from pro0.ops.context import Context, operation
from pro0.ops.seats import Roster, led, roster
from pro0.ops.team.costs import spent
from pro0.rules.needs import needs
from pro0.rules.task_needs import beyond
from pro0.rules.tasks.board import Board
from pro0.store.teams import TeamStore

OF_A_STOP = (MessageType.SHUTDOWN_REQUEST, MessageType.SHUTDOWN_RESPONSE)
"""The types of messages between members and their lead while a team is stopped: nobody would miss them."""


@operation("need.list", ANYONE, changes=False)
def list_needs(context: Context) -> tuple[Need, ...]:
    """Return all that needs the person now, the most urgent first."""
    team = context.team.require()
    return needs(seen(team, roster(team), team.tasks.read(), context.now()))


@operation("need.seen", HUMAN_ONLY)
def mark_seen(context: Context, id: str) -> Trouble:
    """Drop a trouble that the person has seen: a failed hook or notice, or a repair with losses."""
    with context.team.require().troubles.change("drop a trouble") as change:
        troubles = change.value.troubles
        trouble = next((entry for entry in troubles if entry.id == id), None)
        if trouble is None:
            raise NotFound(f"there is no trouble {id}", hint="list them: pro0 needs")
        change.value = replace(change.value, troubles=tuple(entry for entry in troubles if entry is not trouble))
    context.team.log_event(context.now(), context.caller.agent_id, "need.seen", subject=trouble.subject)
    return trouble


def seen(team: TeamStore, team_roster: Roster, tasks: TaskList, now: datetime) -> Picture:
    """Return the picture of a team for the rule about needs."""
    desired, runtime = team_roster.wanted, team_roster.runtime
    mail, older = unread(team, desired)
    requests, past = permissions.readable_requests(team)
    return Picture(
        now=now,
        wanted=desired,
        runtime=runtime,
        tasks=tasks,
        mail=mail,
        older=older,
        troubles=team.troubles.read().troubles,
        requests=requests,
        past=past,
        spent=spent(team.usage.read().sessions) if desired.max_cost else 0.0,
        unled=unled(runtime),
        suspended=suspended(runtime),
        elsewhere=frozenset(team.elsewhere()),
        left_alone=left_alone(desired, runtime, team.machine),
    )


def unread(team: TeamStore, desired: Wanted) -> tuple[tuple[Message, ...], int]:
    """Return the person's unread messages as far as mailbox heads hold them, and the number of the others."""
    mail, older = list[Message](), 0
    for address in [HUMAN] if led(desired, team.machine) else [HUMAN, LEAD]:
        head = team.mailbox(address).head.read()
        fresh = [message for message in head.messages if message.seq > head.acked]
        mail += fresh
        older += head.next_seq - 1 - head.acked - len(fresh)
    return tuple(sorted(mail, key=lambda message: message.timestamp)), older


def unread_of_work(team: TeamStore) -> int:
    """Return how many messages the person has not read, but for those of a stop."""
    fresh, older = unread(team, team.wanted.read())
    return sum(message.type not in OF_A_STOP for message in fresh) + older


def unfinished(team: TeamStore) -> str:
    """Return the open tasks and the person's unread messages of a team in words, "" for none."""
    counts = []
    with suppress(Pro0Error):
        counts.append((sum(task.status not in SETTLED for task in team.tasks.read().tasks), "open task"))
    with suppress(Pro0Error):
        counts.append((unread_of_work(team), "unread message"))
    return " and ".join(f"{number} {noun}{'' if number == 1 else 's'}" for number, noun in counts if number)


def unled(runtime: Runtime) -> bool:
    """Return True when the lead of a running team has died, and no guard lives that starts another."""
    guards = [seat.guard for seat in runtime.seats if seat.guard and seat.state not in ENDED]
    lead = runtime.lead
    if lead is None or runtime.phase is not Phase.RUNNING or processes.alive(lead):
        return False
    return not any(map(processes.alive, guards))


def suspended(runtime: Runtime) -> int:
    """Return the pid of a living lead that a signal has stopped, 0 for none."""
    lead = runtime.lead
    if lead is None or runtime.phase is Phase.STOPPED or not processes.alive(lead):
        return 0
    return lead.pid if processes.stopped(lead.pid) else 0


def left_alone(desired: Wanted, runtime: Runtime, machine: str) -> bool:
    """Return True when the person's own agent that led a team is gone, while the team still runs."""
    outside = desired.outside
    if outside is None or machine or runtime.phase is Phase.STOPPED:  # that agent is on the machine that made the team
        return False
    return not processes.alive(outside.process)


def beyond_all(context: Context, tasks: Iterable[Task]) -> str:
    """Return which of these tasks no living member can do, in one sentence, empty for none."""
    living = [seat for seat in roster(context.team).live() if not seat.task]
    return beyond(living, Board(context.team.tasks.read().tasks), tasks)
