"""The lead's one decision about each member: wanted, dead, idle, silent or asked to end.

`decide` maps a snapshot to a new record and a list of actions. It looks at the state of things, never at events. The
lead may crash in the middle and decide again without harm: the state still shows every action due.

Every member goes through the same steps, in this order. Each step takes a plan and returns it, changed or not.
"""

from collections.abc import Callable
from datetime import timedelta

from msgspec.structs import replace

from pro0.model.decision import (
    Action,
    Decision,
    Deliver,
    End,
    Finish,
    Free,
    Prepare,
    Snapshot,
    Start,
    Tell,
    Withdraw,
    WorkFolder,
)
from pro0.model.run import RUNNER
from pro0.model.runtime import ENDED, Phase, Refusal, Runtime, SeatState, State
from pro0.model.task import Status, Task
from pro0.model.team import Seat, Wish, placed
from pro0.rules.lead import (
    announcing,
    budget,
    dispatch,
    ending,
    hiring,
    idling,
    plan_approval,
    throttling,
    turn_ends,
    turns,
)
from pro0.rules.lead.plan import MEMORY, Plan, Step, View, begun, opened_again
from pro0.rules.tasks.board import Board
from pro0.rules.tasks.effects import is_reserved
from pro0.rules.words import prompts

STARTING_LIMIT = timedelta(seconds=15)
"""Longest time from a guard's start to its first report."""
NEVER_STARTED = "it was never started"
RESTARTED = "the team's machine has restarted"


def decide(snapshot: Snapshot, new_id: Callable[[], str]) -> Decision:
    """Return the new record, the actions and the time of the next look.

    They concern the members on the lead's own machine: all members, unless several machines share the team.
    """
    snapshot = throttling.renewed(snapshot)
    view = View(snapshot, Board(snapshot.tasks.tasks if snapshot.tasks else ()), new_id)
    plans = [_plan(view, seat) for seat in snapshot.wanted.seats if seat.machine == snapshot.machine]
    actions = [action for plan in plans for action in plan.actions]
    runtime, team_actions = _whole_team(view, plans)
    runtime, notices = throttling.tell(view, runtime)
    team_actions.extend((*notices, *hiring.dismiss(view, plans)))
    next_at = None
    if snapshot.has_duties:
        runtime, notices = budget.tell(view, runtime)
        expired, next_at = hiring.expire(view)
        team_actions.extend((*notices, *_deliveries(snapshot), *expired))
    team_actions.extend(hiring.hire(view, plans))
    news = announcing.announce(view, runtime)
    wakes = [wake for wake in (*(plan.wake_at for plan in plans), next_at, news.wake_at) if wake]
    return Decision(
        runtime=runtime,
        actions=(*actions, *team_actions, *news.owed),
        wake_at=min(wakes, default=None),
        needs=news.needs,
        announced=news.announced,
    )


def _deliveries(snapshot: Snapshot) -> list[Deliver]:
    owed = [Deliver()] if snapshot.tasks and snapshot.tasks.outbox else []
    return [*owed, Deliver(wishes=True)] if snapshot.wanted.outbox else owed


def _plan(view: View, seat: Seat) -> Plan:
    state = next((s for s in view.snapshot.runtime.seats if s.agent_id == seat.agent_id), None)
    plan = Plan(seat, state)
    for step in STEPS:
        plan = step(view, plan)
    return plan


def _read_the_report(view: View, plan: Plan) -> Plan:
    """Copy the guard's report about its session."""
    state = plan.living
    report = view.snapshot.reports.get(state.incarnation) if state else None
    if state is None or report is None:
        return plan
    reported = replace(state, guard=report.guard, agent=report.agent, task=report.task, note=report.note)
    if report.exit:
        was_asked = state.ending_since is not None or ending.approved(view, plan) is not None
        ended = State.SHUTDOWN if was_asked else report.state
        return plan.then(
            replace(
                reported, state=ended, since=report.exit.at, exit=report.exit, note=prompts.how_it_ended(report.exit)
            )
        )
    # Stopping lasts until the exit. Unresponsive lasts until the guard reports something newer.
    if state.state is State.STOPPING or (
        state.state is State.UNRESPONSIVE and view.at(report.since) <= view.at(state.since)
    ):
        return plan.then(reported)
    if state.source and report.state is not State.UNREACHABLE:  # the guard knows only that the agent runs
        return plan.then(replace(reported, note=state.note))
    return plan.then(replace(reported, state=report.state, since=report.since, source="", rule=""))


