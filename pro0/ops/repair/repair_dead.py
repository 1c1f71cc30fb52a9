"""Repair what dead sessions leave behind: their claims, their places in runtime.json, their launch files."""

from msgspec.structs import replace

from pro0 import processes
from pro0.model.caller import THE_LEAD
from pro0.model.runtime import ENDED, Phase, Report, Runtime, State
from pro0.model.task import Task
from pro0.model.team import Wish
from pro0.ops.context import INCARNATION
from pro0.ops.repair.document import RepairWork
from pro0.ops.repair.evidence import certain
from pro0.ops.tasks import tasks
from pro0.rules.repair import soundness
from pro0.store import health
from pro0.store.files import File
from pro0.store.mending import trouble
from pro0.store.teams import TeamStore


def record_dead(work: RepairWork) -> None:
    """Give back the tasks of dead sessions; record a stopped team's dead sessions as ended, since no lead will."""
    team = work.context.team
    runtime, desired, listed = certain(team.runtime), certain(team.wanted), certain(team.tasks)
    if runtime is None or desired is None or listed is None or trouble(team.tasks) or trouble(team.runtime):
        return
    # A stopped team should have no living session; _is_dead still confirms each one.
    over = runtime.phase is Phase.STOPPED and desired.wish is Wish.STOP
    for task in soundness.stale_claims(listed, living(team, runtime, over=over)):
        if task.claim and _is_dead(work, task.claim.incarnation):
            _give_back(work, task)
    gone = {
        state.incarnation for state in runtime.seats if state.state not in ENDED and _is_dead(work, state.incarnation)
    }
    if over and gone:
        with team.record.change("repair: dead sessions") as change:
            seats = (
                replace(state, state=State.CRASHED, since=work.context.now(), note="found dead by doctor")
                if state.incarnation in gone
                else state
                for state in change.value.seats
            )
            change.value = replace(change.value, seats=tuple(seats))
        work.say(f"{team.name}: {len(gone)} sessions that were recorded as alive are recorded as ended")


def living(team: TeamStore, runtime: Runtime, *, over: bool) -> set[str]:
    """Return the sessions possibly alive: neither recorded as ended nor with a dead guard, or on another machine.

    In a team that is `over`, no session is alive here. Only the other machine knows whether a session there has ended.
    """
    states = [] if over else [state for state in runtime.seats if state.state not in ENDED]
    return {*team.elsewhere(), *(s.incarnation for s in states if not s.guard or processes.alive(s.guard))}


def _give_back(work: RepairWork, task: Task) -> None:
    claim = task.claim
    if claim:
        freed = tasks.free(replace(work.context, caller=THE_LEAD), claim.agent_id, claim.incarnation, "is dead")
        for task_freed in freed:
            work.say(f"{task_freed.id} was claimed by a session of {claim.agent_id} that is dead: it is pending again")


def _is_dead(work: RepairWork, incarnation: str) -> bool:
    """Return True when nothing of a session lives: no guard, no process with its tag, and nothing elsewhere."""
    team = work.context.team
    if incarnation in team.elsewhere():
        return False
    report = certain(File(team.paths.sessions, team.paths.report(incarnation), Report)) if incarnation else None
    runtime = certain(team.runtime)
    guards = [report.guard] if report else []
    guards += [s.guard for s in runtime.seats if s.incarnation == incarnation and s.guard] if runtime else []
    return not any(map(processes.alive, guards)) and not processes.proven(INCARNATION, [incarnation])[incarnation]


def remove_launches(work: RepairWork) -> None:
    """Remove the launch files of dead sessions: no guard reads them, and each holds an environment."""
    for incarnation, path in list(health.launches(work.context.team.paths.sessions)):
        if _is_dead(work, incarnation):
            path.unlink(missing_ok=True)
            work.say(f"{path} was never read by a guard: removed it, since it holds an environment")
