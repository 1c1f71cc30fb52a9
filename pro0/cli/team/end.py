"""`pro0 team pause`, `unpause`, `stop` and `cleanup`."""

from contextlib import suppress

import click

from pro0.cli.context import acting, here, human_only, named_team, need_lead, no_wait_option, store, team_name
from pro0.cli.output import going_on, json_option, say, talk, write, write_json
from pro0.errors import StoreError, Unwritable
from pro0.model import ids
from pro0.model.caller import Who
from pro0.model.runtime import Phase
from pro0.model.team import Wish
from pro0.ops.context import Context
from pro0.ops.team import teams


@click.command()
@named_team
@json_option
def pause(team: str | None, as_json: bool) -> None:
    """Stop the claiming of tasks; work on claimed tasks goes on.

    --json prints what `team status --json` prints.

    \b
    Examples:
      pro0 team pause
      pro0 team pause alpha
    """
    context = here(team)
    teams.pause(context, paused=True)
    tell(context, f"{context.team.name} is paused: nobody claims a task; go on with: pro0 team unpause", as_json)


@click.command()
@named_team
@json_option
def unpause(team: str | None, as_json: bool) -> None:
    """Let tasks be claimed again.

    --json prints what `team status --json` prints.

    \b
    Examples:
      pro0 team unpause
      pro0 team unpause alpha
    """
    context = here(team)
    teams.pause(context, paused=False)
    tell(context, f"{context.team.name} goes on", as_json)


@click.command()
@named_team
@click.option(
    "--timeout", type=float, default=60.0, show_default=True, metavar="S", help="Seconds to wait for their agreement."
)
@click.option("--force", is_flag=True, help="End members that have not agreed by then, with all their processes.")
@click.option("--reason", default="", help="What the members are told.")
@no_wait_option
@json_option
def stop(team: str | None, timeout: float, force: bool, reason: str, no_wait: bool, as_json: bool) -> None:
    """Ask every member to shut down, then end the lead.

    From then on no task is claimed and no session starts. A working member answers "not yet" and is asked again when it
    is free. If a member stays, the command names it and the reason, exit 4, and the team goes on. A member that calls
    this command does not wait, since it is asked, too.

    --json prints what `team status --json` prints.

    \b
    Examples:
      pro0 team stop
      pro0 team stop alpha --timeout 5 --force
    """
    from pro0.engine.outcomes import stopped

    context = acting(team)
    name = context.team.name
    if context.team.wanted.read().wish is Wish.STOP and context.team.runtime.read().phase is Phase.STOPPED:
        tell(context, f"{name} is already stopped", as_json)
        return
    try:
        wish = teams.stop(context, timeout=timeout, force=force, reason=reason).stop
        say(f"{name}: asking every member to shut down")
    except Unwritable as error:
        if not force:
            raise
        from pro0.engine.force import end_team

        wish = end_team(context, error, talk())
    need_lead(context.team)
    if no_wait or context.caller.who is not Who.HUMAN:
        say(f"{name} is stopping: pro0 team status {name}")
        tell(context, "", as_json)
        return
    if wish:
        with going_on(f"{name} is still stopping: pro0 team status -t {name}; to keep it: pro0 team resume -t {name}"):
            stopped(context.team, wish, talk())
    go_on = f"remove it: pro0 team cleanup {name}, or go on: pro0 team resume -t {name}"
    tell(context, f"{name} is stopped; {go_on}", as_json)


@click.command()
@named_team
@click.option("--force", is_flag=True, help="End sessions that are still live.")
@click.option("--no-archive", is_flag=True, help="Keep no archive of its tasks and messages.")
def cleanup(team: str | None, force: bool, no_archive: bool) -> None:
    """Remove a team that is stopped, and all that was made for it.

    It names the open tasks and unread messages that go with the team. An archive keeps all tasks, messages and events
    until `team forget`; `team show --archived` shows it. A team without tasks and messages leaves no archive. With
    --force the team is removed even if no archive can be made, or if its database is gone for good; the team's data in
    that database stays there.

    While a session is live, the command is refused and names it, exit 4. If there is no such team, exit 0. Unmerged
    work is never removed: it is named, exit 7.

    \b
    Examples:
      pro0 team cleanup alpha
      pro0 team cleanup alpha --force
    """
    from pro0.engine.cleanup import cleanup as clean
    from pro0.engine.machines import cleanup_without_database
    from pro0.store.health import ownerless

    human_only("clean a team up")
    name = ids.team_name(team_name(team))
    if force:
        done = cleanup_without_database(store(), name, talk(), keep=not no_archive)
    else:
        done = clean(store(), name, force=False, show=talk(), keep=not no_archive)
    write(done if done is not None else f"nothing to clean: there is no team {name}")
    if done is None:
        with suppress(StoreError):  # the hint alone is left out
            for remnant in (path for path in ownerless(store().home) if path.name == name):
                way = "pro0 doctor --repair moves it aside and frees the name"
                say(f"hint: {remnant} is left over from such a team, and may hold work; {way}")


def tell(context: Context, message: str, as_json: bool) -> None:
    """Print a message about a team, or the team's status as JSON; print nothing for an empty message."""
    from pro0.ops.team.status import status

    if as_json:
        write_json(status(context))
    elif message:
        write(message)