def _open_again(view: View, plan: Plan) -> Plan:
    """Give a session a guard anew: its lead died before its guard came up, or it goes on elsewhere after a restart."""
    state = plan.living
    if state is None or state.incarnation not in view.snapshot.unopened:
        return plan
    if view.stopping or plan.seat.shutdown or state.ending_since:
        note = RESTARTED if state.guard else NEVER_STARTED
        over = replace(state, state=State.SHUTDOWN, since=view.now, note=note)
        return plan.then(over, End(state.agent_id, state.incarnation, firm=True))
    reopened, has_file = opened_again(view, state), view.snapshot.unopened[state.incarnation]
    # A session that goes on elsewhere has its code there.
    work_folder = WorkFolder(path=state.worktree) if state.guard else view.work_folder(plan.seat)
    if work_folder is None:
        return plan.then(reopened, Prepare(plan.seat))
    return plan.then(reopened, Start(plan.seat, state.incarnation, has_file, work_folder))


def _find_the_place(view: View, plan: Plan) -> Plan:
    """Record the handle of a session opened by another lead."""
    state = plan.living
    handle = view.snapshot.handles.get(state.incarnation) if state else None
    return plan.then(replace(state, handle=handle)) if state and handle else plan


def _notice_the_guard_is_gone(view: View, plan: Plan) -> Plan:
    """Mark a session as crashed when its guard died without a final report, or never came up."""
    state = plan.living
    if state is None or state.incarnation in view.snapshot.guards_alive:
        return plan
    if state.guard is None:
        deadline = view.at(state.started_at) + STARTING_LIMIT
        if view.now < deadline:
            return plan.wake(deadline)
    over = State.SHUTDOWN if state.ending_since else State.CRASHED
    if state.guard:
        return plan.then(replace(state, state=over, since=view.now, note="its guard was killed"))
    gone = replace(state, state=over, since=view.now, note="it never came up")
    return plan.then(gone, End(state.agent_id, state.incarnation, firm=True))


def _sweep_what_is_left(view: View, plan: Plan) -> Plan:
    """End the processes that outlived a dead guard."""
    state = plan.state
    if state is None or state.incarnation not in view.snapshot.leftovers:
        return plan
    return plan.then(state, End(state.agent_id, state.incarnation, firm=True))


def _release_dead(view: View, plan: Plan) -> Plan:
    """Give back a dead session's tasks, and tell the lead address once; only a proved death changes tasks."""
    state = plan.state
    if state is None or state.state not in ENDED:
        return plan
    held = _held(view, plan.seat, state)
    key = f"{state.incarnation}:ended"
    if key not in state.told and not view.stopping and _is_news(plan.seat, state, held):
        text = prompts.ended(state, [task for task in held if task.claim])
        state = _remember_notice(state, key)
        plan = plan.then(state, *(Tell(f"{key}:{to}", to, text) for to in view.supervisors))
    if held and not _is_left(view, state):
        how, keep = (
            dispatch.how_it_ended(plan.seat.disposable, state),
            plan_approval.goes_on(plan.seat, state.generation),
        )
        return plan.then(state, Free(state.agent_id, state.incarnation, how, keep))
    return plan.then(state)


