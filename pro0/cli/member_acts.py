"""`pro0 member spawn`, `restart` and `shutdown`."""

import os
from pathlib import Path

import click

from pro0.agents import AGENTS
from pro0.cli.context import acting, need_lead, no_wait_option, team_option
from pro0.cli.output import line, live, say, talk, write
from pro0.config import Settings, load, require_enabled
from pro0.model.runtime import SeatState
from pro0.model.task import Draft
from pro0.model.team import PermissionMode, Seat
from pro0.ops import members, tasks
from pro0.ops.context import Context
from pro0.ops.members import SeatDraft
from pro0.rules import text

MODES = tuple(str(mode) for mode in PermissionMode)


@click.command()
@click.argument("name")
@click.argument("program", nargs=-1, metavar="[-- PROGRAM ARG...]")
@click.option("--agent", metavar="AGENT", help=f"One of {', '.join(AGENTS)}; command when a PROGRAM is given.")
@click.option("--role", default="", help="The role id.")
@click.option("--prompt", default="", help="The first prompt.")
@click.option("--task", "title", metavar="TEXT", help="A task that is made and reserved for it.")
@click.option("--model", default="", help="The model its agent is to use.")
@click.option("--effort", default="", help="How hard the model is to think, in its agent's words.")
@click.option("--permission-mode", "mode", type=click.Choice(MODES), help="What it may do unasked; else as the lead.")
@click.option("--nudge", is_flag=True, help="Show it one line when it has mail; for a program that reads its terminal.")
@team_option
@no_wait_option
def spawn(
    name: str,
    program: tuple[str, ...],
    agent: str | None,
    role: str,
    prompt: str,
    title: str | None,
    model: str,
    effort: str,
    mode: str | None,
    nudge: bool,
    team: str | None,
    no_wait: bool,
) -> None:
    """Start a new member, or an ended one again: same id, same mailbox.

    \b
    Examples:
      pro0 member spawn w4
      pro0 member spawn "Test Runner" --agent shell --task "run the tests"
      pro0 member spawn server -- python -m http.server 8000
    """
    context = acting(team)
    settings = _settings(context)
    draft = SeatDraft(
        name=name,
        agent=agent or ("command" if program else "shell"),
        role=role,
        prompt=prompt,
        argv=program,
        nudge=nudge,
        model=model,
        effort=effort,
        permission_mode=PermissionMode(mode) if mode else None,
    )
    first = [Draft(title=text.title(title))] if title is not None else []
    seats = members.spawn(context, [draft], settings.max_teammates)
    _started(context, seats, no_wait=no_wait)
    for task in tasks.create(context, [_for(seats[0], one) for one in first]):
        write(f"{task.id} is reserved for {task.assignee}: {line(task.title)}")


@click.command()
@click.argument("name")
@click.option("--fresh", is_flag=True, help="Begin anew, though the agent could go on where it was.")
@team_option
def restart(name: str, fresh: bool, team: str | None) -> None:
    """Start a new session of a member that has ended.

    An agent that can goes on with its earlier conversation.

    \b
    Examples:
      pro0 member restart w1
      pro0 member restart ada --fresh
    """
    context = acting(team)
    _settings(context)
    _started(context, [members.restart(context, name, fresh=fresh)])


@click.command()
@click.argument("name")
@click.option("--reason", default="", help="What the member is told.")
@click.option("--timeout", type=float, default=60.0, show_default=True, metavar="S", help="Seconds to wait for a yes.")
@click.option("--force", is_flag=True, help="End it if it has not agreed by then, with its whole process tree.")
@team_option
@no_wait_option
def shutdown(name: str, reason: str, timeout: float, force: bool, team: str | None, no_wait: bool) -> None:
    """Ask a member to shut down.

    A member that works says "not yet" and is asked again when it is free. If it stays, exit 4 says why.

    \b
    Examples:
      pro0 member shutdown w1
      pro0 member shutdown w1 --timeout 5 --force
    """
    from pro0.engine.outcomes import shut_down

    context = acting(team)
    seat = members.shutdown(context, name, reason=reason, timeout=timeout, force=force)
    need_lead(context.team)
    if no_wait:
        say(f"{seat.agent_id} is asked: pro0 member show {seat.agent_id}")
        return
    state = shut_down(context.team, seat, talk())
    write(f"{seat.agent_id} has ended: {line(_how(state))}")


def _settings(context: Context) -> Settings:
    project = Path(context.team.config.read().project)
    settings = load(context.team.paths.home, project, os.environ, {})
    require_enabled(settings)
    return settings


def _started(context: Context, seats: list[Seat], *, no_wait: bool = False) -> None:
    from pro0.engine.outcomes import started

    if no_wait:
        need_lead(context.team)
        say(f"{', '.join(seat.agent_id for seat in seats)}: to be started; see: pro0 member list")
        return
    with live() as show:
        show(f"starting {', '.join(seat.agent_id for seat in seats)}")
        need_lead(context.team, show)
        states = started(context.team, seats, show)
    for state in states:
        pid = f" (pid {state.agent.pid})" if state.agent else ""
        write(f"{state.agent_id} is {state.state}{pid}")


def _for(seat: Seat, draft: Draft) -> Draft:
    return Draft(title=draft.title, assignee=seat.agent_id)


def _how(state: SeatState) -> str:
    left = state.exit
    if left is None:
        return state.state
    if left.signal is not None:
        return f"{state.state}, signal {left.signal}"
    return f"{state.state}, exit code {left.code}" if left.code is not None else f"{state.state}, {left.reason}"
