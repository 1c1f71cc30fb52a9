"""Show a team in this terminal; shared by the commands that do so."""

import os
import sys

from pro0.cli.output import say
from pro0.errors import EnvironmentMissing, ErrorCode, Refused
from pro0.model.caller import Who
from pro0.model.runtime import ENDED, Phase
from pro0.ops.context import Context
from pro0.store.teams import TeamStore

IN_PROCESS, HEADLESS, TMUX = "in-process", "headless", "tmux"


def show(context: Context, member: str = "") -> None:
    """Show a team in this terminal: in pro0's view, beginning with `member`, or by becoming another program.

    Raises Refused for a team without panes. Also raises it when a member calls: the member could type into the panes of
    others, and answer in the person's place.
    """
    if context.caller.who is not Who.HUMAN:
        text = f"{context.caller.agent_id} may not attach to a team: only a person may, who types there"
        raise Refused(text, code=ErrorCode.NOT_ALLOWED, hint=f"to read: pro0 member peek NAME -t {context.team.name}")
    mode = context.team.config.read().mode
    if mode == IN_PROCESS:
        _drawable(context.team.name)
        from pro0.view.app import watch

        watch(context, member)
        say(_left(context.team))
        return
    argv = command(context.team)
    if mode == HEADLESS:
        from pro0.cli.following import follow

        follow(context.team)
    else:
        if mode == TMUX and "switch-client" not in argv:
            _drawable(context.team.name)
        execute(argv)


def _left(team: TeamStore) -> str:
    """Return the state of a team after the person has left its view, as a sentence."""
    name = team.name
    if not team.exists():
        return f"the team {name} is removed"
    if team.runtime.read().phase is Phase.STOPPED:
        return f"the team {name} is stopped; go on: pro0 team resume -t {name}, or remove it: pro0 team cleanup {name}"
    return f"the team {name} goes on; see it again: pro0 team attach -t {name}"


def _drawable(team: str) -> None:
    """Raise EnvironmentMissing for a terminal on which nothing can be drawn, such as one of an editor."""
    if os.environ.get("TERM", "") in ("", "dumb"):
        hint = f"in another terminal: pro0 team attach -t {team}; or here: pro0 team status -t {team} --watch"
        error_text = "this terminal cannot show a team: TERM is dumb, or not set"
        raise EnvironmentMissing(error_text, code=ErrorCode.NO_TERMINAL, hint=hint)


def command(team: TeamStore) -> tuple[str, ...]:
    """Return the argv that shows the team's panes; raises Refused when it has none."""
    from pro0.engine.places import backend_of, place_of, shown_at

    config = team.config.read()
    runtime = team.runtime.read()
    handles = [shown_at(team, seat) for seat in runtime.seats if seat.state not in ENDED]
    if argv := backend_of(config).attach_command(place_of(team, config), [handle for handle in handles if handle]):
        return argv
    hint = f"pro0 member peek MEMBER -t {team.name}, or: pro0 team logs -f -t {team.name}"
    if runtime.seats and not handles:
        restart_command = f"pro0 member restart {runtime.seats[0].agent_id} -t {team.name}"
        hint = f"all its members have ended; start one again: {restart_command}"
    if runtime.phase is Phase.STOPPED:
        hint = f"it is stopped; go on: pro0 team resume -t {team.name}"
    raise Refused(f"{team.name} has no pane to show (mode {config.mode})", code=ErrorCode.NOTHING_TO_SHOW, hint=hint)


def attach(context: Context) -> None:
    """Show a team that was just started, unless it has nothing to show."""
    try:
        show(context)
    except (Refused, EnvironmentMissing) as nothing:
        say(nothing.message)


def execute(argv: tuple[str, ...]) -> None:
    """Become that program."""
    sys.stdout.flush()
    try:
        os.execvp(argv[0], argv)
    except OSError as error:
        raise EnvironmentMissing(f"{argv[0]} cannot be started: {error.strerror}") from error
