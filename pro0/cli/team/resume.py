"""`pro0 team resume`."""

import os

import click

from pro0 import processes
from pro0.cli.context import acting, named_team, need_lead
from pro0.cli.output import json_option, live
from pro0.cli.team.end import tell
from pro0.model.runtime import ENDED, SeatState
from pro0.model.team import Wish
from pro0.ops.seats import roster
from pro0.ops.tasks.acting import settings_to_hire
from pro0.ops.team import teams
from pro0.ops.team.status import lead_status
from pro0.store.teams import TeamStore


@click.command()
@named_team
@json_option
def resume(team: str | None, as_json: bool) -> None:
    """Let a team run again, adopting every session that lives.

    Beside a live lead it only says so.

    --json prints what `team status --json` prints.

    \b
    Examples:
      pro0 team resume
      pro0 team resume alpha
    """
    from pro0.engine.opening.environment import kept_environment
    from pro0.engine.outcomes import started

    context = acting(team)
    store, name = context.team, context.team.name
    settings = settings_to_hire(context)
    lead = lead_status(store.runtime.read())
    if lead.state == "running" and store.wanted.read().wish is Wish.RUN:
        tell(context, f"the lead of {name} runs already (pid {lead.pid})", as_json)
        return
    living = _living(store)
    kept = kept_environment(os.environ, settings.pass_environment, settings.agents.values())
    teams.resume(context, kept.variables, kept.reserved)
    with live() as show:
        show(f"{name}: starting its lead")
        need_lead(store, show)
        states = started(store, roster(store).live(), show)
    lead = lead_status(store.runtime.read())
    tell(context, f"{name} runs (lead pid {lead.pid}): {_story(states, living)}", as_json)


def _living(team: TeamStore) -> set[str]:
    seats = team.runtime.read().seats
    return {seat.incarnation for seat in seats if seat.guard and processes.alive(seat.guard)}


def _story(states: list[SeatState], living: set[str]) -> str:
    """Return which sessions were adopted, which were started, and which have ended meanwhile."""
    ended = [state.agent_id for state in states if state.state in ENDED]
    adopted = [state.agent_id for state in states if state.incarnation in living and state.agent_id not in ended]
    fresh = [state.agent_id for state in states if state.agent_id not in (*ended, *adopted)]
    told = (("adopted", adopted), ("started", fresh), ("ended", ended))
    return "; ".join(f"{word} {', '.join(names)}" for word, names in told if names) or "no members"