def _start(view: View, plan: Plan) -> Plan:
    """Open a session for a seat whose generation is newer than its last session."""
    seat, state = plan.seat, plan.state
    if view.stopping or plan.living or (state and state.generation >= seat.generation):
        return plan
    if not seat.called_off:
        if budget.exhausted(view.snapshot) or (seat.task and view.snapshot.wanted.paused):
            return plan
        if limit := throttling.holding(view, placed(seat.agent, seat.host)):
            return plan.wake(limit.until)
    # While the task list cannot be read, its tasks may still belong to the last session.
    if state and view.blind:
        return plan
    # A new session must not run beside the remains of the last one.
    if state and (_held(view, seat, state) or _is_left(view, state)):
        return plan.wake(view.now + timedelta(seconds=0.2))
    if view.snapshot.runtime.failed(seat):
        return plan
    if seat.called_off:
        earlier_folder = WorkFolder(path=state.worktree, branch=state.branch) if state else WorkFolder()
        return plan.then(replace(begun(view, plan, earlier_folder), state=State.SHUTDOWN, note=NEVER_STARTED))
    work_folder = view.work_folder(seat)
    if work_folder is None:
        return plan.also(Prepare(seat))
    fresh = begun(view, plan, work_folder)
    return plan.then(fresh, Start(seat, fresh.incarnation, work_folder=work_folder))


STEPS: tuple[Step, ...] = (
    _read_the_report,
    turns.read_the_agent,
    turn_ends.record,
    _find_the_place,
    _open_again,
    _notice_the_guard_is_gone,
    _sweep_what_is_left,
    _release_dead,
    dispatch.forward_comments,
    dispatch.warn,
    dispatch.harvest,
    plan_approval.renew,
    _start,
    hiring.end_finished_sessions,
    hiring.remind,
    ending.ask,
    ending.on_shutdown_answer,
    ending.overdue,
    idling.tell_idle,
    turn_ends.tell,
    turns.tell_who_is_needed,
    plan_approval.tell,
    throttling.go_on,
    turns.nudge,
)


def _whole_team(view: View, plans: list[Plan]) -> tuple[Runtime, list[Action]]:
    runtime, wanted = view.snapshot.runtime, view.snapshot.wanted
    seats = tuple(plan.state for plan in plans if plan.state)
    refusals = list(runtime.refusals)
    actions: list[Action] = []
    for wish, stayed in ending.refused(view, plans):
        refusals.append(Refusal(request_id=wish.id, stayed=stayed))
        actions.append(Withdraw(wish.id, tuple(sorted(stayed))))
    phase = Phase.STOPPING if view.stopping else Phase.RUNNING
    to_end = any(isinstance(action, End) for plan in plans for action in plan.actions)
    waits = bool(actions or to_end or view.snapshot.elsewhere)
    if wanted.wish is Wish.STOP and not waits and all(_gone(view, plan) for plan in plans):
        phase = Phase.STOPPED
        actions.append(Finish())
    return replace(runtime, phase=phase, seats=seats, refusals=tuple(refusals[-MEMORY:])), actions


def _gone(view: View, plan: Plan) -> bool:
    state = plan.state
    if state is None:
        return True
    # The next lead gives back the tasks of a dead session when this one cannot read them.
    return state.state in ENDED and not _is_left(view, state) and not _held(view, plan.seat, state)


def _is_left(view: View, state: SeatState) -> bool:
    return state.incarnation in (seen := view.snapshot).guards_alive | seen.leftovers | seen.elsewhere


def _remember_notice(state: SeatState, key: str) -> SeatState:
    return replace(state, told=(*state.told, key)[-MEMORY:])


def _held(view: View, seat: Seat, state: SeatState) -> list[Task]:
    """Return the tasks to give back from a dead session."""
    held = [task for task in view.board if _holds(task, state)]
    return [task for task in held if task.claim] if plan_approval.goes_on(seat, state.generation) else held


def _is_news(seat: Seat, state: SeatState, held: list[Task]) -> bool:
    """Return True when the lead address is to be told of a session's end, since nobody asked for it.

    A failed task reports its own failure (behaviour 2.8). A run reports its end where it was requested.
    """
    if state.state is State.SHUTDOWN or (seat.agent == RUNNER and state.exit and state.exit.code is not None):
        return False
    return seat.task is None or any(task.status is Status.DONE for task in held)


def _holds(task: Task, state: SeatState) -> bool:
    if task.claim:
        return (task.claim.agent_id, task.claim.incarnation) == (state.agent_id, state.incarnation)
    return is_reserved(task, state.agent_id)
