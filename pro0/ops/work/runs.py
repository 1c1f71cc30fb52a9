"""Runs of the run engine: start them as members of the team, find them again, count their usage."""

from itertools import count

import msgspec
from msgspec.structs import replace

from pro0 import processes
from pro0.decoding import decode
from pro0.errors import ErrorCode, Refused
from pro0.model.caller import Who
from pro0.model.ids import task_id
from pro0.model.message import Notice
from pro0.model.run import RUNNER, RunOptions
from pro0.model.runtime import ENDED, RateLimit
from pro0.model.task import Task, TaskList
from pro0.model.team import Seat
from pro0.model.usage import Usage
from pro0.ops.context import Context, operation
from pro0.ops.mail.messages import pay_if_possible
from pro0.ops.seats import roster
from pro0.ops.tasks.acting import edit, watchers
from pro0.ops.team import members
from pro0.ops.team.members import SeatDraft
from pro0.rules.tasks import changes
from pro0.rules.tasks.acts import GRANTS
from pro0.rules.text import within


def start(context: Context, options: RunOptions, draft: SeatDraft, limit: int) -> Seat:
    """Ask for a runner, in the first free seat of runner, runner-2 and so on."""
    runner = replace(draft, agent=RUNNER, argv=(msgspec.json.encode(options).decode(),))
    for number in count(1):
        name = RUNNER if number == 1 else f"{RUNNER}-{number}"
        if not _is_free(context, name):
            continue
        try:
            return members.spawn(context, [replace(runner, name=name)], limit)[0]
        except Refused as error:
            if error.code != ErrorCode.CONFLICT:
                raise
    raise AssertionError("numbers do not end")


def abandoned(context: Context) -> list[str]:
    """Return the living or starting runners with a dead client; they will end."""
    return [seat.agent_id for seat in roster(context.team).live() if seat.agent == RUNNER and not _is_wanted(seat)]


def living(context: Context) -> frozenset[str]:
    """Return the incarnations of all sessions not known to be over."""
    members = roster(context.team)
    outside = {members.wanted.outside.incarnation} if members.wanted.outside else set[str]()
    return frozenset(outside | {state.incarnation for state in members.runtime.seats if state.state not in ENDED})


def limits(context: Context) -> tuple[RateLimit, ...]:
    """Return the team's record of rate-limited providers, past and present."""
    return context.team.runtime.read().limits


@operation("task.count", frozenset({Who.MEMBER}))
def counted(context: Context, id: str, usage: Usage, cost: float) -> Task:
    """Add one turn of an agent to the task that the caller claimed last: its tokens, and its cost in US dollars."""

    def change_it(tasks: TaskList) -> tuple[TaskList, Task]:
        task = changes.find(tasks, task_id(id))
        claimed = next((entry for entry in reversed(task.history) if entry.act in tuple(GRANTS)), None)
        if claimed is None or claimed.incarnation != context.caller.incarnation:
            raise Refused(f"{task.id} is not claimed by {context.caller.agent_id}", code=ErrorCode.STALE_CLAIM)
        recounted = replace(
            task,
            iterations=task.iterations + 1,
            input_tokens=task.input_tokens + usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens,
            output_tokens=task.output_tokens + usage.output_tokens,
            cost_usd=task.cost_usd + cost,
        )
        return changes.with_tasks(tasks, [recounted]), recounted

    return edit(context, "count", id, change_it)


@operation("run.stop", frozenset({Who.MEMBER}))
def stopped(context: Context, why: str) -> None:
    """Tell lead and human, once, that the caller's run has stopped short, and why (behaviour 3.8)."""
    runner, team, why = context.caller, context.team.require(), within(why)
    text = f"{runner.agent_id} has stopped: {why}"
    with team.wanted.change("tell how a run has stopped") as change:
        owed = tuple(
            Notice(id=f"{runner.incarnation}:stopped:{to}", from_=runner.agent_id, to=to, content=text)
            for to in watchers(context)
        )
        change.value = replace(change.value, outbox=(*change.value.outbox, *owed))
    pay_if_possible(context, team.wanted)
    team.log_event(context.now(), runner.agent_id, "run.stop", why=why)


def _is_free(context: Context, name: str) -> bool:
    members = roster(context.team)
    seat = next((seat for seat in members.wanted.seats if seat.agent_id == name), None)
    return seat is None or (seat.agent == RUNNER and members.ended(name) is not None)


def _is_wanted(seat: Seat) -> bool:
    client = decode(seat.argv[0], RunOptions).client
    return client is None or processes.alive(client)
