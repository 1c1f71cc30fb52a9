"""What ends the wait for a session that starts: it failed, or somebody called it off."""

from collections.abc import Mapping

from pro0.engine.hosts import has_not_begun
from pro0.errors import EnvironmentMissing, ErrorCode, Refused
from pro0.model.runtime import Failure, Runtime, SeatState, State
from pro0.model.task import Task
from pro0.model.team import Wish
from pro0.store.teams import TeamStore


def raise_if_called_off(team: TeamStore, runtime: Runtime, waiting: Mapping[str, int]) -> None:
    """Raise Refused when the team is told to stop, or one of these members to end before it has a session."""
    desired = team.wanted.read()
    if waiting and desired.wish is Wish.STOP:
        hint = f"see: pro0 team status -t {team.name}; to go on: pro0 team resume -t {team.name}"
        message = f"{team.name} is being stopped: {', '.join(sorted(waiting))} will not start"
        raise Refused(message, code=ErrorCode.STOPPING, hint=hint)
    begun = {(state.agent_id, state.generation) for state in runtime.seats}
    for seat in desired.seats:
        place = (seat.agent_id, seat.generation)
        if seat.called_off and waiting.get(seat.agent_id) == seat.generation and place not in begun:
            hint = f"pro0 member show {seat.agent_id} -t {team.name}"
            message = f"{seat.agent_id} will not start: somebody asked it to shut down"
            raise Refused(message, code=ErrorCode.STOPPING, hint=hint)


def raise_failures(runtime: Runtime, generations: Mapping[str, int]) -> None:
    """Raise EnvironmentMissing for a member of this generation whose start failed."""
    for failure in runtime.failures:
        if generations.get(failure.agent_id) == failure.generation:
            raise _failed(failure.agent_id, failure)


def raise_failure_of(runtime: Runtime, wished: Task) -> None:
    """Raise EnvironmentMissing when the start of a task failed after it was asked for."""
    since = wished.start.at if wished.start else None
    for failure in runtime.failures:
        if failure.task == wished.id and since and failure.at >= since:
            raise _failed(wished.id, failure)


def _failed(subject: str, failure: Failure) -> EnvironmentMissing:
    message = f"cannot start {subject}: {failure.message}"
    return EnvironmentMissing(message, hint=failure.hint or None, of_team=failure.of_team)


def raise_unless_it_came_up(state: SeatState, *, elsewhere: bool) -> None:
    """Raise EnvironmentMissing for a session whose program never ran."""
    # A session that ended early has an exit without a reason. One that never started has a reason.
    ran = state.agent or (state.exit and not state.exit.reason)
    if state.state is State.CRASHED and (not ran or (elsewhere and has_not_begun(state))):
        hint = f"mend it, then: pro0 member restart {state.agent_id}"
        raise EnvironmentMissing(f"{state.agent_id} did not come up: {state.note}", hint=hint, of_team=True)
