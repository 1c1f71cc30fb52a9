"""`pro0 team resume`."""

import os
from collections.abc import Mapping

import click

from pro0.cli.context import acting, named_team, need_lead
from pro0.cli.output import json_option, live, say
from pro0.cli.team.end import tell
from pro0.model.runtime import ENDED
from pro0.model.team import Wish
from pro0.ops.seats import Roster, roster
from pro0.ops.tasks.acting import settings_to_hire
from pro0.ops.team import teams
from pro0.ops.team.status import lead_status
from pro0.store.teams import TeamStore


@click.command()
@named_team
@json_option
def resume(team: str | None, as_json: bool) -> None:
    """Let a team run again, adopting every living session.

    If its lead is alive already, the command only says so, and names the members that have ended. If no member is
    alive, the panes of the team move to the place of this terminal.

    --json prints what `team status --json` prints.

    \b
    Examples:
      pro0 team resume
      pro0 team resume alpha
    """
    from pro0.engine.opening.environment import kept_environment
    from pro0.engine.outcomes import looked_at, started
    from pro0.engine.places import display_resumed

    context = acting(team)
    store, name = context.team, context.team.name
    settings = settings_to_hire(context)
    lead = lead_status(store.runtime.read())
    if lead.state == "running" and store.wanted.read().wish is Wish.RUN:
        tell(context, f"the lead of {name} runs already (pid {lead.pid})", as_json)
        if not as_json and (ended := _own_ended(store)):
            say(f"ended, and not started by this: {', '.join(ended)}; pro0 member restart {ended[0]} -t {name}")
        return
    runtime = store.record.read()
    before = {state.agent_id: state.incarnation for state in runtime.seats if state.state not in ENDED}
    environment = kept_environment(os.environ, settings.pass_environment, settings.agents.values())
    display = display_resumed(store.config.read())
    desired = teams.resume(context, environment.variables, environment.reserved, display)
    # Chosen before the lead works: it may record a failed start before this command looks again.
    due = [seat for seat in Roster(name, desired, runtime).live() if seat.machine == store.machine]
    with live() as show:
        show(f"{name}: starting its lead")
        need_lead(store, show)
        up = [state.agent_id for state in started(store, due, show)]
        looked_at(store)
    lead = lead_status(store.runtime.read())
    tell(context, f"{name} runs (lead pid {lead.pid}): {_story(store, up, before)}", as_json)


def _own_ended(store: TeamStore) -> list[str]:
    """Return the members of this machine that have ended and may have another session."""
    current = roster(store)
    seats = [seat for seat in current.wanted.seats if seat.machine == store.machine and not seat.disposable]
    return [seat.agent_id for seat in seats if not seat.task and current.ended(seat.agent_id)]


def _story(team: TeamStore, up: list[str], before: Mapping[str, str]) -> str:
    """Return a sentence about the adopted, started and ended sessions, as recorded now."""
    from pro0.engine.outcomes import lives

    names = list(dict.fromkeys([*up, *before]))
    now = {state.agent_id: state for state in team.record.read().seats}
    living = [name for name in names if name in now and now[name].state not in ENDED and lives(now[name])]
    groups = (
        ("adopted", [name for name in living if now[name].incarnation == before.get(name)]),
        ("started", [name for name in living if now[name].incarnation != before.get(name)]),
        ("ended", [name for name in names if name not in living]),
    )
    return "; ".join(f"{word} {', '.join(group)}" for word, group in groups if group) or "no members"
