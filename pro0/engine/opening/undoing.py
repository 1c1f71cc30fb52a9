"""Undo a failed start of a team: a team without living members that nobody has used is removed."""

from collections.abc import Callable

from pro0.engine.cleanup import cleanup
from pro0.errors import Kept, Pro0Error
from pro0.model.runtime import ENDED
from pro0.ops.team.archives import was_used
from pro0.ops.work import readying
from pro0.store.teams import Store, TeamStore


def undo(store: Store, team: TeamStore, first_tasks: int, error: Pro0Error, show: Callable[[str], None]) -> None:
    """Remove the team, or say why it is kept. The hint of `error` then names nothing that was removed.

    The output of a failed set-up is removed with the team, so it is shown first.
    """
    name = team.name
    if any(seat.state not in ENDED for seat in team.runtime.read().seats):
        return show(f"the team is kept, with its living members: pro0 team status -t {name}")
    try:
        _require_unused(team, first_tasks)
        for failure in team.runtime.read().failures:
            for line in readying.failed(team, failure.agent_id):
                show(f"{failure.agent_id}: {line}")
        cleanup(store, name, force=True, show=show, keep=False, check=lambda: _require_unused(team, first_tasks))
        show(f"the team {name} was removed again")
    except Kept as kept:
        show(kept.message)
        if team.exists():
            return None
    except Pro0Error as left:
        return show(f"the team {name} could not be removed: {left.message}")
    if error.of_team:
        error.hint = f"once that is fixed, start {name} again"
    return None


def _require_unused(team: TeamStore, first_tasks: int) -> None:
    if was_used(team, first_tasks):
        look = f"pro0 team status -t {team.name}"
        raise Kept(f"the team is kept, because it received tasks or messages while it started: {look}")
