"""`pro0 member focus`."""

import sys

import click

from pro0.cli import completing
from pro0.cli.context import here, team_option
from pro0.cli.output import say
from pro0.cli.team import attaching
from pro0.errors import ErrorCode, NotFound, Refused
from pro0.model.caller import Who
from pro0.ops.team import members
from pro0.ops.team.machines import nothing_to_show


@click.command()
@click.argument("name", shell_complete=completing.members)
@team_option
def focus(name: str, team: str | None) -> None:
    """Bring a member's pane to the front, in the terminal that shows the team, or show it in this one.

    Only a person may do this, since typed keys go to the pane that is shown.

    \b
    Examples:
      pro0 member focus w1
    """
    from pro0.engine.places import backend_of, shown_at

    context = here(team)
    if context.caller.who is not Who.HUMAN:
        text = f"{context.caller.agent_id} may not show a member: only a person may, who types there"
        raise Refused(text, code=ErrorCode.NOT_ALLOWED, hint=f"to read: pro0 member peek {name}")
    config, roster = context.team.config.read(), members.members(context)
    agent_id = roster.find(name).agent_id
    state = roster.state(agent_id)
    handle = shown_at(context.team, state) if state else None
    if handle and backend_of(config).focus(handle):
        say(f"{agent_id} is shown; watch it: pro0 team attach -t {context.team.name}")
    elif handle and config.mode == attaching.IN_PROCESS and sys.stdin.isatty() and sys.stdout.isatty():
        attaching.show(context, agent_id)
    else:
        if roster.find(name).machine != context.team.machine:
            raise nothing_to_show(context.team, roster.find(name))
        raise NotFound(f"{agent_id} has no pane", hint=f"pro0 member peek {agent_id}")
